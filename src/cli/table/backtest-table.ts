/** A backtest as a table and as CSV: the total of each draft, who pays more or less, and each account's lines. */
import type {
  Backtest,
  BacktestAccount,
  BacktestPlan,
  BacktestTotal,
} from "../../analysis/backtest/compare-invoices.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, subtract } from "../../numbers/decimal.ts";
import { toPrintable } from "../../pages/printable.ts";
import { computeWidths, formatAmount, formatCount, formatPercent, formatRows, type TableRow } from "./format-rows.ts";
import { formatCsvRow } from "./invoice-table.ts";
import type { TableStyle } from "./table-style.ts";

/** An amount on both sides, and the difference. */
interface AmountChange {
  readonly before: Decimal;
  readonly after: Decimal;
  readonly difference: Decimal;
}

const NAME_WIDTH_MAX = 60;
const GAP = 2;
/** The number of accounts from which quantiles are printed. */
const QUANTILES_FROM = 20;

/**
 * The tables of all drafts, ending with a line end.
 *
 * @param files the files of the drafts, in order
 */
export function formatBacktestTable({ plans }: Backtest, files: readonly string[], style: TableStyle): string {
  return `${plans.map((plan, index) => formatPlan(plan, files[index] ?? "", style)).join("\n\n")}\n`;
}

function formatPlan(plan: BacktestPlan, file: string, style: TableStyle): string {
  const { planId, version, totals, leftOut } = plan;
  return [
    style.emphasize(toPrintable(`${file}: ${planId} version ${version}${describeMigration(plan)}`), "strong"),
    ...(totals.length === 0 ? ["nothing is billed, neither on the current plans nor on the draft"] : []),
    ...totals.map((total) => `\n${formatTotal(plan, total, style)}`),
    ...(leftOut.length === 0
      ? []
      : [`\nleft out because the draft has no prices in their currency: ${leftOut.map(toPrintable).join(", ")}`]),
  ].join("\n");
}

function describeMigration({ migration }: BacktestPlan): string {
  if (migration === undefined) return ", instead of the current plans";
  const { mode, on, moved: movedCount, stayed: stayedIds } = migration;
  return `, ${mode} on ${on}: ${formatCount(movedCount, "account")} moved, ${stayedIds.length} stayed`;
}

/** One currency: its total, the distribution of differences, the largest ones, and the accounts. */
function formatTotal(plan: BacktestPlan, total: BacktestTotal, style: TableStyle): string {
  const { currency, distribution } = total;
  const digits = minorUnitDigits(currency);
  const accounts = plan.accounts.filter((account) => account.currency === currency);
  const { more, same, less, quantiles, increases, decreases } = distribution;
  const byId = new Map(accounts.map((account) => [account.accountId, account]));
  const largestBlock = (list: typeof increases, title: string): readonly Block[] =>
    list.length < 2
      ? []
      : [{ title, rows: list.flatMap(({ accountId }) => toChangeRows(accountId, byId.get(accountId), digits)) }];
  const blocks: readonly Block[] = [
    { title: `Total in ${currency}`, rows: toChangeRows(formatCount(more + same + less, "account"), total, digits) },
    ...largestBlock(increases, "Largest increases"),
    ...largestBlock(decreases, "Largest decreases"),
    { title: "Accounts", rows: accounts.flatMap((account) => toAccountRows(account, digits)) },
  ];
  const titleWidth = Math.max(...blocks.map(({ title }) => title.length));
  const widths = computeWidths([HEAD, ...blocks.flatMap(({ rows }) => rows)], style.width, {
    min: titleWidth,
    max: Math.max(titleWidth, NAME_WIDTH_MAX),
  });
  const distributionLines = [
    `${more} ${more === 1 ? "pays" : "pay"} more, ${same} the same, ${less} less`,
    // The quantiles of a few accounts would only repeat the list.
    ...(more + same + less < QUANTILES_FROM
      ? []
      : wrapItems(
          [
            "quantiles of the difference:",
            ...quantiles.map((each) => `${each.percent}% ${formatSignedAmount(each.difference, digits)}`),
          ],
          style.width,
        )),
  ];
  const [first = "", ...others] = blocks
    .filter(({ rows }) => rows.length > 0)
    .map((block) => formatBlock(block, widths, style));
  return [first, ...distributionLines, ...others.map((text) => `\n${text}`)].join("\n");
}

/** Texts side by side, as many per line as fit; later lines are indented. */
function wrapItems(texts: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const text of texts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + GAP + text.length <= width) lines[lines.length - 1] = `${last}  ${text}`;
    else lines.push(last === undefined ? text : `  ${text}`);
  }
  return lines;
}

interface Block {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
}

const HEAD = ["", "now", "draft", "difference", "share"] as const;

function formatBlock({ title, rows }: Block, widths: readonly number[], style: TableStyle): string {
  const formatLine = (row: readonly string[]): string => formatRows([row] satisfies readonly TableRow[], widths);
  return [
    style.emphasize(formatLine([title, ...HEAD.slice(1)]), "strong"),
    style.emphasize("─".repeat(widths.reduce((sum, width) => sum + width, 0)), "faint"),
    ...rows.map(formatLine),
  ].join("\n");
}

function toAccountRows(account: BacktestAccount, digits: number): readonly (readonly string[])[] {
  const { accountId, lines, periods = [] } = account;
  return [
    ...toChangeRows(accountId, account, digits),
    ...lines.flatMap((line) => toChangeRows(`  ${line.description ?? line.id ?? line.type}`, line, digits)),
    ...periods.flatMap(({ startDate, endDate, before, after }) =>
      toChangeRows(
        `  ${startDate.slice(0, 10)} to ${endDate.slice(0, 10)}`,
        { before, after, difference: subtract(after, before) },
        digits,
      ),
    ),
  ];
}

function toChangeRows(name: string, change: AmountChange | undefined, digits: number): readonly (readonly string[])[] {
  if (change === undefined) return [];
  const { before, after, difference } = change;
  return [
    [
      toPrintable(name),
      formatAmount(before, digits),
      formatAmount(after, digits),
      difference.isZero() ? "same" : formatSignedAmount(difference, digits),
      formatShare(change),
    ],
  ];
}

/** A percentage with one decimal place; empty if the amount before was 0 or negative. */
function formatShare({ before, difference }: AmountChange): string {
  if (difference.isZero() || before.isZero() || before.isNegative()) return "";
  return `${difference.isNegative() ? "" : "+"}${formatPercent(difference, before)}`;
}

function formatSignedAmount(amount: Decimal, digits: number): string {
  return `${amount.isNegative() || amount.isZero() ? "" : "+"}${formatAmount(amount, digits)}`;
}

const CSV_HEADER = "planId,version,accountId,currency,type,id,description,before,after,difference\r\n";

export function formatBacktestCsv({ plans }: Backtest): string {
  const rows = plans.flatMap(({ planId, version, accounts }) =>
    accounts.flatMap(({ accountId, currency, lines, ...total }) => {
      const start = [planId, String(version), accountId, currency];
      const totalRow = formatCsvRow([...start, "TOTAL", "", "", total.before, total.after, total.difference]);
      const lineRows = lines.map(({ type, id, description, before, after, difference }) =>
        formatCsvRow([...start, type, id, description, before, after, difference]),
      );
      return [totalRow, ...lineRows];
    }),
  );
  return `${CSV_HEADER}${rows.join("")}`;
}
