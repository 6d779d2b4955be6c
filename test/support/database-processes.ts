/** The processes of a private PostgreSQL server, for tests that kill or freeze them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { findProcess } from "../../src/store/embedded/processes.ts";

/** The id of the main process of the server of a directory; undefined if none runs. */
export function postmasterOf(directory: string): number | undefined {
  const [pid] = readFileLines(join(directory, "postgres", "postmaster.pid"));
  return findProcess(Number(pid))?.name === "postgres" ? Number(pid) : undefined;
}

/** The ids of the processes that a process has started. */
export function childrenOf(parent: number): readonly number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && parentOf(pid) === parent);
}

function parentOf(pid: number): number {
  const text = readFileLines(`/proc/${pid}/stat`).join("\n");
  return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
}

/** @returns undefined if the file does not exist: no server has started, or the process has ended in the meantime */
function readFileLines(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}
