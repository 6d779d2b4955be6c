/**
 * Reads a file in blocks of whole lines into a reused buffer, so that memory doesn't grow with the file or its longest
 * line.
 */
import { LINE_BYTES_MAX } from "../../event-files/input-error.ts";
import type { ByteSource } from "./byte-source.ts";

const LINE_END = 0x0a;

/** The blocks of a file. */
export interface LineBlocks {
  /** The buffer with the lines, valid until the next {@link LineBlocks.next}. */
  readonly bytes: Buffer;
  /** The start of the block. */
  readonly start: number;
  /** The end of the block (exclusive). Every line ends with a line end, even the last one of the file. */
  readonly end: number;
  /**
   * Reads the next block.
   *
   * @returns `lines`: the block has at least one whole line; `oversized`: the next line was longer than
   * {@link LINE_BYTES_MAX} and skipped, and the block is empty; `end`: the file has ended
   */
  next(): Promise<"lines" | "oversized" | "end">;
}

/** A buffer: [start, end) are the lines of the block, [end, readEnd) is read ahead. */
interface BlockBuffer {
  readonly source: ByteSource;
  bytes: Buffer;
  start: number;
  end: number;
  readEnd: number;
  /** Whether the file is read completely. */
  isAtEnd: boolean;
  isAtStart: boolean;
}

/** @param bufferBytes the minimum number of bytes per read; the buffer grows up to a whole line */
export function createLineBlocks(source: ByteSource, bufferBytes: number): LineBlocks {
  const buffer: BlockBuffer = {
    source,
    bytes: Buffer.allocUnsafe(Math.max(bufferBytes, 1 << 12)),
    start: 0,
    end: 0,
    readEnd: 0,
    isAtEnd: false,
    isAtStart: true,
  };
  return {
    get bytes() {
      return buffer.bytes;
    },
    get start() {
      return buffer.start;
    },
    get end() {
      return buffer.end;
    },
    next: async () => nextBlock(buffer),
  };
}

async function nextBlock(buffer: BlockBuffer): Promise<"lines" | "oversized" | "end"> {
  for (;;) {
    if (buffer.isAtEnd && buffer.end === buffer.readEnd) return "end";
    // Whole lines remain in the buffer after a skipped line.
    const hasWholeLine = buffer.bytes.subarray(buffer.end, buffer.readEnd).includes(LINE_END);
    if (!hasWholeLine && buffer.readEnd - buffer.end > LINE_BYTES_MAX) return skipLine(buffer);
    compactBuffer(buffer);
    if (!buffer.isAtEnd && !hasWholeLine) await readMore(buffer);
    const lastLineEnd = buffer.bytes.subarray(0, buffer.readEnd).lastIndexOf(LINE_END);
    if (lastLineEnd < 0) continue;
    if (buffer.isAtStart) skipByteOrderMark(buffer);
    buffer.end = lastLineEnd + 1;
    return "lines";
  }
}

/** Moves unread data to the front to make room. */
function compactBuffer(buffer: BlockBuffer): void {
  const { bytes, end, readEnd } = buffer;
  bytes.copyWithin(0, end, readEnd);
  buffer.readEnd = readEnd - end;
  buffer.start = 0;
  buffer.end = 0;
  if (buffer.readEnd + 1 < bytes.length) return;
  const larger = Buffer.allocUnsafe(Math.min(2 * bytes.length, LINE_BYTES_MAX + (1 << 12)));
  bytes.copy(larger, 0, 0, buffer.readEnd);
  buffer.bytes = larger;
}

/** Reads once. One byte stays free for a missing line end at the end of the file. */
async function readMore(buffer: BlockBuffer): Promise<void> {
  const { bytes, source, readEnd } = buffer;
  const count = await source.readInto(bytes.subarray(0, bytes.length - 1), readEnd);
  buffer.readEnd = readEnd + count;
  if (count > 0) return;
  buffer.isAtEnd = true;
  if (readEnd === 0) return;
  bytes[readEnd] = LINE_END;
  buffer.readEnd = readEnd + 1;
}

/** Skips a line that is too long, including its line end. */
async function skipLine(buffer: BlockBuffer): Promise<"oversized"> {
  buffer.isAtStart = false;
  for (;;) {
    buffer.readEnd = 0;
    buffer.end = 0;
    buffer.start = 0;
    await readMore(buffer);
    const lineEnd = buffer.bytes.subarray(0, buffer.readEnd).indexOf(LINE_END);
    if (lineEnd < 0 && !buffer.isAtEnd) continue;
    buffer.start = lineEnd + 1;
    buffer.end = lineEnd + 1;
    return "oversized";
  }
}

function skipByteOrderMark(buffer: BlockBuffer): void {
  const { bytes } = buffer;
  buffer.isAtStart = false;
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) buffer.start = 3;
}
