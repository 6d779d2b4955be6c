/** The rows of a schema with their fields, and which of them are plain: the database may sum them (S17.3). */
import { EVENT_ID_LENGTH_MAX } from "../../metering/event-envelope.ts";
import { DIMENSION_LENGTH_MAX } from "../../metering/event-fields.ts";
import { VALUE_LENGTH_MAX } from "../../metering/measure-units.ts";
import type { PushedSchema } from "../pushdown/plan-pushdown.ts";
import { attributeColumn, dimensionColumn, type NumberTerm, INT64_END, largestMagnitude } from "../pushdown/term.ts";
import { type Source, computePartRange, type SourcePart } from "../source.ts";
import {
  type Dialect,
  indent,
  toOneLine,
  toComparedTextSql,
  toPartTextSql,
  toPlainTextSql,
  plainTextCondition,
  toPlainInstantSql,
  toPlainNumberSql,
} from "./expressions.ts";

const DAY_MILLIS = 86_400_000n;
/** The core's safe integers. Sums within them keep every bill within its digits (S1.4). */
const SAFE_INTEGER_MAX = BigInt(Number.MAX_SAFE_INTEGER);
/** The maximum decimal places of a narrow quantity in the core. */
const NARROW_SCALE = 15;

/** The conditions for plain rows that don't follow from the row itself. */
export interface PlainRowConditions {
  /** Selects the hashes of repeated ids; undefined if there are none, or ids are not checked. */
  readonly repeatedIdsSql: string | undefined;
  /** A condition on `account_id` that is true for known, ACTIVE accounts; undefined if all are. */
  readonly accountCondition: string | undefined;
}

/** The scale at which a meter's units are summed. */
export function summingScale({ range }: NumberTerm): number {
  return Math.min(range.scale, NARROW_SCALE);
}

/** The divisor of units before they are summed. */
export function summingDivisor({ range }: NumberTerm): bigint {
  return 10n ** BigInt(Math.max(range.scale - NARROW_SCALE, 0));
}

/** The hash of an id. Collisions only cost time: all rows with the same hash go to the core. */
export function toIdHashSql(source: Source, sql: Dialect): string {
  return sql.hash(toPartTextSql(source.id, sql));
}

/** Which rows are selected, with which columns besides their fields. */
interface RowSelection {
  readonly plain: PlainRowConditions;
  readonly sql: Dialect;
  readonly extraColumns?: string;
  /** A condition on the source's columns; other rows are left out. */
  readonly sourceCondition?: string | undefined;
}

/**
 * Selects the rows of a schema with the columns `plain`, `account_id`, `at_ms`, `day`, and for each meter its match
 * `m0` and units or value `u0`.
 */
export function selectClassifiedRows(source: Source, pushedSchema: PushedSchema, selection: RowSelection): string {
  const { plain, sql } = selection;
  const { fields, meters, schema } = pushedSchema;
  const stages = [selectSourceColumns(source, pushedSchema, selection)];
  for (const { slot, term } of fields) {
    const column = term.kind === "number" ? attributeColumn(slot) : dimensionColumn(slot);
    stages.push(`select *, ${term.sql(sql)} as ${column} from (\n${indent(stages.pop() ?? "")}\n)`);
  }
  const meterColumns = meters.flatMap(({ meter, matches, units }, index) => [
    `${matches.sql(sql)} as m${index}, -- meter ${toOneLine(meter.id)}: whether it counts the row`,
    `${units.sql(sql)} as u${index}, --   the ${units.kind === "text" ? "text" : `quantity, in units of 10^-${units.range.scale}`}`,
  ]);
  const conditions = [
    ...createUnitConditions(pushedSchema, sql),
    ...createGroupConditions(pushedSchema, sql),
    ...createPartConditions(source, pushedSchema, sql),
    ...(plain.accountCondition === undefined ? [] : [plain.accountCondition]),
    ...(plain.repeatedIdsSql === undefined ? [] : [sql.isNotIn("id_hash", plain.repeatedIdsSql)]),
  ];
  return [
    `select *,`,
    `  coalesce(${conditions.join("\n    and ")}, false) as plain`,
    `from (`,
    `  select *,`,
    ...meterColumns.map((line) => `    ${line}`),
    `    ${sql.divideInteger("at_ms", sql.operandLiteral(DAY_MILLIS))} as day`,
    `  from ( -- fields of events of ${toOneLine(schema.name)}; a number is NULL if it is not in plain form`,
    indent(stages[0] ?? "", "    "),
    `  )`,
    `)`,
  ].join("\n");
}

function selectSourceColumns(
  source: Source,
  pushedSchema: PushedSchema,
  { plain, extraColumns = "", sourceCondition, sql }: RowSelection,
): string {
  const { schema, attributes, dimensions } = pushedSchema;
  const columns = [
    // Checked outside the column's expression: checking inside it would copy the text, a sixth of the total time.
    `${toPlainTextSql(source.id, sql)} as id`,
    ...(plain.repeatedIdsSql === undefined ? [] : [`${toIdHashSql(source, sql)} as id_hash`]),
    `${toPlainTextSql(source.accountId, sql)} as account_id`,
    `${toPlainInstantSql(source.timestamp, sql)} as at_ms`,
    ...attributes.map(
      ({ name, range }, slot) =>
        `${toPlainNumberSql(findPart(source.attributes, name), range, sql)} as ${attributeColumn(slot)}`,
    ),
    ...dimensions.map(
      (name, slot) => `${toPlainTextSql(findPart(source.dimensions, name), sql)} as ${dimensionColumn(slot)}`,
    ),
    ...selectUndeclaredParts(source, pushedSchema, sql),
    ...(extraColumns === "" ? [] : [extraColumns]),
  ];
  return `select\n  ${columns.join(",\n  ")}\nfrom ${source.from}\nwhere ${toComparedTextSql(source.schemaName, [schema.name], sql)} = ${sql.quoteText(schema.name)}${sourceCondition === undefined ? "" : ` and ${sourceCondition}`}`;
}

