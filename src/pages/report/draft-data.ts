/** The effect of drafts as page data. */
import type {
  Backtest,
  BacktestAccount,
  BacktestPlan,
  MigrationOutcome,
} from "../../analysis/backtest/compare-invoices.ts";
import { type Cause, CAUSES, type DiffLine, sumByItem } from "../../analysis/diff/diff-invoices.ts";
import type { DiffRow } from "../../analysis/diff/table-steps.ts";
import type { Book } from "../../book/resources/book.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { decimalOfInteger, divide, multiply, formatDecimal, sum, ZERO } from "../../numbers/decimal.ts";
import { roundFraction } from "../../numbers/fraction.ts";
import { describeGroup } from "../../rating/table-charge.ts";
import { countDataBytes, createRoom } from "../page-file.ts";
import type { AmountChange, DraftAccount, DraftData, DraftLine, DraftTotal } from "./report-data.ts";

/**
 * The drafts of a backtest with causes.
 *
 * @param draftNames their files; default: the names of their plans
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
    createDraft(plan, findUniqueName(draftNames, index), names, maxBytes / plans.length),
  );
}

/** A name; if an earlier draft has it too, with its number. */
function findUniqueName(names: readonly string[], index: number): string | undefined {
  const name = names[index];
  return name !== undefined && names.indexOf(name) < index ? `${name} (${index + 1})` : name;
}

/** @param names of accounts by id */
function createDraft(
  plan: BacktestPlan,
  draftName: string | undefined,
  names: ReadonlyMap<string, string>,
  maxBytes: number,
): DraftData {
  const { name, version, totals, accounts, leftOut, migration } = plan;
  const sortedAccounts = accounts.toSorted(compareDifferences);
  const hasRoom = createRoom(maxBytes);
  // Accounts are added as points of the charts while they fit, then causes while there is room.
  const rows = sortedAccounts
    .map((account) => toDraftAccount(account, names))
    .filter((row) => hasRoom(countDataBytes(row)))
    .map((row, index) => {
      const account = sortedAccounts[index];
      const lines = account === undefined ? [] : listChangedLines(account.lines, account.currency);
      return hasRoom(countDataBytes(lines)) ? { ...row, lines } : row;
    });
  const planName = `${name}${version === 1 ? "" : ` version ${version}`}`;
  return {
    name: draftName ?? planName,
    plan: migration === undefined ? planName : `${planName}; ${describeMigration(migration)}`,
    totals: totals.map(({ currency, distribution: { more, same, less, quantiles }, ...total }): DraftTotal => ({
      currency,
      ...toAmountChange(total),
      more,
      same,
      less,
      median: formatDecimal(quantiles.find(({ percent }) => percent === 50)?.difference ?? ZERO),
      items: listChangedLines(
        sumByItem(accounts.flatMap((account) => (account.currency === currency ? account.lines : []))),
        currency,
      ),
    })),
    accounts: rows,
    more: accounts.length - rows.length,
    leftOut,
  };
}

function toDraftAccount(account: BacktestAccount, names: ReadonlyMap<string, string>): DraftAccount {
  const { accountId, currency } = account;
  return {
    id: accountId,
    name: names.get(accountId) ?? accountId,
    currency,
    ...toAmountChange(account),
    lines: [],
  };
}

/** The lines that change, and one for all others together, so that the lines add up. */
function listChangedLines(lines: readonly DiffLine[], currency: string): readonly DraftLine[] {
  const digits = minorUnitDigits(currency);
  const changed = lines.filter(({ difference }) => !difference.isZero()).toSorted(compareDifferences);
  const others = lines.filter(({ before, difference }) => difference.isZero() && !before.isZero());
  if (changed.length === 0 || others.length === 0) return changed.map((line) => toDraftLine(line, digits));
  const amount = sum(others.map(({ before }) => before));
  const description = others.length === 1 ? "1 unchanged item" : `${others.length} unchanged items`;
  const rest = { type: "", description, before: amount, after: amount, difference: ZERO, causes: {} };
  return [...changed, rest].map((line) => toDraftLine(line, digits));
}

/** Largest absolute difference first. */
function compareDifferences(a: Pick<DiffLine, "difference">, b: Pick<DiffLine, "difference">): number {
  return b.difference.abs().comparedTo(a.difference.abs());
}

function describeMigration({ mode, on, moved, stayed }: MigrationOutcome): string {
  const when = mode.startsWith("IMMEDIATE") ? `on ${on}` : `with their next billing period from ${on}`;
  const overrides = mode.endsWith("IGNORE_OVERRIDE") ? ", without their overrides" : "";
  return `accounts moved ${when}${overrides}: ${moved}; accounts that keep their plan: ${stayed.length}`;
}

function toDraftLine(line: DiffLine, digits: number): DraftLine {
  const { description, id, type, causes } = line;
  return {
    label: description ?? id ?? type,
    ...toAmountChange(line),
    causes: CAUSES.flatMap((cause) => {
      const exact = causes[cause];
      if (exact === undefined) return [];
      // Two digits more than the minor unit, because exact causes can be infinite decimals.
      const amount = formatDecimal(roundFraction(exact, digits + 2, "HALF_UP"));
      return [{ label: describeCause(cause, line.rows), amount }];
    }),
  };
}

/** The maximum number of rows named beside a cause. */
const ROWS_SHOWN_MAX = 3;

/** Causes in plain words. */
const CAUSE_WORDS: Readonly<Record<Cause, string>> = {
  usage: "usage",
  rates: "new prices",
  bounds: "new minimum or maximum charge",
  days: "days billed",
  commitment: "new minimum commitment",
  credits: "credits",
  rounding: "rounding",
};

/** A cause, with the rows of a price table that changed. */
function describeCause(cause: Cause, rows: readonly DiffRow[] = []): string {
  const names = rows
    .filter(({ causes }) => (cause === "usage" || cause === "rates") && causes[cause] !== undefined)
    .map(({ when }) => describeGroup(when));
  if (names.length === 0) return CAUSE_WORDS[cause];
  const more = names.length - ROWS_SHOWN_MAX;
  return `${CAUSE_WORDS[cause]} of ${names.slice(0, ROWS_SHOWN_MAX).join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

const HUNDRED = decimalOfInteger(100);

function toAmountChange({
  before,
  after,
  difference,
}: Pick<DiffLine, "before" | "after" | "difference">): AmountChange {
  const hasPercent = before.gt(0) && !difference.isZero();
  return {
    before: formatDecimal(before),
    after: formatDecimal(after),
    difference: formatDecimal(difference),
    percent: hasPercent ? divide(multiply(difference, HUNDRED), before).toFixed(1) : undefined,
  };
}
