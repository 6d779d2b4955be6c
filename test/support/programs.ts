/** Test programs, built once and run as separate processes: they exchange lines of JSON, and can be killed. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";

const root = resolve(import.meta.dirname, "../..");

/** A running program. */
export interface RunningProgram {
  /** Its output, line by line, until it ends. */
  readonly lines: AsyncIterableIterator<unknown>;
  /** Resolves when it has ended and all its output was read, with the exit status and its error output. */
  readonly end: Promise<{
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
    readonly errors: string;
  }>;
  /** Sends a line to it. */
  send(line: unknown): void;
  /** Kills it immediately. */
  kill(): void;
}

/** A built program. */
export interface Program {
  run(...args: readonly string[]): RunningProgram;
  /** Kills running processes, and deletes the built files. */
  remove(): void;
}

/** Builds a program below `node_modules`, so that it finds its packages. */
export function buildProgram(source: string): Program {
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  const buildFolder = mkdtempSync(join(root, "node_modules/.cache/ratebook-"));
  const compilerOptions = { noEmit: false, noCheck: true, declaration: false, rootDir: root, outDir: buildFolder };
  writeFileSync(join(buildFolder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(
    join(buildFolder, "tsconfig.json"),
    JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include: [], files: [source] }),
  );
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", buildFolder]);
  const file = join(buildFolder, relative(root, source).replace(/\.ts$/, ".js"));
  const children = new Set<ChildProcess>();
  return {
    run: (...args) => startProgram(file, args, children),
    remove() {
      for (const child of children) child.kill("SIGKILL");
      rmSync(buildFolder, { recursive: true, force: true });
    },
  };
}

function startProgram(file: string, args: readonly string[], children: Set<ChildProcess>): RunningProgram {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  children.add(child);
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  // A killed program reads no more.
  child.stdin.on("error", () => {});
  const end = new Promise<Awaited<RunningProgram["end"]>>((resolve) => {
    child.on("close", (code, signal) => {
      children.delete(child);
      resolve({ code, signal, errors });
    });
  });
  return {
    // Reading starts now, so that lines are buffered until somebody iterates over them.
    lines: parseLines(createInterface({ input: child.stdout })[Symbol.asyncIterator]()),
    end,
    send: (line) => void child.stdin.write(`${JSON.stringify(line)}\n`),
    kill: () => void child.kill("SIGKILL"),
  };
}

/** A line cut off by a kill is ignored. */
async function* parseLines(lines: AsyncIterableIterator<string>): AsyncIterableIterator<unknown> {
  for await (const line of lines) {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return;
    }
    yield value;
  }
}
