/** The effect of drafts as page data. */
import type { Backtest, BacktestAccount, BacktestPlan } from "../../analysis/backtest/backtest.ts";
import { type Cause, CAUSES, type DiffLine } from "../../analysis/diff/diff-invoices.ts";
import type { DiffRow } from "../../analysis/diff/table-steps.ts";
import type { Book } from "../../book/resources/book.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, decimalOfInteger, divide, multiply, formatDecimal } from "../../numbers/decimal.ts";
import { roundFraction } from "../../numbers/fraction.ts";
import { describeGroup } from "../../rating/table-charge.ts";
import { toPrintable } from "../printable.ts";
import { countDataBytes } from "../self-contained-page.ts";
import type { AmountChange, DraftAccount, DraftData, DraftLine, DraftTotal } from "./report-data.ts";

/**
 * The drafts of a backtest with causes.
 *
 * @param draftNames shown with the names of their plans
 * @param maxBytes the maximum size of all their accounts as JSON
 */
export function createDrafts(
  book: Book,
  { plans }: Backtest,
  draftNames: readonly string[],
  maxBytes: number,
): readonly DraftData[] {
  const names = new Map(book.accounts.map(({ id, name }) => [id, name]));
  return plans.map((plan, index) =>
    createDraft(plan, { names, draftName: draftNames[index] }, maxBytes / plans.length),
  );
}

interface DraftNames {
  /** Names of accounts by id. */
  readonly names: ReadonlyMap<string, string>;
  readonly draftName: string | undefined;
}

function createDraft(plan: BacktestPlan, { names, draftName }: DraftNames, maxBytes: number): DraftData {
  const { planId, version, totals, accounts, leftOut, migration } = plan;
  const sortedAccounts = accounts.toSorted((a, b) => b.difference.abs().comparedTo(a.difference.abs()));
  const rows: DraftAccount[] = [];
  let bytesLeft = maxBytes;
  for (const account of sortedAccounts) {
    const row = toDraftAccount(account, names);
    bytesLeft -= countDataBytes(row);
    if (bytesLeft < 0) break;
    rows.push(row);
  }
  // Accounts are added as points of the charts while they fit, then causes while there is room.
  for (const [index, row] of rows.entries()) {
    const account = sortedAccounts[index];
    const lines = account === undefined ? [] : listChangedLines(account);
    bytesLeft -= countDataBytes(lines);
    if (bytesLeft < 0) break;
    rows[index] = { ...row, lines };
  }
  const migrationText = migration === undefined ? "" : `, ${migration.mode} on ${migration.on}`;
  return {
    name: toPrintable(`${draftName === undefined ? "" : `${draftName}: `}${planId} version ${version}${migrationText}`),
    totals: totals.map(({ currency, distribution: { more, same, less, quantiles }, ...total }): DraftTotal => ({
      currency,
      digits: minorUnitDigits(currency),
      ...toAmountChange(total),
      more,
      same,
      less,
      quantiles: quantiles.map(({ percent, difference }) => ({ percent, difference: formatDecimal(difference) })),
    })),
    accounts: rows,
    more: accounts.length - rows.length,
    leftOut: leftOut.map(toPrintable),
  };
}

function toDraftAccount(account: BacktestAccount, names: ReadonlyMap<string, string>): DraftAccount {
  const { accountId, currency } = account;
  return {
    id: toPrintable(accountId),
    name: toPrintable(names.get(accountId) ?? accountId),
    currency,
    ...toAmountChange(account),
    lines: [],
  };
}

function listChangedLines({ lines, currency }: BacktestAccount): readonly DraftLine[] {
  const digits = minorUnitDigits(currency);
  return lines.filter(({ difference }) => !difference.isZero()).map((line) => toDraftLine(line, digits));
}

function toDraftLine(line: DiffLine, digits: number): DraftLine {
  const { description, id, type, causes } = line;
  return {
    label: toPrintable(description ?? id ?? type),
    ...toAmountChange(line),
    causes: CAUSES.flatMap((cause) => {
      const amount = causes[cause];
      // Two digits more than the minor unit, because exact causes can be infinite decimals.
      return amount === undefined
        ? []
        : [
            {
              label: describeCause(cause, line.rows),
              amount: formatDecimal(roundFraction(amount, digits + 2, "HALF_UP")),
            },
          ];
    }),
  };
}

/** The maximum number of rows named beside a cause. */
const ROWS_SHOWN_MAX = 3;

/** A cause, with the rows of a price table that changed. */
function describeCause(cause: Cause, rows: readonly DiffRow[] = []): string {
  const names = rows
    .filter(({ causes }) => (cause === "usage" || cause === "rates") && causes[cause] !== undefined)
    .map(({ when }) => toPrintable(describeGroup(when)));
  if (names.length === 0) return cause;
  const more = names.length - ROWS_SHOWN_MAX;
  return `${cause} of ${names.slice(0, ROWS_SHOWN_MAX).join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

const HUNDRED = decimalOfInteger(100);

function toAmountChange({
  before,
  after,
  difference,
}: {
  readonly before: Decimal;
  readonly after: Decimal;
  readonly difference: Decimal;
}): AmountChange {
  const hasPercent = before.gt(0) && !difference.isZero();
  return {
    before: formatDecimal(before),
    after: formatDecimal(after),
    difference: formatDecimal(difference),
    ...(hasPercent ? { percent: divide(multiply(difference, HUNDRED), before).toFixed(1) } : {}),
  };
}
