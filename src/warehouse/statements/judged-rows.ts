/**
 * Rows of one schema, each judged whether it is plain: then a database may sum it, else the core decides it (S17.3).
 *
 * @module
 */
import { EVENT_ID_LENGTH_MAX } from "../../metering/event-envelope.ts";
import { DIMENSION_LENGTH_MAX } from "../../metering/event-fields.ts";
import { NARROW_END, reachOf } from "../pushing/number-range.ts";
import type { PushedSchema } from "../pushing/push-schema.ts";
import type { NumberTerm } from "../pushing/term.ts";
import { rangeOfPart, type Source, type SourcePart } from "../source.ts";
import type { Dialect } from "./dialect.ts";
import {
  isPlainText,
  sqlOfCompared,
  sqlOfPartText,
  sqlOfPlainInstant,
  sqlOfPlainNumber,
  sqlOfPlainText,
} from "./parts.ts";
import { attributeColumn, dimensionColumn, sqlOfNumber, sqlOfText, sqlOfTruth } from "./sql-terms.ts";
import { indented, oneLine } from "./text.ts";

/** Milliseconds of a day. */
const DAY = 86_400_000n;
/** Safe integers of the core: sums of quantities within them keep every bill within its digits (S1.4). */
const SAFE = BigInt(Number.MAX_SAFE_INTEGER);
/** Places after the point up to which the core takes a quantity for a narrow one. */
const NARROW_SCALE = 15;

/** What beside the row itself decides whether it is plain. */
export interface PlainRows {
  /** A statement that gives the hashes of ids that occur more than once; undefined where no id does, or none is looked at. */
  readonly repeated: string | undefined;
  /** A condition on `account_id` that holds for known and live accounts; undefined where it holds for all. */
  readonly account: string | undefined;
}

/** The scale at which the units of a meter are summed. */
export function scaleOfUnits({ range }: NumberTerm): number {
  return Math.min(range.scale, NARROW_SCALE);
}

/** By how much units are divided before they are summed. */
export function dropOf({ range }: NumberTerm): bigint {
  return 10n ** BigInt(Math.max(range.scale - NARROW_SCALE, 0));
}

/** The hash of an id. A collision costs time, never truth: all rows of one hash go to the core. */
export function sqlOfIdHash(source: Source, sql: Dialect): string {
  return sql.hash(sqlOfPartText(source.id, sql));
}

/** Rows of one schema with the columns `plain`, `account_id`, `at_ms`, `day`, and by meter its match `m0` and its units `u0`. */
export function judgedRows(
  source: Source,
  pushed: PushedSchema,
  {
    plain,
    sql,
    carried = "",
    among,
  }: {
    readonly plain: PlainRows;
    readonly sql: Dialect;
    readonly carried?: string;
    /** A condition on the source's own columns: rows of which it does not hold are left out. */
    readonly among?: string | undefined;
  },
): string {
  const { fields, meters, schema } = pushed;
  const stages = [readStage(source, pushed, { hasHash: plain.repeated !== undefined, carried, among, sql })];
  for (const { kind, slot, term } of fields) {
    const column =
      kind === "number"
        ? `${sqlOfNumber(term, sql)} as ${attributeColumn(slot)}`
        : `${sqlOfText(term, sql)} as ${dimensionColumn(slot)}`;
    stages.push(`select *, ${column} from (\n${indented(stages.pop() ?? "")}\n)`);
  }
  const measured = meters.flatMap(({ matches, units }, place) => [
    `${sqlOfTruth(matches, sql)} as m${place}, -- meter ${oneLine(meters[place]?.meter.id)}: whether it counts the row`,
    `${sqlOfNumber(units, sql)} as u${place}, --   and how much, in units of 10^-${units.range.scale}`,
  ]);
  const conditions = [
    ...conditionsOf(pushed, sql),
    ...conditionsOn(source, pushed, sql),
    ...(plain.account === undefined ? [] : [plain.account]),
    ...(plain.repeated === undefined ? [] : [sql.isNotIn("id_hash", plain.repeated)]),
  ];
  return [
    `select *,`,
    `  coalesce(${conditions.join("\n    and ")}, false) as plain`,
    `from (`,
    `  select *,`,
    ...measured.map((line) => `    ${line}`),
    `    ${sql.quotient("at_ms", sql.operand(DAY))} as day`,
    `  from ( -- the parts of events of ${oneLine(schema.name)}; a number is NULL where it is not as a plain event has it`,
    indented(stages[0] ?? "", "    "),
    `  )`,
    `)`,
  ].join("\n");
}

