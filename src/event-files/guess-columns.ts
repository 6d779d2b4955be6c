/**
 * The probable meaning of the columns of a CSV file: account, time, quantities, and the rest.
 *
 * @module
 */
import { tryParseInstant } from "../calendar/instant.ts";
import { hasCode } from "../errors.ts";
import { parseValue } from "../numbers/decimal.ts";
import {
  type DecimalMark,
  findMatchingForms,
  TIME_FORMS,
  removeGrouping,
  toDecimalPoint,
} from "./time-and-number-forms.ts";

/** The first rows of a file: its header, and some records as long as it. */
export interface Sample {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The separator of the columns of a CSV file. */
  readonly separator?: string;
}

/** Columns that somebody named, in place of a guess. */
export interface NamedColumns {
  readonly time?: string;
  readonly account?: string;
  readonly id?: string;
}

/** The meaning of columns; each column has one at most. */
export interface Columns {
  readonly timestamp: string;
  /** The form of its times, as a map names it; undefined for ISO 8601 date-times. */
  readonly form: string | undefined;
  /** Another form that all of its times could be in, too. */
  readonly otherForm: string | undefined;
  /** Timestamps name no zone. */
  readonly isZoneless: boolean;
  /** Without one, all events are of one account. */
  readonly account: string | undefined;
  /** Without one, rows are counted. */
  readonly id: string | undefined;
  /** Whether some rows have one id. */
  readonly idRepeats: boolean;
  /** A number in every row. */
  readonly numbers: readonly string[];
  /** The decimal mark of those of them that have commas, or other marks between thousands. */
  readonly decimals: ReadonlyMap<string, DecimalMark>;
  /** A number that could be read with either mark, and the column that has it. */
  readonly doubtful: { readonly column: string; readonly text: string } | undefined;
  /** A text, in every row. */
  readonly texts: readonly string[];
  /** Columns of amounts, or mostly of numbers, that are not numbers all through, each with the first text that is none. */
  readonly nearNumbers: readonly { readonly column: string; readonly text: string }[];
  /** Columns that are not used, each with why. */
  readonly unused: readonly { readonly column: string; readonly why: string }[];
}

const ACCOUNT_WORDS = [
  "account",
  "customer",
  "tenant",
  "organization",
  "organisation",
  "org",
  "client",
  "company",
  "team",
  "workspace",
  "user",
  "subscription",
  "project",
  "kunde",
  "kunden",
  "kundennummer",
  "konto",
  "mandant",
  "firma",
  "nutzer",
  "compte",
  "cuenta",
  "cliente",
];
/** Column names that sound like a time: a whole number in such a column may count seconds or milliseconds. */
const TIME_NAME = /time|date|datum|zeit|fecha|when|start|stamp|epoch|created|occurred|^ts$|(?:^|[_ .])at$/i;
const ID_NAME = /^(?:id|uuid|guid|(?:event|request|record|row|message|transaction|call|trace|usage)[ _.-]?id)$/i;
const TEXTS_MAX = 50;
const TEXT_MAX = 512;

/**
 * Guesses by names and values what was not told.
 *
 * @returns undefined when no column holds the time of each row, or the one that was told does not
 */
