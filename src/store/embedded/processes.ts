/**
 * Other processes, as far as a lock or a server must know of them.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** A process that lives. */
export interface LivingProcess {
  /** The name of its program. */
  readonly name: string;
  /** When it began, in the system's own words: with the id, it names a process for good. */
  readonly began: string;
}

/** The process of an id; undefined when there is none, or only its remains. */
export function findProcess(pid: number): LivingProcess | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
}

/** Whether a process that lives was started with an argument; a process may have changed its own arguments. */
export function wasStartedWith(pid: number, argument: string): boolean {
  try {
    return process.platform === "linux"
      ? readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument)
      : execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" }).includes(argument);
  } catch {
    return false;
  }
}

function fromProc(pid: number): LivingProcess | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  const name = text.slice(text.indexOf("(") + 1, text.lastIndexOf(")"));
  // After the name: the state first, the time of the start as the 20th.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? undefined : { name, began: fields[19] ?? "" };
}

function fromPs(pid: number): LivingProcess | undefined {
  try {
    const text = execFileSync("ps", ["-o", "stat=,lstart=,comm=", "-p", String(pid)], { encoding: "utf8" }).trim();
    const [state = "", ...rest] = text.split(/\s+/);
    const began = rest.slice(0, 5).join(" ");
    const name = rest.slice(5).join(" ").split("/").at(-1) ?? "";
    return text === "" || state.startsWith("Z") ? undefined : { name, began };
  } catch {
    return undefined;
  }
}
