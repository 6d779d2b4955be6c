/**
 * What drafts would change, as a page shows it.
 *
 * @module
 */
import type { Book } from "../../book/model/book.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, decimalOfInteger, divide, multiply, formatDecimal } from "../../numbers/decimal.ts";
import { roundFraction } from "../../numbers/fraction.ts";
import type { Backtest, BacktestAccount, BacktestPlan } from "../../proof/backtest/backtest.ts";
import { CAUSES, type DiffLine } from "../../proof/diff/diff-invoices.ts";
import { printable } from "../printable.ts";
import { bytesOf } from "./bytes.ts";
import type { Compared, DraftAccount, DraftData, DraftLine, DraftTotal } from "./report-data.ts";

/**
 * The drafts of a backtest with causes.
 *
 * @param given what they are called, beside the names of their plans
 * @param room how many bytes their accounts may have as JSON, all together
 */
export function draftsOf(
  book: Book,
  { plans }: Backtest,
  given: readonly string[],
  room: number,
): readonly DraftData[] {
  const names = new Map(book.accounts.map(({ id, name }) => [id, name]));
  return plans.map((plan, index) => draftOf(plan, { names, called: given[index] }, room / plans.length));
}

interface Names {
  /** Of accounts, by id. */
  readonly names: ReadonlyMap<string, string>;
  /** Of the draft. */
  readonly called: string | undefined;
}

function draftOf(plan: BacktestPlan, { names, called }: Names, room: number): DraftData {
  const { planId, version, totals, accounts, leftOut, migration } = plan;
  const sorted = accounts.toSorted((a, b) => b.difference.abs().comparedTo(a.difference.abs()));
  const shown: DraftAccount[] = [];
  let left = room;
  for (const account of sorted) {
    const row = accountOf(account, names);
    left -= bytesOf(row);
    if (left < 0) break;
    shown.push(row);
  }
  // Every account that fits is a point of the charts; why its lines changed is told of as many as there is room for.
  for (const [index, row] of shown.entries()) {
    const account = sorted[index];
    const lines = account === undefined ? [] : changedLines(account);
    left -= bytesOf(lines);
    if (left < 0) break;
    shown[index] = { ...row, lines };
  }
  const moved = migration === undefined ? "" : `, ${migration.mode} on ${migration.on}`;
  return {
    name: printable(`${called === undefined ? "" : `${called}: `}${planId} version ${version}${moved}`),
    totals: totals.map(({ currency, distribution: { more, same, less, quantiles }, ...total }): DraftTotal => ({
      currency,
      digits: minorUnitDigits(currency),
      ...compared(total),
      more,
      same,
      less,
      quantiles: quantiles.map(({ percent, difference }) => ({ percent, difference: formatDecimal(difference) })),
    })),
    accounts: shown,
    more: accounts.length - shown.length,
    leftOut: leftOut.map(printable),
  };
}

function accountOf(account: BacktestAccount, names: ReadonlyMap<string, string>): DraftAccount {
  const { accountId, currency } = account;
  return {
    id: printable(accountId),
    name: printable(names.get(accountId) ?? accountId),
    currency,
    ...compared(account),
    lines: [],
  };
}

function changedLines({ lines, currency }: BacktestAccount): readonly DraftLine[] {
  const digits = minorUnitDigits(currency);
  return lines.filter(({ difference }) => !difference.isZero()).map((line) => lineOf(line, digits));
}

function lineOf(line: DiffLine, digits: number): DraftLine {
  const { description, id, type, causes } = line;
  return {
    label: printable(description ?? id ?? type),
    ...compared(line),
    causes: CAUSES.flatMap((cause) => {
      const amount = causes[cause];
      // Two digits beyond the minor unit: causes are exact, and often have no end.
      return amount === undefined
        ? []
        : [{ label: cause, amount: formatDecimal(roundFraction(amount, digits + 2, "HALF_UP")) }];
    }),
  };
}

const PER_CENT = decimalOfInteger(100);

function compared({
  before,
  after,
  difference,
}: {
  readonly before: Decimal;
  readonly after: Decimal;
  readonly difference: Decimal;
}): Compared {
  const isShare = before.gt(0) && !difference.isZero();
  return {
    before: formatDecimal(before),
    after: formatDecimal(after),
    difference: formatDecimal(difference),
    ...(isShare ? { percent: divide(multiply(difference, PER_CENT), before).toFixed(1) } : {}),
  };
}
