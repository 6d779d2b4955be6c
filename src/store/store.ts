/**
 * The storage interface: what an adapter must implement for an engine. Check an adapter with the conformance suite. For
 * all adapters: ids of any text are distinct, and sorted by code points. Records are read as written. A cell whose sum
 * is 0 does not exist.
 */
import type { Decision } from "../ledger/decision.ts";
import type { LedgerView } from "../ledger/view.ts";

/**
 * The part of a store that a transaction reads and writes. Locks are acquired in this order, each kind by ascending id,
 * so that no two transactions wait for each other: the configuration, accounts, then event ids.
 */
export interface Scope {
  /** `shared` to use it; `exclusive` to change it or data that spans accounts: aliases, meters in use, groups. */
  readonly configuration: "shared" | "exclusive";
  /** The accounts that are read or written; they need not exist yet. */
  readonly accountIds: readonly string[];
  /** The event ids that may be reserved; unique in the organization (S14.1). */
  readonly eventIds: readonly string[];
}

/** A store of one organization's ledgers. */
export interface Store {
  /** Lower case, for logs and test titles: `memory`, `postgres`. */
  readonly name: string;
  /**
   * Runs `work` with a consistent view as the only writer of the scope, and commits its changes atomically; none if
   * `work` or the commit fails. `work` reads first, then decides; it is called once, or again from the start after a
   * lost race. The accounts and event ids of the scope do not change while `work` runs; for everything else, each call
   * of the view sees one committed state. `work` writes only accounts and event ids of its scope. It must wait only for
   * its view: a store may have a single connection, so that another transaction, or a read outside of it, would
   * deadlock.
   *
   * @throws what `work` throws; {@link RatebookError} ERR_TAKEN if an id of a new event is taken, ERR_STORE_CONFLICT after
   * too many lost races, ERR_STORE_UNAVAILABLE if the store cannot be reached: nothing was written, unless the connection
   * failed during the commit, whose outcome is then unknown
   */
  transact<Result>(scope: Scope, work: (view: LedgerView) => Promise<Decision<Result>>): Promise<Result>;
  /** Reads outside of a transaction; each call sees one committed state. */
  readonly read: LedgerView;
  /**
   * A view for one reader. Calls made before any of them is awaited all see the same committed state, so that reads
   * need no lock. Consecutive calls may see different ones.
   */
  consistentView(): LedgerView;
  /** Releases all resources. Idempotent; afterwards every other call may reject. */
  close(): Promise<void>;
}
