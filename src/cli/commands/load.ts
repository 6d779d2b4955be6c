/**
 * `ratebook load`: puts a book's resources into a store.
 *
 * @module
 */
import type { BookInput } from "../../book/model/book.ts";
import type { LoadCounts } from "../../engine/load.ts";
import type { Arguments } from "../arguments.ts";
import { requireBookPath, type Command } from "../command.ts";
import { readBookFile } from "../documents/read-documents.ts";
import { type Io, write } from "../io.ts";
import { databaseOption, databaseVariable, resolvePersistentDatabase } from "../options/database-option.ts";

/** Puts a whole book into a store, or nothing of it. */
export const loadCommand: Command = {
  usage: "BOOK [--database DIR|URL|pglite:DIR]",
  summary: "Loads a book into a database. If any of its resources exists, nothing is loaded.",
  options: databaseOption,
  variables: databaseVariable,
  run: runLoad,
};

async function runLoad(args: Arguments, io: Io): Promise<"done" | "problems"> {
  const path = requireBookPath(args);
  const database = resolvePersistentDatabase(args, io);
  // All problems of the book are printed before a database is opened.
  const file = await readBookFile(path, io);
  if (file === undefined) return "problems";
  // Only this command needs the engine and a database: the others start without them.
  const { createEngine } = await import("../../engine/engine.ts");
  const { openDatabase } = await import("../../store/open-database.ts");
  const engine = createEngine({ store: await openDatabase(database) });
  try {
    // It was read above, and `load` says of any value what is no book in it.
    const loadedCounts = await engine.load(file.json as BookInput);
    await write(io.stdout, `${path}: loaded ${describeLoaded(loadedCounts)}\n`);
  } finally {
    await engine.close();
  }
  return "done";
}

/** The numbers of things that were loaded, by the names of the book's lists; empty lists are left out. */
function describeLoaded(loadedCounts: LoadCounts): string {
  const counts = Object.entries(loadedCounts).filter(([, count]) => count > 0);
  return counts.length === 0
    ? "nothing: the book is empty"
    : counts.map(([list, count]) => `${count} ${list}`).join(", ");
}
