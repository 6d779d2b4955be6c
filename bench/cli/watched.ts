/** Runs of a program, whose time and memory are watched, and whose figures are compared. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** What came of a run. */
export interface Measured {
  readonly seconds: number;
  /** Bytes. */
  readonly peak: number;
  readonly output: string;
}

/** The repository, from the sources and from the compiled benches alike. */
export function rootOf(directory: string): string {
  const up = resolve(directory, "../..");
  return up.endsWith(".bench") ? resolve(up, "..") : up;
}

/** The best of several runs: the machine does other things besides. */
export function betterOf(times: number, run: () => Measured): Measured {
  const runs = Array.from({ length: times }, run);
  return runs.reduce((best, next) => (next.seconds < best.seconds ? next : best));
}

/** Runs a program of Node; `watch.mjs` is in the folder. */
export function runWatched(folder: string, argv: readonly string[]): Measured {
  const peakFile = join(folder, "peak");
  const start = process.hrtime.bigint();
  const output = execFileSync(process.execPath, ["--import", join(folder, "watch.mjs"), ...argv], {
    env: { ...process.env, PEAK_FILE: peakFile },
    encoding: "utf8",
    maxBuffer: 1 << 30,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  return { seconds, peak: 1024 * Number(readFileSync(peakFile, "utf8")), output };
}

/** The baseline's tokens and events are those of the invoices' usage. @throws {Error} when they are not */
export function checkFigures(baseline: string, ...previews: readonly string[]): void {
  const { events, tokens } = JSON.parse(baseline) as { readonly events: number; readonly tokens: number };
  for (const csv of previews) {
    const usage = { tokens: 0, requests: 0 };
    for (const row of csv.split("\r\n")) {
      const found = /,USAGE_METER_USAGE,um\.(\w+),[^,]*,(\d+),/.exec(row);
      if (found !== null) usage[found[1] === "requests" ? "requests" : "tokens"] += Number(found[2]);
    }
    if (usage.tokens !== tokens || usage.requests !== events)
      throw new Error("the preview's usage is not the baseline's");
  }
}
