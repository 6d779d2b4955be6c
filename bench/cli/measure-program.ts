/** Runs a program, measures its time and memory, and compares its figures. */
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

export interface Measurement {
  readonly seconds: number;
  /** Bytes. */
  readonly peak: number;
  readonly output: string;
}

/** The repository root, from sources and compiled benchmarks alike. */
export function findRoot(directory: string): string {
  const parent = resolve(directory, "../..");
  return parent.endsWith(".bench") ? resolve(parent, "..") : parent;
}

/** The best of several runs, because other processes disturb single runs. */
export function bestRun(times: number, run: () => Measurement): Measurement {
  const runs = Array.from({ length: times }, run);
  return runs.reduce((best, next) => (next.seconds < best.seconds ? next : best));
}

/** Same as {@link bestRun}, for asynchronous runs. */
export async function bestAsyncRun(times: number, run: () => Promise<Measurement>): Promise<Measurement> {
  const runs: Measurement[] = [];
  for (let n = 0; n < times; n++) runs.push(await run());
  return bestRun(times, () => runs.pop() ?? { seconds: Infinity, peak: 0, output: "" });
}

/** Runs a Node program; `watch.mjs` is in the folder. */
export function runWatched(folder: string, argv: readonly string[]): Measurement {
  const start = process.hrtime.bigint();
  const output = execFileSync(process.execPath, createArguments(folder, argv), {
    ...createOptions(folder),
    stdio: ["ignore", "pipe", "ignore"],
  });
  return createMeasurement(folder, start, output);
}

/** Same as {@link runWatched}, while this process answers the program's requests. */
export async function runWhileAnswering(folder: string, argv: readonly string[]): Promise<Measurement> {
  const start = process.hrtime.bigint();
  const { stdout } = await promisify(execFile)(process.execPath, createArguments(folder, argv), createOptions(folder));
  return createMeasurement(folder, start, stdout);
}

function createArguments(folder: string, argv: readonly string[]): readonly string[] {
  return ["--import", join(folder, "watch.mjs"), ...argv];
}

function createOptions(folder: string): {
  readonly env: NodeJS.ProcessEnv;
  readonly encoding: "utf8";
  readonly maxBuffer: number;
} {
  return { env: { ...process.env, PEAK_FILE: join(folder, "peak") }, encoding: "utf8", maxBuffer: 1 << 30 };
}

function createMeasurement(folder: string, start: bigint, output: string): Measurement {
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  return { seconds, peak: 1024 * Number(readFileSync(join(folder, "peak"), "utf8")), output };
}

/** Checks that the baseline and the invoices have the same tokens and events. @throws {Error} if they differ */
export function checkFigures(baseline: string, ...previews: readonly string[]): void {
  const { events, tokens } = JSON.parse(baseline) as { readonly events: number; readonly tokens: number };
  for (const csv of previews) {
    const usage = { tokens: 0, requests: 0 };
    for (const row of csv.split("\r\n")) {
      const match = /,USAGE_METER_USAGE,um\.(\w+),[^,]*,(\d+),/.exec(row);
      if (match !== null) usage[match[1] === "requests" ? "requests" : "tokens"] += Number(match[2]);
    }
    if (usage.tokens !== tokens || usage.requests !== events)
      throw new Error("the preview's usage is not the baseline's");
  }
}
