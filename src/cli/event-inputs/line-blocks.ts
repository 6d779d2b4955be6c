/** Reads a file in blocks of whole lines, so that memory doesn't grow with the file or its longest line. */
import { LINE_BYTES_MAX } from "../../event-files/input-error.ts";

const LINE_END = 0x0a;
const BYTE_ORDER_MARK = Buffer.from("\uFEFF");

/**
 * Yields blocks without the byte order mark, each valid until the next. Every line ends with a line end, even the last
 * one of the file. A line that is longer than {@link LINE_BYTES_MAX} and not in one chunk is `oversized` and skipped.
 */
export async function* readLineBlocks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer | "oversized", undefined> {
  let isAtStart = true;
  let isSkipping = false;
  /** The beginning of a line whose end is not read yet. */
  let beginning: Buffer = Buffer.alloc(0);
  const startBlock = (block: Buffer): Buffer => {
    const hasMark = isAtStart && block.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    isAtStart = false;
    return hasMark ? block.subarray(BYTE_ORDER_MARK.length) : block;
  };
  for await (const chunk of chunks) {
    let start = 0;
    if (isSkipping || beginning.length > 0) {
      start = chunk.indexOf(LINE_END) + 1;
      const rest = start === 0 ? chunk : chunk.subarray(0, start);
      isSkipping ||= beginning.length + rest.length > LINE_BYTES_MAX + 1;
      beginning = isSkipping ? Buffer.alloc(0) : Buffer.concat([beginning, rest]);
      if (start === 0) continue;
      yield isSkipping ? "oversized" : startBlock(beginning);
      isSkipping = false;
      isAtStart = false;
    }
    const end = chunk.lastIndexOf(LINE_END) + 1;
    if (end > start) yield startBlock(chunk.subarray(start, end));
    beginning = Buffer.from(chunk.subarray(end));
  }
  if (isSkipping) yield "oversized";
  else if (beginning.length > 0) yield startBlock(Buffer.concat([beginning, Buffer.of(LINE_END)]));
  return undefined;
}
