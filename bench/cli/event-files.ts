/** Previewing a large NDJSON file, beside one thread that merely splits it into lines and parses each. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import type { Bench } from "../bench.ts";
import { BASELINE, buildProgram, largeBook, WATCH, writeEvents } from "./scenario.ts";

const EVENTS = { smoke: 2_000, full: 5_000_000 } as const;

/** Reading event files on the command line. */
export const cliBenches: readonly Bench[] = [
  {
    name: "preview of an NDJSON file, wanted 0.8 without ids and 0.5 with, below 400 MB",
    run: (size) => previewFile(EVENTS[size]),
  },
];

interface Measured {
  readonly seconds: number;
  /** Bytes. */
  readonly peak: number;
  readonly output: string;
}

function previewFile(count: number): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "ratebook-bench-"));
  const { folder: built, bin } = buildProgram(rootOf(import.meta.dirname));
  try {
    const at = (name: string): string => join(folder, name);
    writeFileSync(at("baseline.mjs"), BASELINE);
    writeFileSync(at("watch.mjs"), WATCH);
    writeFileSync(at("book.json"), JSON.stringify(largeBook()));
    writeEvents(at("fifth.ndjson"), count / 5);
    writeEvents(at("events.ndjson"), count);
    const measured = (argv: readonly string[]): Measured => runWatched(folder, argv);
    const preview = (events: string, ...more: readonly string[]): Measured =>
      measured([bin, "preview", at("book.json"), "--events", at(events), "--format", "csv", ...more]);
    const better = (run: () => Measured): Measured => betterOf(count > EVENTS.smoke ? 2 : 1, run);
    const baseline = better(() => measured([at("baseline.mjs"), at("events.ndjson")]));
    const plain = better(() => preview("events.ndjson", "--no-dedupe"));
    const remembering = better(() => preview("events.ndjson"));
    const fifth = preview("fifth.ndjson", "--no-dedupe");
    checkFigures(baseline.output, plain.output, remembering.output);
    const rate = ({ seconds }: Measured): string =>
      `${Math.round(count / seconds / 1000).toLocaleString("en")} thousand a second`;
    const ratio = (of: Measured): string => (baseline.seconds / of.seconds).toFixed(2);
    const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
    return [
      `${count.toLocaleString("en")} events`,
      `split and JSON.parse   ${rate(baseline)}`,
      `preview --no-dedupe    ${rate(plain)}, ratio ${ratio(plain)}, peak ${megabytes(plain.peak)}, of a fifth of the file ${megabytes(fifth.peak)}`,
      `preview                ${rate(remembering)}, ratio ${ratio(remembering)}, peak ${megabytes(remembering.peak)}, ${((remembering.peak - plain.peak) / count).toFixed(1)} bytes an id`,
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(built, { recursive: true, force: true });
  }
}

/** The repository, from the sources and from the compiled benches alike. */
function rootOf(directory: string): string {
  const up = resolve(directory, "../..");
  return up.endsWith(".bench") ? resolve(up, "..") : up;
}

/** The best of several runs: the machine does other things besides. */
function betterOf(times: number, run: () => Measured): Measured {
  const runs = Array.from({ length: times }, run);
  return runs.reduce((best, next) => (next.seconds < best.seconds ? next : best));
}

function runWatched(folder: string, argv: readonly string[]): Measured {
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
function checkFigures(baseline: string, ...previews: readonly string[]): void {
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
