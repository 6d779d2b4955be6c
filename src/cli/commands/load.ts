/** `ratebook load`: loads a book into a store. */
import type { BookInput } from "../../book/resources/book.ts";
import type { LoadCounts } from "../../engine/load.ts";
import { type Arguments, type Command, requireBookPath } from "../arguments.ts";
import { databaseOption, databaseVariable, resolvePersistentDatabase, withEngine } from "../database-option.ts";
import { readBookFile } from "../documents/read-documents.ts";
import { type Io, write } from "../io.ts";

/** Loads a book completely or not at all. */
export const loadCommand: Command = {
  usage: "BOOK [--database DIR|URL|pglite:DIR]",
  options: databaseOption,
  variables: databaseVariable,
  run: runLoad,
};

async function runLoad(args: Arguments, io: Io): Promise<"done"> {
  const path = requireBookPath(args);
  const database = resolvePersistentDatabase(args, io);
  // Reads the book before opening a database, so that all its problems are printed.
  const file = await readBookFile(path, io);
  // `load` validates any value.
  const loadedCounts = await withEngine(database, {}, (engine) => engine.load(file.json as BookInput));
  await write(io.stdout, `${path}: loaded ${describeLoaded(loadedCounts)}\n`);
  return "done";
}

/** `2 price plans`, of the list `pricePlans`. */
function describeCount(list: string, count: number): string {
  const noun = list.replaceAll(/[A-Z]/g, (letter) => (list === "addOns" ? `-${letter}` : ` ${letter}`).toLowerCase());
  return `${count} ${count === 1 ? noun.replace(/s$/, "") : noun}`;
}

/** The numbers of loaded resources by list; empty lists are left out. */
function describeLoaded(loadedCounts: LoadCounts): string {
  const counts = Object.entries(loadedCounts).filter(([, count]) => count > 0);
  return counts.length === 0
    ? "nothing: the book is empty"
    : counts.map(([list, count]) => describeCount(list, count)).join(", ");
}
