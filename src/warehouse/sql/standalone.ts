/**
 * Statements for users to run themselves: the cells of a schema's plain rows, and the rows that remain for the core
 * (S17.3).
 */
import type { Book } from "../../book/resources/book.ts";
import { hasKeys } from "../../book/resources/event-schema.ts";
import {
  type AttributeRangeLookup,
  planPushdown,
  type PushedSchema,
  createTextRange,
} from "../pushdown/plan-pushdown.ts";
import { isPlainText, type NumberTerm } from "../pushdown/term.ts";
import {
  type ColumnType,
  computePartRange,
  type Source,
  type SourceColumn,
  type SourcePart,
  explainNotPushable,
} from "../source.ts";
import { selectClassifiedRows, type PlainRowConditions, summingScale } from "./classified-rows.ts";
import { type Dialect, indent, toPartTextSql } from "./expressions.ts";
import { groupColumn, selectGroups, selectRepeatedIds } from "./metering-statements.ts";

/** The statements of one schema. */
interface SchemaStatements {
  readonly schemaName: string;
  /** With comments; each statement ends with a semicolon. */
  readonly text: string;
}

/** Everything is in one statement, including the list of account names. */
const STANDALONE_CONDITIONS: PlainRowConditions = {
  repeatedIdsSql: "select id_hash from repeated_ids",
  accountCondition: "account_id in (select name from accounts)",
};

/**
 * A table with a column for each part of an event: `schemaName`, `id`, `accountId`, `timestamp`, and each attribute and
 * dimension by its name. All are texts unless another type is given.
 */
export interface EventTable {
  readonly name: string;
  /** The type of text columns. */
  readonly text?: ColumnType;
  readonly timestamp?: ColumnType;
  readonly attribute?: ColumnType;
}

const TEXT: ColumnType = { type: "text" };

function createTableSource(
  { name: table, text = TEXT, timestamp = text, attribute = text }: EventTable,
  { attributes, dimensions }: Pick<PushedSchema, "attributes" | "dimensions">,
  sql: Dialect,
): Source {
  const column = (name: string, type = text): SourceColumn => ({ column: name, type });
  return {
    from: sql.table(table),
    schemaName: column("schemaName"),
    id: column("id"),
    accountId: column("accountId"),
    timestamp: { part: column("timestamp", timestamp) },
    attributes: new Map(attributes.map(({ name }) => [name, column(name, attribute)])),
    dimensions: new Map(dimensions.map((name) => [name, column(name)])),
  };
}

/** Plans the statements. None is written for a schema with keys, whose usage only ratebook aggregates (S19.3). */
export function planStandalone(book: Book, ranges?: AttributeRangeLookup): ReturnType<typeof planPushdown> {
  const { schemas, decisions } = planPushdown(book, { ranges });
  const reasons = new Map(
    book.usageMeters
      .filter((meter) => meter.status === "ACTIVE" && hasKeys(meter))
      .map(({ eventSchemaName, id, aggregation }) => [
        eventSchemaName,
        `no statement is printed for the aggregation ${aggregation} of meter ${JSON.stringify(id)}`,
      ]),
  );
  return {
    schemas: new Map([...schemas].filter(([name]) => !reasons.has(name))),
    decisions: decisions.map((decision) => ({
      ...decision,
      reason: decision.reason ?? reasons.get(decision.schemaName),
    })),
  };
}

/** Writes the statements of every schema that is pushed down. */
export function writeStandaloneStatements(book: Book, table: EventTable, sql: Dialect): readonly SchemaStatements[] {
  const ranges: AttributeRangeLookup = (name, bounds) =>
    computePartRange({ column: name, type: table.attribute ?? TEXT }, bounds) ?? createTextRange(name, bounds);
  return [...planStandalone(book, ranges).schemas.values()].flatMap((pushedSchema) => {
    const source = createTableSource(table, pushedSchema, sql);
    if (explainNotPushable(source, pushedSchema) !== undefined) return [];
    return [{ schemaName: pushedSchema.schema.name, text: writeSchemaStatements(book, { source, pushedSchema, sql }) }];
  });
}

interface SchemaSource {
  readonly source: Source;
  readonly pushedSchema: PushedSchema;
  readonly sql: Dialect;
}

