/**
 * The core's results for the rows of an engine's accounts, and the answers of a source over a table of the same rows,
 * for comparison.
 */
import { expect } from "vitest";

import { readBook } from "../../src/book/book.ts";
import type { Account } from "../../src/book/resources/account.ts";
import type { Book } from "../../src/book/resources/book.ts";
import { dayOf, tryParseInstant, parseInstant } from "../../src/calendar/instant.ts";
import type { CellQuery, UsageAccount, UsageSource } from "../../src/ledger/external-usage.ts";
import { isCompleted } from "../../src/ledger/outcome.ts";
import { startEventRun } from "../../src/ledger/preview/preview-run.ts";
import type { UsageCell } from "../../src/metering/usage.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import { clickhouseUsage, type EventColumns } from "../../src/warehouse.ts";
import type { ClickHouse } from "../../src/warehouse/clickhouse/table.ts";
import { byTexts, createRowReader, MAP, type ReadRow } from "./law.ts";
import type { Row } from "./rows.ts";

/** The map of the law's tables. */
export const columns = JSON.parse(MAP) as EventColumns;
/** The first day of random rows. */
export const FIRST = dayOf(parseInstant("2024-01-01T00:00:00Z"));
/** An account with its id and its aliases. */
export const usageAccount = (id: string, ...aliases: readonly string[]): UsageAccount => ({
  id,
  aliases,
  customerId: "c",
});

/** The core's results for an account's rows, one by one in the order of S17.2. */
export function cellsByCore(query: CellQuery, account: UsageAccount, read: readonly ReadRow[]): readonly string[] {
  const make = createRowReader();
  const names = [account.id, ...account.aliases];
  const events = read.flatMap(({ record, order }, row) => {
    const event = make(record, row + 1);
    if ("code" in event) return [];
    const { schemaName, accountId, id, timestamp } = event as {
      [part in "schemaName" | "accountId" | "id" | "timestamp"]: string;
    };
    const at = tryParseInstant(timestamp);
    const isAsked = query.schemas.includes(schemaName) && names.includes(accountId);
    return at === undefined || at > query.upTo || !isAsked ? [] : [{ event, at, id, order: [id, ...order] }];
  });
  events.sort((x, y) => x.at - y.at || byTexts(x.order, y.order));
  const run = startEventRun({ ...query.book, accounts: [toAccount(account)] }, {});
  const latestIds = new Map<string, number>();
  for (const { event, at, id } of events) {
    if ((latestIds.get(id) ?? -Infinity) > at) continue;
    if (isCompleted(run.add(event).status)) latestIds.set(id, query.idHeldUntil(account.id, at));
  }
  return [...run.usage.cellsOf(account.id)]
    .filter(({ day, quantity }) => day >= query.from && day < query.until && !quantity.isZero())
    .map(describeCell)
    .toSorted();
}

/** A cell as text; its group only if it has one. */
function describeCell({ accountId, meterId, group, day, quantity }: UsageCell): string {
  const groupText = group === undefined ? "" : `${JSON.stringify(group)} `;
  return `${accountId} ${meterId} ${groupText}${day} ${formatDecimal(quantity)}`;
}

function toAccount(account: UsageAccount): Account {
  const empty = { pricePlans: [], licenseUpdates: [], credits: [], featureCredits: [] };
  return { ...account, name: account.id, status: "ACTIVE", invoiceCurrency: "USD", ...empty };
}

/** The answers of a source over the table `t0`. */
export async function collectCells(
  client: ClickHouse,
  query: CellQuery,
  hasUniqueIds = false,
): Promise<readonly (readonly string[])[]> {
  const source = clickhouseUsage(client, { table: "t0", columns, hasUniqueIds });
  const cellsByAccount = new Map<string, string[]>(query.accounts.map(({ id }) => [id, []]));
  const order: string[] = [];
  for await (const cells of source.cells(query)) {
    for (const cell of cells) {
      if (order.at(-1) !== cell.accountId) order.push(cell.accountId);
      if (!cell.quantity.isZero()) cellsByAccount.get(cell.accountId)?.push(describeCell(cell));
    }
  }
  // All cells of an account come together, in the order of the query.
  expect(order).toEqual(query.accounts.map(({ id }) => id).filter((id) => order.includes(id)));
  return [...cellsByAccount.values()].map((cells) => cells.toSorted());
}

/** The cells of a source for a query, with days from the first day of random rows: `70 2.5`. */
export async function collectDays(source: UsageSource, query: CellQuery): Promise<readonly string[]> {
  const days: string[] = [];
  for await (const cells of source.cells(query))
    for (const { day, quantity } of cells) days.push(`${day - FIRST} ${formatDecimal(quantity)}`);
  return days;
}

/** A row of the account `a`. */
export function useRow(id: string, time: string, more: Partial<Row> = {}): Row {
  return { schema: "use", id, account: "a", time, x: "1", y: "1", d: "eu", ...more };
}

/** A book in the form used by an engine's queries. */
export const withoutAccounts = (json: object): Book => ({
  ...readBook(JSON.stringify(json)),
  accounts: [],
  customers: [],
});
