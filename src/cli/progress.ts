/**
 * The bar that a person sees while files are read; nothing where standard error is no terminal.
 *
 * @module
 */
import { SingleBar } from "cli-progress";

import type { ByteSource } from "./events/byte-source.ts";
import type { Io } from "./io.ts";

const MIB = 1 << 20;

/** What is shown while files are read. */
export interface Progress {
  /** Shows how far the files are. Cheap: it may be called for every block. */
  readonly update: () => void;
  /** Takes the bar away. */
  readonly stop: () => void;
}

/** Starts the bar. Of standard input nobody knows the size: it is not counted. */
export function showProgress(sources: readonly ByteSource[], { isTerminal, stderr }: Io): Progress {
  const total = sources.reduce((sum, source) => sum + (source.size ?? 0), 0);
  if (!isTerminal || total === 0) return { update: () => undefined, stop: () => undefined };
  const bar = new SingleBar({
    format: "reading events {bar} {percentage}% of {mib} MiB",
    barsize: 40,
    barCompleteChar: "█",
    barIncompleteChar: "░",
    clearOnComplete: true,
    fps: 5,
    stream: stderr,
  });
  bar.start(total, 0, { mib: Math.ceil(total / MIB) });
  const known = sources.filter(({ size }) => size !== undefined);
  return {
    update: () =>
      bar.update(
        Math.min(
          total,
          known.reduce((sum, { position }) => sum + position, 0),
        ),
      ),
    stop: () => bar.stop(),
  };
}
