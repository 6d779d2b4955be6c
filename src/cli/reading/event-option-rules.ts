/** Checks which options apply to which event files: an option without effect is an error. */
import { readTableAddress } from "../../warehouse/clickhouse/table.ts";
import type { Arguments } from "../arguments.ts";
import { UsageError } from "../errors.ts";
import type { Io } from "../io.ts";
import type { EventFile } from "./open-event-files.ts";

/** Options that have no effect without events. */
const EVENT_VALUE_OPTIONS = ["event-format", "engine", "memory"];
const EVENT_FLAGS = ["strict", "no-dedupe"];

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
