/**
 * The options that say which event schemas have their events elsewhere, and where: files of usage cells, or a table of events
 * (S17.4).
 *
 * @module
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";

import type { ExternalUsageOptions } from "../../engine/external/source-cells.ts";
import { readEventFileMap } from "../../event-files/event-file-map.ts";
import { InputError, quoteText } from "../../event-files/input-error.ts";
import { usageFromRows } from "../../ledger/usage-row-source.ts";
import type { UsageSource } from "../../ledger/usage-source.ts";
import { connectClickHouse } from "../../warehouse/clickhouse/connect.ts";
import { isTableAddress, readTableAddress } from "../../warehouse/clickhouse/table-address.ts";
import { createTableUsage } from "../../warehouse/clickhouse/table-usage.ts";
import type { Arguments, OptionSpecs } from "../arguments.ts";
import { readTextFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import type { Io } from "../io.ts";
import { type UsageRow, readUsageLines } from "./usage-rows.ts";

/** The options, for the specs of a command. */
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
    help: "event schemas whose usage comes from --usage; their events are rejected",
  },
};

/** The option by which events that lived elsewhere are ingested again. */
export const ingestedAgainOptions: OptionSpecs = {
  "ingested-again": {
    kind: "one",
    value: "NAME,…",
    help: "event schemas that were in --usage-schemas before, and whose events are ingested from now on",
  },
};

/** @throws {UsageError} where a name is empty */
export function readIngestedAgain(args: Arguments): readonly string[] {
  return readNames(args, "ingested-again");
}

function readNames(args: Arguments, option: string): readonly string[] {
  const names = (args.value(option)?.split(",") ?? []).map((name) => name.trim());
  if (names.includes("")) throw new UsageError(`--${option}: expected comma-separated names`);
  return names;
}

/**
 * Where the events of some schemas live, by the options; undefined where all are ingested. Files are read when usage is first needed,
 * and again when one of them is another; a table is asked each time.
 *
 * @throws {UsageError} where an option is given without the other, and for standard input, which is there once
 * @throws {InputError} for a map that is none
 * @throws {RatebookError} ERR_INPUT_INVALID for an address that is none, ERR_USAGE_UNAVAILABLE without the package for it
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

/** A source over the table at an address. Its client keeps no connections, so that there is nothing to close. */
async function openTableSource(address: string, mapFile: string | undefined, io: Io): Promise<UsageSource> {
  const { server, name } = readTableAddress(address, io.env);
  const map = mapFile === undefined ? undefined : readEventFileMap(mapFile, await readTextFile(mapFile, io));
  return createTableUsage({ client: await connectClickHouse(server), ...name, map, dedupes: true });
}

/** The files that are there now, a directory's in the order of their names; hidden ones are not yet whole. */
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

/** A stamp of the files, which is another one when one of them has changed. */
async function computeStamp(paths: readonly string[]): Promise<string> {
  const stamps: string[] = [];
  for (const file of await listFiles(paths)) {
    const { size, mtimeMs, ino } = await stat(file);
    stamps.push(JSON.stringify([file, size, mtimeMs, ino]));
  }
  return stamps.join("\n");
}

async function* readRows(paths: readonly string[]): AsyncGenerator<UsageRow> {
  for (const path of await listFiles(paths)) {
    for await (const { file, line, row, problem } of readUsageLines(path, { stdin: () => Readable.from([]) })) {
      if (row === undefined) throw new InputError(`${file}:${line}: ${problem}`);
      yield row;
    }
  }
}
