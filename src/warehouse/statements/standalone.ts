/**
 * Statements for whoever runs them himself: the cells of a schema's plain rows, and the rows that are left for the core (S17.3).
 *
 * @module
 */
import type { Book } from "../../book/model/book.ts";
import { isPlainText } from "../pushing/inferred.ts";
import { type AttributeRanges, planPush, type PushedSchema, textRange } from "../pushing/push-schema.ts";
import type { NumberTerm } from "../pushing/term.ts";
import { type ColumnType, rangeOfPart, type Source, type SourceColumn, type SourcePart, unfitFor } from "../source.ts";
import type { Dialect } from "./dialect.ts";
import { judgedRows, type PlainRows, scaleOfUnits } from "./judged-rows.ts";
import { sqlOfPartText } from "./parts.ts";
import { groupsOfRows, repeatedIds } from "./statements.ts";
import { indented } from "./text.ts";

/** The statements of one schema. */
export interface SchemaStatements {
  readonly schemaName: string;
  /** Commented, each ending with a semicolon. */
  readonly text: string;
}

/** What is written into one statement: the names of accounts are listed in it. */
const PLAIN: PlainRows = {
  repeated: "select id_hash from repeated_ids",
  account: "account_id in (select name from accounts)",
};

/**
 * A table with a column for each part of an event: `schemaName`, `id`, `accountId`, `timestamp`, and each attribute and
 * dimension by its name. All are texts but where another type is given.
 */
export interface EventTable {
  readonly name: string;
  /** The type of texts. */
  readonly text?: ColumnType;
  readonly timestamp?: ColumnType;
  readonly attribute?: ColumnType;
}

const TEXT: ColumnType = { type: "text" };

function sourceOf(
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

/** The statements of every schema that is pushed down. */
export function standaloneStatements(book: Book, table: EventTable, sql: Dialect): readonly SchemaStatements[] {
  const ranges: AttributeRanges = (name, bounds) =>
    rangeOfPart({ column: name, type: table.attribute ?? TEXT }, bounds) ?? textRange(name, bounds);
  return [...planPush(book, ranges).pushed.values()].flatMap((pushed) => {
    const source = sourceOf(table, pushed, sql);
    const names = { attributes: pushed.attributes.map(({ name }) => name), dimensions: pushed.dimensions };
    if (unfitFor(source, names) !== undefined) return [];
    return [{ schemaName: pushed.schema.name, text: textOf(book, { source, pushed, sql }) }];
  });
}

interface Statement {
  readonly source: Source;
  readonly pushed: PushedSchema;
  readonly sql: Dialect;
}

function textOf(book: Book, { source, pushed, sql }: Statement): string {
  const shared = [
    `with repeated_ids as ( -- the hashes of ids that occur more than once: their rows are not summed`,
    `${indented(repeatedIds([source], sql))}\n),`,
    `accounts as ( -- every name of an account that takes events, and its id`,
    `${indented(sql.pairs(["name", "account"], accountNames(book)))}\n)`,
  ].join("\n");
  const cells = pushed.meters.map(({ meter, units }, place) =>
    [
      `select accounts.account as "accountId", ${sql.quotedText(meter.id)} as "meterId", ${sql.dateOf("cell_day")} as "date",`,
      `  ${decimalText(`sum(s${place})`, units, sql)} as "quantity"`,
      `from plain join accounts on accounts.name = plain.cell_account`,
      `where s${place} is not null`,
      `group by accounts.account, cell_day`,
    ].join("\n"),
  );
  const { schema, bounds } = pushed;
  return [
    `-- Events of the schema ${JSON.stringify(schema.name)}. A row is plain where every part of it is well formed, its attributes have`,
    `-- at most ${bounds.before} digits before and ${bounds.after} after the point, its account takes events, and its id occurs once.`,
    "",
    ...(cells.length === 0
      ? []
      : [
          `-- 1. The usage cells of plain rows, as --usage of ratebook reads them.`,
          `${shared},\nplain as (\n${indented(groupsOfRows(source, pushed, PLAIN, sql))}\n)`,
          `${cells.join("\nunion all\n")};`,
          "",
        ]),
    `-- ${cells.length === 0 ? 1 : 2}. The rows that are not plain: ratebook decides them one by one, in the order of their timestamps.`,
    shared,
    `${leftRows({ source, pushed, sql })};`,
  ].join("\n");
}

/** The parts of rows that are not plain, in columns as the table has them. */
function leftRows({ source, pushed, sql }: Statement): string {
  const parts: readonly (readonly [string, SourcePart])[] = [
    ["schemaName", source.schemaName],
    ["id", source.id],
    ["accountId", source.accountId],
    ["timestamp", source.timestamp.part],
    ...source.attributes,
    ...source.dimensions,
  ];
  const carried = parts.map(([, part], place) => `${sqlOfPartText(part, sql)} as p${place}`).join(",\n  ");
  const shown = parts.map(([name], place) => `p${place} as ${sql.quotedName(name)}`).join(", ");
  return `select ${shown} from (\n${indented(judgedRows(source, pushed, { plain: PLAIN, sql, carried }))}\n)\nwhere not plain`;
}

/** Every name of an account that takes events, and its id; a name with a NUL is left out, and its rows go to the core. */
function accountNames({ accounts }: Pick<Book, "accounts">): readonly (readonly [string, string])[] {
  const ids = new Set(accounts.map(({ id }) => id));
  const live = accounts.filter(({ status }) => status !== "ARCHIVED");
  const names = [
    ...live.map(({ id }) => [id, id] as const),
    ...live.flatMap(({ id, aliases }) =>
      aliases.filter((alias) => !ids.has(alias)).map((alias) => [alias, id] as const),
    ),
  ];
  return names.filter(([name, id]) => isPlainText(name) && isPlainText(id));
}

/** A sum in units of 10^-scale as the text of a decimal. */
function decimalText(sum: string, units: NumberTerm, sql: Dialect): string {
  const scale = scaleOfUnits(units);
  if (scale === 0) return sql.textOf(sum);
  const power = sql.operand(10n ** BigInt(scale));
  const fraction = `lpad(${sql.textOf(`abs(${sum}) % ${power}`)}, ${scale}, '0')`;
  return `case when ${sum} < 0 then '-' else '' end || ${sql.textOf(sql.quotient(`abs(${sum})`, power))} || '.' || ${fraction}`;
}
