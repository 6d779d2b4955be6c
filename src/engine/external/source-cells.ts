/**
 * Cells that were read of a source, as long as an operation needs them.
 *
 * @module
 */
import type { Book } from "../../book/model/book.ts";
import { type Day, dayOf, formatInstant, type Instant } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import type { LedgerCell } from "../../ledger/records.ts";
import { quoteText } from "../../ledger/refusals.ts";
import { type CellQuery, type UsageAccount, type UsageSource, usageUnavailable } from "../../ledger/usage-source.ts";
import type { UsageCell } from "../../metering/usage.ts";
import { stringifyJson } from "../../numbers/json.ts";

/** Where the events of some schemas live. */
export interface ExternalUsageOptions {
  /** The names of the event schemas; events of these are refused by ingest (S17.4). None of them may consume a feature. */
  readonly schemas: readonly string[];
  /** Reads their usage; whoever made it closes it. */
  readonly source: UsageSource;
}

/** Cells that are needed. */
export interface CellNeed {
  readonly book: Book;
  readonly accounts: readonly UsageAccount[];
  readonly from: Day;
  readonly upTo: Instant;
  readonly idHeldUntil: CellQuery["idHeldUntil"];
}

/** Cells of a source in memory. */
export interface PrefetchedUsage {
  /** The cells of all accounts that are needed; undefined where some of them are not in hand. */
  find(need: CellNeed): readonly LedgerCell[] | undefined;
  /** Reads cells. @throws {RatebookError} ERR_USAGE_UNAVAILABLE; nothing is in hand of it then */
  read(need: CellNeed): Promise<void>;
}

interface PrefetchedAccount {
  readonly book: Book;
  readonly from: Day;
  readonly upTo: Instant;
  readonly cells: readonly LedgerCell[];
}

/** Most accounts of one question: a source may write their names into a statement. */
const ACCOUNTS_MAX = 2_000;

/** Nothing in hand yet. */
export function createPrefetchedUsage({ schemas, source }: ExternalUsageOptions): PrefetchedUsage {
  const accounts = new Map<string, PrefetchedAccount>();
  let last: Book | undefined;
  // A transaction that changes the configuration makes its book again with each attempt.
  const reuseEquivalentBook = (book: Book): Book =>
    last !== undefined && isMeteredAlike(last, book) ? last : (last = book);
  return {
    find(need) {
      const found: LedgerCell[] = [];
      const request = { ...need, book: reuseEquivalentBook(need.book) };
      for (const { id } of need.accounts) {
        const inHand = accounts.get(id);
        if (inHand === undefined || !answersNeed(inHand, request)) return undefined;
        for (const cell of inHand.cells) if (cell.day >= need.from) found.push(cell);
      }
      return found;
    },
    async read({ book, accounts: requests, from: first, upTo, idHeldUntil }) {
      // Cells that one part of a decision needed are kept when another part needs more.
      const from = Math.min(first, ...requests.map(({ id }) => accounts.get(id)?.from ?? first));
      const own = new Map<string, LedgerCell[]>(requests.map(({ id }) => [id, []]));
      const defined = schemasIn(book, schemas);
      const until = dayOf(upTo) + 1;
      const meters = metersOfSchemas(book, defined);
      const isNothing = meters.size === 0 || from >= until;
      for (const part of isNothing ? [] : splitAccounts(requests)) {
        try {
          const days = { from, until, upTo };
          for await (const cells of source.cells({ book, schemas: defined, accounts: part, ...days, idHeldUntil })) {
            for (const cell of cells) own.get(cell.accountId)?.push(requireRequestedCell(cell, meters, from, until));
          }
        } catch (error) {
          throw hasCode(error, "ERR_USAGE_UNAVAILABLE") ? error : usageUnavailable(source.name, error);
        }
      }
      const read = { book: reuseEquivalentBook(book), from, upTo };
      for (const [id, cells] of own) accounts.set(id, { ...read, cells });
    },
  };
}

/** Whether rows are metered alike by two books. */
function isMeteredAlike(one: Book, other: Book): boolean {
  const [a, b] = [one, other].map(({ eventSchemas, usageMeters, settings }) => [eventSchemas, usageMeters, settings]);
  return one === other || stringifyJson(a) === stringifyJson(b);
}

function* splitAccounts(accounts: readonly UsageAccount[]): Iterable<readonly UsageAccount[]> {
  for (let start = 0; start < accounts.length; start += ACCOUNTS_MAX) yield accounts.slice(start, start + ACCOUNTS_MAX);
}

/** The schemas that are there: what is named may be made later. */
function schemasIn({ eventSchemas }: Book, names: readonly string[]): readonly string[] {
  const known = new Set(eventSchemas.map(({ name }) => name));
  return [...new Set(names)].filter((name) => known.has(name));
}

function metersOfSchemas({ usageMeters }: Book, schemas: readonly string[]): ReadonlySet<string> {
  return new Set(usageMeters.flatMap(({ id, eventSchemaName }) => (schemas.includes(eventSchemaName) ? [id] : [])));
}

/** A source that gives what it was not asked for is not trusted with the rest. */
function requireRequestedCell(
  { accountId, meterId, day, quantity }: UsageCell,
  meters: ReadonlySet<string>,
  from: Day,
  until: Day,
): LedgerCell {
  if (!meters.has(meterId))
    throw new TypeError(`it returned usage of the meter ${quoteText(meterId)}, which was not requested`);
  if (!Number.isSafeInteger(day) || day < from || day >= until)
    throw new TypeError(`it returned usage of ${day}, which was not requested`);
  return { accountId, meterOrFeatureId: meterId, day, quantity };
}

/**
 * Whether what was read answers what is needed now. A decision that is tried again asks a moment later: what arrived meanwhile comes
 * with the next one, unless a day has begun since, by which a cycle may have ended.
 */
function answersNeed({ book, from, upTo }: PrefetchedAccount, need: CellNeed): boolean {
  if (book !== need.book || from > need.from) return false;
  return upTo === need.upTo || (upTo < need.upTo && dayOf(upTo) === dayOf(need.upTo));
}

/** Thrown by a transaction that lacks these cells: they are read outside of it and of its locks, then it is tried again. */
export class CellsNeeded extends Error {
  override readonly name: string = "CellsNeeded";
  readonly need: CellNeed;

  constructor(need: CellNeed) {
    super(`usage up to ${formatInstant(need.upTo)} is needed`);
    this.need = need;
  }
}
