/**
 * Invoices in one line an account, the largest first, and their totals.
 *
 * @module
 */
import { groupThousands, formatMoney, formatNumber } from "../../invoicing/figure-text.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { netTotal } from "../../invoicing/paid-in-all.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { add, type Decimal, decimalOfInteger, divide, multiply, sum, ZERO } from "../../numbers/decimal.ts";
import { printable } from "../../pages/printable.ts";
import { linesOfRows } from "./columns.ts";
import type { TableStyle } from "./style.ts";

/** What one account comes to in one currency. */
interface AccountSum {
  readonly accountId: string;
  readonly currency: string;
  readonly amount: Decimal;
  /** Units by meter. */
  readonly usage: ReadonlyMap<string, Decimal>;
}

/** How many events each account has. */
interface EventCount {
  of(accountId: string): number;
}

const PER_CENT = decimalOfInteger(100);

/** The summary, ending in a line end: for each currency its accounts and their total. */
export function summaryTable(invoices: readonly Invoice[], events: EventCount, style: TableStyle): string {
  const sums = sumsOf(invoices);
  const currencies = [...new Set(sums.map(({ currency }) => currency))].sort();
  return currencies
    .map((currency) =>
      tableOf(
        sums.filter((each) => each.currency === currency),
        currency,
        { events, style },
      ),
    )
    .join("\n");
}

function sumsOf(invoices: readonly Invoice[]): readonly AccountSum[] {
  const byAccount = new Map<string, [Invoice, ...Invoice[]]>();
  for (const invoice of invoices) {
    const key = JSON.stringify([invoice.currency, invoice.accountId]);
    const own = byAccount.get(key);
    if (own === undefined) byAccount.set(key, [invoice]);
    else own.push(invoice);
  }
  return [...byAccount.values()].map((own) => {
    const [{ accountId, currency }] = own;
    const usage = new Map<string, Decimal>();
    for (const { id, quantity } of own.flatMap(({ usageInfo }) => usageInfo?.lineItems ?? [])) {
      usage.set(id, add(usage.get(id) ?? ZERO, quantity));
    }
    return { accountId, currency, amount: netTotal(own), usage };
  });
}

interface Layout {
  readonly events: EventCount;
  readonly style: TableStyle;
}

function tableOf(sums: readonly AccountSum[], currency: string, { events, style }: Layout): string {
  const digits = minorUnitDigits(currency);
  const total = sum(sums.map(({ amount }) => amount));
  const largestFirst = sums.toSorted((a, b) => b.amount.comparedTo(a.amount) || (a.accountId < b.accountId ? -1 : 1));
  const count = (accountId: string): string => groupThousands(String(events.of(accountId)));
  const rows = largestFirst.map(({ accountId, usage, amount }): readonly string[] => [
    printable(accountId),
    count(accountId),
    quantityText(usage),
    formatMoney(amount, digits),
    shareText(amount, total),
  ]);
  const allEvents = sums.reduce((all, { accountId }) => all + events.of(accountId), 0);
  const foot = [
    "Total",
    groupThousands(String(allEvents)),
    "",
    formatMoney(total, digits),
    total.isZero() ? "" : "100%",
  ];
  const head = ["Account", "Events", "Quantity", currency, "Share"];
  const widths = widthsOf([head, ...rows, foot], style.width);
  const rule = widths.map((width) => "─".repeat(width));
  const line = (row: readonly string[]): string => linesOfRows([row], widths);
  return [
    style.emphasize(line(head), "strong"),
    style.emphasize(line(rule), "faint"),
    ...rows.map(line),
    style.emphasize(line(rule), "faint"),
    style.emphasize(line(foot), "strong"),
    "",
  ].join("\n");
}

/** Units of several meters add up to nothing that means anything. */
function quantityText(usage: ReadonlyMap<string, Decimal>): string {
  const [first, ...more] = usage.values();
  if (first === undefined) return "";
  return more.length === 0 ? formatNumber(first) : `${more.length + 1} meters`;
}

/** The share of an amount in a total, to a tenth of a per cent; empty where a share means nothing. */
function shareText(amount: Decimal, total: Decimal): string {
  if (total.isZero() || total.isNegative() || amount.isNegative()) return "";
  return `${divide(multiply(amount, PER_CENT), total).toFixed(1)}%`;
}

/** Columns as wide as their texts, two blanks between them; the first takes what is left, and is cut there. */
function widthsOf(rows: readonly (readonly string[])[], width: number): number[] {
  const columns = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const [first = 0, ...others] = columns;
  const right = others.map((each) => each + 2);
  const left = Math.max(12, Math.min(first, width - right.reduce((all, each) => all + each, 0)));
  return [left, ...right];
}