function readStage(
  source: Source,
  pushed: PushedSchema,
  {
    hasHash,
    carried,
    among,
    sql,
  }: {
    readonly hasHash: boolean;
    readonly carried: string;
    readonly among: string | undefined;
    readonly sql: Dialect;
  },
): string {
  const { schema, attributes, dimensions } = pushed;
  const columns = [
    // A text is judged beside its column: a text that is judged in it costs a sixth of the whole, for it is copied.
    `${sqlOfPlainText(source.id, sql)} as id`,
    ...(hasHash ? [`${sqlOfIdHash(source, sql)} as id_hash`] : []),
    `${sqlOfPlainText(source.accountId, sql)} as account_id`,
    `${sqlOfPlainInstant(source.timestamp, sql)} as at_ms`,
    ...attributes.map(
      ({ name, range }, slot) =>
        `${sqlOfPlainNumber(partOf(source.attributes, name), range, sql)} as ${attributeColumn(slot)}`,
    ),
    ...dimensions.map(
      (name, slot) => `${sqlOfPlainText(partOf(source.dimensions, name), sql)} as ${dimensionColumn(slot)}`,
    ),
    ...undeclared(source, pushed, sql),
    ...(carried === "" ? [] : [carried]),
  ];
  return `select\n  ${columns.join(",\n  ")}\nfrom ${source.from}\nwhere ${sqlOfCompared(source.schemaName, [schema.name], sql)} = ${sql.quotedText(schema.name)}${among === undefined ? "" : ` and ${among}`}`;
}

/** Parts that the schema does not declare are not seen by rules, but an event with a wrong one fails all the same. */
function undeclared(source: Source, { attributes, dimensions, bounds }: PushedSchema, sql: Dialect): readonly string[] {
  const numbers = othersOf(
    source.attributes,
    attributes.map(({ name }) => name),
  ).map((part, place) => {
    const range = rangeOfPart(part, bounds);
    return `${range === undefined ? "NULL" : sqlOfPlainNumber(part, range, sql)} as x${place}`;
  });
  const texts = othersOf(source.dimensions, dimensions).map(
    (part, place) => `${sqlOfPlainText(part, sql)} as y${place}`,
  );
  return [...numbers, ...texts];
}

function othersOf(parts: ReadonlyMap<string, SourcePart>, declared: readonly string[]): readonly SourcePart[] {
  return [...parts].filter(([name]) => !declared.includes(name)).map(([, part]) => part);
}

/** All parts are there, as a plain event has them. */
function conditionsOn(source: Source, { attributes, dimensions }: PushedSchema, sql: Dialect): readonly string[] {
  const declared = attributes.map(({ name }) => name);
  const numbers = [
    ...declared.map((_, slot) => attributeColumn(slot)),
    ...othersOf(source.attributes, declared).map((_, place) => `x${place}`),
  ];
  const texts = [
    ...dimensions.map((_, slot) => dimensionColumn(slot)),
    ...othersOf(source.dimensions, dimensions).map((_, place) => `y${place}`),
  ];
  return [
    ...["id", "account_id"].map((name) => isPlainText(name, [1, EVENT_ID_LENGTH_MAX], sql)),
    ...["at_ms", ...numbers].map((name) => `${name} is not null`),
    ...texts.map((name) => isPlainText(name, [0, DIMENSION_LENGTH_MAX], sql)),
  ];
}

/** What each meter counts is so narrow that the core's bills of such sums cannot fail, and fits the sums. */
function conditionsOf({ meters }: PushedSchema, sql: Dialect): readonly string[] {
  return meters.flatMap(({ units }, place) => {
    const { scale } = units.range;
    const [u, m] = [`u${place}`, `m${place}`];
    const drop = dropOf(units);
    const most = SAFE * drop;
    if (reachOf(units.range) <= most && drop === 1n) return [];
    const isNarrow = `abs(${u}) <= ${sql.operand(most)}${drop > 1n ? ` and ${u} % ${sql.operand(drop)} = 0` : ""}`;
    // A whole number at its scale may be larger than that and still be a narrow one, where it fits 64 bits.
    const power = sql.operand(10n ** BigInt(scale));
    const isWhole =
      reachOf(units.range) < NARROW_END && drop === 1n
        ? ` or ${u} % ${power} = 0 and ${sql.quotient(`abs(${u})`, power)} <= ${sql.operand(SAFE)}`
        : "";
    return [`(not ${m} or ${isNarrow}${isWhole})`];
  });
}

function partOf(parts: ReadonlyMap<string, SourcePart>, name: string): SourcePart {
  // A schema is pushed only where the source has all that it declares.
  return parts.get(name) ?? { value: "" };
}
