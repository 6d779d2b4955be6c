/** Invoices as one line per account, largest first, with totals. */
import { formatMoney, formatNumber, groupThousands } from "../../invoicing/invoice-rows.ts";
import { type Invoice, netTotal } from "../../invoicing/invoice.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { add, type Decimal, sum, ZERO } from "../../numbers/decimal.ts";
import { toPrintable } from "../../pages/printable.ts";
import { computeWidths, formatPercent, formatRows } from "./format-rows.ts";
import type { TableStyle } from "./table-style.ts";

/** The total of one account in one currency. */
interface AccountSum {
  readonly accountId: string;
  readonly currency: string;
  readonly amount: Decimal;
  readonly usage: ReadonlyMap<string, Decimal>;
}

/** The number of events by account. */
interface EventCounts {
  eventsFor(accountId: string): number;
}

/** The summary, ending with a line end: the accounts and total of each currency. */
export function formatSummaryTable(invoices: readonly Invoice[], events: EventCounts, style: TableStyle): string {
  const sums = sumByAccount(invoices);
  const currencies = [...new Set(sums.map(({ currency }) => currency))].sort();
  return currencies
    .map((currency) =>
      formatCurrencyTable(
        sums.filter((each) => each.currency === currency),
        currency,
        { events, style },
      ),
    )
    .join("\n");
}

function sumByAccount(invoices: readonly Invoice[]): readonly AccountSum[] {
  const byAccount = new Map<string, [Invoice, ...Invoice[]]>();
  for (const invoice of invoices) {
    const key = JSON.stringify([invoice.currency, invoice.accountId]);
    const accountInvoices = byAccount.get(key);
    if (accountInvoices === undefined) byAccount.set(key, [invoice]);
    else accountInvoices.push(invoice);
  }
  return [...byAccount.values()].map((accountInvoices) => {
    const [{ accountId, currency }] = accountInvoices;
    const usage = new Map<string, Decimal>();
    for (const { id, quantity } of accountInvoices.flatMap(({ usageInfo }) => usageInfo?.lineItems ?? [])) {
      usage.set(id, add(usage.get(id) ?? ZERO, quantity));
    }
    return { accountId, currency, amount: netTotal(accountInvoices), usage };
  });
}

interface Layout {
  readonly events: EventCounts;
  readonly style: TableStyle;
}

function formatCurrencyTable(sums: readonly AccountSum[], currency: string, { events, style }: Layout): string {
  const digits = minorUnitDigits(currency);
  const total = sum(sums.map(({ amount }) => amount));
  const largestFirst = sums.toSorted((a, b) => b.amount.comparedTo(a.amount) || (a.accountId < b.accountId ? -1 : 1));
  const formatEventCount = (accountId: string): string => groupThousands(String(events.eventsFor(accountId)));
  const rows = largestFirst.map(({ accountId, usage, amount }): readonly string[] => [
    toPrintable(accountId),
    formatEventCount(accountId),
    formatQuantity(usage),
    formatMoney(amount, digits),
    formatShare(amount, total),
  ]);
  const allEvents = sums.reduce((all, { accountId }) => all + events.eventsFor(accountId), 0);
  const totalRow = [
    "Total",
    groupThousands(String(allEvents)),
    "",
    formatMoney(total, digits),
    total.isZero() ? "" : "100%",
  ];
  const headRow = ["Account", "Events", "Quantity", currency, "Share"];
  const widths = computeWidths([headRow, ...rows, totalRow], style.width, { min: 12 });
  const rule = widths.map((width) => "─".repeat(width));
  const formatLine = (row: readonly string[]): string => formatRows([row], widths);
  return [
    style.emphasize(formatLine(headRow), "strong"),
    style.emphasize(formatLine(rule), "faint"),
    ...rows.map(formatLine),
    style.emphasize(formatLine(rule), "faint"),
    style.emphasize(formatLine(totalRow), "strong"),
    "",
  ].join("\n");
}

/** The quantity of an account; units of several meters can't be added. */
function formatQuantity(usage: ReadonlyMap<string, Decimal>): string {
  const [first, ...more] = usage.values();
  if (first === undefined) return "";
  return more.length === 0 ? formatNumber(first) : `${more.length + 1} meters`;
}

/** A percentage of a total with one decimal place; empty if it has no meaning. */
function formatShare(amount: Decimal, total: Decimal): string {
  if (total.isZero() || total.isNegative() || amount.isNegative()) return "";
  return formatPercent(amount, total);
}
