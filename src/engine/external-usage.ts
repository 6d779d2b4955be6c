/**
 * The external usage of an engine: its event schemas, recorded in the store for all engines, its source, and cells
 * prefetched from the source for the duration of an operation (S17.4, S17.5).
 */
import type { Book } from "../book/resources/book.ts";
import { GROUPS_MAX, findGroupLimit, hasKeys } from "../book/resources/event-schema.ts";
import {
  type Instant,
  type Day,
  dayOf,
  formatDate,
  INSTANT_END,
  INSTANT_MIN,
  instantOfDay,
} from "../calendar/instant.ts";
import { RatebookError, hasCode } from "../errors.ts";
import { listUsage, mergeCells } from "../ledger/account-usage.ts";
import { findAccountPlan } from "../ledger/account/account-plan.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { usageAccountsOf, type UsageSource, usageUnavailableError } from "../ledger/external-usage.ts";
import { type ExternalUsageQuery, prefetch } from "../ledger/reads.ts";
import type { LedgerCell } from "../ledger/records.ts";
import type { LedgerView } from "../ledger/view.ts";
import { type AccountParts } from "../ledger/working-records.ts";
import type { UsageCell } from "../metering/usage.ts";
import { stringifyJson } from "../numbers/json.ts";
import { quoteText } from "../problem-table.ts";
import type { Store } from "../store/store.ts";
import { revisionAfter } from "./documents.ts";

/** One document per schema, by its name. */
const KIND = "usageElsewhere";

/** The schemas that any engine over the store declared external. */
export async function readExternalSchemas(view: Pick<LedgerView, "allDocuments">): Promise<readonly string[]> {
  return (await view.allDocuments(KIND)).map(({ id }) => id);
}

/** The engine options about external schemas. */
export interface ExternalSchemas {
  /** Schemas with external usage. */
  readonly external: readonly string[];
  /** Schemas that were external and are ingested from now on. */
  readonly resumeIngest: readonly string[];
}

async function recordExternalSchemas(
  store: Store,
  { external, resumeIngest }: ExternalSchemas,
  clock: () => Instant,
): Promise<void> {
  const findChanges = async (view: LedgerView): Promise<readonly [string[], string[]]> => {
    const recordedNames = new Set(await readExternalSchemas(view));
    return [
      [...new Set(external)].filter((name) => !recordedNames.has(name)),
      [...new Set(resumeIngest)].filter((name) => recordedNames.has(name)),
    ];
  };
  if ((await findChanges(store.read)).every((names) => names.length === 0)) return;
  await store.transact({ configuration: "exclusive", accountIds: [], eventIds: [] }, async (view) => {
    const [added, removed] = await findChanges(view);
    const at = clock();
    const documents = added.map((id) => ({ kind: KIND, id, createdAt: at, updatedAt: at, body: {} }) as const);
    const removedDocuments = removed.map((id) => ({ kind: KIND, id }) as const);
    const configurationRevision = revisionAfter(await view.configurationRevision());
    return { result: undefined, changes: { documents, removedDocuments, configurationRevision } };
  });
}

/**
 * Checks that the engine's source has the usage of every external schema.
 *
 * @param sourceSchemas the schemas that the source has
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE for the first other one
 */
export function checkUsageSource(
  { book, options }: Pick<Catalog, "book" | "options">,
  sourceSchemas: readonly string[],
): void {
  const { externalSchemas } = options;
  if (externalSchemas.length === 0) return;
  const missingSchema = book.eventSchemas.find(
    ({ name }) => externalSchemas.includes(name) && !sourceSchemas.includes(name),
  );
  if (missingSchema === undefined) return;
  const subject = `usage of the event schema ${quoteText(missingSchema.name)} is external`;
  const cure = "start it with the option usage (--usage and --usage-schemas on the command line)";
  const message = `${subject}, and this engine has no source for it; ${cure}`;
  throw new RatebookError("ERR_USAGE_UNAVAILABLE", message, {});
}

/** External usage of some event schemas. */
export interface ExternalUsageOptions {
  /** The names of the event schemas; ingest rejects their events (S17.4). None of them may consume a feature. */
  readonly schemas: readonly string[];
  /** Reads their usage; the caller closes it. */
  readonly source: UsageSource;
}

