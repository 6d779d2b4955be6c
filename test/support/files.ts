/** The files of the repository, by their paths from its root. */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix, resolve, sep } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** The absolute path of a file or folder. */
export function pathOf(...path: readonly string[]): string {
  return join(root, ...path);
}

/** The text of a file. */
export function readText(path: string): string {
  return readFileSync(pathOf(path), "utf8");
}

/** The files of a folder and its subfolders with one of these endings. */
export function filesOf(folder: string, ends: RegExp): readonly string[] {
  return readdirSync(pathOf(folder), { recursive: true, encoding: "utf8" })
    .map((file) => posix.join(folder, file.replaceAll(sep, "/")))
    .filter((file) => ends.test(file));
}

/** The text of every file of `src`, by its path in `src`. */
export const sources: ReadonlyMap<string, string> = new Map(
  filesOf("src", /\.tsx?$/).map((file) => [file.slice("src/".length), readText(file)]),
);
