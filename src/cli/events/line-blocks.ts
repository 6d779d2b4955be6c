/**
 * A file in blocks of whole lines, in a buffer that is used again and again: memory does not grow with the file, nor
 * with its longest line.
 *
 * @module
 */
import { LINE_BYTES_MAX } from "../../records/lines.ts";
import type { ByteSource } from "./byte-source.ts";

const LINE_END = 0x0a;

/** Whole lines, one after another, of a file. */
export interface LineBlocks {
  /** Holds the lines. Valid until the next {@link LineBlocks.next}. */
  readonly bytes: Buffer;
  /** The first byte of the block. */
  readonly start: number;
  /** The byte after the last: every line of the block ends with a line end, the last one of the file included. */
  readonly end: number;
  /** Where the first byte of {@link LineBlocks.bytes} is in the source. */
  readonly base: number;
  /** Where the line that was passed over last begins in the source. */
  readonly passedOver: number;
  /**
   * Reads the next block.
   *
   * @returns `lines`: the block holds at least one whole line; `oversized`: the next line was longer than
   * {@link LINE_BYTES_MAX} and was passed over, the block is empty; `end`: there is nothing more
   */
  next(): Promise<"lines" | "oversized" | "end">;
}

/** A buffer and what of it is given out: [start, end) are whole lines, [end, filled) is read and not given out yet. */
interface Filling {
  readonly source: ByteSource;
  bytes: Buffer;
  start: number;
  end: number;
  filled: number;
  base: number;
  passedOver: number;
  /** Whether the file is read to its end. */
  ended: boolean;
  atFileStart: boolean;
}

/**
 * @param bufferBytes how much is read at once, at least; the buffer grows up to a whole line
 * @param atFileStart whether the source begins where its file does, perhaps with a byte order mark
 */
export function createLineBlocks(source: ByteSource, bufferBytes: number, atFileStart = true): LineBlocks {
  const filling: Filling = {
    source,
    bytes: Buffer.allocUnsafe(Math.max(bufferBytes, 1 << 12)),
    start: 0,
    end: 0,
    filled: 0,
    base: 0,
    passedOver: 0,
    ended: false,
    atFileStart,
  };
  return {
    get bytes() {
      return filling.bytes;
    },
    get start() {
      return filling.start;
    },
    get end() {
      return filling.end;
    },
    get base() {
      return filling.base;
    },
    get passedOver() {
      return filling.passedOver;
    },
    next: async () => nextBlock(filling),
  };
}

async function nextBlock(filling: Filling): Promise<"lines" | "oversized" | "end"> {
  for (;;) {
    if (filling.ended && filling.end === filling.filled) return "end";
    // Whole lines are left where a line before them was passed over.
    const wholeLine = filling.bytes.subarray(filling.end, filling.filled).includes(LINE_END);
    if (!wholeLine && filling.filled - filling.end > LINE_BYTES_MAX) return skipLine(filling);
    makeRoom(filling);
    if (!filling.ended && !wholeLine) await readOn(filling);
    const lastLineEnd = filling.bytes.subarray(0, filling.filled).lastIndexOf(LINE_END);
    if (lastLineEnd < 0) continue;
    if (filling.atFileStart) skipByteOrderMark(filling);
    filling.end = lastLineEnd + 1;
    return "lines";
  }
}

/** Moves what is not given out yet to the front and makes room behind it. */
function makeRoom(filling: Filling): void {
  const { bytes, end, filled } = filling;
  bytes.copyWithin(0, end, filled);
  filling.base += end;
  filling.filled = filled - end;
  filling.start = 0;
  filling.end = 0;
  if (filling.filled + 1 < bytes.length) return;
  const larger = Buffer.allocUnsafe(Math.min(2 * bytes.length, LINE_BYTES_MAX + (1 << 12)));
  bytes.copy(larger, 0, 0, filling.filled);
  filling.bytes = larger;
}

/** Reads once. One byte is kept free for the line end that a file's last line may lack. */
async function readOn(filling: Filling): Promise<void> {
  const { bytes, source, filled } = filling;
  const count = await source.read(bytes.subarray(0, bytes.length - 1), filled);
  filling.filled = filled + count;
  if (count > 0) return;
  filling.ended = true;
  if (filled === 0) return;
  bytes[filled] = LINE_END;
  filling.filled = filled + 1;
}

/** Passes over a line that is too long, up to and including its line end. */
async function skipLine(filling: Filling): Promise<"oversized"> {
  filling.atFileStart = false;
  filling.passedOver = filling.base + filling.end;
  for (;;) {
    filling.base += filling.filled;
    filling.filled = 0;
    filling.end = 0;
    filling.start = 0;
    await readOn(filling);
    const lineEnd = filling.bytes.subarray(0, filling.filled).indexOf(LINE_END);
    if (lineEnd < 0 && !filling.ended) continue;
    filling.start = lineEnd + 1;
    filling.end = lineEnd + 1;
    return "oversized";
  }
}

function skipByteOrderMark(filling: Filling): void {
  const { bytes } = filling;
  filling.atFileStart = false;
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) filling.start = 3;
}
