/**
 * A store that combines external usage with that of the ledger (S17.4).
 *
 * @module
 */
import { type Day, dayOf, type Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import { findAccountPlan } from "../../ledger/account/account-plan.ts";
import { billedCells } from "../../ledger/billed-usage.ts";
import { mergeCells } from "../../ledger/cell-sums.ts";
import type { Decision } from "../../ledger/decision.ts";
import type { ExternalUsageQuery, ExternalUsageReads, ExternalUsage } from "../../ledger/external-usage.ts";
import { groupByAccount } from "../../ledger/reads.ts";
import type { LedgerCell } from "../../ledger/records.ts";
import { usageAccountsOf } from "../../ledger/usage-source.ts";
import type { LedgerView } from "../../ledger/view.ts";
import type { Scope, Store } from "../../store/store.ts";
import { expectServed, createExternalSchemaRecorder, type ExternalSchemas } from "./external-schemas.ts";
import {
  type CellNeed,
  type PrefetchedUsage,
  CellsNeeded,
  createPrefetchedUsage,
  type ExternalUsageOptions,
} from "./source-cells.ts";

/** A query for usage, ingested or external. */
export interface AllUsageQuery {
  readonly catalog: ExternalUsageQuery["catalog"];
  readonly accountIds: readonly string[];
  /** Days `[from, until)`. */
  readonly from: Day;
  readonly until: Day;
  /** External usage dated after this instant is excluded. */
  readonly upTo: Instant;
}

/** A view of a store that includes external usage. */
export interface EngineView extends LedgerView, ExternalUsageReads {
  /** The source's current usage, including billed days, unordered. @throws {RatebookError} ERR_USAGE_UNAVAILABLE */
  sourceCells(query: ExternalUsageQuery): Promise<readonly LedgerCell[]>;
  /** Ledger and external usage: one cell per account, meter and day. @throws {RatebookError} ERR_USAGE_UNAVAILABLE */
  allUsage(query: AllUsageQuery): Promise<readonly LedgerCell[]>;
}

/** A store with such views. */
export interface EngineStore extends Omit<Store, "transact" | "read" | "consistentView"> {
  /**
   * Like that of a store. If `work` needs external usage, it is read outside of the transaction, without locks, and
   * `work` is run again. A source that cannot be read leaves everything unchanged (S17.5).
   *
   * @param prefetched cells read ahead
   */
  transact<Result>(
    scope: Scope,
    work: (view: EngineView) => Promise<Decision<Result>>,
    prefetched?: PrefetchedUsage,
  ): Promise<Result>;
  readonly read: EngineView;
  /** Like that of a store, after the engine's external schemas are recorded. External usage is read on demand. */
  consistentView(): Promise<EngineView>;
  /** Whether there is external usage. */
  readonly hasExternalUsage: boolean;
  /** Prefetches external usage for transactions. @throws {RatebookError} ERR_USAGE_UNAVAILABLE */
  readAhead(query: ExternalUsageQuery): Promise<PrefetchedUsage | undefined>;
}

/** The options of an engine for external usage. */
interface EngineStoreOptions {
  readonly usage: ExternalUsageOptions | undefined;
  readonly sources: ExternalSchemas;
  readonly clock: () => Instant;
}

/** More than any decision needs: each attempt has more prefetched cells than the previous one. */
const ATTEMPTS_MAX = 100;

/** Wraps a store with external usage; without any, the store alone. */
export function createEngineStore(store: Store, { usage, sources, clock }: EngineStoreOptions): EngineStore {
  const schemasAtStart = createExternalSchemaRecorder(sources, clock);
  return usage === undefined ? storeAlone(store, schemasAtStart) : storeWithExternalUsage(store, schemasAtStart, usage);
}

type Recorded = ReturnType<typeof createExternalSchemaRecorder>;

function storeAlone(store: Store, schemasAtStart: Recorded): EngineStore {
  const read = ledgerOnlyView(store.read);
  return {
    name: store.name,
    read,
    async consistentView() {
      if (schemasAtStart !== undefined) await schemasAtStart(store);
      return ledgerOnlyView(store.consistentView());
    },
    async transact(scope, work) {
      if (schemasAtStart !== undefined) await schemasAtStart(store);
      // A store in memory has one view for all.
      return store.transact(scope, (view) => work(view === store.read ? read : ledgerOnlyView(view)));
    },
    hasExternalUsage: false,
    async readAhead({ catalog }) {
      expectServed(catalog, []);
      return undefined;
    },
    close: () => store.close(),
  };
}

function storeWithExternalUsage(store: Store, schemasAtStart: Recorded, usage: ExternalUsageOptions): EngineStore {
  const cellsOf = async (prefetched: PrefetchedUsage, need: CellNeed): Promise<readonly LedgerCell[]> => {
    await prefetched.read(need);
    return prefetched.find(need) ?? [];
  };
  return {
    name: store.name,
    read: withExternalUsage(store.read, usage, (need) => cellsOf(createPrefetchedUsage(usage), need)),
    async consistentView() {
      if (schemasAtStart !== undefined) await schemasAtStart(store);
      return withExternalUsage(store.consistentView(), usage, (need) => cellsOf(createPrefetchedUsage(usage), need));
    },
    async transact(scope, work, prefetched = createPrefetchedUsage(usage)) {
      if (schemasAtStart !== undefined) await schemasAtStart(store);
      const find = async (need: CellNeed): Promise<readonly LedgerCell[]> => {
        const found = prefetched.find(need);
        if (found === undefined) throw new CellsNeeded(need);
        return found;
      };
      for (let attempt = 1; ; attempt++) {
        try {
          return await store.transact(scope, (view) => work(withExternalUsage(view, usage, find)));
        } catch (error) {
          if (!(error instanceof CellsNeeded)) throw error;
          invariant(attempt < ATTEMPTS_MAX, "S17.4: a decision needs usage of a few accounts, days and instants");
          await prefetched.read(error.need);
        }
      }
    },
    hasExternalUsage: true,
    async readAhead(query) {
      const prefetched = createPrefetchedUsage(usage);
      await prefetched.read(toCellNeed(query, usage));
      return prefetched;
    },
    close: () => store.close(),
  };
}

/** The cells to request from a source. @throws {RatebookError} ERR_USAGE_UNAVAILABLE for external schemas without a source */
function toCellNeed({ catalog, records, from, upTo }: ExternalUsageQuery, { schemas }: ExternalUsageOptions): CellNeed {
  expectServed(catalog, schemas);
  const byId = new Map(records.map((record) => [record.id, record]));
  const idHeldUntil = (accountId: string, at: Instant): Instant => {
    const record = byId.get(accountId);
    const openUntil = record === undefined ? undefined : findAccountPlan(catalog, record).clock.periodAt(at).openUntil;
    return Math.max(at + catalog.options.idMemoryMs, openUntil ?? at);
  };
  return { book: catalog.book, accounts: usageAccountsOf(records), from, upTo, idHeldUntil };
}

/** The view of an engine without external usage: billed usage stored by other or earlier engines is included. */
function ledgerOnlyView(view: LedgerView): EngineView {
  return extendView(view, {
    async externalUsage({ catalog }) {
      expectServed(catalog, []);
      return undefined;
    },
    sourceCells: async () => [],
    async allUsage({ catalog, accountIds, from, until }) {
      expectServed(catalog, []);
      const [cells, billedUsage] = await Promise.all([
        view.usage(accountIds, from, until),
        view.keptUsage(accountIds, from, until),
      ]);
      const billedCellsInRange = billedUsage.flatMap(billedCells).filter(({ day }) => day >= from && day < until);
      return billedCellsInRange.length === 0 ? cells : mergeCells([...cells, ...billedCellsInRange]);
    },
  });
}

function withExternalUsage(
  view: LedgerView,
  usage: ExternalUsageOptions,
  find: (need: CellNeed) => Promise<readonly LedgerCell[]>,
): EngineView {
  const sourceCells: EngineView["sourceCells"] = async (query) => find(toCellNeed(query, usage));
  const externalUsage = async (query: ExternalUsageQuery): Promise<ExternalUsage> => {
    const ids = query.records.map(({ id }) => id);
    const billedUsage = await view.keptUsage(ids, query.from, dayOf(query.upTo) + 1);
    const byId = groupByAccount(billedUsage);
    const isBilled = ({ accountId, day }: LedgerCell): boolean =>
      byId.get(accountId)?.some(({ from, until }) => from <= day && day < until) ?? false;
    const cells = await sourceCells(query);
    return { billed: billedUsage, open: byId.size === 0 ? cells : cells.filter((cell) => !isBilled(cell)) };
  };
  const allUsage: EngineView["allUsage"] = async ({ catalog, accountIds, from, until, upTo }) => {
    const cells = await view.usage(accountIds, from, until);
    const records = await view.accounts(accountIds);
    const { billed: billedUsage, open } = await externalUsage({ catalog, records, from, upTo });
    const externalCells = [...open, ...billedUsage.flatMap(billedCells)].filter(
      ({ day }) => day >= from && day < until,
    );
    return externalCells.length === 0 ? cells : mergeCells([...cells, ...externalCells]);
  };
  return extendView(view, { sourceCells, externalUsage, allUsage });
}

/** Extends a view. An adapter's view may be of any class, so its methods are called on the original object. */
function extendView(view: LedgerView, more: Omit<EngineView, keyof LedgerView>): EngineView {
  const methods = new Map<string | symbol, unknown>();
  return new Proxy(view, {
    get(target, name) {
      const known = methods.get(name);
      if (known !== undefined) return known;
      const member: unknown = Reflect.get(Object.hasOwn(more, name) ? more : target, name);
      if (typeof member !== "function") return member;
      const method = (member as () => unknown).bind(target);
      methods.set(name, method);
      return method;
    },
  }) as EngineView;
}
