/**
 * A book, and a map where one is needed, made for a file of events that somebody has.
 *
 * @module
 */
import { basename } from "node:path";

import { hintAt } from "../../book/nearest.ts";
import { type Columns, guessColumns, type Sample, timeLike, type ToldColumns } from "../../records/columns.ts";
import { InputError, quoted } from "../../records/problems.ts";
import { fieldSample, jsonSample } from "../../records/samples.ts";
import { type DecimalMark, TIME_FORMS, ungrouped, withPoint } from "../../records/text-forms.ts";
import type { Io } from "../io.ts";
import { bookText, meterText, schemaText, slabsText } from "./book-text.ts";
import { beginningOf, csvSample, isJsonObject } from "./sample.ts";
import { mapText } from "./templates.ts";

/** The texts that were made. */
export interface MadeOfFile {
  readonly book: string;
  readonly map: string | undefined;
  /** Whether the file is NDJSON. */
  readonly isJson: boolean;
  /** What was found, and what was not, in sentences. */
  readonly notes: readonly string[];
}

const METERS_MAX = 50;

/** Makes a book for a file. @throws {InputError} for a file of which none can be made, with what was looked for */
export async function madeOfFile(path: string, told: ToldColumns, io: Io): Promise<MadeOfFile> {
  const text = await beginningOf(path, io);
  if (!isJsonObject(text)) return ofTable(path, csvSample(path, text), { told, isJson: false });
  const objects = jsonSample(path, text);
  const events = objects.map(eventOf);
  const isReference = events.every((event) => event !== undefined) && Object.keys(told).length === 0;
  return isReference ? ofEvents(events) : ofTable(path, fieldSample(path, objects), { told, isJson: true });
}

function ofTable(
  path: string,
  sample: Sample,
  { told, isJson }: { readonly told: ToldColumns; readonly isJson: boolean },
): MadeOfFile {
  const [column, header] = isJson ? ["field", "the first lines have"] : ["column", "the header has"];
  const names = `${header} ${sample.header.map(quoted).join(", ")}`;
  for (const name of Object.values(told)) {
    if (sample.header.includes(name)) continue;
    throw new InputError(`${path}: no ${column} is named ${quoted(name)}: ${names}${hintAt(name, sample.header)}`);
  }
  const columns = guessColumns(sample, told);
  if (columns === undefined) {
    const time = timeLike(sample, told.time);
    throw new InputError(
      `${path}: no ${column} holds a time in each ${isJson ? "line" : "row"}: expected date-times such as ` +
        `2026-01-31T12:00:00Z, or one of the forms ${[...TIME_FORMS.keys()].join(", ")} (since 1970); ` +
        (time === undefined ? "" : `the ${column} ${quoted(time.column)} has ${quoted(time.text)}; `) +
        names,
    );
  }
  const stem = basename(path).replace(/\..*$/, "");
  const schema = stem.replace(/[^a-zA-Z0-9_-]+/g, "_").slice(0, 50) || "usage";
  const { numbers, texts } = columns;
  return {
    book: bookFor([{ schema, numbers, texts }]),
    map: mapFor(schema, columns),
    isJson,
    notes: [
      `${path}:`,
      ...[...originNotes(columns, isJson), ...columnNotes(columns, column)].map((note) => `  ${note}`),
    ],
  };
}

function mapFor(
  schema: string,
  { timestamp, form, isZoneless, account, id, numbers, decimals, texts }: Columns,
): string {
  const column = (name: string): string => `"column": ${JSON.stringify(name)}`;
  return mapText({
    schema,
    account: account === undefined ? '{ "value": "account-1" }' : `{ ${column(account)} }`,
    id: id === undefined ? `{ "template": ${JSON.stringify(`${schema}-{row}`)} }` : `{ ${column(id)} }`,
    timestamp: `{ ${column(timestamp)}${form === undefined ? "" : `, "form": "${form}"`}${isZoneless ? ', "zone": "UTC"' : ""} }`,
    attributes: numbers.slice(0, METERS_MAX).map((name) => [name, name] as const),
    dimensions: texts.map((name) => [name, name] as const),
    decimals,
  });
}

