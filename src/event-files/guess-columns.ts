/** Guesses the meaning of CSV columns: account, time, quantities and others. */
import { tryParseInstant } from "../calendar/instant.ts";
import { hasCode } from "../errors.ts";
import { parseValue } from "../numbers/decimal.ts";
import { type DecimalMark, removeGrouping, toDecimalPoint } from "./decimal-marks.ts";
import { findMatchingForms, TIME_FORMS } from "./time-forms.ts";

/** The first rows of a file: its header, and records of the same length. */
export interface Sample {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The column separator of a CSV file. */
  readonly separator?: string;
}

/** Columns that the user named, which are not guessed. */
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
  /** Columns with a number in every row. */
  readonly numbers: readonly string[];
  /** The decimal mark of number columns that contain commas or thousands separators. */
  readonly decimals: ReadonlyMap<string, DecimalMark>;
  /** A number that is valid with either decimal mark, and its column. */
  readonly ambiguousNumber: { readonly column: string; readonly text: string } | undefined;
  /** Columns with text in every row. */
  readonly texts: readonly string[];
  /**
   * Text columns that were probably meant as numbers (`$12`, or some `NaN`), each with the first value that is not a
   * number.
   */
  readonly nearNumbers: readonly { readonly column: string; readonly text: string }[];
  /** Unused columns, each with the reason. */
  readonly unused: readonly { readonly column: string; readonly reason: string }[];
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
/** Column names that suggest a time. Whole numbers in such a column may be seconds or milliseconds. */
const TIME_NAME = /time|date|datum|zeit|fecha|when|start|stamp|epoch|created|occurred|^ts$|(?:^|[_ .])at$/i;
const ID_NAME = /^(?:id|uuid|guid|(?:event|request|record|row|message|transaction|call|trace|usage)[ _.-]?id)$/i;
/** The maximum number of text columns that are used. */
const TEXTS_MAX = 50;
/** The maximum characters of a text in a used column. */
const TEXT_MAX = 512;

/**
 * Guesses from names and values whatever the user didn't name.
 *
 * @returns undefined if no column has a time in every row, or the named time column doesn't
 */
export function guessColumns({ header, rows, separator }: Sample, columnNames: NamedColumns = {}): Columns | undefined {
  const columns = header.map((name, at) => ({ name, values: rows.map((row) => row[at] ?? "") }));
  const isRepeated = (name: string): boolean => header.indexOf(name) !== header.lastIndexOf(name);
  const usableColumns = columns.filter(
    ({ name, values }) => name !== "" && !isRepeated(name) && values.every((text) => text !== ""),
  );
  const unassignedColumns = usableColumns.filter(({ name }) => name !== columnNames.account && name !== columnNames.id);
  const timeCandidates =
    columnNames.time === undefined
      ? unassignedColumns
      : unassignedColumns.filter(({ name }) => name === columnNames.time);
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
  const otherColumns = rest.filter((column) => column !== account);
  const id =
    findColumn(columnNames.id) ??
    otherColumns.find(({ name, values }) => ID_NAME.test(name.trim()) && isUnique(values)) ??
    otherColumns.find(({ name, values }) => /[ _.-]id$|Id$/.test(name) && isUnique(values) && values.length > 1);
  const valueColumns = otherColumns.filter((column) => column !== id && !isOtherTime(column));
  const { numbers, decimals, ambiguousNumber } = findNumberColumns(
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
    ambiguousNumber,
    texts: usedTextColumns.map(({ name }) => name),
    nearNumbers: usedTextColumns
      .filter((column) => isNearNumber(column) || isMostlyNumbers(column))
      .flatMap(({ name, values }) => {
        const text = values.find((value) => !isNumber(value));
        return text === undefined ? [] : [{ column: name, text }];
      }),
    unused: columns
      .filter((column) => !usedColumns.has(column))
      .map((column) => ({ column: column.name, reason: describeUnused(column, isRepeated(column.name)) })),
  };
}

interface Column {
  readonly name: string;
  readonly values: readonly string[];
}

