/** Engines over a PGlite directory, killed at random instants at least fifty times. */
import { existsSync, readdirSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { openDatabase } from "../../src/store/open-database.ts";
import { killAndCompare, programToKill } from "./kill.ts";

const toKill = programToKill("engine.program.ts");

/** Kills an engine while it creates its directory: as soon as the database files exist. */
async function killWhileMade(directory: string): Promise<void> {
  const running = toKill.program.run(`pglite:${directory}`);
  const isBegun = (): boolean => readdirSync(directory).some((name) => existsSync(join(directory, name, "PG_VERSION")));
  while (!isBegun()) await new Promise((resolve) => void setTimeout(resolve, 1));
  running.kill();
  expect((await running.end).signal).toBe("SIGKILL");
}

test("S14.3 fifty kills of the engine leave each batch stored completely or not at all, and keep each acknowledged one", async () => {
  const [first, second] = [await toKill.newDirectory(), await toKill.newDirectory()];
  await killWhileMade(first);
  await (await openDatabase(`pglite:${first}`)).close();
  // Two directories in parallel: most of the time is the start of PGlite.
  await cp(first, second, { recursive: true });
  const results = await Promise.all(
    [first, second].map((directory, seed) =>
      killAndCompare({ program: toKill.program, database: `pglite:${directory}`, kills: 25, seed: seed + 1 }),
    ),
  );
  expect(results.map(({ opening, doing }) => opening + doing)).toEqual([25, 25]);
  for (const { steps } of results) expect(steps).toBeGreaterThan(25);
});
