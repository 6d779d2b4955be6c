/**
 * Chosen lines of a file as a source, one after another.
 *
 * @module
 */
import type { FileHandle } from "node:fs/promises";

import type { ByteSource } from "../events/byte-source.ts";

const LINE_END = 0x0a;
const BLOCK_BYTES = 1 << 18;

/** @param offsets where each line begins, in their order */
export function chosenLines(handle: FileHandle, offsets: Float64Array): ByteSource {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  /** What of the file is in the block. */
  let held = { from: 0, until: 0 };
  let next = 0;
  /** Where the line goes on of which a part was given; undefined between lines. */
  let inLine: number | undefined;
  let position = 0;
  return {
    size: undefined,
    isPlainFile: false,
    get position() {
      return position;
    },
    async read(target, from) {
      let at = from;
      while (at < target.length) {
        const start = inLine ?? offsets[next];
        if (start === undefined) break;
        if (start < held.from || start >= held.until) {
          // What is in the block is given first.
          if (at > from) break;
          const { bytesRead } = await handle.read(block, 0, block.length, start);
          if (bytesRead === 0) break;
          held = { from: start, until: start + bytesRead };
        }
        const first = start - held.from;
        const end = block.subarray(0, held.until - held.from).indexOf(LINE_END, first) + 1;
        const most = (end === 0 ? held.until - held.from : end) - first;
        const count = Math.min(most, target.length - at);
        target.set(block.subarray(first, first + count), at);
        at += count;
        const isWhole = end > 0 && count === most;
        inLine = isWhole ? undefined : start + count;
        if (isWhole) next++;
      }
      position += at - from;
      return at - from;
    },
    close: async () => undefined,
  };
}
