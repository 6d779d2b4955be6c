/** Guesses the meaning of CSV columns: account, time, quantities and others. */
import { tryParseInstant } from "../calendar/instant.ts";
import { type DecimalMark, TIME_FORMS } from "./cell-texts.ts";
import {
  isCodeName,
  isForeignId,
  isFreeTextName,
  isIdName,
  isMoneyName,
  isNumberOfRow,
  isSerialNumber,
  rankAccountName,
  rankTimeName,
  TIME_NAME,
} from "./column-words.ts";
import {
  findQuantities,
  type Quantities,
  type UnusedColumn,
  type Column,
  findTimeForms,
  hasFewValues,
  hasTimes,
  isCertainlyUnique,
  isComplete,
  isFreeText,
  isMostlyNumbers,
  isNearNumber,
  isNumber,
  isUnique,
  listColumns,
  type Sample,
  TEXT_MAX,
} from "./sample-columns.ts";

/** What the user named, which is not guessed. */
export interface NamedColumns {
  readonly time?: string;
  readonly account?: string;
  readonly id?: string;
}

/** The meaning of columns. Each column has at most one. */
export interface Columns {
  readonly timestamp: string;
  /** The format of its times, as named in a map; undefined for ISO 8601 date-times. */
  readonly form: string | undefined;
  /** Another format that all of its times fit. */
  readonly otherForm: string | undefined;
  /** Whether timestamps have no zone. */
  readonly isZoneless: boolean;
  /** Undefined if all events belong to one account. */
  readonly account: string | undefined;
  /** Undefined if row numbers are used. */
  readonly id: string | undefined;
  /** Whether ids repeat. */
  readonly idRepeats: boolean;
  /** Columns with quantities. */
  readonly numbers: readonly string[];
  /** Those of them that have empty cells. */
  readonly numbersWithEmptyCells: readonly string[];
  /** Whether the only quantity is an amount of money. */
  readonly isMoney: boolean;
  /** The decimal marks that a map must state, by the column. */
  readonly decimals: Quantities["decimals"];
  /** A quantity whose decimal mark the file doesn't show. */
  readonly doubt: Quantities["doubt"];
  /** Columns with few texts, one in every row. */
  readonly texts: readonly string[];
  /**
   * Text columns that were probably meant as numbers (`$12`, or some `NaN`), each with the first value that is not a
   * number.
   */
  readonly nearNumbers: readonly { readonly column: string; readonly text: string }[];
  /** Unused columns, each with the reason. */
  readonly unused: readonly UnusedColumn[];
}

const ID_NAME = /^(?:id|uuid|guid|(?:event|request|record|row|message|transaction|call|trace|usage)[ _.-]?id)$/i;
/** Ids with digits, such as `evt_17`, and not dates, versions, addresses of networks, mail or the web. */
const ID_TEXT = /^(?=.*\d)(?![\d.:/]+$)[^\s@/]{4,100}$/;
/** The maximum number of text columns that are used. */
const TEXTS_MAX = 50;

/**
 * Guesses from names and values whatever the user didn't name.
 *
 * @param decimal the decimal mark of all numbers, if the user named it
 * @returns undefined if no column has a time in every row, or the named time column doesn't
 */
export function guessColumns(sample: Sample, names: NamedColumns = {}, decimal?: DecimalMark): Columns | undefined {
  const columns = listColumns(sample);
  const isRepeated = (name: string): boolean => columns.filter((column) => column.name === name).length > 1;
  const usableColumns = columns.filter((column) => describeUnusable(column, isRepeated(column.name)) === undefined);
  const timestamp = findTimeColumn(usableColumns, names);
  if (timestamp === undefined) return undefined;
  const [form, otherForm] = hasTimes(timestamp) ? [] : findTimeForms(timestamp, names.time);
  const readTime = (form === undefined ? undefined : TIME_FORMS.get(form)) ?? ((text: string) => text);
  const rest = usableColumns.filter((column) => column !== timestamp);
  const findColumn = (name: string | undefined): Column | undefined => columns.find((column) => column.name === name);
  const account = findColumn(names.account) ?? findAccountColumn(rest.filter(({ name }) => name !== names.id));
  const otherColumns = rest.filter((column) => column !== account);
  const id = findColumn(names.id) ?? findIdColumn(otherColumns.filter((column) => !isOtherTime(column)));
  const valueColumns = otherColumns.filter((column) => column !== id && !isOtherTime(column));
  const quantities = findQuantities(valueColumns, decimal);
  const reasons = new Map(quantities.unused.map(({ column, reason }) => [column, reason]));
  const textColumns = valueColumns.filter(({ name }) => !reasons.has(name) && !isQuantity(name, quantities));
  const usedTextColumns = textColumns.filter((column) => describeUnfitText(column, quantities) === undefined);
  const texts = usedTextColumns.slice(0, TEXTS_MAX);
  const usedNames = new Set([timestamp, account, id, ...texts, ...quantities.columns].map((column) => column?.name));
  return {
    timestamp: timestamp.name,
    form,
    otherForm,
    isZoneless: timestamp.values.some((text) => tryParseInstant(readTime(text) ?? text) === undefined),
    account: account?.name,
    id: id?.name,
    idRepeats: id !== undefined && !isUnique(id),
    numbers: quantities.columns.map(({ name }) => name),
    numbersWithEmptyCells: quantities.columns.filter((column) => !isComplete(column)).map(({ name }) => name),
    isMoney: quantities.isMoney,
    decimals: quantities.decimals,
    doubt: quantities.doubt,
    texts: texts.map(({ name }) => name),
    nearNumbers: texts
      .filter((column) => !isCodeName(column.name) && (isNearNumber(column) || isMostlyNumbers(column)))
      .flatMap(({ name, values }) => {
        const text = values.find((value) => !isNumber(value));
        return text === undefined ? [] : [{ column: name, text }];
      }),
    unused: columns
      .filter(({ name }) => !usedNames.has(name) || isRepeated(name))
      .map((column) => ({
        column: column.name,
        reason:
          reasons.get(column.name) ??
          describeUnusable(column, isRepeated(column.name)) ??
          (isOtherTime(column) ? "a second time column" : undefined) ??
          describeUnfitText(column, quantities) ??
          `only ${TEXTS_MAX} text columns are used`,
      })),
  };
}

