/**
 * A book, and a map where one is needed, made for a file of events that somebody has.
 *
 * @module
 */
import { basename } from "node:path";

import { parse } from "csv-parse/sync";

import { parseJson } from "../../numbers/json.ts";
import { openSource } from "../events/byte-source.ts";
import type { Io } from "../io.ts";
import { InputError, quoted } from "../problems.ts";
import { bookText, meterText, schemaText, slabsText } from "./book-text.ts";
import { guessColumns, type Sample } from "./columns.ts";
import { mapText } from "./templates.ts";

/** What was made. */
export interface MadeOfFile {
  readonly book: string;
  readonly map: string | undefined;
  /** What was found, and what was not, in sentences. */
  readonly notes: readonly string[];
}

const SAMPLE_BYTES = 1 << 20;
const ROWS_MAX = 1000;
const METERS_MAX = 50;

/** Makes a book for a file. @throws {InputError} for a file of which none can be made, with what was looked for */
export async function madeOfFile(path: string, io: Io): Promise<MadeOfFile> {
  const text = await beginningOf(path, io);
  if (text.trim() === "") throw new InputError(`${path}: the file is empty`);
  return /^\s*\{/.test(text) ? ofNdjson(path, text) : ofCsv(path, text);
}

/** The first whole lines of a file. */
async function beginningOf(path: string, io: Io): Promise<string> {
  const source = await openSource(path, io.stdin);
  try {
    const bytes = new Uint8Array(SAMPLE_BYTES);
    let length = 0;
    while (length < SAMPLE_BYTES) {
      const read = await source.read(bytes, length);
      if (read === 0) break;
      length += read;
    }
    const text = new TextDecoder().decode(bytes.subarray(0, length));
    return length < SAMPLE_BYTES ? text : text.slice(0, text.lastIndexOf("\n") + 1);
  } finally {
    await source.close();
  }
}

function ofCsv(path: string, text: string): MadeOfFile {
  const { header, rows } = sampleOf(path, text);
  const columns = guessColumns({ header, rows });
  if (columns === undefined) {
    throw new InputError(
      `${path}: no column holds a date-time in each row, such as 2026-01-31T12:00:00Z or 2026-01-31 12:00:00: the header has ${header.map(quoted).join(", ")}`,
    );
  }
  const { timestamp, isZoneless, account, id, numbers, texts, unused } = columns;
  const stem = basename(path).replace(/\..*$/, "");
  const schema = stem.replace(/[^a-zA-Z0-9_-]+/g, "_").slice(0, 50) || "usage";
  const map = mapText({
    schema,
    account: account === undefined ? '{ "value": "account-1" }' : `{ "column": ${JSON.stringify(account)} }`,
    id:
      id === undefined ? `{ "template": ${JSON.stringify(`${schema}-{row}`)} }` : `{ "column": ${JSON.stringify(id)} }`,
    timestamp: `{ "column": ${JSON.stringify(timestamp)}${isZoneless ? ', "zone": "UTC"' : ""} }`,
    attributes: numbers.slice(0, METERS_MAX).map((name) => [name, name] as const),
    dimensions: texts.map((name) => [name, name] as const),
  });
  const notes = [
    `${path}: time in ${quoted(timestamp)}${isZoneless ? ', taken as UTC (see "zone" in the map)' : ""}; ` +
      `${account === undefined ? "no column for the account: all is of account-1" : `account in ${quoted(account)}`}; ` +
      (id === undefined ? "no column for the event's id: rows are counted" : `event id in ${quoted(id)}`),
    numbers.length === 0
      ? "no column of numbers: events are counted"
      : `meters for ${numbers.slice(0, METERS_MAX).map(quoted).join(", ")}`,
    ...unused.map(({ column, why }) => `not used: ${quoted(column)}, ${why}`),
  ];
  return { book: bookFor([{ schema, numbers, texts }]), map, notes };
}

function sampleOf(path: string, text: string): Sample {
  let records: readonly (readonly string[])[];
  try {
    records = parse(text, { bom: true, skip_empty_lines: true, relax_column_count: true, to: ROWS_MAX + 1 });
  } catch (error) {
    throw new InputError(
      `${path}: the file is neither CSV nor NDJSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const [header = [], ...rows] = records;
  if (rows.length === 0) throw new InputError(`${path}: expected a header and at least one row`);
  return { header, rows: rows.filter((row) => row.length === header.length) };
}

/** What events of one schema carry. */
interface Carried {
  readonly schema: string;
  /** Attributes. */
  readonly numbers: readonly string[];
  /** Dimensions. */
  readonly texts: readonly string[];
}

function ofNdjson(path: string, text: string): MadeOfFile {
  const schemas = new Map<string, { numbers: readonly string[]; texts: readonly string[] }>();
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  for (const [index, line] of lines.slice(0, ROWS_MAX).entries()) {
    const event = eventOf(line);
    if (event === undefined) {
      throw new InputError(
        `${path}:${index + 1}: expected an event {schemaName, id, timestamp, accountId, attributes, dimensions}: of other JSON make CSV first`,
      );
    }
    const known = schemas.get(event.schema);
    schemas.set(event.schema, {
      numbers: known === undefined ? event.numbers : known.numbers.filter((name) => event.numbers.includes(name)),
      texts: known === undefined ? event.texts : known.texts.filter((name) => event.texts.includes(name)),
    });
  }
  const carried = [...schemas].map(([schema, fields]): Carried => ({ schema, ...fields }));
  const notes = carried.map(({ schema, numbers }) =>
    numbers.length === 0
      ? `events of ${quoted(schema)} are counted`
      : `meters for ${numbers.map(quoted).join(", ")} of ${quoted(schema)}`,
  );
  return { book: bookFor(carried), map: undefined, notes };
}

function eventOf(line: string): Carried | undefined {
  let event: unknown;
  try {
    event = parseJson(line);
  } catch {
    return undefined;
  }
  const { schemaName, accountId, attributes, dimensions } = (event ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof schemaName !== "string" || typeof accountId !== "string") return undefined;
  const names = Array.isArray(attributes)
    ? attributes.map((each) => (each as { readonly name?: unknown } | null)?.name)
    : [];
  return {
    schema: schemaName,
    numbers: names.filter((name) => typeof name === "string"),
    texts: typeof dimensions === "object" && dimensions !== null ? Object.keys(dimensions) : [],
  };
}

/** A book with a meter for each number, priced at a cent a unit, and no accounts. */
function bookFor(carried: readonly Carried[]): string {
  const taken = new Set<string>();
  const meters = carried.flatMap(({ schema, numbers }) =>
    (numbers.length === 0 ? [undefined] : numbers).slice(0, METERS_MAX).map((attribute) => ({
      id: idFor(attribute ?? schema, taken),
      name: nameFor(attribute ?? `${schema} events`, taken),
      schema,
      attribute,
    })),
  );
  return bookText({
    about: [
      "A price list for ratebook, made of a file of events. Every unit costs one cent: change that first.",
      "It has no accounts: --accounts-from-events makes one of each account of the events.",
    ],
    eventSchemas: carried.map(({ schema, numbers, texts }) => schemaText(schema, numbers.slice(0, METERS_MAX), texts)),
    usageMeters: meters.map(({ attribute, ...meter }) =>
      meterText(attribute === undefined ? meter : { ...meter, attribute }),
    ),
    plan: {
      name: "First plan",
      cards: [
        [
          "usageRateCards",
          meters.map(
            ({ id }, index) =>
              `${index === 0 ? '// "rate" is the price of a unit. More slabs make tiers; see docs/cookbook.md.\n          ' : ""}{ "usageMeterId": "${id}", ${slabsText([{ startAfter: 0, rate: "0.01" }])} }`,
          ),
        ],
      ],
    },
  });
}

/** An id of a meter: at most 20 characters, its own. */
function idFor(text: string, taken: Set<string>): string {
  return ownOf(`um.${text.replace(/[^a-zA-Z0-9]+/g, "-").replace(/^-+|-+$/g, "") || "meter"}`, 20, taken);
}

/** A name of a meter: at most 50 characters of its pattern, its own. */
function nameFor(text: string, taken: Set<string>): string {
  return ownOf(text.replace(/[^\sa-zA-Z0-9_-]+/g, " ").trim() || "meter", 50, taken);
}

function ownOf(text: string, max: number, taken: Set<string>): string {
  for (let count = 1; ; count++) {
    const suffix = count === 1 ? "" : `-${count}`;
    const own = `${text.slice(0, max - suffix.length)}${suffix}`;
    if (taken.has(own)) continue;
    taken.add(own);
    return own;
  }
}