/** Cells of a source in memory, for the duration of an operation. */
export interface PrefetchedUsage {
  /** The source's current usage, including billed days, unordered; undefined if it must be read first. */
  find(query: ExternalUsageQuery): readonly LedgerCell[] | undefined;
  /** Reads cells. @throws {RatebookError} ERR_USAGE_UNAVAILABLE; then none of them is prefetched */
  read(query: ExternalUsageQuery): Promise<void>;
}

interface PrefetchedAccount {
  readonly book: Book;
  readonly from: Day;
  readonly upTo: Instant;
  readonly cells: readonly LedgerCell[];
}

/** Maximum number of accounts per query: a source may write their names into an SQL statement. */
const ACCOUNTS_MAX = 2_000;

/** Creates an empty prefetch. */
function createPrefetchedUsage({ schemas, source }: ExternalUsageOptions): PrefetchedUsage {
  const accounts = new Map<string, PrefetchedAccount>();
  let lastBook: Book | undefined;
  // A transaction that changes the configuration creates its book again in each attempt, so equal books count as one.
  const reuseEquivalentBook = (book: Book): Book =>
    lastBook !== undefined && haveSameMetering(lastBook, book) ? lastBook : (lastBook = book);
  return {
    find(query) {
      checkUsageSource(query.catalog, schemas);
      const cells: LedgerCell[] = [];
      const book = reuseEquivalentBook(query.catalog.book);
      for (const { id } of query.records) {
        const account = accounts.get(id);
        if (account === undefined || !satisfiesQuery(account, query, book)) return undefined;
        for (const cell of account.cells) if (cell.day >= query.from) cells.push(cell);
      }
      return cells;
    },
    async read(query) {
      const { catalog, records, upTo } = query;
      const { book } = catalog;
      checkUsageSource(catalog, schemas);
      const requests = usageAccountsOf(records);
      // Cells that one part of a decision needed are kept when another part needs more.
      const from = Math.min(query.from, ...requests.map(({ id }) => accounts.get(id)?.from ?? query.from));
      const cellsByAccount = new Map<string, LedgerCell[]>(requests.map(({ id }) => [id, []]));
      // Other schemas may be created later.
      const existing = new Set(book.eventSchemas.map(({ name }) => name));
      const knownSchemas = [...new Set(schemas)].filter((name) => existing.has(name));
      const meters = metersOfSchemas(book, knownSchemas);
      const until = dayOf(upTo) + 1;
      const request = { book, schemas: knownSchemas, from, until, upTo, idHeldUntil: createIdHold(query) };
      const queriedAccounts = meters.size === 0 || from >= until ? [] : requests;
      for (let start = 0; start < queriedAccounts.length; start += ACCOUNTS_MAX) {
        const part = queriedAccounts.slice(start, start + ACCOUNTS_MAX);
        try {
          for await (const cells of source.cells({ ...request, accounts: part })) {
            for (const cell of cells)
              cellsByAccount.get(cell.accountId)?.push(requireRequestedCell(cell, meters, from, until));
          }
        } catch (error) {
          throw hasCode(error, "ERR_USAGE_UNAVAILABLE") ? error : usageUnavailableError(source.name, error);
        }
      }
      for (const cells of cellsByAccount.values()) checkGroupCounts(source.name, cells, book);
      const extent = { book: reuseEquivalentBook(book), from, upTo };
      for (const [id, cells] of cellsByAccount) accounts.set(id, { ...extent, cells });
    },
  };
}

/** Whether two books meter rows equally. */
function haveSameMetering(one: Book, other: Book): boolean {
  const [a, b] = [one, other].map(({ eventSchemas, usageMeters, settings }) => [eventSchemas, usageMeters, settings]);
  return one === other || stringifyJson(a) === stringifyJson(b);
}

function metersOfSchemas({ usageMeters }: Book, schemas: readonly string[]): ReadonlySet<string> {
  return new Set(usageMeters.flatMap(({ id, eventSchemaName }) => (schemas.includes(eventSchemaName) ? [id] : [])));
}