/** Notes on the columns that times, accounts and ids come from. */
function originNotes(columns: Columns, isJson: boolean): readonly string[] {
  const { timestamp, account, id, idRepeats } = columns;
  const repeats = idRepeats ? ", which comes again: of several events with one id the first alone counts" : "";
  const [column, rows] = isJson ? ["field", "lines"] : ["column", "rows"];
  return [
    `time in ${quoted(timestamp)}${timeNote(columns)}`,
    account === undefined
      ? `no ${column} is named like an account: all is of account-1 (say which with --account)`
      : `account in ${quoted(account)}`,
    id === undefined ? `no ${column} for the event's id: ${rows} are counted` : `event id in ${quoted(id)}${repeats}`,
  ];
}

/** Notes on the other columns. */
function columnNotes(columns: Columns, column: string): readonly string[] {
  const { numbers, nearNumbers, decimals, doubtful, unused } = columns;
  const marked = (mark: DecimalMark): string =>
    numbers
      .filter((name) => decimals.get(name) === mark)
      .map(quoted)
      .join(", ");
  const [commas, grouped] = [marked(","), marked(".")];
  return [
    numbers.length === 0
      ? `no ${column} of numbers: events are counted`
      : `meters for ${numbers.slice(0, METERS_MAX).map(quoted).join(", ")}`,
    ...nearNumbers.map(
      ({ column: name, text }) =>
        `no meter for ${quoted(name)}, which is a dimension: ${quoted(text)} is no number, as 1234.5 is one`,
    ),
    ...(commas === "" ? [] : [`numbers with a decimal comma in ${commas}`]),
    ...(grouped === "" ? [] : [`numbers with marks between thousands in ${grouped}`]),
    ...(doubtful === undefined ? [] : [doubtNote(doubtful, decimals)]),
    ...unused.map(({ column: name, why }) => `not used: ${quoted(name)}, ${why}`),
  ];
}

/** How a number was taken that could be another one. */
function doubtNote({ column, text }: NonNullable<Columns["doubtful"]>, decimals: Columns["decimals"]): string {
  const [taken, other] = decimals.get(column) === "," ? [withPoint(text), "."] : [ungrouped(text), ","];
  return `${quoted(text)} in ${quoted(column)} is taken as ${taken ?? text}: otherwise change "decimal" in the map to "${other}"`;
}

/** A note on the form of times. */
function timeNote({ form, otherForm, isZoneless }: Columns): string {
  const other = otherForm === undefined ? "" : ` (it could be ${otherForm}: then change "form" in the map)`;
  return (
    (form === undefined ? "" : `, ${/second/.test(form) ? `in ${form} since 1970` : `in the form ${form}${other}`}`) +
    (isZoneless ? ', taken as UTC (see "zone" in the map)' : "")
  );
}

/** The fields that events of one schema carry. */
interface Carried {
  readonly schema: string;
  /** Attributes. */
  readonly numbers: readonly string[];
  /** Dimensions. */
  readonly texts: readonly string[];
}

/** Of events in the reference's shape, which need no map. */
function ofEvents(events: readonly Carried[]): MadeOfFile {
  const schemas = new Map<string, Omit<Carried, "schema">>();
  for (const event of events) {
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
  return { book: bookFor(carried), map: undefined, isJson: true, notes };
}

/** What an event of the reference's shape carries; undefined for another object. */
function eventOf(event: unknown): Carried | undefined {
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
              `${index === 0 ? '// "rate" is the price of a unit. More slabs make tiers; see docs/guide/plans.md.\n          ' : ""}{ "usageMeterId": "${id}", ${slabsText([{ startAfter: 0, rate: "0.01" }])} }`,
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
  return ownOf(text.replace(/[^a-zA-Z0-9_-]+/g, " ").trim() || "meter", 50, taken);
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
