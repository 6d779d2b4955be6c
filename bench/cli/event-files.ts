/** Previewing a large NDJSON file, beside one thread that merely splits it into lines and parses each. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Bench } from "../bench.ts";
import { BASELINE, buildProgram, largeBook, WATCH, writeEvents } from "./scenario.ts";
import { betterOf, checkFigures, type Measured, rootOf, runWatched } from "./watched.ts";

const EVENTS = { smoke: 2_000, full: 5_000_000 } as const;

/** Reading event files on the command line. */
export const cliBenches: readonly Bench[] = [
  {
    name: "preview of an NDJSON file, wanted 0.8 without ids and 0.5 with, below 400 MB",
    run: (size) => previewFile(EVENTS[size]),
  },
];

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
