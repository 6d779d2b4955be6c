/**
 * What the columns of a CSV file probably are: who, when, how much, and what else.
 *
 * @module
 */
import { instantOrUndefined } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import { valueOf } from "../../numbers/decimal.ts";

/** The first rows of a file: its header, and some records as long as it. */
export interface Sample {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What the columns are; each column is one thing at most. */
export interface Columns {
  readonly timestamp: string;
  /** Timestamps name no zone. */
  readonly isZoneless: boolean;
  /** Without one, all events are of one account. */
  readonly account: string | undefined;
  /** Without one, rows are counted. */
  readonly id: string | undefined;
  /** A number in every row. */
  readonly numbers: readonly string[];
  /** A text, in every row. */
  readonly texts: readonly string[];
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
];
const ID_NAME = /^(?:id|uuid|guid|(?:event|request|record|row|message|transaction|call|trace|usage)[ _-]?id)$/i;
const TEXTS_MAX = 50;
const TEXT_MAX = 512;

/**
 * Guesses by names and values.
 *
 * @returns undefined when no column holds the time of each row
 */
export function guessColumns({ header, rows }: Sample): Columns | undefined {
  const columns = header.map((name, at) => ({ name, values: rows.map((row) => row[at] ?? "") }));
  const isRepeated = (name: string): boolean => header.indexOf(name) !== header.lastIndexOf(name);
  const usable = columns.filter(
    ({ name, values }) => name !== "" && !isRepeated(name) && values.every((text) => text !== ""),
  );
  const timestamp = usable.find(({ values }) => values.length > 0 && values.every(isTime));
  if (timestamp === undefined) return undefined;
  const rest = usable.filter((column) => column !== timestamp);
  const account = accountAmong(rest);
  const others = rest.filter((column) => column !== account);
  const id =
    others.find(({ name, values }) => ID_NAME.test(name.trim()) && isUnique(values)) ??
    others.find(({ name, values }) => /[ _-]id$|Id$/.test(name) && isUnique(values) && values.length > 1);
  const measured = others.filter((column) => column !== id && !isTime(column.values[0] ?? ""));
  const numbers = measured.filter(({ name, values }) => !isIdName(name) && values.every(isNumber));
  const texts = measured.filter((column) => !numbers.includes(column));
  const kept = texts.filter(({ values }) => values.every((text) => text.length <= TEXT_MAX)).slice(0, TEXTS_MAX);
  const used = new Set([timestamp, account, id, ...numbers, ...kept]);
  return {
    timestamp: timestamp.name,
    isZoneless: timestamp.values.some((text) => instantOrUndefined(text) === undefined),
    account: account?.name,
    id: id?.name,
    numbers: numbers.map(({ name }) => name),
    texts: kept.map(({ name }) => name),
    unused: columns
      .filter((column) => !used.has(column))
      .map(({ name, values }) => ({ column: name, why: whyUnused(name, values, isRepeated(name)) })),
  };
}

interface Column {
  readonly name: string;
  readonly values: readonly string[];
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

function isTime(text: string): boolean {
  return instantOrUndefined(text, 0) !== undefined;
}

function isNumber(text: string): boolean {
  try {
    valueOf(text);
    return true;
  } catch (error) {
    if (hasCode(error, "ERR_NUMBER_INVALID")) return false;
    throw error;
  }
}

function isUnique(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}

function whyUnused(name: string, values: readonly string[], isRepeated: boolean): string {
  if (name === "") return "it has no name";
  if (isRepeated) return "the header has it more than once";
  if (values.includes("")) return "it is empty in some rows";
  if (isTime(values[0] ?? "")) return "it is another time";
  return "its texts are too long or too many";
}
