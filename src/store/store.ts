/**
 * The storage port: what an adapter must do for an engine. Prove an adapter with the conformance suite.
 *
 * These hold for all adapters: ids of any text are kept apart, and compared by code points where lists are in order of
 * ids. Records come back as they were written. A cell whose sum is 0 is no cell.
 *
 * @module
 */
import type { Decision } from "../ledger/decision.ts";
import type { LedgerView } from "../ledger/view.ts";

/**
 * The part of a store that a transaction reads and writes. Locks are taken in this order, each kind by ascending id, so that no two
 * transactions wait for each other: the configuration, accounts, then event ids.
 */
export interface Scope {
  /** `shared` to rate by it, `exclusive` to change it, and what spans accounts: aliases, meters in use, groups. */
  readonly configuration: "shared" | "exclusive";
  /** The accounts whose ledgers are read or written; they need not exist yet. */
  readonly accountIds: readonly string[];
  /** The event ids that may be taken; unique in the organization (S14.1). */
  readonly eventIds: readonly string[];
}

/** A store of one organization's ledgers. */
export interface Store {
  /** Lower case, for logs and test titles: `memory`, `postgres`. */
  readonly name: string;
  /**
   * Runs `work` with a consistent view as the only writer of the scope, and commits its changes as one: all of them or,
   * where `work` or the commit fails, none. `work` reads first, then decides; it is run once for each call, or again
   * from the start after a lost race.
   *
   * The accounts and event ids of the scope do not change while `work` runs; of the rest, each call of the view sees one committed state.
   * `work` writes only accounts and event ids of its scope. It waits for nothing but its view: a store may have a single
   * connection, so that another transaction, or a read outside of it, would never come to its turn.
   *
   * @throws what `work` throws; {@link RatebookError} ERR_STORE_CONFLICT when races were lost too often,
   * ERR_STORE_UNAVAILABLE while the store cannot be reached: nothing was written, unless it went away while it answered
   * the commit, so that nobody knows
   */
  transact<Result>(scope: Scope, work: (view: LedgerView) => Promise<Decision<Result>>): Promise<Result>;
  /** Reads outside of a transaction; each call sees one committed state. */
  readonly read: LedgerView;
  /**
   * A view for one reader. Calls of it that are made before any of them is waited for see one committed state, all of them the
   * same: what is shown needs no lock. Calls that follow each other may see different ones.
   */
  consistentView(): LedgerView;
  /** Releases what the store holds. Idempotent; afterwards every other call may reject. */
  close(): Promise<void>;
}
