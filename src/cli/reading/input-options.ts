/**
 * Options for usage inputs, billing periods and result outputs, which several commands share, and which of them apply to
 * which event files: an option without effect is an error.
 */
import { type Instant, parseDate, parseInstant, tryParseInstant } from "../../calendar/instant.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import type { PreviewOptions } from "../../ledger/preview/preview.ts";
import { readTableAddress } from "../../warehouse/clickhouse/table.ts";
import { type Arguments, checkOption, type OptionSpecs, readOption } from "../arguments.ts";
import { UsageError } from "../errors.ts";
import { type CompactIds, createCompactIds } from "../event-inputs/compact-ids.ts";
import type { Io } from "../io.ts";
import { EVENT_FORMATS, fileOption, idOptions } from "./event-options.ts";
import { type EventFile, pairWithMaps } from "./open-event-files.ts";

/** Options for ingesting event files. */
export const ingestOptions: OptionSpecs = {
  strict: { kind: "flag", help: "stop at the first invalid line or event" },
  ...idOptions,
};

/** Creates the memory of counted event ids; false without events, and with `--no-dedupe`. */
export function createIdMemory({ files, dedupes }: EventInput, io: Io): CompactIds | false {
  return dedupes && files.length > 0 ? createCompactIds(io.fingerprintKey()) : false;
}

/** The accounts of `--account`; undefined for all. */
export function readAccountIds(args: Arguments): readonly string[] | undefined {
  const accounts = args.values("account");
  return accounts.length === 0 ? undefined : accounts;
}

/** Options for the format and place of a result. */
export function outputOptions(formats: readonly [string, ...string[]], subject: string): OptionSpecs {
  return {
    format: { kind: "one", choices: formats, help: `output format of ${subject}; default ${formats[0]}` },
    ...fileOption,
  };
}

/** The event files of a command, and how to read them. */
export interface EventInput {
  readonly files: readonly EventFile[];
  /** Whether databases sum plain rows. If false, the core meters every row. */
  readonly usesPushdown: boolean;
  /** The memory limit of DuckDB. */
  readonly memory: string | undefined;
  /** Whether ids are remembered. */
  readonly dedupes: boolean;
  /** Whether to stop at the first problem. */
  readonly strict: boolean;
}

/**
 * Reads the values of {@link eventOptions} and {@link ingestOptions}.
 *
 * @throws {UsageError} for an invalid value, and for an option that doesn't apply to the files
 */
export function readEventInput(args: Arguments, io: Pick<Io, "env">): EventInput {
  const engine = args.value("engine");
  const memory = readOption(args, "memory", "a size such as 400MB", (text) =>
    /^\d+(?:\.\d+)?\s*[KMGT]i?B$/i.test(text) ? text : undefined,
  );
  const eventFormat = EVENT_FORMATS.find((format) => format === args.value("event-format"));
  const files = pairWithMaps(args.values("events"), args.values("map"), eventFormat);
  requireApplicableEventOptions(args, files, io);
  return {
    files,
    usesPushdown: engine !== "core",
    memory,
    dedupes: !args.flag("no-dedupe"),
    strict: args.flag("strict"),
  };
}

/** The events and the usage of a command. */
export interface UsageInput extends EventInput {
  readonly usagePaths: readonly string[];
  /** Whether any files are given. */
  readonly hasUsage: boolean;
}

/** Same as {@link readEventInput}, with the files of `--usage`. @throws {UsageError} for standard input twice */
export function readUsageInput(args: Arguments, io: Pick<Io, "env">): UsageInput {
  const input = readEventInput(args, io);
  const usagePaths = args.values("usage");
  if ([...usagePaths, ...input.files.map(({ path }) => path)].filter((path) => path === "-").length > 1)
    throw new UsageError("standard input (-) can be given only once");
  return { ...input, usagePaths, hasUsage: input.files.length + usagePaths.length > 0 };
}

/** Options that have no effect without events. */
const EVENT_VALUE_OPTIONS = ["event-format", "engine", "memory"];
const EVENT_FLAGS = ["strict", "no-dedupe", "allow-unmetered"];

