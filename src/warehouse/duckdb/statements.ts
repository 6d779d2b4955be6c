/**
 * The statements that meter a source in DuckDB: which rows are plain, what they sum up to, and all other rows, for the core
 * (S17.3).
 *
 * @module
 */
import { EVENT_ID_LENGTH_MAX } from "../../metering/event-envelope.ts";
import { DIMENSION_LENGTH_MAX } from "../../metering/event-fields.ts";
import { NARROW_END, reachOf } from "../pushing/number-range.ts";
import type { PushedSchema } from "../pushing/push-schema.ts";
import type { NumberTerm } from "../pushing/term.ts";
import { rangeOfPart, type Source, type SourcePart } from "../source.ts";
import { indented, quotedText } from "./sql-names.ts";
import {
  ROW_COLUMN,
  sqlOfPartText,
  sqlOfPlainInstant,
  sqlOfPlainNumber,
  sqlOfPlainText,
  sqlOfTimeParts,
  withInstants,
} from "./sql-parts.ts";
import { attributeColumn, dimensionColumn, sqlOfNumber, sqlOfText, sqlOfTruth } from "./sql-terms.ts";

/** Milliseconds of a day. */
const DAY = 86_400_000;
/** Safe integers of the core: sums of quantities within them keep every bill within its digits (S1.4). */
const SAFE = BigInt(Number.MAX_SAFE_INTEGER);
/** Places after the point up to which the core takes a quantity for a narrow one. */
const NARROW_SCALE = 15;

/** What beside the row itself decides whether it is plain. */
export interface PlainRows {
  /** A table of the hashes of ids that occur more than once; undefined where ids are not looked at. */
  readonly repeated: string | undefined;
  /** A condition on `account_id` that holds for known and live accounts; undefined where that is looked at later. */
  readonly account: string | undefined;
}

/** The scale at which the units of a meter are summed. */
export function scaleOfUnits({ range }: NumberTerm): number {
  return Math.min(range.scale, NARROW_SCALE);
}

/** The hash of an id. A collision costs time, never truth: all rows of one hash go to the core. */
export function sqlOfIdHash(source: Source): string {
  return `hash(${sqlOfPartText(source.id)})`;
}

/** The hashes of ids that occur more than once in some sources together. */
export function repeatedIds(sources: readonly Source[]): string {
  const hashes = sources.map((source) => `  select ${sqlOfIdHash(source)} as id_hash from ${source.from}`);
  return `select id_hash from (\n${hashes.join("\n  union all\n")}\n) group by id_hash having count(*) > 1`;
}

/** Rows of one schema, each judged: the columns `plain`, `account_id`, `at`, and by meter its match `m0` and its units `u0`. */
export function judgedRows(source: Source, pushed: PushedSchema, plain: PlainRows, carried = ""): string {
  const { fields, meters, schema } = pushed;
  const stages = [readStage(source, pushed, plain.repeated !== undefined, carried)];
  for (const { kind, slot, term } of fields) {
    const column =
      kind === "number"
        ? `${sqlOfNumber(term)} as ${attributeColumn(slot)}`
        : `${sqlOfText(term)} as ${dimensionColumn(slot)}`;
    stages.push(`select *, ${column} from (\n${indented(stages.pop() ?? "")}\n)`);
  }
  const measured = meters.flatMap(({ matches, units }, place) => [
    `${sqlOfTruth(matches)} as m${place}, -- meter ${oneLine(meters[place]?.meter.id)}: whether it counts the row`,
    `${sqlOfNumber(units)} as u${place}, --   and how much, in units of 10^-${units.range.scale}`,
  ]);
  const conditions = [
    ...conditionsOf(pushed),
    ...conditionsOn(source, pushed),
    ...(plain.account === undefined ? [] : [plain.account]),
  ];
  if (plain.repeated !== undefined) conditions.push(`id_hash not in (select id_hash from ${plain.repeated})`);
  return [
    `select *,`,
    `  coalesce(${conditions.join("\n    and ")}, false) as plain`,
    `from (`,
    `  select *,`,
    ...measured.map((line) => `    ${line}`),
    `    at_ms // ${DAY} as day`,
    `  from ( -- the parts of events of ${oneLine(schema.name)}; NULL where one is not as a plain event has it`,
    indented(stages[0] ?? "", "    "),
    `  )`,
    `)`,
  ].join("\n");
}

