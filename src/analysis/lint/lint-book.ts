/** Lint: finds what is valid in a book but probably unintended, with examples to check. */
import { type BookSource, toBook, toWrittenPath } from "../../book/book.ts";
import { formatPath, parsePath } from "../../book/problems.ts";
import type { Book, LintSuppression } from "../../book/resources/book.ts";
import { optionError } from "../../errors.ts";
import type { UsageRow } from "../../metering/usage-rows.ts";
import { type DecimalInput, parseDecimal, ONE } from "../../numbers/decimal.ts";
import { type CardSet, type LintFinding, listCardSets, listPricedCards } from "./finding.ts";
import { lintCard } from "./lint-curves.ts";
import { lintMeter } from "./lint-meters.ts";
import { lintAccount, lintCardSet, findUnpricedMeters, findWaitingCards } from "./lint-plans.ts";
import { lintTable, listTables, lintUsage } from "./lint-tables.ts";

/** Options of lint. */
export interface LintOptions {
  /** The largest price jump at a slab edge, as a share of the price: 0 or more. Default 1, which is a doubled price. */
  readonly jumpShare?: DecimalInput | undefined;
  /** Usage of the accounts, as {@link meter} returns it: finds groups without a price, and rows without usage (S18.2). */
  readonly usage?: Iterable<UsageRow> | undefined;
}

/**
 * Finds what is valid in a book but probably unintended. Silenced findings carry the reason that the book gives.
 *
 * @returns in book order: within plans, across plan versions, meters, accounts
 * @throws {RatebookError} ERR_BOOK_INVALID; ERR_OPTION_INVALID for a share below 0; ERR_NUMBER_INVALID for a share that
 * isn't a decimal
 */
export function lintBook(source: BookSource, options: LintOptions = {}): readonly LintFinding[] {
  const book = toBook(source);
  const jumpShare = options.jumpShare === undefined ? ONE : parseDecimal(options.jumpShare);
  if (jumpShare.isNegative()) {
    throw optionError("jumpShare", `expected 0 or more, got ${jumpShare.toFixed()}`);
  }
  const sets = listCardSets(book);
  const curves = { jumpShare, rounding: book.organization.rounding };
  const findings = [
    ...sets.flatMap((set) => [
      ...listPricedCards(book, set).flatMap((card) => lintCard(card, curves)),
      ...lintCardSet(book, set),
    ]),
    ...lintTables(book, sets, options.usage ?? []),
    ...findWaitingCards(book),
    ...findUnpricedMeters(book, sets),
    ...book.usageMeters.flatMap(lintMeter),
    ...book.accounts.flatMap(lintAccount),
  ];
  return findings.map((each) =>
    applySuppressions({ ...each, path: formatPath(toWrittenPath(book, parsePath(each.path))) }, book.lint ?? []),
  );
}

function lintTables(book: Book, sets: readonly CardSet[], usage: Iterable<UsageRow>): readonly LintFinding[] {
  const tables = sets.flatMap((set) => listTables(book, set));
  const findings = tables.flatMap((table) => lintTable(book, table));
  // A row that cannot have usage needs no second finding.
  const paths = new Set(findings.filter(({ code }) => code.startsWith("ROW_")).map(({ path }) => path));
  return [...findings, ...lintUsage(book, tables, usage).filter(({ path }) => !paths.has(path))];
}

function applySuppressions(finding: LintFinding, suppressions: readonly LintSuppression[]): LintFinding {
  const suppression = suppressions.find(
    ({ code, at }) =>
      code === finding.code &&
      (at === undefined || at === null || finding.at === at || finding.at.startsWith(`${at}/`)),
  );
  return suppression === undefined ? finding : { ...finding, silenced: suppression.reason };
}