/** @throws {UsageError} for the first option that doesn't apply to the files, with advice */
export function requireApplicableEventOptions(args: Arguments, files: readonly EventFile[], io: Pick<Io, "env">): void {
  if (files.length === 0) {
    const option =
      EVENT_VALUE_OPTIONS.find((name) => args.value(name) !== undefined) ?? EVENT_FLAGS.find((name) => args.flag(name));
    if (option !== undefined) throw new UsageError(`--${option} needs --events`);
    return;
  }
  if (args.value("event-format") !== undefined && files.every(isTable))
    throw new UsageError("--event-format only applies to files, and --events has only tables; remove it");
  if (args.value("memory") !== undefined && !files.some(isParquet))
    throw new UsageError("--memory only applies to Parquet files, and --events has none; remove it");
  if (args.value("engine") !== "database") return;
  if (args.flag("strict"))
    throw new UsageError(
      "--strict stops at the first invalid event, so it does not support --engine database; use --engine core",
    );
  requireFilesForDatabase(files, io);
}

/**
 * Rejects other engines for output that lists single events.
 *
 * @throws {UsageError} for another engine than core
 */
export function requireCoreEngine(args: Arguments, option: string): void {
  const engine = args.value("engine");
  if (engine !== undefined && engine !== "core")
    throw new UsageError(`${option} lists single events, so it does not support --engine ${engine}; use --engine core`);
}

function requireFilesForDatabase(files: readonly EventFile[], { env }: Pick<Io, "env">): void {
  const other = files.find((file) => !isParquet(file) && !isTable(file));
  if (other !== undefined) {
    const path = other.path === "-" ? "standard input" : other.path;
    throw new UsageError(
      `--engine database only sums Parquet files and ClickHouse tables, got ${path}; use --engine core, or leave it out`,
    );
  }
  const servers = new Set(files.filter(isTable).map(({ path }) => JSON.stringify(readTableAddress(path, env).server)));
  if (servers.size + (files.some(isParquet) ? 1 : 0) > 1)
    throw new UsageError(
      "--engine database sums Parquet files, or tables of one ClickHouse server, but not both; use --engine core",
    );
}

function isParquet({ origin }: EventFile): boolean {
  return origin === "parquet";
}

function isTable({ origin }: EventFile): boolean {
  return origin === "clickhouse";
}

export const rangeOptions: OptionSpecs = {
  from: {
    kind: "one",
    value: "DATE",
    help: "show billing periods that overlap the days from --from to --until; default: those of the events and usage",
  },
  until: {
    kind: "one",
    value: "DATE",
    help: "the first day after the range",
  },
};

/** Reads the range. @throws {UsageError} for an invalid date, or options that can't be combined */
export function readRange(args: Arguments): Pick<PreviewOptions, "at" | "from" | "until"> {
  const [at, from, until] = [args.value("at"), args.value("from"), args.value("until")];
  if (at !== undefined && (from !== undefined || until !== undefined)) {
    throw new UsageError("use either --at, or --from and --until");
  }
  if (at !== undefined) {
    const instant = checkOption("at", () => tryParseInstant(at) ?? parseDayOrInstant(at));
    if (instant >= NO_END) throw new UsageError(`--at must be before 9999-01-01, which means no end; got ${at}`);
    return { at: instant };
  }
  if (from === undefined && until === undefined) return {};
  if (from === undefined || until === undefined) throw new UsageError("--from and --until must be given together");
  const range = readDays(from, until);
  if (range.until > NO_END)
    throw new UsageError(`--until must be at most 9999-01-01, which means no end; got ${until}`);
  return range;
}

/** The days of `--from` and `--until`. @throws {UsageError} for an invalid date, or an empty range */
export function readDays(fromText: string, untilText: string): { readonly from: Instant; readonly until: Instant } {
  const [from, until] = [
    checkOption("from", () => parseDate(fromText)),
    checkOption("until", () => parseDate(untilText)),
  ];
  if (from < until) return { from, until };
  throw new UsageError(`--until must be later than --from: got --from ${fromText} --until ${untilText}`);
}

function parseDayOrInstant(text: string): Instant {
  return /^\d{4}-\d\d-\d\d$/.test(text) || !text.includes(":") ? parseDate(text) : parseInstant(text);
}
