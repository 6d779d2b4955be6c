/**
 * The probable meaning of the columns of a CSV file: account, time, quantities, and the rest.
 *
 * @module
 */
import { tryParseInstant } from "../calendar/instant.ts";
import { hasCode } from "../errors.ts";
import { parseValue } from "../numbers/decimal.ts";
import { type DecimalMark, formsThatFit, TIME_FORMS, ungrouped, withPoint } from "./text-forms.ts";

/** The first rows of a file: its header, and some records as long as it. */
export interface Sample {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The separator of the columns of a CSV file. */
  readonly separator?: string;
}

/** Columns that somebody named, in place of a guess. */
export interface ToldColumns {
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
export function guessColumns({ header, rows, separator }: Sample, told: ToldColumns = {}): Columns | undefined {
  const columns = header.map((name, at) => ({ name, values: rows.map((row) => row[at] ?? "") }));
  const isRepeated = (name: string): boolean => header.indexOf(name) !== header.lastIndexOf(name);
  const usable = columns.filter(
    ({ name, values }) => name !== "" && !isRepeated(name) && values.every((text) => text !== ""),
  );
  const free = usable.filter(({ name }) => name !== told.account && name !== told.id);
  const timed = told.time === undefined ? free : free.filter(({ name }) => name === told.time);
  const timestamp = timed.find(hasTimes) ?? timed.find((column) => formsOf(column, told.time).length > 0);
  if (timestamp === undefined) return undefined;
  const [form, otherForm] = hasTimes(timestamp) ? [] : formsOf(timestamp, told.time);
  const readTime = (form === undefined ? undefined : TIME_FORMS.get(form)) ?? ((text: string) => text);
  const rest = usable.filter((column) => column !== timestamp);
  const named = (name: string | undefined): Column | undefined => columns.find((column) => column.name === name);
  const account = named(told.account) ?? accountAmong(rest.filter(({ name }) => name !== told.id));
  const others = rest.filter((column) => column !== account);
  const id =
    named(told.id) ??
    others.find(({ name, values }) => ID_NAME.test(name.trim()) && isUnique(values)) ??
    others.find(({ name, values }) => /[ _.-]id$|Id$/.test(name) && isUnique(values) && values.length > 1);
  const measured = others.filter((column) => column !== id && !isOtherTime(column));
  const { numbers, decimals, doubtful } = numbersAmong(
    measured.filter(({ name }) => !isIdName(name)),
    separator,
  );
  const texts = measured.filter((column) => !numbers.includes(column));
  const kept = texts.filter(({ values }) => values.every((text) => text.length <= TEXT_MAX)).slice(0, TEXTS_MAX);
  const used = new Set([timestamp, account, id, ...numbers, ...kept]);
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
    texts: kept.map(({ name }) => name),
    nearNumbers: kept
      .filter((column) => isNearNumber(column) || isMostlyNumbers(column))
      .flatMap(({ name, values }) => {
        const text = values.find((value) => !isNumber(value));
        return text === undefined ? [] : [{ column: name, text }];
      }),
    unused: columns
      .filter((column) => !used.has(column))
      .map((column) => ({ column: column.name, why: whyUnused(column, isRepeated(column.name)) })),
  };
}

interface Column {
  readonly name: string;
  readonly values: readonly string[];
}

/** The columns of numbers, and how those are written that are not plain. */
function numbersAmong(
  columns: readonly Column[],
  separator: string | undefined,
): Pick<Columns, "decimals" | "doubtful"> & { readonly numbers: readonly Column[] } {
  const plain = columns.filter(({ values }) => values.every(isNumber));
  const grouped = columns.filter((column) => !plain.includes(column) && column.values.every(isGroupedNumber));
  const withCommas = columns.filter(({ values }) => values.every(isCommaNumber));
  const unplain = withCommas.filter((column) => !plain.includes(column));
  const hasCommas = unplain.some((column) => !grouped.includes(column));
  const hasGroups = grouped.some((column) => !withCommas.includes(column));
  // In a file with decimal commas a point stands between thousands: 1.250 is more than a thousand. Where each comma could
  // stand between thousands, too, semicolons between the columns say which it is.
  const areCommas = hasCommas || (separator === ";" && !hasGroups);
  const commas = areCommas && unplain.length > 0 ? withCommas : [];
  const decimals = new Map<string, DecimalMark>([
    ...grouped.map(({ name }) => [name, "."] as const),
    ...commas.map(({ name }) => [name, ","] as const),
  ]);
  const doubted = hasCommas || hasGroups ? undefined : grouped.find((column) => withCommas.includes(column));
  const text = doubted?.values.find((value) => value.includes(","));
  return {
    numbers: columns.filter((column) => plain.includes(column) || decimals.has(column.name)),
    decimals,
    doubtful: doubted === undefined || text === undefined ? undefined : { column: doubted.name, text },
  };
}

/** The column whose name has the word that comes first in the list; "customer_id" before "user". */
function accountAmong(columns: readonly Column[]): Column | undefined {
  for (const word of ACCOUNT_WORDS) {
    const found = columns.find(({ name }) => wordsOf(name).includes(word));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `customerId` and `customer_id` are "customer" and "id". */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

function isIdName(name: string): boolean {
  return wordsOf(name).at(-1) === "id";
}

function hasTimes({ values }: Column): boolean {
  return values.length > 0 && values.every(isTime);
}

function isTime(text: string): boolean {
  return tryParseInstant(text, 0) !== undefined;
}

/** Whether a column has times beside the one that counts. */
function isOtherTime(column: Column): boolean {
  const filled = column.values.filter((text) => text !== "");
  return (
    filled.length > 0 && (hasTimes({ ...column, values: filled }) || formsOf({ ...column, values: filled }).length > 0)
  );
}

/**
 * The forms that every time of a column could be in. Whole numbers are no times unless the column is named like one, or
 * somebody said that it is the time.
 */
function formsOf({ name, values }: Column, told?: string): readonly string[] {
  const mayCount = name === told || TIME_NAME.test(name);
  return formsThatFit(values).filter((form) => !form.endsWith("seconds") || mayCount);
}

/** The first value of a column that sounds like a time, or was told to be one; undefined where none does. */
export function timeLike(
  { header, rows }: Sample,
  told?: string,
): { readonly column: string; readonly text: string } | undefined {
  const at = header.findIndex((name) => (told === undefined ? TIME_NAME.test(name) : name === told));
  const [text] = rows.map((row) => row[at] ?? "").filter((text) => text !== "");
  return text === undefined ? undefined : { column: header[at] ?? "", text };
}

function isCommaNumber(text: string): boolean {
  return withPoint(text) !== undefined;
}

function isGroupedNumber(text: string): boolean {
  return isNumber(ungrouped(text) ?? "");
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

function whyUnused(column: Column, isRepeated: boolean): string {
  const { name, values } = column;
  if (name === "") return "it has no name";
  if (isRepeated) return "the header has it more than once";
  if (values.includes("")) return "it is empty in some rows";
  if (isOtherTime(column)) return "it is another time";
  return "its texts are too long or too many";
}
