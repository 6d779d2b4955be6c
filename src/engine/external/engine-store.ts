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
import type { ExternalUsageQuery, ExternalUsageReads } from "../../ledger/external-usage.ts";
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

/** Reads usage, ingested and external. */
export interface UsageReads extends ExternalUsageReads {
  /** The source's current usage, including billed days, unordered. @throws {RatebookError} ERR_USAGE_UNAVAILABLE */
  sourceCells(query: ExternalUsageQuery): Promise<readonly LedgerCell[]>;
  /** Ledger and external usage: one cell per account, meter and day. @throws {RatebookError} ERR_USAGE_UNAVAILABLE */
  allUsage(view: LedgerView, query: AllUsageQuery): Promise<readonly LedgerCell[]>;
}

/** Where an operation reads: the store, and usage. */
export interface EngineReads {
  readonly view: LedgerView;
  readonly usage: UsageReads;
}

/** A store, and the external usage beside it. */
export interface EngineStore extends Omit<Store, "transact" | "consistentView"> {
  /**
   * Like that of a store. If `work` needs external usage, it is read outside of the transaction, without locks, and
   * `work` is run again. A source that cannot be read leaves everything unchanged (S17.5).
   *
   * @param prefetched cells read ahead
   */
  transact<Result>(
    scope: Scope,
    work: (view: LedgerView, usage: UsageReads) => Promise<Decision<Result>>,
    prefetched?: PrefetchedUsage,
  ): Promise<Result>;
  /** Like that of a store, after the engine's external schemas are recorded. */
  consistentView(): Promise<LedgerView>;
  /** Usage outside of transactions: external usage is read on demand. */
  readonly usage: UsageReads;
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
export function createEngineStore(store: Store, { usage: options, sources, clock }: EngineStoreOptions): EngineStore {
  const recordSchemas = createExternalSchemaRecorder(sources, clock);
  return {
    name: store.name,
    read: store.read,
    usage: options === undefined ? LEDGER_USAGE : createUsageReads(options, (need) => readCells(options, need)),
    async consistentView() {
      if (recordSchemas !== undefined) await recordSchemas(store);
      return store.consistentView();
    },
    async transact(scope, work, prefetched) {
      if (recordSchemas !== undefined) await recordSchemas(store);
      return options === undefined
        ? store.transact(scope, (view) => work(view, LEDGER_USAGE))
        : transactWithSource(store, scope, work, options, prefetched ?? createPrefetchedUsage(options));
    },
    hasExternalUsage: options !== undefined,
    async readAhead(query) {
      if (options === undefined) return undefined;
      const prefetched = createPrefetchedUsage(options);
      await prefetched.read(toCellNeed(query, options));
      return prefetched;
    },
    close: () => store.close(),
  };
}

async function readCells(options: ExternalUsageOptions, need: CellNeed): Promise<readonly LedgerCell[]> {
  const cells = createPrefetchedUsage(options);
  await cells.read(need);
  return cells.find(need) ?? [];
}

/** Runs a transaction again with the cells that it needs, until it has all of them. */
async function transactWithSource<Result>(
  store: Store,
  scope: Scope,
  work: (view: LedgerView, usage: UsageReads) => Promise<Decision<Result>>,
  options: ExternalUsageOptions,
  prefetched: PrefetchedUsage,
): Promise<Result> {
  const usage = createUsageReads(options, async (need) => {
    const prefetchedCells = prefetched.find(need);
    if (prefetchedCells === undefined) throw new CellsNeeded(need);
    return prefetchedCells;
  });
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.transact(scope, (view) => work(view, usage));
    } catch (error) {
      if (!(error instanceof CellsNeeded)) throw error;
      invariant(attempt < ATTEMPTS_MAX, "S17.4: a decision needs usage of a few accounts, days and instants");
      await prefetched.read(error.need);
    }
  }
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

/** The usage of an engine without a source: billed usage stored by other or earlier engines is included. */
const LEDGER_USAGE: UsageReads = {
  async externalUsage(_view, { catalog }) {
    expectServed(catalog, []);
    return undefined;
  },
  sourceCells: async () => [],
  async allUsage(view, { catalog, accountIds, from, until }) {
    expectServed(catalog, []);
    const [cells, billedUsage] = await Promise.all([
      view.usage(accountIds, from, until),
      view.keptUsage(accountIds, from, until),
    ]);
    const billedCellsInRange = billedUsage.flatMap(billedCells).filter(({ day }) => day >= from && day < until);
    return billedCellsInRange.length === 0 ? cells : mergeCells([...cells, ...billedCellsInRange]);
  },
};

function createUsageReads(
  options: ExternalUsageOptions,
  find: (need: CellNeed) => Promise<readonly LedgerCell[]>,
): UsageReads {
  const reads: UsageReads = {
    sourceCells: async (query) => find(toCellNeed(query, options)),
    async externalUsage(view, query) {
      const ids = query.records.map(({ id }) => id);
      const billed = await view.keptUsage(ids, query.from, dayOf(query.upTo) + 1);
      const byId = groupByAccount(billed);
      const isBilled = ({ accountId, day }: LedgerCell): boolean =>
        byId.get(accountId)?.some(({ from, until }) => from <= day && day < until) ?? false;
      const cells = await reads.sourceCells(query);
      return { billed, open: byId.size === 0 ? cells : cells.filter((cell) => !isBilled(cell)) };
    },
    async allUsage(view, { catalog, accountIds, from, until, upTo }) {
      const cells = await view.usage(accountIds, from, until);
      const records = await view.accounts(accountIds);
      const external = await reads.externalUsage(view, { catalog, records, from, upTo });
      const externalCells = [...(external?.open ?? []), ...(external?.billed ?? []).flatMap(billedCells)];
      const cellsInRange = externalCells.filter(({ day }) => day >= from && day < until);
      return cellsInRange.length === 0 ? cells : mergeCells([...cells, ...cellsInRange]);
    },
  };
  return reads;
}
