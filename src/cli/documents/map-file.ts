/** Reads the file of an event file map, and the files of names that it uses. */
import { dirname, resolve } from "node:path";

import { readCsvRows, requireRecord } from "../../event-files/csv-rows.ts";
import { type EventFileMap, type Origin, readEventFileMap } from "../../event-files/event-file-map.ts";
import { InputError } from "../../event-files/input-error.ts";
import { quoteText } from "../../problem-table.ts";
import type { Io } from "../io.ts";
import { readTextFile } from "./read-documents.ts";

/**
 * Reads a map, with the names of its `valuesFrom` in `values`. Their paths are relative to the map's folder.
 *
 * @throws {InputError} for the first problem of the map or of a file of names
 */
export async function readMapFile(path: string, io: Io): Promise<EventFileMap> {
  const map = readEventFileMap(path, await readTextFile(path, io));
  const files = new Map<string, Promise<readonly Name[]>>();
  async function addNames<Part extends Origin>(part: Part): Promise<Part> {
    if (!("valuesFrom" in part) || part.valuesFrom === undefined) return part;
    const { valuesFrom, values = {}, ...rest } = part;
    const file = resolve(dirname(path), valuesFrom);
    const names = files.get(file) ?? readNames(file, io);
    files.set(file, names);
    // Entries, because a name may be a property of every object, such as `__proto__`.
    return { ...rest, values: Object.fromEntries(mergeNames(file, values, await names)) } as Part;
  }
  const addAllNames = async <Part extends Origin>(
    parts: Readonly<Record<string, Part>>,
  ): Promise<Record<string, Part>> =>
    Object.fromEntries(
      await Promise.all(Object.entries(parts).map(async ([name, part]) => [name, await addNames(part)] as const)),
    );
  return {
    ...map,
    schemaName: await addNames(map.schemaName),
    accountId: await addNames(map.accountId),
    attributes: await addAllNames(map.attributes),
    dimensions: await addAllNames(map.dimensions),
  };
}

/** A text of event files, what the book calls it, and its line. */
interface Name {
  readonly line: number;
  readonly text: string;
  readonly id: string;
}

async function readNames(file: string, io: Io): Promise<readonly Name[]> {
  const text = await readTextFile(file, io);
  const [header, ...others] = await readCsvRows(file, text);
  if (header === undefined)
    throw new InputError(`${file}: the file is empty: expected a header and rows of two columns`);
  const columnCount = header.record?.length ?? 0;
  if (columnCount !== 2)
    throw new InputError(
      `${file}:${header.line}: expected two columns, what event files have and what the book has; got ${columnCount}`,
    );
  return others.map((row) => {
    const { line, record } = requireRecord(file, row);
    const [name = "", id = ""] = record;
    if (id === "") throw new InputError(`${file}:${line}: ${quoteText(name)} has no id in the second column`);
    return { line, text: name, id };
  });
}

/** @throws {InputError} for a text with two ids */
function mergeNames(
  file: string,
  values: Readonly<Record<string, string>>,
  names: readonly Name[],
): ReadonlyMap<string, string> {
  const merged = new Map(Object.entries(values));
  for (const { line, text, id } of names) {
    const other = merged.get(text) ?? id;
    if (other !== id)
      throw new InputError(
        `${file}:${line}: ${quoteText(text)} is ${quoteText(id)} here, but ${quoteText(other)} ${Object.hasOwn(values, text) ? "in the map" : "in an earlier line"}; keep one`,
      );
    merged.set(text, id);
  }
  return merged;
}
