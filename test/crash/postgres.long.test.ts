/**
 * Engines over a private PostgreSQL in a directory, killed at random instants at least fifty times, also together with
 * the server.
 */
import { expect, test } from "vitest";

import { openPrivateServer } from "../../src/store/embedded/private-server.ts";
import { postmasterOf } from "../support/database-processes.ts";
import { closeServer, killAndCompare, programToKill } from "./kill.ts";

const toKill = programToKill("engine.program.ts", closeServer);

test("S14.3 fifty kills of the engine leave each batch stored completely or not at all, and keep each acknowledged one", async () => {
  const directory = await toKill.newDirectory();
  const server = await openPrivateServer(directory);
  const result = await killAndCompare({ program: toKill.program, database: directory, kills: 50, seed: 14 });
  await server.close();
  expect(result.opening + result.doing).toBe(50);
  expect(result.steps).toBeGreaterThan(50);
});

test("S14.3 acknowledged events survive kills of the engine together with its server, whichever process restarts it", async () => {
  const directory = await toKill.newDirectory();
  const also = (kill: number): void => {
    // Every other time the server runs on for a moment, until it notices that it is unused.
    const postmaster = kill % 2 === 0 ? postmasterOf(directory) : undefined;
    if (postmaster !== undefined) process.kill(postmaster, "SIGKILL");
  };
  const result = await killAndCompare({ program: toKill.program, database: directory, kills: 10, seed: 5, also });
  expect(result.opening + result.doing).toBe(10);
});
