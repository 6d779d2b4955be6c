/** Reads the start of an event file, finds what its columns contain, and says what `init` took from which column. */
import { isUtf8 } from "node:buffer";

import { parse } from "csv-parse/sync";

import { tryParseInstant } from "../../calendar/instant.ts";
import { findDecimalMark } from "../../event-files/cell-texts.ts";
import { isIdName, isTokenName, splitWords } from "../../event-files/column-words.ts";
import { describeCsvError, detectSeparator } from "../../event-files/csv-rows.ts";
import { createEventMaker, type EventFileMap } from "../../event-files/event-file-map.ts";
import type { Columns } from "../../event-files/guess-columns.ts";
import { CARRIAGE_RETURNS, InputError } from "../../event-files/input-error.ts";
import { createObjectEventMaker, SAMPLE_ROWS_MAX } from "../../event-files/json-fields.ts";
import type { Sample } from "../../event-files/sample-columns.ts";
import { quoteText } from "../../problem-table.ts";
import { openByteSource } from "../event-inputs/byte-source.ts";
import { createCsvCursor } from "../event-inputs/csv-cursor.ts";
import { createNdjsonCursor } from "../event-inputs/ndjson-cursor.ts";
import type { Io } from "../io.ts";
import { createEventSink } from "../reading/open-event-files.ts";

const SAMPLE_BYTES = 1 << 20;

/** Reads the first whole lines of a file. @throws {InputError} if the file is empty or isn't text */
export async function readSampleText(path: string, io: Io): Promise<string> {
  const source = await openByteSource(path, io.stdin);
  try {
    let bytes: Buffer = Buffer.alloc(0);
    for await (const chunk of source.chunks) {
      bytes = Buffer.concat([bytes, chunk]);
      if (bytes.length >= SAMPLE_BYTES) break;
    }
    const end = bytes.length < SAMPLE_BYTES ? bytes.length : bytes.lastIndexOf(0x0a, SAMPLE_BYTES - 1) + 1;
    const lines = bytes.subarray(0, end);
    if (!isUtf8(lines)) throw new InputError(`${path}: the file is not UTF-8; save it as UTF-8`);
    const text = new TextDecoder().decode(lines);
    if (text.trim() === "") throw new InputError(`${path}: the file is empty`);
    return text;
  } finally {
    await source.close();
  }
}

