/** The progress bar for reading files; nothing if standard error isn't a terminal. */
import { SingleBar } from "cli-progress";

import type { ByteSource } from "../event-inputs/byte-source.ts";
import type { Io } from "../io.ts";

const MIB = 1 << 20;

export interface Progress {
  /** Updates the bar. It is cheap enough to call for every block. */
  readonly update: () => void;
  /** Removes the bar. */
  readonly stop: () => void;
}

/** Starts the bar. Standard input is not counted, because it has no size. */
export function startProgress(sources: readonly ByteSource[], { isStderrTerminal, stderr }: Io): Progress {
  const total = sources.reduce((sum, source) => sum + (source.size ?? 0), 0);
  if (!isStderrTerminal || total === 0) return { update: () => undefined, stop: () => undefined };
  const bar = new SingleBar({
    format: "reading events {bar} {percentage}% of {mib} MiB, {rate} MiB/s, {eta_formatted} left",
    barsize: 20,
    barCompleteChar: "█",
    barIncompleteChar: "░",
    clearOnComplete: true,
    fps: 5,
    stream: stderr,
  });
  const totalMib = Math.ceil(total / MIB);
  const start = process.hrtime.bigint();
  bar.start(total, 0, { mib: totalMib, rate: "–" });
  const sizedSources = sources.filter(({ size }) => size !== undefined);
  return {
    update: () => {
      const position = Math.min(
        total,
        sizedSources.reduce((sum, each) => sum + each.position, 0),
      );
      const seconds = Number(process.hrtime.bigint() - start) / 1e9;
      bar.update(position, { mib: totalMib, rate: seconds > 0 ? formatRate(position / MIB / seconds) : "–" });
    },
    stop: () => bar.stop(),
  };
}

/** A rate, with one decimal place below ten. */
function formatRate(rate: number): string {
  return rate.toFixed(rate < 10 ? 1 : 0);
}
