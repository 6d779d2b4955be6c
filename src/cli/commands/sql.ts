/** `ratebook sql`: prints a book's meters as SQL, for events in a database. */
import { didYouMean } from "../../book/problems.ts";
import { toPrintable } from "../../pages/printable.ts";
import { quoteText } from "../../problem-table.ts";
import { clickHouseSql, toEventTable, writeTableStatements } from "../../warehouse/clickhouse/clickhouse-sql.ts";
import { duckDbSql } from "../../warehouse/duckdb/duckdb-sql.ts";
import type { PushdownDecision } from "../../warehouse/pushdown/plan-pushdown.ts";
import { planStandalone, writeStandaloneStatements } from "../../warehouse/sql/standalone.ts";
import { type Arguments, type Command, readOption, requireBookPath } from "../arguments.ts";
import { readBookFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { withOutput } from "../output/output-file.ts";
import { outputOptions } from "../reading/input-options.ts";
import { createTableStyle, wrapText } from "../table/table-style.ts";

const { output } = outputOptions(["sql"], "statements");

export const sqlCommand: Command = {
  usage: "BOOK [options]",
  options: {
    dialect: { kind: "one", choices: ["duckdb", "clickhouse"], help: "SQL dialect; default duckdb" },
    ddl: {
      kind: "flag",
      help: "print CREATE TABLE statements for ClickHouse instead of queries, for one server and for a cluster",
    },
    decimals: {
      kind: "one",
      choices: ["text", "decimal"],
      help: "type of attributes in the ClickHouse table: text (default) keeps all digits, decimal is faster and truncates",
    },
    schema: { kind: "one", value: "NAME", help: "only this event schema; default all" },
    table: {
      kind: "one",
      value: "NAME",
      help: "the table with the events, one column per field; default events",
    },
    "explain-sql": {
      kind: "flag",
      help: "instead of SQL, list which meters can be summed in SQL, and why others cannot",
    },
    ...(output === undefined ? {} : { output }),
  },
  run: runSql,
};

async function runSql(args: Arguments, io: Io): Promise<"done"> {
  const path = requireBookPath(args);
  const parseTable = (text: string): string | undefined =>
    text.includes("\0") || text.split(".").includes("") ? undefined : text;
  const table = readOption(args, "table", "a name", parseTable) ?? "events";
  const dialect = args.value("dialect") ?? "duckdb";
  requireApplicableOptions(args, dialect);
  const decimals = args.value("decimals") === "decimal" ? "decimal" : "text";
  const { book } = await readBookFile(path, io);
  const onlySchema = args.value("schema");
  const decisions = planStandalone(book).decisions.filter(
    ({ schemaName }) => onlySchema === undefined || schemaName === onlySchema,
  );
  if (onlySchema !== undefined && decisions.length === 0) {
    const names = book.eventSchemas.filter(({ status }) => status === "ACTIVE").map(({ name }) => name);
    throw new UsageError(
      `--schema: the book has no active event schema ${quoteText(onlySchema)}${didYouMean(onlySchema, names)}`,
    );
  }
  await withOutput(args, io, async (out) => {
    const { stdout } = out;
    if (args.flag("explain-sql"))
      return write(
        stdout,
        formatDecisions(decisions, out.terminal === undefined ? Infinity : createTableStyle(out).width),
      );
    const isSelected = ({ schemaName }: { readonly schemaName: string }): boolean =>
      onlySchema === undefined || schemaName === onlySchema;
    if (args.flag("ddl")) {
      const schemas = book.eventSchemas.filter(
        ({ name, status }) => status === "ACTIVE" && isSelected({ schemaName: name }),
      );
      return write(stdout, writeTableStatements(table, schemas, decimals));
    }
    const statements =
      dialect === "clickhouse"
        ? writeStandaloneStatements(book, toEventTable(table, decimals), clickHouseSql)
        : writeStandaloneStatements(book, { name: table }, duckDbSql);
    return write(
      stdout,
      statements
        .filter(isSelected)
        .map(({ text }) => `${text}\n`)
        .join("\n"),
    );
  });
  if (!args.flag("explain-sql") && !args.flag("ddl")) {
    for (const { schemaName, reason } of firstReasons(decisions))
      await write(io.stderr, `note: ${toPrintable(`${schemaName} cannot be summed in SQL: ${reason}`)}\n`);
  }
  return "done";
}

/** @throws {UsageError} for an option that has no effect with the dialect, or with `--explain-sql` */
function requireApplicableOptions(args: Arguments, dialect: string): void {
  for (const option of ["ddl", "decimals"])
    if (dialect === "duckdb" && (option === "ddl" ? args.flag(option) : args.value(option) !== undefined))
      throw new UsageError(`--${option} is for --dialect clickhouse`);
  if (args.flag("explain-sql")) {
    const option = args.flag("ddl") ? "ddl" : ["decimals", "table"].find((name) => args.value(name) !== undefined);
    if (option !== undefined) throw new UsageError(`use either --explain-sql or --${option}`);
  }
}

function formatDecisions(decisions: readonly PushdownDecision[], width: number): string {
  const rows = [
    ["schema", "meter", "in SQL"],
    ...decisions.map(({ schemaName, meterId = "", reason }) => [
      schemaName,
      meterId,
      reason === undefined ? "yes" : `no: ${reason}`,
    ]),
  ].map((row) => row.map(toPrintable));
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const indent = " ".repeat(widths.reduce((sum, each) => sum + each + 2, 0));
  return rows
    .map((row) => {
      const [last = ""] = row.slice(-1);
      const start = row.slice(0, -1).map((cell, column) => cell.padEnd((widths[column] ?? 0) + 2));
      return `${start.join("")}${wrapText(indent + last, width, indent).trimStart()}\n`;
    })
    .join("");
}

/** The first reason for each schema. */
function firstReasons(
  decisions: readonly PushdownDecision[],
): readonly { readonly schemaName: string; readonly reason: string }[] {
  const reasons = new Map<string, string>();
  for (const { schemaName, reason } of decisions)
    if (reason !== undefined && !reasons.has(schemaName)) reasons.set(schemaName, reason);
  return [...reasons].map(([schemaName, reason]) => ({ schemaName, reason }));
}
