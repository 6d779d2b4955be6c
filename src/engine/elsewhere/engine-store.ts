/**
 * The store as an engine sees it: with usage that lives elsewhere beside that of the ledger (S17.4).
 *
 * @module
 */
import { type Day, dayOf, type Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import { planOf } from "../../ledger/account/account-plan.ts";
import { sameCellsOnce } from "../../ledger/cell-sums.ts";
import type { Decision } from "../../ledger/decision.ts";
import { cellsOfKept } from "../../ledger/kept-usage.ts";
import { byAccount } from "../../ledger/reads.ts";
import type { LedgerCell } from "../../ledger/records.ts";
import type { ElsewhereQuery, ElsewhereReads, ElsewhereUsage } from "../../ledger/usage-elsewhere.ts";
import { usageAccountsOf } from "../../ledger/usage-source.ts";
import type { LedgerView } from "../../ledger/view.ts";
import type { Scope, Store } from "../../store/store.ts";
import { expectServed, onceRecorded, type Told } from "./schemas-elsewhere.ts";
import { type CellNeed, type CellsInHand, CellsNeeded, emptyHand, type UsageElsewhereOptions } from "./source-cells.ts";

/** Which usage is asked for, wherever its events live. */
export interface AllUsageQuery {
  readonly catalog: ElsewhereQuery["catalog"];
  readonly accountIds: readonly string[];
  /** Days `[from, until)`. */
  readonly from: Day;
  readonly until: Day;
  /** Of events elsewhere, those that are dated after this instant have not arrived. */
  readonly upTo: Instant;
}

/** A view of a store, and of usage elsewhere. */
export interface EngineView extends LedgerView, ElsewhereReads {
  /** Usage elsewhere as the source has it now, that of kept days too, in no order. @throws {RatebookError} ERR_USAGE_UNAVAILABLE */
  sourceCells(query: ElsewhereQuery): Promise<readonly LedgerCell[]>;
  /** The usage of the ledger and that from elsewhere: a cell for each account, meter and day. @throws {RatebookError} ERR_USAGE_UNAVAILABLE */
  allUsage(query: AllUsageQuery): Promise<readonly LedgerCell[]>;
}

/** A store with such views. */
export interface EngineStore extends Omit<Store, "transact" | "read" | "together"> {
  /**
   * As that of a store. Where `work` needs usage from elsewhere, it is read outside of the transaction, so that nothing is locked
   * meanwhile, and `work` is run again: a source that cannot be read leaves everything as it was (S17.5).
   *
   * @param hand cells that were read ahead
   */
  transact<Result>(
    scope: Scope,
    work: (view: EngineView) => Promise<Decision<Result>>,
    hand?: CellsInHand,
  ): Promise<Result>;
  readonly read: EngineView;
  /** As that of a store, after the store has what the engine was told. Usage from elsewhere is read when it is asked for. */
  together(): Promise<EngineView>;
  /** Whether there is usage elsewhere. */
  readonly hasElsewhere: boolean;
  /** Reads usage elsewhere ahead, for transactions. @throws {RatebookError} ERR_USAGE_UNAVAILABLE */
  readAhead(query: ElsewhereQuery): Promise<CellsInHand | undefined>;
}

/** The options of an engine for usage elsewhere. */
interface EngineStoreOptions {
  readonly usage: UsageElsewhereOptions | undefined;
  readonly told: Told;
  readonly clock: () => Instant;
}

/** More than any decision needs: each attempt has more in hand than the one before. */
const ATTEMPTS_MAX = 100;

/** Looks at a store with usage elsewhere; without any, at the store alone. */
export function engineStoreOf(store: Store, { usage, told, clock }: EngineStoreOptions): EngineStore {
  const recorded = onceRecorded(told, clock);
  return usage === undefined ? storeAlone(store, recorded) : storeWithElsewhere(store, recorded, usage);
}

type Recorded = ReturnType<typeof onceRecorded>;

function storeAlone(store: Store, recorded: Recorded): EngineStore {
  const read = ledgerAlone(store.read);
  return {
    name: store.name,
    read,
    async together() {
      if (recorded !== undefined) await recorded(store);
      return ledgerAlone(store.together());
    },
    async transact(scope, work) {
      if (recorded !== undefined) await recorded(store);
      // A store in memory has one view for all.
      return store.transact(scope, (view) => work(view === store.read ? read : ledgerAlone(view)));
    },
    hasElsewhere: false,
    async readAhead({ catalog }) {
      expectServed(catalog, []);
      return undefined;
    },
    close: () => store.close(),
  };
}

function storeWithElsewhere(store: Store, recorded: Recorded, usage: UsageElsewhereOptions): EngineStore {
  const cellsOf = async (hand: CellsInHand, need: CellNeed): Promise<readonly LedgerCell[]> => {
    await hand.read(need);
    return hand.find(need) ?? [];
  };
  return {
    name: store.name,
    read: withElsewhere(store.read, usage, (need) => cellsOf(emptyHand(usage), need)),
    async together() {
      if (recorded !== undefined) await recorded(store);
      return withElsewhere(store.together(), usage, (need) => cellsOf(emptyHand(usage), need));
    },
    async transact(scope, work, hand = emptyHand(usage)) {
      if (recorded !== undefined) await recorded(store);
      const find = async (need: CellNeed): Promise<readonly LedgerCell[]> => {
        const found = hand.find(need);
        if (found === undefined) throw new CellsNeeded(need);
        return found;
      };
      for (let attempt = 1; ; attempt++) {
        try {
          return await store.transact(scope, (view) => work(withElsewhere(view, usage, find)));
        } catch (error) {
          if (!(error instanceof CellsNeeded)) throw error;
          invariant(attempt < ATTEMPTS_MAX, "S17.4: a decision needs usage of a few accounts, days and instants");
          await hand.read(error.need);
        }
      }
    },
    hasElsewhere: true,
    async readAhead(query) {
      const hand = emptyHand(usage);
      await hand.read(needOf(query, usage));
      return hand;
    },
    close: () => store.close(),
  };
}

/** The cells to ask a source for. @throws {RatebookError} ERR_USAGE_UNAVAILABLE where events live elsewhere and no source has them */
function needOf({ catalog, records, from, upTo }: ElsewhereQuery, { schemas }: UsageElsewhereOptions): CellNeed {
  expectServed(catalog, schemas);
  const byId = new Map(records.map((record) => [record.id, record]));
  const idHeldUntil = (accountId: string, at: Instant): Instant => {
    const record = byId.get(accountId);
    const openUntil = record === undefined ? undefined : planOf(catalog, record).clock.periodAt(at).openUntil;
    return Math.max(at + catalog.options.idMemoryMs, openUntil ?? at);
  };
  return { book: catalog.book, accounts: usageAccountsOf(records), from, upTo, idHeldUntil };
}

/** The view of an engine whose events are all in the ledger: what another engine, or an earlier one, kept from elsewhere counts. */
function ledgerAlone(view: LedgerView): EngineView {
  return viewWith(view, {
    async usageElsewhere({ catalog }) {
      expectServed(catalog, []);
      return undefined;
    },
    sourceCells: async () => [],
    async allUsage({ catalog, accountIds, from, until }) {
      expectServed(catalog, []);
      const [cells, kept] = await Promise.all([
        view.usage(accountIds, from, until),
        view.keptUsage(accountIds, from, until),
      ]);
      const then = kept.flatMap(cellsOfKept).filter(({ day }) => day >= from && day < until);
      return then.length === 0 ? cells : sameCellsOnce([...cells, ...then]);
    },
  });
}

function withElsewhere(
  view: LedgerView,
  usage: UsageElsewhereOptions,
  find: (need: CellNeed) => Promise<readonly LedgerCell[]>,
): EngineView {
  const sourceCells: EngineView["sourceCells"] = async (query) => find(needOf(query, usage));
  const usageElsewhere = async (query: ElsewhereQuery): Promise<ElsewhereUsage> => {
    const ids = query.records.map(({ id }) => id);
    const kept = await view.keptUsage(ids, query.from, dayOf(query.upTo) + 1);
    const byId = byAccount(kept);
    const isKept = ({ accountId, day }: LedgerCell): boolean =>
      byId.get(accountId)?.some(({ from, until }) => from <= day && day < until) ?? false;
    const cells = await sourceCells(query);
    return { kept, open: byId.size === 0 ? cells : cells.filter((cell) => !isKept(cell)) };
  };
  const allUsage: EngineView["allUsage"] = async ({ catalog, accountIds, from, until, upTo }) => {
    const cells = await view.usage(accountIds, from, until);
    const records = await view.accounts(accountIds);
    const { kept, open } = await usageElsewhere({ catalog, records, from, upTo });
    const elsewhere = [...open, ...kept.flatMap(cellsOfKept)].filter(({ day }) => day >= from && day < until);
    return elsewhere.length === 0 ? cells : sameCellsOnce([...cells, ...elsewhere]);
  };
  return viewWith(view, { sourceCells, usageElsewhere, allUsage });
}

/** A view with more to it. An adapter's view may be of any class, so its own methods are called on it. */
function viewWith(view: LedgerView, more: Omit<EngineView, keyof LedgerView>): EngineView {
  const methods = new Map<string | symbol, unknown>();
  return new Proxy(view, {
    get(target, name) {
      const known = methods.get(name);
      if (known !== undefined) return known;
      const own: unknown = Reflect.get(Object.hasOwn(more, name) ? more : target, name);
      if (typeof own !== "function") return own;
      const method = (own as () => unknown).bind(target);
      methods.set(name, method);
      return method;
    },
  }) as EngineView;
}
