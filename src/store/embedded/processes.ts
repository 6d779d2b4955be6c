/** Information about other processes, for locks and servers. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** A running process. */
interface RunningProcess {
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

/**
 * Stops the server when none of its openers is running, for example after they were killed. An opener's file contains
 * the start time of its process, as {@link findProcess} returns it, because a killed process's id may be reused. If the start
 * time is unknown, a process with the id counts as the opener.
 */
export const WATCH = `
began() {
  if [ -d /proc/self ]; then
    stat=$(cat "/proc/$1/stat" 2>/dev/null)
    set -- \${stat##*) }
    echo "\${20}"
  else
    set -- $(ps -o lstart= -p "$1")
    echo "$*"
  fi
}
lives() {
  kill -0 "$1" 2>/dev/null || return 1
  recorded=
  read -r recorded < "$2"
  [ -n "$recorded" ] || return 0
  found=$(began "$1")
  [ -z "$found" ] || [ "$found" = "$recorded" ]
}
while kill -0 "$2" 2>/dev/null; do
  running=
  for file in "$1"/*; do
    name=\${file##*/}
    if lives "\${name%%.*}" "$file"; then running=1; else rm -f "$file"; fi
  done
  [ -n "$running" ] || kill -INT "$2" 2>/dev/null
  sleep 1
done
rm -rf "$3"`;
