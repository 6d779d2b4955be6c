/**
 * The statements that meter sources in a database: which accounts there are, what plain rows sum up to, and all other rows, for
 * the core (S17.3).
 *
 * @module
 */
import { DAY_MS, type Day, formatDate } from "../../calendar/instant.ts";
import type { PushedSchema } from "../pushing/push-schema.ts";
import type { NumberTerm } from "../pushing/term.ts";
import type { Source, SourceColumn, SourceTime } from "../source.ts";
import type { Dialect } from "./dialect.ts";
import { sqlOfTimeParts, withInstants } from "./instants.ts";
import { dropOf, judgedRows, type PlainRows, sqlOfIdHash } from "./judged-rows.ts";
import { sqlOfCompared, sqlOfPartText, sqlOfPlainText, sqlOfTexts } from "./parts.ts";
import { indented } from "./text.ts";

/** Some rows of a database, and which of them may be plain. */
export interface MeteredSource {
  readonly source: Source;
  readonly pushed: readonly PushedSchema[];
  /** The columns whose texts a row is made of. */
  readonly columns: readonly SourceColumn[];
  /** An expression that names the file or the table of a row. */
  readonly file: string;
  /** How many rows it has. */
  readonly rows: number;
}

/** The hashes of ids that occur more than once in some sources together. */
export function repeatedIds(sources: readonly Source[], sql: Dialect): string {
  const hashes = sources.map((source) => `  select ${sqlOfIdHash(source, sql)} as id_hash from ${source.from}`);
  return `select id_hash from (\n${hashes.join("\n  union all\n")}\n) group by id_hash having count(*) > 1`;
}

/** The accounts that rows of schemas that are pushed down name, and how many rows; one more than once where its rows have it in several ways. */
export function accountsOfRows(sources: readonly MeteredSource[], sql: Dialect): string {
  const parts = sources
    .filter(({ pushed }) => pushed.length > 0)
    .map(({ source, pushed }) => {
      const isPushed = `${schemaNameOf(source, pushed, sql)} in (${schemaNames(pushed, sql)})`;
      return `  select ${sqlOfPlainText(source.accountId, sql)} as plain_name from ${source.from} where ${isPushed}`;
    });
  const grouped = `select plain_name, count(*) as events from (\n${parts.join("\n  union all\n")}\n) group by plain_name`;
  return `select ${sql.whole("plain_name")} as account_id, events from (${grouped})`;
}

function schemaNameOf({ schemaName }: Source, pushed: readonly PushedSchema[], sql: Dialect): string {
  const names = pushed.map(({ schema }) => schema.name);
  return sqlOfCompared(schemaName, names, sql);
}

function schemaNames(pushed: readonly PushedSchema[], sql: Dialect): string {
  return pushed.map(({ schema }) => sql.quotedText(schema.name)).join(", ");
}

/**
 * Plain rows by their account and day: how many there are, how many of them a meter counts, when the first and the last were,
 * and the sums. All other rows are one group, of the account "" and the day -1, of which nothing but the number of rows is meant.
 */
export function groupsOfRows(source: Source, pushed: PushedSchema, plain: PlainRows, sql: Dialect): string {
  const { meters } = pushed;
  const anyMatch = meters.length === 0 ? "false" : `(${meters.map((_, place) => `m${place}`).join(" or ")})`;
  const sums = meters.map(({ units }, place) => `${sumOfUnits(units, place, sql)} as s${place}`);
  return [
    `select case when plain then coalesce(account_id, '') else '' end as cell_account,`,
    `  case when plain then coalesce(day, -1) else -1 end as cell_day,`,
    `  count(*) as events, count(*) filter (where ${anyMatch}) as metered,`,
    `  ${["min(at_ms) as first_at", "max(at_ms) as last_at", ...sums].join(",\n  ")}`,
    `from (`,
    indented(judgedRows(source, pushed, { plain, sql })),
    `)`,
    `group by cell_account, cell_day`,
  ].join("\n");
}

function sumOfUnits(units: NumberTerm, place: number, sql: Dialect): string {
  const drop = dropOf(units);
  const summed = drop === 1n ? `u${place}` : sql.quotient(`u${place}`, sql.operand(drop));
  return sql.sumOf(summed, `m${place}`);
}