export function guessColumns({ header, rows, separator }: Sample, columnNames: NamedColumns = {}): Columns | undefined {
  const columns = header.map((name, at) => ({ name, values: rows.map((row) => row[at] ?? "") }));
  const isRepeated = (name: string): boolean => header.indexOf(name) !== header.lastIndexOf(name);
  const usableColumns = columns.filter(
    ({ name, values }) => name !== "" && !isRepeated(name) && values.every((text) => text !== ""),
  );
  const unnamedColumns = usableColumns.filter(({ name }) => name !== columnNames.account && name !== columnNames.id);
  const timeCandidates =
    columnNames.time === undefined ? unnamedColumns : unnamedColumns.filter(({ name }) => name === columnNames.time);
  const timestamp =
    timeCandidates.find(hasTimes) ??
    timeCandidates.find((column) => findTimeForms(column, columnNames.time).length > 0);
  if (timestamp === undefined) return undefined;
  const [form, otherForm] = hasTimes(timestamp) ? [] : findTimeForms(timestamp, columnNames.time);
  const readTime = (form === undefined ? undefined : TIME_FORMS.get(form)) ?? ((text: string) => text);
  const rest = usableColumns.filter((column) => column !== timestamp);
  const findColumn = (name: string | undefined): Column | undefined => columns.find((column) => column.name === name);
  const account =
    findColumn(columnNames.account) ?? findAccountColumn(rest.filter(({ name }) => name !== columnNames.id));
  const others = rest.filter((column) => column !== account);
  const id =
    findColumn(columnNames.id) ??
    others.find(({ name, values }) => ID_NAME.test(name.trim()) && isUnique(values)) ??
    others.find(({ name, values }) => /[ _.-]id$|Id$/.test(name) && isUnique(values) && values.length > 1);
  const valueColumns = others.filter((column) => column !== id && !isOtherTime(column));
  const { numbers, decimals, doubtful } = findNumberColumns(
    valueColumns.filter(({ name }) => !isIdName(name)),
    separator,
  );
  const textColumns = valueColumns.filter((column) => !numbers.includes(column));
  const usedTextColumns = textColumns
    .filter(({ values }) => values.every((text) => text.length <= TEXT_MAX))
    .slice(0, TEXTS_MAX);
  const usedColumns = new Set([timestamp, account, id, ...numbers, ...usedTextColumns]);
  return {
    timestamp: timestamp.name,
    form,
    otherForm,
    isZoneless: timestamp.values.some((text) => tryParseInstant(readTime(text) ?? text) === undefined),
    account: account?.name,
    id: id?.name,
    idRepeats: id !== undefined && !isUnique(id.values),
    numbers: numbers.map(({ name }) => name),
    decimals,
    doubtful,
    texts: usedTextColumns.map(({ name }) => name),
    nearNumbers: usedTextColumns
      .filter((column) => isNearNumber(column) || isMostlyNumbers(column))
      .flatMap(({ name, values }) => {
        const text = values.find((value) => !isNumber(value));
        return text === undefined ? [] : [{ column: name, text }];
      }),
    unused: columns
      .filter((column) => !usedColumns.has(column))
      .map((column) => ({ column: column.name, why: describeUnused(column, isRepeated(column.name)) })),
  };
}

interface Column {
  readonly name: string;
  readonly values: readonly string[];
}

/** The columns of numbers, and how those are written that are not plain. */
function findNumberColumns(
  columns: readonly Column[],
  separator: string | undefined,
): Pick<Columns, "decimals" | "doubtful"> & { readonly numbers: readonly Column[] } {
  const plain = columns.filter(({ values }) => values.every(isNumber));
  const groupedColumns = columns.filter((column) => !plain.includes(column) && column.values.every(isGroupedNumber));
  const withCommas = columns.filter(({ values }) => values.every(isCommaNumber));
  const notPlain = withCommas.filter((column) => !plain.includes(column));
  const hasCommas = notPlain.some((column) => !groupedColumns.includes(column));
  const hasGroups = groupedColumns.some((column) => !withCommas.includes(column));
  // In a file with decimal commas a point stands between thousands: 1.250 is more than a thousand. Where each comma could
  // stand between thousands, too, semicolons between the columns say which it is.
  const areDecimalCommas = hasCommas || (separator === ";" && !hasGroups);
  const commas = areDecimalCommas && notPlain.length > 0 ? withCommas : [];
  const decimals = new Map<string, DecimalMark>([
    ...groupedColumns.map(({ name }) => [name, "."] as const),
    ...commas.map(({ name }) => [name, ","] as const),
  ]);
  const doubtfulColumn =
    hasCommas || hasGroups ? undefined : groupedColumns.find((column) => withCommas.includes(column));
  const text = doubtfulColumn?.values.find((value) => value.includes(","));
  return {
    numbers: columns.filter((column) => plain.includes(column) || decimals.has(column.name)),
    decimals,
    doubtful: doubtfulColumn === undefined || text === undefined ? undefined : { column: doubtfulColumn.name, text },
  };
}

