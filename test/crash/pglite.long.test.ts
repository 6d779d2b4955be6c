/** Engines over a PGlite directory, killed at random instants at least fifty times. */
import { existsSync, readdirSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { openDatabase } from "../../src/store/open-database.ts";
import { buildProgram, type Program } from "../support/programs.ts";
import { killAndCompare } from "./kill.ts";

let program: Program;
const directories: string[] = [];

beforeAll(() => {
  program = buildProgram(join(import.meta.dirname, "engine.program.ts"));
});

afterAll(async () => {
  program.remove();
  for (const directory of directories) await rm(directory, { recursive: true, force: true, maxRetries: 5 });
});

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "ratebook-crash-"));
  directories.push(directory);
  return directory;
}

/** Kills an engine while it creates its directory: as soon as the database files exist. */
async function killWhileMade(directory: string): Promise<void> {
  const running = program.run(`pglite:${directory}`);
  const isBegun = (): boolean => readdirSync(directory).some((name) => existsSync(join(directory, name, "PG_VERSION")));
  while (!isBegun()) await new Promise((resolve) => void setTimeout(resolve, 1));
  running.kill();
  expect((await running.end).signal).toBe("SIGKILL");
}

test("S14.3 fifty kills of the engine leave each batch stored completely or not at all, and keep each acknowledged one", async () => {
  const [first, second] = [await newDirectory(), await newDirectory()];
  await killWhileMade(first);
  await (await openDatabase(`pglite:${first}`)).close();
  // Two directories in parallel: most of the time is the start of PGlite.
  await cp(first, second, { recursive: true });
  const results = await Promise.all(
    [first, second].map((directory, seed) =>
      killAndCompare({ program, database: `pglite:${directory}`, kills: 25, seed: seed + 1 }),
    ),
  );
  expect(results.map(({ opening, doing }) => opening + doing)).toEqual([25, 25]);
  for (const { steps } of results) expect(steps).toBeGreaterThan(25);
});
