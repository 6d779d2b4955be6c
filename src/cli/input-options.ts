/**
 * The options by which every command that reads usage is told where it is, and every command that writes a result where
 * it goes. A command takes those groups that it can use.
 *
 * @module
 */
import type { Arguments, OptionSpecs } from "./arguments.ts";
import type { FileReader } from "./event-files.ts";

/** Files of events. */
export const eventOptions: OptionSpecs = {
  events: {
    kind: "list",
    value: "FILE…",
    help: "events: NDJSON, CSV with a map, either as .gz, or - for standard input",
  },
  map: {
    kind: "list",
    value: "MAP…",
    help: "where each part of an event is in a CSV file; one for all files or one each",
  },
  reader: {
    kind: "one",
    choices: ["ndjson", "csv"],
    help: "how the files are read, whatever their names end in",
  },
};

/** Files of usage that was counted elsewhere; for commands that read it. */
export const usageOptions: OptionSpecs = {
  usage: {
    kind: "list",
    value: "FILE…",
    help: "usage by account, meter and day (accountId, meterId, date, quantity): CSV, NDJSON or JSON",
  },
};

/** How a result is printed, and where. */
export function outputOptions(formats: readonly [string, ...string[]], of: string): OptionSpecs {
  return {
    format: { kind: "one", choices: formats, help: `how ${of} are printed; default ${formats[0]}` },
    output: { kind: "one", short: "o", value: "FILE", help: "write to a file, which appears when it is whole" },
  };
}

/** Which events are to be read. */
export interface EventInput {
  readonly events: readonly string[];
  readonly maps: readonly string[];
  readonly reader: FileReader | undefined;
}

/** What was given of {@link eventOptions}. */
export function eventInputOf(given: Arguments): EventInput {
  const reader = given.one("reader");
  return {
    events: given.many("events"),
    maps: given.many("map"),
    reader: reader === "ndjson" || reader === "csv" ? reader : undefined,
  };
}