/** Rejects a source that returns cells outside the query. */
function requireRequestedCell(
  { meterId, ...cell }: UsageCell,
  meters: ReadonlySet<string>,
  from: Day,
  until: Day,
): LedgerCell {
  if (!meters.has(meterId))
    throw new TypeError(`it returned usage of the meter ${quoteText(meterId)}, which was not requested`);
  const { day } = cell;
  if (!Number.isSafeInteger(day) || day < from || day >= until)
    throw new TypeError(`it returned usage of ${describeDay(day)}, which was not requested`);
  return { meterOrFeatureId: meterId, ...cell };
}

/** Rejects usage of too many groups of a meter in an account on a day (S18.1). @throws {RatebookError} ERR_USAGE_UNAVAILABLE */
function checkGroupCounts(sourceName: string, cells: readonly LedgerCell[], { usageMeters }: Book): void {
  const counts = new Map<string, number>();
  for (const { accountId, meterOrFeatureId, day } of mergeCells(cells.filter(({ group }) => group !== undefined))) {
    const key = `${day} ${meterOrFeatureId}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count <= GROUPS_MAX) continue;
    const meter = usageMeters.find(({ id }) => id === meterOrFeatureId);
    if (meter === undefined || count <= findGroupLimit(meter)) continue;
    const groups = `more than ${findGroupLimit(meter)} ${hasKeys(meter) ? "values" : "groups"}`;
    const of = `of the meter ${quoteText(meterOrFeatureId)} on ${describeDay(day)}`;
    throw usageUnavailableError(sourceName, new Error(`the account ${quoteText(accountId)} has ${groups} ${of}`));
  }
}

/** A day in a message: its date or, if it is not a day of the calendar, the number. */
function describeDay(day: number): string {
  const isCalendarDay = Number.isSafeInteger(day) && day >= dayOf(INSTANT_MIN) && day < dayOf(INSTANT_END);
  return isCalendarDay ? formatDate(instantOfDay(day)) : `the day ${day}`;
}

/** Returns a function for until when an event of an account reserves its id (S14.1). */
function createIdHold({ catalog, records }: ExternalUsageQuery): (accountId: string, at: Instant) => Instant {
  const byId = new Map(records.map((record) => [record.id, record]));
  return (accountId, at) => {
    const record = byId.get(accountId);
    const openUntil = record === undefined ? undefined : findAccountPlan(catalog, record).lookup.periodAt(at).openUntil;
    return Math.max(at + catalog.options.idMemoryMs, openUntil ?? at);
  };
}

/**
 * Whether prefetched cells satisfy a query. A retried decision asks a moment later: usage that arrived meanwhile is
 * included next time, unless a new day has begun, because a cycle may have ended.
 */
function satisfiesQuery(account: PrefetchedAccount, query: ExternalUsageQuery, book: Book): boolean {
  const { from, upTo } = account;
  if (account.book !== book || from > query.from) return false;
  return upTo === query.upTo || (upTo < query.upTo && dayOf(upTo) === dayOf(query.upTo));
}

/** A query for usage, ingested or external. */
interface UsageRange extends ExternalUsageQuery {
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

/** Adds external usage to a store, if there is any. */
export function createEngineStore(
  store: Store,
  {
    usage,
    sources,
    clock,
  }: { usage: ExternalUsageOptions | undefined; sources: ExternalSchemas; clock: () => Instant },
): EngineStore {
  const hasSources = sources.external.length > 0 || sources.resumeIngest.length > 0;
  let runningCommit: Promise<void> | undefined;
  /** Records the external schemas, once, before anything else changes. */
  const recordSchemas = async (): Promise<void> => {
    runningCommit ??= recordExternalSchemas(store, sources, clock);
    try {
      await runningCommit;
    } catch (error) {
      runningCommit = undefined;
      throw error;
    }
  };
  return {
    name: store.name,
    read: store.read,
    async consistentView() {
      if (hasSources) await recordSchemas();
      return store.consistentView();
    },
    async transact(scope, work) {
      if (hasSources) await recordSchemas();
      return store.transact(scope, work);
    },
    createPrefetch: () => usage && createPrefetchedUsage(usage),
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
