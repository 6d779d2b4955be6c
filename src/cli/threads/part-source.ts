/**
 * Part of a file as a source: the whole lines that start in a byte range.
 *
 * @module
 */
import type { FileHandle } from "node:fs/promises";

import type { ByteSource } from "../event-inputs/byte-source.ts";

const LINE_END = 0x0a;
/** The number of bytes read at a time beyond the range, in which most lines end. */
const BEYOND_BYTES = 1 << 16;

/** A range of bytes, end exclusive. */
export interface ByteRange {
  readonly from: number;
  readonly until: number;
}

export interface PartSource extends ByteSource {
  /** The position of its first line in the file. */
  readonly start: number;
}

/**
 * Opens the lines that start in a range.
 * @returns undefined if there are none
 * @throws as node:fs does
 */
export async function openPart(handle: FileHandle, { from, until }: ByteRange): Promise<PartSource | undefined> {
  const start = from === 0 ? 0 : await findLineStart(handle, { from: from - 1, until: until - 1 });
  if (start === undefined) return undefined;
  let position = start;
  let isAtEnd = false;
  return {
    start,
    size: until - start,
    isPlainFile: false,
    get position() {
      return position - start;
    },
    async readInto(target, at) {
      if (isAtEnd) return 0;
      const bytesMax = Math.min(target.length - at, Math.max(0, until - position) + BEYOND_BYTES);
      const { bytesRead } = await handle.read(target, at, bytesMax, position);
      // The line end after which the next line is outside the range.
      const searchStart = at + Math.max(0, until - 1 - position);
      const end = searchStart < at + bytesRead ? target.subarray(0, at + bytesRead).indexOf(LINE_END, searchStart) : -1;
      const count = end < 0 ? bytesRead : end + 1 - at;
      isAtEnd = end >= 0;
      position += count;
      return count;
    },
    close: async () => undefined,
  };
}

/** The position after the first line end in a range; undefined if it has none. */
async function findLineStart(handle: FileHandle, { from, until }: ByteRange): Promise<number | undefined> {
  const block = Buffer.allocUnsafe(BEYOND_BYTES);
  for (let position = from; position < until;) {
    const { bytesRead } = await handle.read(block, 0, Math.min(block.length, until - position), position);
    if (bytesRead === 0) return undefined;
    const lineEnd = block.subarray(0, bytesRead).indexOf(LINE_END);
    if (lineEnd >= 0) return position + lineEnd + 1;
    position += bytesRead;
  }
  return undefined;
}
