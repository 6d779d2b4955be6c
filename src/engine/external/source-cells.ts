/**
 * Cells prefetched from a source for the duration of an operation.
 *
 * @module
 */
import type { Book } from "../../book/resources/book.ts";
import {
  type Day,
  dayOf,
  formatDate,
  INSTANT_END,
  INSTANT_MIN,
  type Instant,
  startOfDay,
} from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import { findAccountPlan } from "../../ledger/account/account-plan.ts";
import type { ExternalUsageQuery } from "../../ledger/reads.ts";
import type { LedgerCell } from "../../ledger/records.ts";
import { quoteText } from "../../ledger/refusals.ts";
import {
  type UsageAccount,
  usageAccountsOf,
  type UsageSource,
  usageUnavailableError,
} from "../../ledger/usage-source.ts";
import type { UsageCell } from "../../metering/usage.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { checkUsageSource } from "./external-schemas.ts";

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
export function createPrefetchedUsage({ schemas, source }: ExternalUsageOptions): PrefetchedUsage {
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
      const idHeldUntil = createIdHold(query);
      const cellsByAccount = new Map<string, LedgerCell[]>(requests.map(({ id }) => [id, []]));
      const knownSchemas = listKnownSchemas(book, schemas);
      const until = dayOf(upTo) + 1;
      const meters = metersOfSchemas(book, knownSchemas);
      const isEmpty = meters.size === 0 || from >= until;
      for (const part of isEmpty ? [] : splitAccounts(requests)) {
        try {
          const days = { from, until, upTo };
          for await (const cells of source.cells({
            book,
            schemas: knownSchemas,
            accounts: part,
            ...days,
            idHeldUntil,
          })) {
            for (const cell of cells)
              cellsByAccount.get(cell.accountId)?.push(requireRequestedCell(cell, meters, from, until));
          }
        } catch (error) {
          throw hasCode(error, "ERR_USAGE_UNAVAILABLE") ? error : usageUnavailableError(source.name, error);
        }
      }
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

function* splitAccounts(accounts: readonly UsageAccount[]): Iterable<readonly UsageAccount[]> {
  for (let start = 0; start < accounts.length; start += ACCOUNTS_MAX) yield accounts.slice(start, start + ACCOUNTS_MAX);
}

/** The existing schemas; others may be created later. */
function listKnownSchemas({ eventSchemas }: Book, names: readonly string[]): readonly string[] {
  const knownNames = new Set(eventSchemas.map(({ name }) => name));
  return [...new Set(names)].filter((name) => knownNames.has(name));
}

function metersOfSchemas({ usageMeters }: Book, schemas: readonly string[]): ReadonlySet<string> {
  return new Set(usageMeters.flatMap(({ id, eventSchemaName }) => (schemas.includes(eventSchemaName) ? [id] : [])));
}

/** Rejects a source that returns cells outside the query. */
function requireRequestedCell(
  { accountId, meterId, day, quantity }: UsageCell,
  meters: ReadonlySet<string>,
  from: Day,
  until: Day,
): LedgerCell {
  if (!meters.has(meterId))
    throw new TypeError(`it returned usage of the meter ${quoteText(meterId)}, which was not requested`);
  if (!Number.isSafeInteger(day) || day < from || day >= until)
    throw new TypeError(`it returned usage of ${describeDay(day)}, which was not requested`);
  return { accountId, meterOrFeatureId: meterId, day, quantity };
}

/** A day in a message: its date or, if it is not a day of the calendar, the number. */
function describeDay(day: number): string {
  const isCalendarDay = Number.isSafeInteger(day) && day >= dayOf(INSTANT_MIN) && day < dayOf(INSTANT_END);
  return isCalendarDay ? formatDate(startOfDay(day)) : `the day ${day}`;
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
