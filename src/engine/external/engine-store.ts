/**
 * The store of an engine, and the source of its external usage (S17.4).
 *
 * @module
 */
import type { Day, Instant } from "../../calendar/instant.ts";
import { type AccountParts, listUsage, mergeCells } from "../../ledger/account-parts.ts";
import { type ExternalUsageQuery, prefetch } from "../../ledger/reads.ts";
import type { LedgerCell } from "../../ledger/records.ts";
import type { LedgerView } from "../../ledger/view.ts";
import type { Store } from "../../store/store.ts";
import { checkUsageSource, createExternalSchemaRecorder, type ExternalSchemas } from "./external-schemas.ts";
import { type PrefetchedUsage, createPrefetchedUsage, type ExternalUsageOptions } from "./source-cells.ts";

/** A query for usage, ingested or external. */
export interface UsageRange extends ExternalUsageQuery {
  /** Exclusive. */
  readonly until: Day;
}

/** A store with external usage. */
export interface EngineStore extends Omit<Store, "consistentView"> {
  /** Like that of a store, after the engine's external schemas are recorded. */
  consistentView(): Promise<LedgerView>;
  /** Creates an empty prefetch of external usage; undefined if all events are ingested. */
  createPrefetch(): PrefetchedUsage | undefined;
}

/** The options of an engine for external usage. */
interface EngineStoreOptions {
  readonly usage: ExternalUsageOptions | undefined;
  readonly sources: ExternalSchemas;
  readonly clock: () => Instant;
}

/** Adds external usage to a store, if there is any. */
export function createEngineStore(store: Store, { usage: options, sources, clock }: EngineStoreOptions): EngineStore {
  const recordSchemas = createExternalSchemaRecorder(sources, clock);
  return {
    name: store.name,
    read: store.read,
    async consistentView() {
      if (recordSchemas !== undefined) await recordSchemas(store);
      return store.consistentView();
    },
    async transact(scope, work) {
      if (recordSchemas !== undefined) await recordSchemas(store);
      return store.transact(scope, work);
    },
    createPrefetch: () => (options === undefined ? undefined : createPrefetchedUsage(options)),
    close: () => store.close(),
  };
}

/**
 * Reads the source's current usage outside of transactions, including billed days, unordered.
 *
 * @returns undefined if all events are ingested
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE
 */
export async function readSource(
  store: Pick<EngineStore, "createPrefetch">,
  query: ExternalUsageQuery,
): Promise<readonly LedgerCell[] | undefined> {
  const prefetched = store.createPrefetch();
  if (prefetched === undefined) {
    checkUsageSource(query.catalog, []);
    return undefined;
  }
  await prefetched.read(query);
  return prefetched.find(query);
}

/**
 * Reads ledger and external usage outside of transactions: one cell per account, meter and day. Billed usage that other
 * or earlier engines stored is included.
 *
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE
 */
export async function readUsage(
  store: Pick<EngineStore, "createPrefetch">,
  view: LedgerView,
  query: UsageRange,
): Promise<readonly LedgerCell[]> {
  const cells = (await readSource(store, query)) ?? [];
  const ids = query.records.map(({ id }) => id);
  const usage = { ids, from: query.from, until: query.until };
  const readParts = await prefetch(view, { usage, externalUsage: query }, cells);
  return query.records.flatMap((record) => usageCells(readParts(record), query));
}

/** The usage of an account on the days `[from, until)`: one cell per meter and day. */
export function usageCells(
  parts: AccountParts,
  { from, until }: Pick<UsageRange, "from" | "until">,
): readonly LedgerCell[] {
  const all = listUsage(parts);
  return (all.length === parts.usage.length ? all : mergeCells(all)).filter(({ day }) => day >= from && day < until);
}