function readStage(
  source: Source,
  { schema, attributes, dimensions, bounds }: PushedSchema,
  hasHash: boolean,
  carried: string,
): string {
  const idBounds = [1, EVENT_ID_LENGTH_MAX] as const;
  const columns = [
    `${sqlOfPlainText(source.id, idBounds)} as id`,
    ...(hasHash ? [`${sqlOfIdHash(source)} as id_hash`] : []),
    `${sqlOfPlainText(source.accountId, idBounds)} as account_id`,
    `${sqlOfPlainInstant(source.timestamp)} as at_ms`,
    ...attributes.map(
      ({ name, range }, slot) =>
        `${sqlOfPlainNumber(partOf(source.attributes, name), range)} as ${attributeColumn(slot)}`,
    ),
    ...dimensions.map(
      (name, slot) =>
        `${sqlOfPlainText(partOf(source.dimensions, name), [0, DIMENSION_LENGTH_MAX])} as ${dimensionColumn(slot)}`,
    ),
    ...undeclared(source, { attributes, dimensions, bounds }),
    ...(carried === "" ? [] : [carried]),
  ];
  return `select\n  ${columns.join(",\n  ")}\nfrom ${source.from}\nwhere ${sqlOfPartText(source.schemaName)} = ${quotedText(schema.name)}`;
}

/** Parts that the schema does not declare are not seen by rules, but an event with a wrong one fails all the same. */
function undeclared(
  source: Source,
  { attributes, dimensions, bounds }: Pick<PushedSchema, "attributes" | "dimensions" | "bounds">,
): readonly string[] {
  const numbers = othersOf(
    source.attributes,
    attributes.map(({ name }) => name),
  ).map((part, place) => {
    const range = rangeOfPart(part, bounds);
    return `${range === undefined ? "NULL" : sqlOfPlainNumber(part, range)} as x${place}`;
  });
  const texts = othersOf(source.dimensions, dimensions).map(
    (part, place) => `${sqlOfPlainText(part, [0, DIMENSION_LENGTH_MAX])} as y${place}`,
  );
  return [...numbers, ...texts];
}

function othersOf(parts: ReadonlyMap<string, SourcePart>, declared: readonly string[]): readonly SourcePart[] {
  return [...parts].filter(([name]) => !declared.includes(name)).map(([, part]) => part);
}

/** All parts are there, as a plain event has them. */
function conditionsOn(source: Source, { attributes, dimensions }: PushedSchema): readonly string[] {
  const names = [
    ...attributes.map((_, slot) => attributeColumn(slot)),
    ...dimensions.map((_, slot) => dimensionColumn(slot)),
    ...othersOf(
      source.attributes,
      attributes.map(({ name }) => name),
    ).map((_, place) => `x${place}`),
    ...othersOf(source.dimensions, dimensions).map((_, place) => `y${place}`),
  ];
  return ["id", "account_id", "at_ms", ...names].map((name) => `${name} is not null`);
}

/** What each meter counts is so narrow that the core's bills of such sums cannot fail, and fits the sums. */
function conditionsOf({ meters }: PushedSchema): readonly string[] {
  return meters.flatMap(({ units }, place) => {
    const { scale } = units.range;
    const [u, m] = [`u${place}`, `m${place}`];
    const drop = 10n ** BigInt(Math.max(scale - NARROW_SCALE, 0));
    const most = SAFE * drop;
    if (reachOf(units.range) <= most && drop === 1n) return [];
    const isNarrow = `abs(${u}) <= ${most}${drop > 1n ? ` and ${u} % ${drop} = 0` : ""}`;
    // A whole number at its scale may be larger than that and still be a narrow one, where it fits 64 bits.
    const power = 10n ** BigInt(scale);
    const isWhole =
      reachOf(units.range) < NARROW_END && drop === 1n
        ? ` or ${u} % ${power} = 0 and abs(${u}) // ${power} <= ${SAFE}`
        : "";
    return [`(not ${m} or ${isNarrow}${isWhole})`];
  });
}

