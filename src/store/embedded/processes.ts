/** Information about other processes, for locks and servers. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** A running process. */
export interface RunningProcess {
  /** The name of its program. */
  readonly name: string;
  /** Its start time as the system formats it; together with the id it identifies a process uniquely. */
  readonly startTime: string;
}

/** The process with an id; undefined if there is none or only a zombie. */
export function findProcess(pid: number): RunningProcess | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
}

/** Whether a running process was started with an argument; a process may have changed its own arguments. */
export function wasStartedWith(pid: number, argument: string): boolean {
  try {
    return process.platform === "linux"
      ? readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument)
      : execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" }).includes(argument);
  } catch {
    return false;
  }
}

function fromProc(pid: number): RunningProcess | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  const name = text.slice(text.indexOf("(") + 1, text.lastIndexOf(")"));
  // After the name: field 1 is the state, field 20 the start time.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? undefined : { name, startTime: fields[19] ?? "" };
}

function fromPs(pid: number): RunningProcess | undefined {
  try {
    const text = execFileSync("ps", ["-o", "stat=,lstart=,comm=", "-p", String(pid)], { encoding: "utf8" }).trim();
    const [state = "", ...rest] = text.split(/\s+/);
    const startTime = rest.slice(0, 5).join(" ");
    const name = rest.slice(5).join(" ").split("/").at(-1) ?? "";
    return text === "" || state.startsWith("Z") ? undefined : { name, startTime };
  } catch {
    return undefined;
  }
}
