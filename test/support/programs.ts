/** Programs of the tests, built once and run in processes of their own: they speak lines of JSON, and may be killed. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";

const root = resolve(import.meta.dirname, "../..");

/** A program that runs. */
export interface Running {
  /** What it says, line by line, until it ends. */
  readonly lines: AsyncIterableIterator<unknown>;
  /** When it has ended, and all that it said was read: how, and what it complained of. */
  readonly end: Promise<{
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
    readonly errors: string;
  }>;
  /** Says a line to it. */
  say(line: unknown): void;
  /** Kills it at once: nothing of it can go on. */
  kill(): void;
}

/** A program that was built. */
export interface Program {
  run(...args: readonly string[]): Running;
  /** Kills what still runs, and takes the built files away. */
  remove(): void;
}

/** Builds a program beneath `node_modules`, so that it finds its packages. */
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

function startProgram(file: string, args: readonly string[], children: Set<ChildProcess>): Running {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  children.add(child);
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  // A program that was killed reads no more.
  child.stdin.on("error", () => {});
  const end = new Promise<Awaited<Running["end"]>>((settle) => {
    child.on("close", (code, signal) => {
      children.delete(child);
      settle({ code, signal, errors });
    });
  });
  return {
    // It is listened to from now on: a line that nobody waits for yet is kept.
    lines: parseLines(createInterface({ input: child.stdout })[Symbol.asyncIterator]()),
    end,
    say: (line) => void child.stdin.write(`${JSON.stringify(line)}\n`),
    kill: () => void child.kill("SIGKILL"),
  };
}

/** A line that a kill cut off was not said. */
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