/** The groups of all sources and their schemas in the order of days, with the places of both: `source` and `schema`. */
export function groupsInOrder(sources: readonly MeteredSource[], plain: PlainRows, sql: Dialect): string {
  const most = Math.max(...sources.flatMap(({ pushed }) => pushed.map(({ meters }) => meters.length)));
  const parts = sources.flatMap(({ source, pushed }, index) =>
    pushed.map((schema, place) => {
      const sums = Array.from({ length: most }, (_, meter) =>
        meter < schema.meters.length ? sql.textOf(`s${meter}`) : "null",
      );
      const values = [index, place, "cell_account", "cell_day", "events", "metered", "first_at", "last_at", ...sums];
      const named = values.map((value, column) => `${value} as c${column}`);
      return `select ${named.join(", ")} from (\n${indented(groupsOfRows(source, schema, plain, sql))}\n)`;
    }),
  );
  return `select * from (\n${indented(parts.join("\nunion all\n"))}\n) order by c3, c0, c1, c2`;
}

/** The rows that are not plain, each with its place, its instant and the texts of its columns, in the order of S17.2. */
export function restOfRows(sources: readonly MeteredSource[], plain: PlainRows, sql: Dialect): string {
  const parts = sources.flatMap((metered, index) => {
    const { source, pushed } = metered;
    const carried = carriedColumns(metered, index, sql);
    const ofOthers =
      pushed.length === 0
        ? ""
        : `\nwhere coalesce(${schemaNameOf(source, pushed, sql)} not in (${schemaNames(pushed, sql)}), true)`;
    const others = `select ${carried}\nfrom ${source.from}${ofOthers}`;
    const unplain = pushed.map(
      (schema) =>
        `select ${CARRIED} from (\n${indented(judgedRows(source, schema, { plain, sql, carried }))}\n)\nwhere not plain`,
    );
    return [others, ...unplain];
  });
  return inOrder(parts.join("\nunion all\n"), sql);
}

/** Groups of plain rows of one source, schema and day. */
export interface PlainGroupRows {
  readonly metered: MeteredSource;
  /** The place of the source. */
  readonly index: number;
  readonly pushed: PushedSchema;
  readonly day: Day;
  /** A statement that gives the names of their accounts. */
  readonly accounts: string;
}

/** The rows of groups of plain ones, in the order of S17.2. */
export function rowsOfGroups(groups: readonly PlainGroupRows[], plain: PlainRows, sql: Dialect): string {
  const parts = groups.map(({ metered, index, pushed, day, accounts }) => {
    const carried = carriedColumns(metered, index, sql);
    const among = maybeOnDay(metered.source.timestamp, day, sql);
    const judged = judgedRows(metered.source, pushed, { plain, sql, carried, among });
    return `select ${CARRIED} from (\n${indented(judged)}\n)\nwhere plain and day = ${day} and account_id in (${accounts})`;
  });
  return inOrder(parts.join("\nunion all\n"), sql);
}

/** A condition that every plain row of a day meets and that is cheap to check: no offset from UTC is longer than a day. */
function maybeOnDay({ part }: SourceTime, day: Day, sql: Dialect): string | undefined {
  if (!("column" in part) || part.type.type !== "text") return undefined;
  const text = sqlOfPartText(part, sql);
  return `${text} >= ${sql.quotedText(formatDate((day - 1) * DAY_MS))} and ${text} < ${sql.quotedText(formatDate((day + 2) * DAY_MS))}`;
}

const CARRIED = "source, file, file_row, time_text, time_ms, zone_minutes, order_id, texts";

/** Rows in the order in which they arrive (S17.2). */
function inOrder(rows: string, sql: Dialect): string {
  return [
    `select source, file, file_row, at_ms, texts from (`,
    indented(withInstants(rows, sql)),
    `)`,
    `order by at_ms asc nulls first, order_id, texts, file, file_row`,
  ].join("\n");
}

function carriedColumns({ source, columns, file }: MeteredSource, index: number, sql: Dialect): string {
  return [
    `${index} as source`,
    `${file} as file`,
    `${sql.row ?? "-1"} as file_row`,
    ...sqlOfTimeParts(source.timestamp, sql),
    `${sqlOfPartText(source.id, sql)} as order_id`,
    `${sqlOfTexts(columns, sql)} as texts`,
  ].join(",\n  ");
}