/** By account and day: how many plain rows, how many of them a meter counts, when the first and the last were, and the sums. */
export function groupsOfPlain(source: Source, pushed: PushedSchema, plain: PlainRows): string {
  const { meters } = pushed;
  const anyMatch = meters.length === 0 ? "false" : meters.map((_, place) => `m${place}`).join(" or ");
  return [
    `select account_id, day, count(*) as events, count(*) filter (where ${anyMatch}) as metered,`,
    `  ${["min(at_ms) as first_at", "max(at_ms) as last_at", ...meters.map(({ units }, place) => sumOfUnits(units, place))].join(",\n  ")}`,
    `from (`,
    indented(judgedRows(source, pushed, plain)),
    `)`,
    `where plain`,
    `group by account_id, day`,
  ].join("\n");
}

function sumOfUnits(units: NumberTerm, place: number): string {
  const drop = 10n ** BigInt(Math.max(units.range.scale - NARROW_SCALE, 0));
  const summed = drop === 1n ? `u${place}` : `u${place} // ${drop}`;
  return `sum(try_cast(${summed} as BIGINT)) filter (where m${place}) as s${place}`;
}

/** Rows that go to the core, each with its place, its instant and the texts of its columns, in the order of S17.2. */
export interface RestOfSource {
  readonly source: Source;
  /** Where the source is among its like. */
  readonly index: number;
  /** The columns whose texts a row is made of. */
  readonly texts: readonly string[];
  /** The schemas that are pushed down, with what makes their rows plain; rows of all others go to the core. */
  readonly pushed: readonly PushedSchema[];
  readonly plain: PlainRows;
  /** The column of the file's name. */
  readonly file: string;
}

/** The rows that are not plain. @param every whether all rows go to the core */
export function restOfRows(rests: readonly RestOfSource[]): string {
  const parts = rests.flatMap((rest) => {
    const names = rest.pushed.map(({ schema }) => schema.name);
    const ofOthers =
      names.length === 0
        ? ""
        : `\nwhere coalesce(${sqlOfPartText(rest.source.schemaName)} not in (${names.map(quotedText).join(", ")}), true)`;
    const others = `select ${carriedColumns(rest)}\nfrom ${rest.source.from}${ofOthers}`;
    const unplain = rest.pushed.map((pushed) => {
      const judged = judgedRows(rest.source, pushed, rest.plain, carriedColumns(rest));
      return `select ${CARRIED} from (\n${indented(judged)}\n)\nwhere not plain`;
    });
    return [others, ...unplain];
  });
  return inOrder(parts.join("\nunion all\n"));
}

/** The rows of a group of plain ones. */
export function rowsOfGroup(
  rest: RestOfSource,
  pushed: PushedSchema,
  { accountId, day }: { readonly accountId: string; readonly day: number },
): string {
  const judged = judgedRows(rest.source, pushed, rest.plain, carriedColumns(rest));
  const isOfGroup = `plain and account_id = ${quotedText(accountId)} and day = ${day}`;
  return inOrder(`select ${CARRIED} from (\n${indented(judged)}\n)\nwhere ${isOfGroup}`);
}

const CARRIED = "source, file, file_row, time_text, time_ms, zone_minutes, order_id, texts";

/** Rows in the order in which they arrive (S17.2). */
function inOrder(rows: string): string {
  return [
    `select source, file, file_row, at_ms, texts from (`,
    indented(withInstants(rows)),
    `)`,
    `order by at_ms nulls first, order_id, texts, file, file_row`,
  ].join("\n");
}

function carriedColumns({ source, index, texts, file }: RestOfSource): string {
  return [
    `${index} as source`,
    `${file} as file`,
    `${ROW_COLUMN} as file_row`,
    ...sqlOfTimeParts(source.timestamp),
    `${sqlOfPartText(source.id)} as order_id`,
    `[${texts.map((each) => `coalesce(${each}, '')`).join(", ")}]::VARCHAR[] as texts`,
  ].join(",\n  ");
}

function partOf(parts: ReadonlyMap<string, SourcePart>, name: string): SourcePart {
  // A schema is pushed only where the source has all that it declares.
  return parts.get(name) ?? { value: "" };
}

/** A name in a comment. */
function oneLine(name = ""): string {
  return name.replaceAll(/\s+/g, " ");
}