/** Parts that the schema doesn't declare are invisible to rules, but an invalid one fails the event. */
function selectUndeclaredParts(
  source: Source,
  { attributes, dimensions, bounds }: PushedSchema,
  sql: Dialect,
): readonly string[] {
  const numbers = findUndeclaredParts(
    source.attributes,
    attributes.map(({ name }) => name),
  ).map((part, index) => {
    const range = computePartRange(part, bounds);
    return `${range === undefined ? "NULL" : toPlainNumberSql(part, range, sql)} as x${index}`;
  });
  const texts = findUndeclaredParts(source.dimensions, dimensions).map(
    (part, index) => `${toPlainTextSql(part, sql)} as y${index}`,
  );
  return [...numbers, ...texts];
}

function findUndeclaredParts(
  parts: ReadonlyMap<string, SourcePart>,
  declaredNames: readonly string[],
): readonly SourcePart[] {
  return [...parts].filter(([name]) => !declaredNames.includes(name)).map(([, part]) => part);
}

/** Conditions that all parts are present and plain. */
function createPartConditions(
  source: Source,
  { attributes, dimensions }: PushedSchema,
  sql: Dialect,
): readonly string[] {
  const attributeNames = attributes.map(({ name }) => name);
  const numbers = [
    ...attributeNames.map((_, slot) => attributeColumn(slot)),
    ...findUndeclaredParts(source.attributes, attributeNames).map((_, index) => `x${index}`),
  ];
  const texts = [
    ...dimensions.map((_, slot) => dimensionColumn(slot)),
    ...findUndeclaredParts(source.dimensions, dimensions).map((_, index) => `y${index}`),
  ];
  return [
    ...["id", "account_id"].map((name) => plainTextCondition(name, [1, EVENT_ID_LENGTH_MAX], sql)),
    ...["at_ms", ...numbers].map((name) => `${name} is not null`),
    ...texts.map((name) => plainTextCondition(name, [0, DIMENSION_LENGTH_MAX], sql)),
  ];
}

/** Conditions that the core can bill each meter's units or values. */
function createUnitConditions({ meters }: PushedSchema, sql: Dialect): readonly string[] {
  return meters.flatMap((pushedMeter, index) => {
    const { kind, meter, units } = pushedMeter;
    const [u, m] = [`u${index}`, `m${index}`];
    if (units.kind === "text") return [`(not ${m} or ${plainTextCondition(u, [1, VALUE_LENGTH_MAX], sql)})`];
    if (kind === "timed" && meter.aggregation === "TIME_WEIGHTED") return [`(not ${m} or ${u} >= 0)`];
    // A moment is the product of a change, which is narrow, and milliseconds.
    if (kind !== "sum" || pushedMeter.isMoment) return [];
    return createSumConditions(units, [u, m], sql);
  });
}

/** Conditions that units are so narrow that the core can always bill their sum, and that the sum fits. */
function createSumConditions(
  units: NumberTerm,
  [u, m]: readonly [units: string, matches: string],
  sql: Dialect,
): readonly string[] {
  const { scale } = units.range;
  const divisor = summingDivisor(units);
  const maximum = SAFE_INTEGER_MAX * divisor;
  if (largestMagnitude(units.range) <= maximum && divisor === 1n) return [];
  const isNarrow = `abs(${u}) <= ${sql.operandLiteral(maximum)}${divisor > 1n ? ` and ${u} % ${sql.operandLiteral(divisor)} = 0` : ""}`;
  // A whole number beyond the safe integers is still narrow at this scale if it fits 64 bits.
  const power = sql.operandLiteral(10n ** BigInt(scale));
  const isWhole =
    largestMagnitude(units.range) < INT64_END && divisor === 1n
      ? ` or ${u} % ${power} = 0 and ${sql.divideInteger(`abs(${u})`, power)} <= ${sql.operandLiteral(SAFE_INTEGER_MAX)}`
      : "";
  return [`(not ${m} or ${isNarrow}${isWhole})`];
}

/** Conditions that the texts of the groups of each meter that counts a row are neither empty nor too long (S18.1). */
function createGroupConditions({ meters, groupDimensions }: PushedSchema, sql: Dialect): readonly string[] {
  return meters.flatMap(({ meter: { groupBy = [] } }, index) =>
    groupDimensions
      .filter(({ name }) => groupBy.includes(name))
      .map(
        ({ slot }) => `(not m${index} or ${plainTextCondition(dimensionColumn(slot), [1, DIMENSION_LENGTH_MAX], sql)})`,
      ),
  );
}

function findPart(parts: ReadonlyMap<string, SourcePart>, name: string): SourcePart {
  // A schema is pushed down only if the source has all declared parts.
  return parts.get(name) ?? { value: "" };
}
