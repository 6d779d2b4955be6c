/** Previewing a large NDJSON file, compared with one thread that only splits it into lines and parses them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Bench } from "../bench.ts";
import { bestRun, checkFigures, type Measurement, findRoot, runWatched } from "./measure-program.ts";
import { BASELINE, buildProgram, createLargeBook, WATCH, writeEvents } from "./scenario.ts";

const EVENTS = { smoke: 2_000, full: 5_000_000 } as const;

export const cliBenches: readonly Bench[] = [
  {
    name: "preview of an NDJSON file, target: 0.8 of the rate of parsing alone without ids and 0.5 with, below 400 MB",
    run: (size) => previewFile(EVENTS[size]),
  },
];

function previewFile(count: number): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "ratebook-bench-"));
  const { folder: buildFolder, bin } = buildProgram(findRoot(import.meta.dirname));
  try {
    const pathOfFile = (name: string): string => join(folder, name);
    writeFileSync(pathOfFile("baseline.mjs"), BASELINE);
    writeFileSync(pathOfFile("watch.mjs"), WATCH);
    writeFileSync(pathOfFile("book.json"), JSON.stringify(createLargeBook()));
    writeEvents(pathOfFile("fifth.ndjson"), count / 5);
    writeEvents(pathOfFile("events.ndjson"), count);
    const measureRun = (argv: readonly string[]): Measurement => runWatched(folder, argv);
    const measurePreview = (events: string, ...more: readonly string[]): Measurement =>
      measureRun([bin, "preview", pathOfFile("book.json"), "--events", pathOfFile(events), "--format", "csv", ...more]);
    const measureBest = (run: () => Measurement): Measurement => bestRun(count > EVENTS.smoke ? 2 : 1, run);
    const baseline = measureBest(() => measureRun([pathOfFile("baseline.mjs"), pathOfFile("events.ndjson")]));
    const withoutIds = measureBest(() => measurePreview("events.ndjson", "--no-dedupe"));
    const withIds = measureBest(() => measurePreview("events.ndjson"));
    const fifth = measurePreview("fifth.ndjson", "--no-dedupe");
    checkFigures(baseline.output, withoutIds.output, withIds.output);
    const formatRate = ({ seconds }: Measurement): string =>
      `${Math.round(count / seconds / 1000).toLocaleString("en")} thousand a second`;
    const formatRatio = (of: Measurement): string => (baseline.seconds / of.seconds).toFixed(2);
    const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
    return [
      `${count.toLocaleString("en")} events`,
      `split and JSON.parse   ${formatRate(baseline)}`,
      `preview --no-dedupe    ${formatRate(withoutIds)}, ratio ${formatRatio(withoutIds)}, peak ${megabytes(withoutIds.peak)}, of a fifth of the file ${megabytes(fifth.peak)}`,
      `preview                ${formatRate(withIds)}, ratio ${formatRatio(withIds)}, peak ${megabytes(withIds.peak)}, ${((withIds.peak - withoutIds.peak) / count).toFixed(1)} bytes per id`,
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(buildFolder, { recursive: true, force: true });
  }
}
