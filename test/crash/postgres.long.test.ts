/**
 * Engines over a private PostgreSQL in a directory, killed at random instants at least fifty times, also together with
 * the server.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { openPrivateServer } from "../../src/store/embedded/private-server.ts";
import { postmasterOf } from "../support/database-processes.ts";
import { buildProgram, type Program } from "../support/programs.ts";
import { killAndCompare } from "./kill.ts";

let program: Program;
const directories: string[] = [];

beforeAll(() => {
  program = buildProgram(join(import.meta.dirname, "engine.program.ts"));
});

afterAll(async () => {
  program.remove();
  for (const directory of directories) {
    // The last process that uses it stops its server.
    await (await openPrivateServer(directory)).close();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
});

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "ratebook-crash-"));
  directories.push(directory);
  return directory;
}

test("S14.3 fifty kills of the engine leave each batch stored completely or not at all, and keep each acknowledged one", async () => {
  const directory = await newDirectory();
  const server = await openPrivateServer(directory);
  const result = await killAndCompare({ program, database: directory, kills: 50, seed: 14 });
  await server.close();
  expect(result.opening + result.doing).toBe(50);
  expect(result.steps).toBeGreaterThan(50);
});

test("S14.3 acknowledged events survive kills of the engine together with its server, whichever process restarts it", async () => {
  const directory = await newDirectory();
  const also = (kill: number): void => {
    // Every other time the server runs on for a moment, until it notices that it is unused.
    if (kill % 2 === 0) killServer(directory);
  };
  const result = await killAndCompare({ program, database: directory, kills: 10, seed: 5, also });
  expect(result.opening + result.doing).toBe(10);
});

function killServer(directory: string): void {
  const postmaster = postmasterOf(directory);
  if (postmaster !== undefined) process.kill(postmaster, "SIGKILL");
}
