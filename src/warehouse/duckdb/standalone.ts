/**
 * Statements for whoever runs them himself: the cells of a schema's plain rows, and the rows that are left for the core (S17.3).
 *
 * @module
 */
import type { Book } from "../../book/model/book.ts";
import { isPlainText } from "../pushing/inferred.ts";
import { planPush, type PushedSchema } from "../pushing/push-schema.ts";
import type { NumberTerm } from "../pushing/term.ts";
import { type Source, type SourcePart, unfitFor } from "../source.ts";
import { indented, quotedName, quotedText } from "./sql-names.ts";
import { groupsOfPlain, judgedRows, type PlainRows, repeatedIds, scaleOfUnits } from "./statements.ts";

/** The statements of one schema. */
export interface SchemaStatements {
  readonly schemaName: string;
  /** Commented, each ending with a semicolon. */
  readonly text: string;
}

/** What is written into one statement: the names of accounts are listed in it. */
const PLAIN: PlainRows = { repeated: "repeated_ids", account: "account_id in (select name from accounts)" };

/**
 * A table with a column of text for each part of an event: `schemaName`, `id`, `accountId`, `timestamp`, and each attribute and
 * dimension by its name.
 */
function tableOfTexts(table: string, { attributes, dimensions }: PushedSchema): Source {
  const column = (name: string): SourcePart => ({ column: name, type: { type: "text" } });
  return {
    from: table.split(".").map(quotedName).join("."),
    schemaName: column("schemaName"),
    id: column("id"),
    accountId: column("accountId"),
    timestamp: { part: column("timestamp") },
    attributes: new Map(attributes.map(({ name }) => [name, column(name)])),
    dimensions: new Map(dimensions.map((name) => [name, column(name)])),
  };
}

/** The statements of every schema that is pushed down. */
export function duckDbStatements(book: Book, table: string): readonly SchemaStatements[] {
  return [...planPush(book).pushed.values()].flatMap((pushed) => {
    const source = tableOfTexts(table, pushed);
    const names = { attributes: pushed.attributes.map(({ name }) => name), dimensions: pushed.dimensions };
    if (unfitFor(source, names) !== undefined) return [];
    return [{ schemaName: pushed.schema.name, text: textOf(book, source, pushed) }];
  });
}

function textOf(book: Book, source: Source, pushed: PushedSchema): string {
  const shared = `with repeated_ids as ( -- the hashes of ids that occur more than once: their rows are not summed\n${indented(
    repeatedIds([source]),
  )}\n),\naccounts (name, id) as ( -- every name of an account that takes events, and its id\n${accountNames(book)}\n)`;
  const groups = groupsOfPlain(source, pushed, PLAIN);
  const cells = pushed.meters.map(({ meter, units }, place) =>
    [
      `select accounts.id as "accountId", ${quotedText(meter.id)} as "meterId", (DATE '1970-01-01' + day::INTEGER)::VARCHAR as "date",`,
      `  ${decimalText(`sum(s${place})`, units)} as "quantity"`,
      `from plain join accounts on accounts.name = plain.account_id`,
      `where s${place} is not null`,
      `group by accounts.id, day`,
    ].join("\n"),
  );
  const { name } = pushed.schema;
  const bounds = `at most ${pushed.bounds.before} digits before and ${pushed.bounds.after} after the point`;
  return [
    `-- Events of the schema ${JSON.stringify(name)}. A row is plain where every part of it is well formed, its attributes have`,
    `-- ${bounds}, its account takes events, and its id occurs once.`,
    "",
    ...(cells.length === 0
      ? []
      : [
          `-- 1. The usage cells of plain rows, as --usage of ratebook reads them.`,
          `${shared},\nplain as (\n${indented(groups)}\n)`,
          `${cells.join("\nunion all\n")};`,
          "",
        ]),
    `-- ${cells.length === 0 ? 1 : 2}. The rows that are not plain: ratebook decides them one by one, in the order of their timestamps.`,
    shared,
    `select * from ${source.from}\nwhere "schemaName" = ${quotedText(name)} and rowid not in (\n  select row_id from (\n${indented(judgedRows(source, pushed, PLAIN, "rowid as row_id"), "    ")}\n  )\n  where plain\n);`,
  ].join("\n");
}

function accountNames({ accounts }: Pick<Book, "accounts">): string {
  // A name with a NUL cannot be written, and its rows go to the core.
  const ids = new Set(accounts.map(({ id }) => id));
  const live = accounts.filter(({ status }) => status !== "ARCHIVED");
  const names = [
    ...live.map(({ id }) => [id, id] as const),
    ...live.flatMap(({ id, aliases }) =>
      aliases.filter((alias) => !ids.has(alias)).map((alias) => [alias, id] as const),
    ),
  ];
  const written = names.filter(([name, id]) => isPlainText(name) && isPlainText(id));
  if (written.length === 0) return "  select null::VARCHAR, null::VARCHAR where false";
  return `  values\n${written.map(([name, id]) => `    (${quotedText(name)}, ${quotedText(id)})`).join(",\n")}`;
}

/** A sum in units of 10^-scale as the text of a decimal. */
function decimalText(sum: string, units: NumberTerm): string {
  const scale = scaleOfUnits(units);
  if (scale === 0) return `(${sum})::VARCHAR`;
  const power = 10n ** BigInt(scale);
  return `case when ${sum} < 0 then '-' else '' end || (abs(${sum}) // ${power})::VARCHAR || '.' || lpad((abs(${sum}) % ${power})::VARCHAR, ${scale}, '0')`;
}