/** The column whose name has the word that comes first in the list; "customer_id" before "user". */
function findAccountColumn(columns: readonly Column[]): Column | undefined {
  for (const word of ACCOUNT_WORDS) {
    const accountColumn = columns.find(({ name }) => splitWords(name).includes(word));
    if (accountColumn !== undefined) return accountColumn;
  }
  return undefined;
}

/** `customerId` and `customer_id` are "customer" and "id". */
function splitWords(name: string): readonly string[] {
  return name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

function isIdName(name: string): boolean {
  return splitWords(name).at(-1) === "id";
}

function hasTimes({ values }: Column): boolean {
  return values.length > 0 && values.every(isTime);
}

function isTime(text: string): boolean {
  return tryParseInstant(text, 0) !== undefined;
}

/** Whether a column has times beside the one that counts. */
function isOtherTime(column: Column): boolean {
  const nonEmptyValues = column.values.filter((text) => text !== "");
  return (
    nonEmptyValues.length > 0 &&
    (hasTimes({ ...column, values: nonEmptyValues }) || findTimeForms({ ...column, values: nonEmptyValues }).length > 0)
  );
}

/**
 * The forms that every time of a column could be in. Whole numbers are no times unless the column is named like one, or
 * somebody said that it is the time.
 */
function findTimeForms({ name, values }: Column, timeColumn?: string): readonly string[] {
  const mayBeEpoch = name === timeColumn || TIME_NAME.test(name);
  return findMatchingForms(values).filter((form) => !form.endsWith("seconds") || mayBeEpoch);
}

/** The first value of a column that sounds like a time, or was told to be one; undefined where none does. */
export function findTimeLikeValue(
  { header, rows }: Sample,
  timeColumn?: string,
): { readonly column: string; readonly text: string } | undefined {
  const at = header.findIndex((name) => (timeColumn === undefined ? TIME_NAME.test(name) : name === timeColumn));
  const [text] = rows.map((row) => row[at] ?? "").filter((text) => text !== "");
  return text === undefined ? undefined : { column: header[at] ?? "", text };
}

function isCommaNumber(text: string): boolean {
  return toDecimalPoint(text) !== undefined;
}

function isGroupedNumber(text: string): boolean {
  return isNumber(removeGrouping(text) ?? "");
}

function isNumber(text: string): boolean {
  try {
    parseValue(text);
    return true;
  } catch (error) {
    if (hasCode(error, "ERR_NUMBER_INVALID")) return false;
    throw error;
  }
}

/** Whether every text has digits and otherwise only signs of a currency, spaces, points and commas. */
function isNearNumber({ values }: Column): boolean {
  return (
    values.length > 0 &&
    values.every((text) => /^(?:[^\d\p{L}/:-]|-(?=.)|[A-Z]{3} )*\d[\d.,' ]*(?: ?(?:\p{Sc}|%|[A-Z]{3}))?$/u.test(text))
  );
}

/** Whether more than half of at least three texts are numbers: the others are probably mistakes, such as NaN or 1e400. */
function isMostlyNumbers({ values }: Column): boolean {
  return values.length > 2 && values.filter(isNumber).length * 2 > values.length;
}

function isUnique(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}

function describeUnused(column: Column, isRepeated: boolean): string {
  const { name, values } = column;
  if (name === "") return "no name";
  if (isRepeated) return "the header repeats it";
  if (values.includes("")) return "empty in some rows";
  if (isOtherTime(column)) return "a second time column";
  return "too many or too long values";
}