/** The number columns, and their format if it isn't plain. */
function findNumberColumns(
  columns: readonly Column[],
  separator: string | undefined,
): Pick<Columns, "decimals" | "ambiguousNumber"> & { readonly numbers: readonly Column[] } {
  const plainColumns = columns.filter(({ values }) => values.every(isNumber));
  const groupedColumns = columns.filter(
    (column) => !plainColumns.includes(column) && column.values.every(isGroupedNumber),
  );
  const commaColumns = columns.filter(({ values }) => values.every(isCommaNumber));
  const onlyCommaColumns = commaColumns.filter((column) => !plainColumns.includes(column));
  const hasCommas = onlyCommaColumns.some((column) => !groupedColumns.includes(column));
  const hasGroups = groupedColumns.some((column) => !commaColumns.includes(column));
  // In a file with decimal commas, a point separates thousands: 1.250 is 1250. If every comma could separate thousands
  // too, a semicolon between columns indicates decimal commas.
  const areDecimalCommas = hasCommas || (separator === ";" && !hasGroups);
  const decimalCommaColumns = areDecimalCommas && onlyCommaColumns.length > 0 ? commaColumns : [];
  const decimals = new Map<string, DecimalMark>([
    ...groupedColumns.map(({ name }) => [name, "."] as const),
    ...decimalCommaColumns.map(({ name }) => [name, ","] as const),
  ]);
  const ambiguousColumn =
    hasCommas || hasGroups ? undefined : groupedColumns.find((column) => commaColumns.includes(column));
  const text = ambiguousColumn?.values.find((value) => value.includes(","));
  return {
    numbers: columns.filter((column) => plainColumns.includes(column) || decimals.has(column.name)),
    decimals,
    ambiguousNumber:
      ambiguousColumn === undefined || text === undefined ? undefined : { column: ambiguousColumn.name, text },
  };
}

/** The column whose name contains the earliest word of the list: "customer_id" before "user". */
function findAccountColumn(columns: readonly Column[]): Column | undefined {
  for (const word of ACCOUNT_WORDS) {
    const accountColumn = columns.find(({ name }) => splitWords(name).includes(word));
    if (accountColumn !== undefined) return accountColumn;
  }
  return undefined;
}

/** Splits `customerId` and `customer_id` into "customer" and "id". */
export function splitWords(name: string): readonly string[] {
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

/** Whether a column contains times but isn't the time column. */
function isOtherTime(column: Column): boolean {
  const nonEmptyValues = column.values.filter((text) => text !== "");
  return (
    nonEmptyValues.length > 0 &&
    (hasTimes({ ...column, values: nonEmptyValues }) || findTimeForms({ ...column, values: nonEmptyValues }).length > 0)
  );
}

/**
 * The formats that every time of a column fits. Whole numbers count as times only if the column's name suggests it or
 * the user named the column.
 */
function findTimeForms({ name, values }: Column, timeColumn?: string): readonly string[] {
  const mayBeEpoch = name === timeColumn || TIME_NAME.test(name);
  return findMatchingForms(values).filter((form) => !form.endsWith("seconds") || mayBeEpoch);
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

/** Whether every text contains digits and otherwise only currency signs, spaces, points and commas. */
function isNearNumber({ values }: Column): boolean {
  return (
    values.length > 0 &&
    values.every((text) => /^(?:[^\d\p{L}/:-]|-(?=.)|[A-Z]{3} )*\d[\d.,' ]*(?: ?(?:\p{Sc}|%|[A-Z]{3}))?$/u.test(text))
  );
}

/**
 * Whether more than half of at least three values are numbers, so that the others are probably mistakes such as NaN or
 * 1e400.
 */
function isMostlyNumbers({ values }: Column): boolean {
  return values.length > 2 && values.filter(isNumber).length * 2 > values.length;
}

function isUnique(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}

function describeUnused(column: Column, isRepeated: boolean): string {
  const { name, values } = column;
  if (name === "") return "no name";
  if (isRepeated) return "duplicate column name";
  if (values.includes("")) return "empty in some rows";
  if (isOtherTime(column)) return "a second time column";
  return values.some((text) => text.length > TEXT_MAX)
    ? `has a value longer than ${TEXT_MAX} characters`
    : `only ${TEXTS_MAX} text columns are used`;
}
