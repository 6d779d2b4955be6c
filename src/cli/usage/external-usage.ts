/**
 * The options for external usage: event schemas, and the files of usage cells or the table of events to read (S17.4).
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";

import type { ExternalUsageOptions } from "../../engine/external-usage.ts";
import { usageFromRows, type UsageSource } from "../../ledger/external-usage.ts";
import { quoteText } from "../../problem-table.ts";
import { connectClickHouse, isTableAddress, readTableAddress } from "../../warehouse/clickhouse/table.ts";
import { createTableUsage } from "../../warehouse/clickhouse/usage.ts";
import type { Arguments, OptionSpecs } from "../arguments.ts";
import { readMapFile } from "../documents/map-file.ts";
import { UsageError } from "../errors.ts";
import type { Io } from "../io.ts";
import { type UsageRowTexts, readUsageRows } from "./usage-files.ts";

export const externalUsageOptions: OptionSpecs = {
  usage: {
    kind: "many",
    value: "FILE|DIR|TABLE",
    help: "external usage: files written by meter, a directory of them, or the address of a table of events",
  },
  map: { kind: "one", value: "MAP", help: "map from columns of the table of --usage to event fields" },
  "usage-schemas": {
    kind: "one",
    value: "NAME,…",
    help: "event schemas whose usage comes from --usage; a server rejects their events",
  },
};

/** The option by which formerly external events are ingested again. */
export const resumeIngestOptions: OptionSpecs = {
  "resume-ingest": {
    kind: "one",
    value: "NAME,…",
    help: "event schemas that were in --usage-schemas before; their events are ingested from now on",
  },
};

/** @throws {UsageError} for an empty name */
export function readResumedSchemas(args: Arguments): readonly string[] {
  return readNames(args, "resume-ingest");
}

function readNames(args: Arguments, option: string): readonly string[] {
  const names = (args.value(option)?.split(",") ?? []).map((name) => name.trim());
  if (names.includes("")) throw new UsageError(`--${option}: expected comma-separated names`);
  return names;
}

/**
 * Reads the source of external usage; undefined if all events are ingested. Files are read when usage is first needed
 * and again when they change; a table is queried each time.
 *
 * @throws {UsageError} if one option is missing, and for standard input, which can only be read once
 * @throws {InputError} for an invalid map
 * @throws {RatebookError} ERR_INPUT_INVALID for an invalid address, ERR_USAGE_UNAVAILABLE if the client package is
 * missing
 */
export async function readExternalUsage(args: Arguments, io: Io): Promise<ExternalUsageOptions | undefined> {
  const paths = args.values("usage");
  const schemas = readNames(args, "usage-schemas");
  if (schemas.length === 0 && paths.length === 0) {
    if (args.value("map") !== undefined) throw new UsageError("--map needs a table in --usage");
    return undefined;
  }
  if (schemas.length === 0 || paths.length === 0)
    throw new UsageError("--usage and --usage-schemas must be given together");
  const address = paths.find(isTableAddress);
  if (address !== undefined) {
    if (paths.length > 1) throw new UsageError("--usage: a table cannot be combined with other sources");
    return { schemas, source: await openTableSource(address, args.value("map"), io) };
  }
  if (args.value("map") !== undefined)
    throw new UsageError("--map only applies to a table in --usage, and --usage has files; remove it");
  for (const path of paths) {
    if (path === "-") throw new UsageError("--usage: expected files or directories, not standard input");
    if (path.includes("://")) throw new UsageError(`--usage: expected files or directories, got ${quoteText(path)}`);
  }
  const name =
    paths.length === 1 ? quoteText(paths[0] ?? "") : `${quoteText(paths[0] ?? "")} and ${paths.length - 1} more`;
  return { schemas, source: usageFromRows({ name, stamp: () => computeStamp(paths), read: () => readRows(paths) }) };
}

/** Opens the table at an address. Its client keeps no connections, so it needs no closing. */
async function openTableSource(address: string, mapFile: string | undefined, io: Io): Promise<UsageSource> {
  const { server, name } = readTableAddress(address, io.env);
  const map = mapFile === undefined ? undefined : await readMapFile(mapFile, io);
  return createTableUsage({ client: await connectClickHouse(server), ...name, map, dedupes: true });
}

/** The existing files, sorted by name within a directory. Hidden files are skipped, because they may be incomplete. */
async function listFiles(paths: readonly string[]): Promise<readonly string[]> {
  const files: string[] = [];
  for (const path of paths) {
    if (!(await stat(path)).isDirectory()) files.push(path);
    else {
      const names = (await readdir(path)).filter((name) => !name.startsWith("."));
      files.push(...names.sort().map((name) => join(path, name)));
    }
  }
  return files;
}

/** A stamp that changes when one of the files does. */
async function computeStamp(paths: readonly string[]): Promise<string> {
  const stamps: string[] = [];
  for (const file of await listFiles(paths)) {
    const { size, mtimeMs, ino } = await stat(file);
    stamps.push(JSON.stringify([file, size, mtimeMs, ino]));
  }
  return stamps.join("\n");
}

async function* readRows(paths: readonly string[]): AsyncGenerator<UsageRowTexts> {
  for (const path of await listFiles(paths)) yield* readUsageRows(path, { stdin: () => Readable.from([]) });
}