/** Whether a text starts like a JSON object. */
export function isJsonObject(text: string): boolean {
  return /^\s*\{/.test(text);
}

/** Parses the header and the first rows of a CSV file. @throws {InputError} */
export function parseCsvSample(path: string, text: string): Sample {
  if (/^\s*\[\s*[{[\]]/.test(text)) {
    throw new InputError(
      `${path}: the file is one JSON list; convert it to NDJSON (one object per line), for example with jq -c '.[]'`,
    );
  }
  let records: readonly (readonly string[])[];
  try {
    records = parse(text, {
      bom: true,
      delimiter: detectSeparator(text),
      record_delimiter: ["\r\n", "\n"],
      skip_empty_lines: true,
      relax_column_count: true,
      to: SAMPLE_ROWS_MAX + 1,
    });
  } catch (error) {
    throw new InputError(`${path}: the file is neither CSV nor NDJSON: ${describeCsvError(error)}`);
  }
  const [header = [], ...rows] = records;
  if (header.some((name) => name.includes("\r"))) throw new InputError(`${path}: ${CARRIAGE_RETURNS}`);
  if (rows.length === 0) throw new InputError(`${path}: expected a header and at least one row`);
  const timeInHeader = header.find((name) => tryParseInstant(name, 0) !== undefined);
  if (timeInHeader !== undefined) {
    throw new InputError(
      `${path}:1: expected a header with column names, but the first row contains the time ${quoteText(timeInHeader)}`,
    );
  }
  const completeRows = rows.filter((row) => row.length === header.length);
  if (completeRows.length === 0) {
    const [firstRow = []] = rows;
    throw new InputError(`${path}: the header has ${header.length} columns, but the first row has ${firstRow.length}`);
  }
  return { header, rows: completeRows };
}

/** The maximum number of names, and of values of an example, in a sentence. */
const NAMED_MAX = 12;

/** What a file calls its columns and rows. */
export interface FileWords {
  readonly column: string;
  readonly row: string;
}

/** Notes on the columns of times, accounts and ids. */
export function describeOrigins(columns: Columns, { column, row }: FileWords): readonly string[] {
  const { timestamp, account, id, idRepeats } = columns;
  const repeats = idRepeats ? "; the sample has repeated ids, and only the first event with an id counts" : "";
  const isCloudAccount = account !== undefined && /subscription|project/i.test(account);
  return [
    `time in ${quoteText(timestamp)}${describeTimeForm(columns)}`,
    account === undefined
      ? `no ${column} looks like an account: all events belong to account-1 (choose one with --account)`
      : `account in ${quoteText(account)}${isCloudAccount ? `, because no ${column} names a customer (choose one with --account)` : ""}`,
    id === undefined
      ? `no ${column} for the event id; using ${row} numbers, so duplicate events will be billed`
      : `event id in ${quoteText(id)}${repeats}`,
  ];
}

/** Notes on the other columns. */
export function describeColumns(columns: Columns, { column }: FileWords): readonly string[] {
  const { numbers, numbersWithEmptyCells, isMoney, nearNumbers, decimals, texts, unused } = columns;
  const columnsWithMark = (mark: string): readonly string[] => numbers.filter((name) => decimals.get(name) === mark);
  const note = (names: readonly string[], before: string, after = ""): readonly string[] =>
    names.length === 0 ? [] : [`${before}${listNames(names)}${after}`];
  const hasTotal = unused.some(({ reason }) => reason.startsWith("the sum of "));
  const tokenDetails = numbers.filter((name) => !hasTotal && isTokenName(name) && /cache|reasoning/i.test(name));
  const reasons = [...new Set(unused.map(({ reason }) => reason))];
  return [
    ...(numbers.length === 0 ? [`no ${column} with a quantity: events are counted`] : []),
    ...(isMoney
      ? note(numbers, "no quantity, only money: a meter for ", " at a rate of 1")
      : note(numbers, "meters for ")),
    ...note(tokenDetails, "if other columns count the tokens of ", " too, delete these meters"),
    ...note(
      numbersWithEmptyCells,
      `${column === "field" ? "missing fields" : "empty cells"} count as 0 in `,
      ' (see "default" in the map)',
    ),
    ...note(columnsWithMark(","), "numbers with a decimal comma in "),
    ...note(columnsWithMark("."), "numbers with a decimal point in "),
    ...note(texts, "dimensions "),
    ...nearNumbers.map(
      ({ column: name, text }) =>
        `no meter for ${quoteText(name)}, which is a dimension: ${quoteText(text)} is not a number`,
    ),
    ...reasons.flatMap((reason) =>
      note(
        unused.filter((each) => each.reason === reason).map((each) => each.column),
        "not used: ",
        `, ${reason}`,
      ),
    ),
  ];
}

function listNames(names: readonly string[]): string {
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : "";
  return `${names.slice(0, NAMED_MAX).map(quoteText).join(", ")}${more}`;
}

/** A note on a price table. */
export function describeGroups(groups: PriceGroups | undefined): readonly string[] {
  if (groups === undefined) return [];
  const { dimensions, whens } = groups;
  const count = `${whens.length} ${whens.length === 1 ? "row" : "rows"}`;
  return [`a price table by ${dimensions.map(quoteText).join(" and ")}, with ${count}, and one for all other groups`];
}

/** A row as the map reads it: one whose numbers could be read with another decimal mark, else the first. */
export function describeExample(
  { header, rows }: Sample,
  columns: Columns,
  { map, words }: { readonly map: EventFileMap; readonly words: FileWords },
): readonly string[] {
  const marked = columns.numbers.filter((name) => columns.decimals.has(name)).map((name) => header.indexOf(name));
  const isMarked = (row: readonly string[]): boolean =>
    marked.some((at) => findDecimalMark(row[at] ?? "") !== undefined);
  const index = Math.max(rows.findIndex(isMarked), 0);
  const row = rows[index] ?? [];
  const findColumn = (name: string): ((cells: readonly string[]) => string) => {
    const at = header.indexOf(name);
    return (cells) => cells[at] ?? "";
  };
  const event = createEventMaker(map, findColumn, {})(row, index + 1);
  if (!("accountId" in event)) return [];
  const { accountId, timestamp, attributes } = event as unknown as {
    readonly accountId: string;
    readonly timestamp: string;
    readonly attributes: readonly { readonly name: string; readonly value: string }[];
  };
  const values = attributes.slice(0, NAMED_MAX).map(({ name, value }) => {
    const text = row[header.indexOf(name)] ?? "";
    return `${quoteText(name)} ${value}${text === value ? "" : ` (${quoteText(text)} is read as ${value})`}`;
  });
  return [`for example, ${words.row} ${index + 1}: ${[`account ${accountId}`, timestamp, ...values].join(", ")}`];
}

/** A note on the format of times. */
function describeTimeForm({ form, otherForm, isZoneless }: Columns): string {
  const other = otherForm === undefined ? "" : ` (if it is ${otherForm}, change "form" in the map)`;
  return (
    (form === undefined ? "" : `, ${/second/.test(form) ? `in ${form} since 1970` : `in the form ${form}${other}`}`) +
    (isZoneless ? ', read as UTC (see "zone" in the map)' : "")
  );
}

const MODEL_WORDS = ["model", "modell", "modelo", "modele", "engine", "llm", "sku", "meter", "product", "produkt"];
const KIND_WORDS = ["kind", "unit", "type", "typ", "art", "tipo", "class", "category"];
/** The maximum number of texts of a column, and of rows of a price table. */
const GROUPS_MAX = 50;

/** Texts of dimensions, by name. */
export type Texts = Readonly<Record<string, unknown>>;

/** The groups of a price table. */
export interface PriceGroups {
  /** The column of models, and that of kinds if there is one. */
  readonly dimensions: readonly string[];
  /** Each group of the file; of many groups, only the models. */
  readonly whens: readonly Texts[];
}

/**
 * @param names the dimensions
 * @param rows their texts in each event
 * @param hasKinds whether the kinds are columns of their own, such as tokens of prompts and of answers
 */
export function findPriceGroups(
  names: readonly string[],
  rows: readonly Texts[],
  hasKinds = false,
): PriceGroups | undefined {
  const listTexts = (dimensions: readonly string[]): readonly Texts[] => {
    const texts = rows.map((row) => JSON.stringify(dimensions.map((name) => [name, row[name]])));
    return [...new Set(texts)].map((text) => Object.fromEntries(JSON.parse(text) as [string, string][]));
  };
  const isUsable = (name: string): boolean =>
    rows.every(({ [name]: text }) => text !== "" && ["string", "number"].includes(typeof text)) &&
    listTexts([name]).length <= GROUPS_MAX;
  const rank = (name: string): number =>
    (rows.every((row) => row[name] === rows[0]?.[name]) ? 2 : 0) + Number(isIdName(name));
  const ranks = new Map(names.map((name) => [name, rank(name)]));
  const candidates = names.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
  const findColumn = (words: readonly string[], usedName?: string): string | undefined =>
    words
      .flatMap((word) => candidates.filter((name) => name !== usedName && splitWords(name).includes(word)))
      .find((name) => !/pricing_?model/i.test(name) && isUsable(name));
  const model = findColumn(MODEL_WORDS);
  if (model === undefined) return undefined;
  const kind = hasKinds ? undefined : findColumn(KIND_WORDS, model);
  if (kind === undefined) return hasKinds ? { dimensions: [model], whens: listTexts([model]) } : undefined;
  const groups = listTexts([model, kind]);
  return { dimensions: [model, kind], whens: groups.length <= GROUPS_MAX ? groups : listTexts([model]) };
}

const ACCOUNT_ID_MAX = 50;

/** The names of the accounts of all events in a file. */
export async function readAccountNames(
  path: string,
  { map, isJson }: { readonly map: EventFileMap; readonly isJson: boolean },
  io: Io,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const sink = createEventSink((event) => names.add((event as { readonly accountId: string }).accountId));
  const source = await openByteSource(path, io.stdin);
  const cursor = isJson
    ? createNdjsonCursor(path, source, sink, { makeEvent: createObjectEventMaker(map, {}) })
    : createCsvCursor(path, source, sink, { map });
  try {
    while (await cursor.fill()) while (cursor.advance()) cursor.take();
  } finally {
    await cursor.close();
  }
  return names;
}

/**
 * An id for each name: `Globex GmbH` is `globex-gmbh`, a second one with it `globex-gmbh-2`. Empty names have none, and
 * `__proto__`, which can't be a key of a map, stays as it is.
 */
export function createAccountIds(names: Iterable<string>): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const usedIds = new Set<string>();
  for (const name of names) {
    const slug = name
      .normalize("NFD")
      .replaceAll("ß", "ss")
      .toLowerCase()
      .replaceAll(/\p{M}/gu, "")
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "");
    if (name !== "" && name !== "__proto__") ids.set(name, makeUnique(slug || "account", ACCOUNT_ID_MAX, usedIds));
  }
  return ids;
}

/** Makes a text of at most `max` characters unique with a number at its end. */
export function makeUnique(text: string, max: number, usedTexts: Set<string>): string {
  for (let count = 1; ; count++) {
    const suffix = count === 1 ? "" : `-${count}`;
    const candidate = `${text.slice(0, max - suffix.length)}${suffix}`;
    if (usedTexts.has(candidate)) continue;
    usedTexts.add(candidate);
    return candidate;
  }
}
