/** The columns of a sample: what the values in the first rows of a file look like, and which of them are quantities. */
import { tryParseInstant } from "../calendar/instant.ts";
import { hasCode } from "../errors.ts";
import { parseValue, type Decimal, sum, ZERO } from "../numbers/decimal.ts";
import {
  EMPTY_CELLS,
  findMatchingForms,
  type AmbiguousNumber,
  type DecimalMark,
  findDecimalMark,
  removeGrouping,
  toDecimalPoint,
} from "./cell-texts.ts";
import {
  TIME_NAME,
  isAmountToPay,
  isCodeName,
  isCountName,
  isIdName,
  isMeasure,
  isMoneyName,
  isTokenName,
  isUsageAmount,
  splitWords,
} from "./column-words.ts";

/** The first rows of a file: its header, and records of the same length. */
export interface Sample {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A column of a sample. */
export interface Column {
  readonly name: string;
  readonly values: readonly string[];
  /** The values without empty cells such as `N/A`. */
  readonly filled: readonly string[];
  /** The different values. */
  readonly distinct: ReadonlySet<string>;
}

/** The maximum characters of a text in a used column. */
export const TEXT_MAX = 512;
/** From this number of rows on, values that are all different say something about a column. */
const ROWS_MIN = 5;
/** The maximum number of different values of a dimension, or a tenth of the rows. */
const FEW_VALUES = 50;
/** The average characters of free text. */
const FREE_TEXT_LENGTH = 60;

export function listColumns({ header, rows }: Sample): readonly Column[] {
  return header.map((name, at) => {
    const values = rows.map((row) => row[at] ?? "");
    const filled = values.filter((text) => !EMPTY_CELLS.has(text));
    return { name, values, filled, distinct: new Set(filled) };
  });
}

/** Whether a column has a value in every row. */
export function isComplete({ values, filled }: Column): boolean {
  return filled.length === values.length;
}

/** Whether a column has a different value in every row. */
export function isUnique({ values, distinct }: Column): boolean {
  return distinct.size === values.length;
}

/** Whether a column is unique and has enough rows to conclude something from it. */
export function isCertainlyUnique(column: Column): boolean {
  return column.values.length >= ROWS_MIN && isUnique(column);
}

/** Whether a column has few different values. */
export function hasFewValues(column: Column): boolean {
  const { values, distinct } = column;
  return !isCertainlyUnique(column) && distinct.size <= Math.max(FEW_VALUES, values.length / 10);
}

/** Whether the values are addresses, paths, structures or sentences. */
export function isFreeText({ filled }: Column): boolean {
  const length = filled.reduce((sum, text) => sum + text.length, 0);
  return (
    length > filled.length * FREE_TEXT_LENGTH || filled.some((text) => /^[/{[]|:\/\/|^[\d.]+\.\d+:\d+$/.test(text))
  );
}

/** Whether numbers are written as codes: with zeros before them, such as postal codes, or as telephone numbers. */
export function hasCodes({ filled }: Column): boolean {
  return filled.some((text) => /^0\d+$/.test(text)) || filled.every((text) => /^\+\d{7,}$/.test(text));
}

/** Whether all values are ISO 8601 date-times. */
export function hasTimes({ filled }: Column): boolean {
  return filled.length > 0 && filled.every((text) => tryParseInstant(text, 0) !== undefined);
}

/**
 * The formats that every time of a column fits. Whole numbers count as times only if the column's name suggests it or
 * the user named the column.
 */
export function findTimeForms({ name, filled }: Column, timeColumn?: string): readonly string[] {
  const mayBeEpoch = name === timeColumn || TIME_NAME.test(name);
  return findMatchingForms(filled).filter((form) => !form.endsWith("seconds") || mayBeEpoch);
}

export function isNumber(text: string): boolean {
  try {
    parseValue(text);
    return true;
  } catch (error) {
    if (hasCode(error, "ERR_NUMBER_INVALID")) return false;
    throw error;
  }
}

/** Whether every text contains digits and otherwise only currency signs, spaces, points and commas. */
export function isNearNumber({ filled }: Column): boolean {
  return (
    filled.length > 0 &&
    filled.every((text) => /^(?:[^\d\p{L}/:-]|-(?=.)|[A-Z]{3} )*\d[\d.,' ]*(?: ?(?:\p{Sc}|%|[A-Z]{3}))?$/u.test(text))
  );
}

/**
 * Whether more than half of at least three values are numbers, so that the others are probably mistakes such as NaN or
 * 1e400.
 */
export function isMostlyNumbers({ filled }: Column): boolean {
  return filled.length > 2 && filled.filter(isNumber).length * 2 > filled.length;
}

/** A column that isn't used, and the reason. */
export interface UnusedColumn {
  readonly column: string;
  readonly reason: string;
}

/** A column whose numbers can be read with either decimal mark. */
export interface MarkDoubt {
  readonly column: string;
  readonly number: AmbiguousNumber;
}

export interface Quantities {
  readonly columns: readonly Column[];
  /** Whether the only quantity is an amount of money. */
  readonly isMoney: boolean;
  /** The decimal marks that a map must state. */
  readonly decimals: ReadonlyMap<string, DecimalMark>;
  readonly doubt: MarkDoubt | undefined;
  readonly unused: readonly UnusedColumn[];
  /** Number columns that classify events: status codes, years, versions. */
  readonly codes: readonly Column[];
}

/** A column of numbers. */
interface NumberColumn {
  readonly column: Column;
  /** Whether the marks of its numbers don't say which one is the decimal mark. */
  readonly ambiguous: AmbiguousNumber | undefined;
  /** Those with which all of its numbers can be read. */
  readonly marks: readonly DecimalMark[];
  /** The numbers in the file's rows, 0 for empty cells. */
  readonly numbers: readonly Decimal[];
}

const READERS: ReadonlyMap<DecimalMark, (text: string) => string | undefined> = new Map([
  [".", removeGrouping],
  [",", toDecimalPoint],
]);

/** @param decimal the mark of all numbers, if the user named it */
export function findQuantities(columns: readonly Column[], decimal: DecimalMark | undefined): Quantities {
  const readable = columns.flatMap((column) => {
    const marks = [...READERS.keys()].filter((mark) =>
      column.filled.every((text) => readNumber(text, mark) !== undefined),
    );
    return marks.length === 0 || (decimal !== undefined && !marks.includes(decimal)) ? [] : [{ column, marks }];
  });
  const fileMark = decimal ?? findFileMark(readable);
  const numberColumns = readable.map(({ column, marks }): NumberColumn => {
    const mark = chooseMark(marks, fileMark);
    const found = column.filled.map(findDecimalMark).find((each) => typeof each === "object");
    return {
      column,
      marks,
      ambiguous: marks.length > 1 && typeof found === "object" ? found : undefined,
      numbers: column.values.map((text) => parseValue(readNumber(text, mark) ?? "0")),
    };
  });
  const { used, unused, codes, isMoney } = selectQuantities(numberColumns);
  const doubtful = fileMark === undefined ? used.find(({ ambiguous }) => ambiguous !== undefined) : undefined;
  return {
    columns: used.map(({ column }) => column),
    isMoney,
    decimals: new Map(
      used.flatMap(({ column, marks, ambiguous }) => {
        const mark = chooseMark(marks, fileMark);
        if (ambiguous !== undefined && fileMark === undefined) return [];
        const needsMark = mark === "," || ambiguous !== undefined || !column.filled.every(isNumber);
        return needsMark ? [[column.name, mark] as const] : [];
      }),
    ),
    doubt: doubtful?.ambiguous && { column: doubtful.column.name, number: doubtful.ambiguous },
    unused,
    codes,
  };
}

function readNumber(text: string, mark: DecimalMark): string | undefined {
  const number = READERS.get(mark)?.(text);
  return number !== undefined && isNumber(number) ? number : undefined;
}

function chooseMark(marks: readonly DecimalMark[], fileMark: DecimalMark | undefined): DecimalMark {
  return fileMark !== undefined && marks.includes(fileMark) ? fileMark : (marks[0] ?? ".");
}

/** The decimal mark of the columns that can only be read with one; undefined without such, or with both. */
function findFileMark(columns: readonly Pick<NumberColumn, "column" | "marks">[]): DecimalMark | undefined {
  const marks = columns
    .filter(({ column }) => !isCodeName(column.name))
    .flatMap((column) => (column.marks.length === 1 ? column.marks : []));
  return new Set(marks).size === 1 ? marks[0] : undefined;
}

/** The number columns by what they mean. */
interface Selection {
  readonly used: readonly NumberColumn[];
  readonly unused: readonly UnusedColumn[];
  readonly codes: readonly Column[];
  readonly isMoney: boolean;
}

function selectQuantities(numberColumns: readonly NumberColumn[]): Selection {
  const money: NumberColumn[] = [];
  const measures: NumberColumn[] = [];
  const codes: NumberColumn[] = [];
  const candidates: NumberColumn[] = [];
  for (const each of numberColumns) {
    const { name } = each.column;
    if (isMoneyName(name)) money.push(each);
    else if (isMeasure(name)) measures.push(each);
    else if (isIdName(name) || isCodeName(name) || hasCodes(each.column)) codes.push(each);
    else candidates.push(each);
  }
  const quantities = removeDoubleQuantities(candidates);
  const [payment] = quantities.used.length > 0 ? [] : choosePayment(money);
  const listUnused = (columns: readonly NumberColumn[], reason: string): readonly UnusedColumn[] =>
    columns.filter((each) => each !== payment).map(({ column }) => ({ column: column.name, reason }));
  return {
    used: payment === undefined ? quantities.used : [payment],
    isMoney: payment !== undefined,
    unused: [
      ...quantities.unused,
      ...listUnused(money, payment === undefined ? "money: the quantity is metered" : "money, which would count twice"),
      ...listUnused(measures, "measured, but not used up"),
    ],
    codes: codes.map(({ column }) => column),
  };
}

function choosePayment(money: readonly NumberColumn[]): readonly NumberColumn[] {
  const payments = money.filter(({ column }) => isAmountToPay(column.name));
  return payments.length === 0 ? money : payments;
}

/** Leaves out columns that would bill the same usage twice: totals, parts and other units. */
function removeDoubleQuantities(candidates: readonly NumberColumn[]): Pick<Selection, "used" | "unused"> {
  const reasons = new Map<NumberColumn, string>();
  const leaveOut = (column: NumberColumn, reason: string): unknown =>
    reasons.has(column) || reasons.set(column, reason);
  const listUsed = (): readonly NumberColumn[] => candidates.filter((column) => !reasons.has(column));
  const amounts = candidates.filter(({ column }) => isUsageAmount(column.name));
  const [amount] = [
    ...amounts.filter(({ column }) => /pricing/i.test(column.name)),
    ...amounts.filter(({ column }) => !/normali[sz]ed/i.test(column.name)),
    ...amounts,
  ];
  for (const each of amounts)
    if (amount !== undefined && each !== amount) leaveOut(each, `the usage of "${amount.column.name}" in another unit`);
  if (candidates.some(({ column }) => isTokenName(column.name)))
    for (const each of listUsed())
      if (!isTokenName(each.column.name) && !isCountName(each.column.name))
        leaveOut(each, "usage is metered in tokens");
  leaveOutTotals(listUsed, leaveOut);
  for (const each of listUsed()) {
    const twin = listUsed().find((other) => other !== each && isEqual(other, each));
    if (twin !== undefined && candidates.indexOf(twin) < candidates.indexOf(each))
      leaveOut(each, `the same as "${twin.column.name}"`);
  }
  return {
    used: listUsed(),
    unused: [...reasons].map(([{ column }, reason]) => ({ column: column.name, reason })),
  };
}

/** Leaves out totals of other columns, or parts of other columns if these are no totals. */
function leaveOutTotals(
  listUsed: () => readonly NumberColumn[],
  leaveOut: (column: NumberColumn, reason: string) => unknown,
): void {
  const summandsOfTotals = new Set<NumberColumn>();
  const wholes = listUsed().toSorted((a, b) => listUnitWords(a).length - listUnitWords(b).length);
  for (const whole of wholes) {
    const parts = listUsed().filter((part) => isPart(part, whole) && !summandsOfTotals.has(part));
    const summands = findSummands(parts, whole) ?? [];
    const listed = (summands.length > 0 ? summands : parts).map(({ column }) => `"${column.name}"`).join(" and ");
    const isOfTokens = isTokenName(whole.column.name);
    if (parts.length === 0 || !listUsed().includes(whole)) continue;
    for (const summand of summands) summandsOfTotals.add(summand);
    if (summands.length > 0) leaveOut(whole, `the sum of ${listed}`);
    else if (isOfTokens && listUnitWords(whole).length === 1) leaveOut(whole, `counted in ${listed}`);
    for (const part of parts) {
      if (summands.length > 0 && !summands.includes(part)) leaveOut(part, `part of ${listed}`);
      if (summands.length === 0 && !isOfTokens) leaveOut(part, `part of "${whole.column.name}"`);
    }
  }
}

const WHOLE_WORDS = new Set(["total", "all", "sum", "overall", "gesamt"]);

function listUnitWords({ column }: NumberColumn): readonly string[] {
  return splitWords(column.name).filter((word) => !WHOLE_WORDS.has(word));
}

/** Whether a column is a part of another by its name (`cached_requests` of `requests`) and its numbers. */
function isPart(part: NumberColumn, whole: NumberColumn): boolean {
  const partWords = splitWords(part.column.name);
  const wholeWords = listUnitWords(whole);
  return (
    part !== whole &&
    wholeWords.length > 0 &&
    wholeWords.length < partWords.length &&
    wholeWords.every((word) => partWords.includes(word)) &&
    part.numbers.every((number, row) => number.lessThanOrEqualTo(whole.numbers[row] ?? ZERO))
  );
}

/** The most of some parts whose sum is the whole in every row. */
function findSummands(parts: readonly NumberColumn[], whole: NumberColumn): readonly NumberColumn[] | undefined {
  if (parts.length < 2 || parts.length > 8) return undefined;
  const subsets = Array.from({ length: 2 ** parts.length }, (_, bits) => parts.filter((_part, at) => (bits >> at) & 1));
  return subsets
    .toSorted((a, b) => b.length - a.length)
    .find(
      (subset) =>
        subset.length > 1 &&
        whole.numbers.every((number, row) => number.equals(sum(subset.map(({ numbers }) => numbers[row] ?? ZERO)))),
    );
}

/** Whether two columns have the same numbers in at least three rows, which differ. */
function isEqual(a: NumberColumn, b: NumberColumn): boolean {
  return a.column.distinct.size > 2 && a.numbers.every((number, row) => number.equals(b.numbers[row] ?? ZERO));
}
