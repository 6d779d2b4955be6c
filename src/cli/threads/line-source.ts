/**
 * Selected lines of a file as a source.
 *
 * @module
 */
import type { FileHandle } from "node:fs/promises";

import type { ByteSource } from "../event-inputs/byte-source.ts";

const LINE_END = 0x0a;
const BLOCK_BYTES = 1 << 18;

/** @param offsets the start of each line, ascending */
export function createLineSource(handle: FileHandle, offsets: Float64Array): ByteSource {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  /** The range of the file in the block. */
  let blockRange = { from: 0, until: 0 };
  let next = 0;
  /** The position to continue a partially returned line; undefined between lines. */
  let resumeAt: number | undefined;
  let position = 0;
  return {
    size: undefined,
    isPlainFile: false,
    get position() {
      return position;
    },
    async readInto(target, from) {
      let at = from;
      while (at < target.length) {
        const start = resumeAt ?? offsets[next];
        if (start === undefined) break;
        if (start < blockRange.from || start >= blockRange.until) {
          // Returns what is in the block before reading more.
          if (at > from) break;
          const { bytesRead } = await handle.read(block, 0, block.length, start);
          if (bytesRead === 0) break;
          blockRange = { from: start, until: start + bytesRead };
        }
        const first = start - blockRange.from;
        const end = block.subarray(0, blockRange.until - blockRange.from).indexOf(LINE_END, first) + 1;
        const available = (end === 0 ? blockRange.until - blockRange.from : end) - first;
        const count = Math.min(available, target.length - at);
        target.set(block.subarray(first, first + count), at);
        at += count;
        const isComplete = end > 0 && count === available;
        resumeAt = isComplete ? undefined : start + count;
        if (isComplete) next++;
      }
      position += at - from;
      return at - from;
    },
    close: async () => undefined,
  };
}
