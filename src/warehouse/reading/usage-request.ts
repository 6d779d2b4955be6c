/**
 * The core's part in a question for usage: rows that are not plain are decided by it, as those of the accounts that are asked for
 * (S17.2, S17.3).
 *
 * @module
 */
import type { Account, Customer } from "../../book/model/account.ts";
import type { Book } from "../../book/model/book.ts";
import { DAY_MS, type Day, type Instant, tryParseInstant } from "../../calendar/instant.ts";
import type { EventSink } from "../../event-files/event-sink.ts";
import { rememberIds, type SeenIds } from "../../ledger/preview/accepted-id-set.ts";
import { startEventRun } from "../../ledger/preview/preview-run.ts";
import type { CellQuery } from "../../ledger/usage-source.ts";
import type { UsageCell } from "../../metering/usage.ts";

/** Rows of the days that are asked for, and rows before them, of which only the ids matter. */
export const [REQUESTED, EARLIER] = ["asked", "earlier"] as const;

/** A question while its rows come. */
export interface UsageRequest {
  /** The configuration, with the schemas and the accounts that are asked for. */
  readonly book: Book;
  /** Takes rows whose file is {@link REQUESTED} or {@link EARLIER}. */
  readonly sink: EventSink;
  /** The cells so far, in the order of the accounts. */
  readonly readCells: () => Iterable<readonly UsageCell[]>;
}

/**
 * Starts to take rows. Of one id the first row of its account counts, as long as S14.1 remembers it: so what an account is answered
 * does not depend on which others are asked for with it.
 *
 * @param dedupes whether ids are remembered
 */
export function startUsageRequest(query: CellQuery, dedupes: boolean): UsageRequest {
  const book = createRequestBook(query);
  const acceptedIds = createIdsByAccount(query);
  const run = startEventRun(book, { ids: dedupes ? acceptedIds.ids : undefined });
  const isRowOf = (file: string, at: Instant): boolean =>
    at <= query.upTo && (file === EARLIER ? at < query.from * DAY_MS : at >= query.from * DAY_MS);
  return {
    book,
    sink: {
      onEvent(file, _line, event) {
        const { timestamp, accountId } = event as { readonly timestamp: string; readonly accountId: string };
        const at = tryParseInstant(timestamp);
        const account = run.accounts.find(accountId);
        if (at === undefined || account === undefined || !isRowOf(file, at)) return true;
        acceptedIds.selectAccount(account.index);
        run.add(event);
        return true;
      },
      onBadLine: () => true,
      findSlots: () => undefined,
      onFilledSlots: () => true,
      onCountedEvents: (events) => run.addCounted(events),
    },
    *readCells() {
      for (const { id } of query.accounts) {
        const cells = [...run.usage.cellsOf(id)].filter(({ day }) => day >= query.from && day < query.until);
        if (cells.length > 0) yield cells;
      }
    },
  };
}

/** The earliest day of which an event may hold its id when a later day begins. */
export function findFirstIdDay({ accounts, idHeldUntil }: Pick<CellQuery, "accounts" | "idHeldUntil">, day: Day): Day {
  const at = day * DAY_MS;
  let first = day;
  for (const { id } of accounts) while (first > 0 && idHeldUntil(id, first * DAY_MS - 1) > at) first--;
  return first;
}

/** Ids of events, each by its account. */
function createIdsByAccount({ accounts, idHeldUntil }: CellQuery): {
  readonly ids: SeenIds;
  /** Says whose event comes next, by the index of its account. */
  readonly selectAccount: (index: number) => void;
} {
  const idMemory = rememberIds();
  let index = 0;
  return {
    ids: {
      has: (id, at) => idMemory.has(`${index} ${id}`, at),
      admit: (id, at) => idMemory.admit(`${index} ${id}`, at, idHeldUntil(accounts[index]?.id ?? "", at)),
    },
    selectAccount(next) {
      index = next;
    },
  };
}

/** The configuration that decides rows of a question: the schemas and the accounts that are asked for, without plans. */
export function createRequestBook({ book, schemas, accounts }: CellQuery): Book {
  const schemaNames = new Set(schemas);
  return {
    ...book,
    eventSchemas: book.eventSchemas.filter(({ name }) => schemaNames.has(name)),
    usageMeters: book.usageMeters.filter(({ eventSchemaName }) => schemaNames.has(eventSchemaName)),
    invoiceGroups: [],
    customers: [...new Set(accounts.map(({ customerId }) => customerId))].map((id): Customer => ({
      id,
      name: id,
      status: "ACTIVE",
    })),
    accounts: accounts.map(({ id, aliases, customerId }): Account => ({
      id,
      name: id,
      customerId,
      status: "ACTIVE",
      invoiceCurrency: book.organization.baseCurrency,
      aliases,
      pricePlans: [],
      licenseUpdates: [],
      credits: [],
      featureCredits: [],
    })),
  };
}
