/**
 * Meters the rows of a usage request that are not plain, for the requested accounts (S17.2, S17.3).
 *
 * @module
 */
import type { Account, Customer } from "../../book/resources/account.ts";
import type { Book } from "../../book/resources/book.ts";
import { type Day, type Instant, tryParseInstant, startOfDay } from "../../calendar/instant.ts";
import type { EventSink } from "../../event-files/event-sink.ts";
import { rememberIds, type SeenIds } from "../../ledger/preview/accepted-id-set.ts";
import { startEventRun } from "../../ledger/preview/preview-run.ts";
import type { CellQuery } from "../../ledger/usage-source.ts";
import type { UsageCell } from "../../metering/usage.ts";

/** The file names of rows of the requested days, and of earlier rows, which are read only for their ids. */
export const [REQUESTED_ROWS, EARLIER_ROWS] = ["requested", "earlier"] as const;

/** A usage request in progress. */
interface UsageRequest {
  /** A book with the requested schemas and accounts. */
  readonly book: Book;
  /** Receives rows whose file is {@link REQUESTED_ROWS} or {@link EARLIER_ROWS}. */
  readonly sink: EventSink;
  /** The cells so far, in the order of the accounts. */
  readonly iterateCells: () => Iterable<readonly UsageCell[]>;
}

/**
 * Starts a request. The first row with an id counts, per account and as long as S14.1 remembers the id, so that the
 * result for an account doesn't depend on which others are requested.
 *
 * @param dedupes whether ids are remembered
 */
export function startUsageRequest(query: CellQuery, dedupes: boolean): UsageRequest {
  const book = createRequestBook(query);
  const acceptedIds = createIdsByAccount(query);
  const run = startEventRun(book, { ids: dedupes ? acceptedIds.ids : undefined });
  const isRowOf = (file: string, at: Instant): boolean =>
    at <= query.upTo && (file === EARLIER_ROWS ? at < startOfDay(query.from) : at >= startOfDay(query.from));
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
    *iterateCells() {
      for (const { id } of query.accounts) {
        const cells = [...run.usage.cellsOf(id)].filter(({ day }) => day >= query.from && day < query.until);
        if (cells.length > 0) yield cells;
      }
    },
  };
}

/** The earliest day whose event ids may still be remembered when a later day begins. */
export function findFirstIdDay({ accounts, idHeldUntil }: Pick<CellQuery, "accounts" | "idHeldUntil">, day: Day): Day {
  const at = startOfDay(day);
  let first = day;
  for (const { id } of accounts) while (first > 0 && idHeldUntil(id, startOfDay(first) - 1) > at) first--;
  return first;
}

/** Event ids by account. */
function createIdsByAccount({ accounts, idHeldUntil }: CellQuery): {
  readonly ids: SeenIds;
  /** Sets the account of the next event, by index. */
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

/** A book with the requested schemas and accounts, without plans. */
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
