/** Options for files of events and of usage, which several commands share. */
import type { Arguments, OptionSpecs } from "../arguments.ts";

export const EVENT_FORMATS = ["ndjson", "csv", "parquet"] as const;
export type EventFormat = (typeof EVENT_FORMATS)[number];

/** Options for event files. */
export const eventOptions: OptionSpecs = {
  events: {
    kind: "list",
    value: "FILE…",
    help: "events: NDJSON, or CSV with a map (both may be .gz), Parquet with a map, clickhouse://host/database?table=NAME, or - for standard input",
  },
  map: {
    kind: "list",
    value: "MAP…",
    help: "map from columns to event fields; one for all files, or one per file",
  },
  "event-format": {
    kind: "one",
    choices: EVENT_FORMATS,
    help: "format of the event files; default: by the extension of each file",
  },
  engine: {
    kind: "one",
    choices: ["core", "database"],
    help: "where events are summed: core, in ratebook (default for NDJSON and CSV); database, in DuckDB for Parquet files and in ClickHouse for its tables (default for both)",
  },
  memory: { kind: "one", value: "SIZE", help: "memory limit of DuckDB for Parquet files; default 1GB" },
};

/** The option to write a result to a file. */
export const fileOption: OptionSpecs = {
  output: {
    kind: "one",
    short: "o",
    value: "FILE",
    help: "write to FILE, which is replaced only when the output is complete",
  },
};

/** The option to count repeated event ids. */
export const idOptions: OptionSpecs = {
  "no-dedupe": { kind: "flag", help: "count every event, even if its id is repeated" },
};
/** Options for files of usage that another system counted. */
export const usageOptions: OptionSpecs = {
  usage: {
    kind: "list",
    value: "FILE…",
    help: "usage by account, meter, day and group (accountId, meterId, date, quantity, group.NAME): CSV, NDJSON or JSON",
  },
};

/** The option to accept events that no meter counts. */
export const unmeteredOptions: OptionSpecs = {
  "allow-unmetered": { kind: "flag", help: "do not exit with 1 because of events that no meter counts" },
};

/** Options of commands that check a book against usage. */
export const meteredUsageOptions: OptionSpecs = {
  ...eventOptions,
  ...usageOptions,
  "accounts-from-events": {
    kind: "flag",
    help: "create an account for each unknown account id, on the only plan of the book",
  },
  ...idOptions,
};

/** Whether options for events or usage are present; reading these takes more code than checking a book. */
export function hasUsageOptions(args: Arguments): boolean {
  return Object.keys(meteredUsageOptions).some((name) => args.flag(name));
}