function writeSchemaStatements(book: Book, { source, pushedSchema, sql }: SchemaSource): string {
  const commonTables = [
    `with repeated_ids as ( -- hashes of repeated ids: their rows are not summed`,
    `${indent(selectRepeatedIds([source], sql))}\n),`,
    `accounts as ( -- ids and aliases of active accounts`,
    `${indent(sql.selectPairs(["name", "account"], listAccountNames(book)))}\n)`,
  ].join("\n");
  const { groupDimensions } = pushedSchema;
  const cells = pushedSchema.meters.flatMap(({ kind, meter, units }, index) => {
    if (kind !== "sum") return [];
    const groupTexts = groupDimensions.map(({ name }, place) =>
      meter.groupBy?.includes(name) ? groupColumn(place) : "",
    );
    const outputTexts = groupTexts.map(
      (column, place) => `, ${column || "''"} as ${sql.quoteName(`group.${groupDimensions[place]?.name}`)}`,
    );
    return [
      `select accounts.account as "accountId", ${sql.quoteText(meter.id)} as "meterId", ${sql.toDate("cell_day")} as "date",`,
      `  ${toDecimalTextSql(`sum(s${index})`, units, sql)} as "quantity"${outputTexts.join("")}`,
      `from plain join accounts on accounts.name = plain.cell_account`,
      `where s${index} is not null`,
      `group by ${["accounts.account", "cell_day", ...groupTexts.filter(Boolean)].join(", ")}`,
    ].join("\n");
  });
  const { schema, bounds } = pushedSchema;
  return [
    `-- Events of the schema ${JSON.stringify(schema.name)}. A row is plain if all its fields are well formed, its attributes have`,
    `-- at most ${bounds.before} digits before and ${bounds.after} after the point, its account is active, and its id is not repeated.`,
    "",
    ...(cells.length === 0
      ? []
      : [
          `-- 1. Daily usage from plain rows, in the format of ratebook's --usage.`,
          `${commonTables},\nplain as (\n${indent(selectGroups(source, pushedSchema, STANDALONE_CONDITIONS, sql))}\n)`,
          `${cells.join("\nunion all\n")};`,
          "",
        ]),
    `-- ${cells.length === 0 ? 1 : 2}. Rows that are not plain: ratebook processes them one by one, ordered by timestamp.`,
    commonTables,
    `${writeRemainingRows({ source, pushedSchema, sql })};`,
  ].join("\n");
}

/** The parts of rows that are not plain, in the table's columns. */
function writeRemainingRows({ source, pushedSchema, sql }: SchemaSource): string {
  const parts: readonly (readonly [string, SourcePart])[] = [
    ["schemaName", source.schemaName],
    ["id", source.id],
    ["accountId", source.accountId],
    ["timestamp", source.timestamp.part],
    ...source.attributes,
    ...source.dimensions,
  ];
  const extraColumns = parts.map(([, part], index) => `${toPartTextSql(part, sql)} as p${index}`).join(",\n  ");
  const outputColumns = parts.map(([name], index) => `p${index} as ${sql.quoteName(name)}`).join(", ");
  return `select ${outputColumns} from (\n${indent(selectClassifiedRows(source, pushedSchema, { plain: STANDALONE_CONDITIONS, sql, extraColumns }))}\n)\nwhere not plain`;
}

/** Every plain-text name of an account that accepts events, with its id (S16.6). Rows with other names are not summed. */
export function listAccountNames({ accounts }: Pick<Book, "accounts">): readonly (readonly [string, string])[] {
  const ids = new Set(accounts.map(({ id }) => id));
  const activeAccounts = accounts.filter(({ status }) => status !== "ARCHIVED");
  const names = [
    ...activeAccounts.map(({ id }) => [id, id] as const),
    ...activeAccounts.flatMap(({ id, aliases }) =>
      aliases.filter((alias) => !ids.has(alias)).map((alias) => [alias, id] as const),
    ),
  ];
  return names.filter(([name, id]) => isPlainText(name) && isPlainText(id));
}

/** A sum in units of 10^-scale as decimal text. */
function toDecimalTextSql(sum: string, units: NumberTerm, sql: Dialect): string {
  const scale = summingScale(units);
  if (scale === 0) return sql.toText(sum);
  const power = sql.operandLiteral(10n ** BigInt(scale));
  const fraction = `lpad(${sql.toText(`abs(${sum}) % ${power}`)}, ${scale}, '0')`;
  return `case when ${sum} < 0 then '-' else '' end || ${sql.toText(sql.divideInteger(`abs(${sum})`, power))} || '.' || ${fraction}`;
}