function isQuantity(name: string, { columns }: Quantities): boolean {
  return columns.some((column) => column.name === name);
}

/** The column whose times are most likely those at which usage began. */
function findTimeColumn(columns: readonly Column[], names: NamedColumns): Column | undefined {
  const candidates = columns.filter(
    (column) =>
      isComplete(column) &&
      ![names.account, names.id].includes(column.name) &&
      (names.time === undefined || column.name === names.time) &&
      (hasTimes(column) || findTimeForms(column, names.time).length > 0),
  );
  const rank = (column: Column): number => rankTimeName(column.name) + (hasTimes(column) ? 0.5 : 0);
  return candidates.toSorted((a, b) => rank(b) - rank(a))[0];
}

/** The column with the best name of an account; of several, the one with the most accounts, then that of ids. */
function findAccountColumn(columns: readonly Column[]): Column | undefined {
  const candidates = columns.flatMap((column) => {
    const rank = rankAccountName(column.name);
    const isNoName = isOtherTime(column) || column.filled.some((text) => /^\d+[.,]\d+$/.test(text));
    return rank === undefined || isNoName || !isComplete(column) ? [] : [{ column, rank }];
  });
  const countNames = ({ filled }: Column): number => filled.filter((text) => /\s/.test(text)).length;
  return candidates.toSorted(
    (a, b) =>
      a.rank - b.rank || b.column.distinct.size - a.column.distinct.size || countNames(a.column) - countNames(b.column),
  )[0]?.column;
}

/** A unique column: one named as the id of an event, else as an id, else one whose values look like ids. */
function findIdColumn(columns: readonly Column[]): Column | undefined {
  const candidates = columns.filter((column) => isComplete(column) && isUnique(column));
  const isNamed = ({ name, values }: Column): boolean => isIdName(name) && values.length > 1;
  return (
    candidates.find(({ name }) => ID_NAME.test(name.trim())) ??
    candidates.find((column) => isNamed(column) && !isForeignId(column.name)) ??
    candidates.find((column) => isCertainlyUnique(column) && looksLikeIds(column)) ??
    candidates.find(isNamed)
  );
}

function looksLikeIds({ name, values }: Column): boolean {
  if (isMoneyName(name) || isFreeTextName(name)) return false;
  if (!values.every((text) => /^\d+$/.test(text))) return values.every((text) => ID_TEXT.test(text) && !isNumber(text));
  const isConsecutive = values.every((text, row) => row === 0 || Number(text) === Number(values[row - 1]) + 1);
  return isConsecutive || isNumberOfRow(name);
}

/** Whether a column contains times but isn't the time column. */
function isOtherTime(column: Column): boolean {
  return hasTimes(column) || findTimeForms(column).length > 0;
}

/** The maximum characters of the name of an attribute or a dimension. */
const NAME_MAX = 255;

/** Why a column has no meaning, or cannot be named in a book. */
function describeUnusable({ name, filled }: Column, isRepeated: boolean): string | undefined {
  if (name === "") return "no name";
  if (name.length > NAME_MAX) return `a name longer than ${NAME_MAX} characters`;
  if (isRepeated) return "duplicate column name";
  return filled.length === 0 ? "always empty" : undefined;
}

/** Why a column is no dimension. */
function describeUnfitText(column: Column, { codes, columns }: Quantities): string | undefined {
  const { name, values, filled, distinct } = column;
  if (values.some((text) => text.length > TEXT_MAX)) return `has a value longer than ${TEXT_MAX} characters`;
  if (isMoneyName(name) && isNearNumber(column))
    return columns.length > 0 ? "money: the quantity is metered" : `money, but ${filled[0]} is not a number`;
  if (!isComplete(column)) return "empty in some rows";
  if (isIdName(name) ? distinct.size * 2 > values.length : codes.includes(column) && isSerialNumber(name))
    return "an id";
  if (!hasFewValues(column)) return codes.includes(column) ? "a code, not a quantity" : "too many different texts";
  return isFreeTextName(name) || isFreeText(column) ? "free text" : undefined;
}

/** The first value of a column that the user named or whose name suggests a time; undefined without one. */
export function findTimeLikeValue(
  { header, rows }: Sample,
  timeColumn?: string,
): { readonly column: string; readonly text: string } | undefined {
  const at = header.findIndex((name) => (timeColumn === undefined ? TIME_NAME.test(name) : name === timeColumn));
  const [text] = rows.map((row) => row[at] ?? "").filter((text) => text !== "");
  return text === undefined ? undefined : { column: header[at] ?? "", text };
}
