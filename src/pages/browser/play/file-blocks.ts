/**
 * Reads a dropped file in blocks of whole lines, and detects its kind.
 *
 * @module
 */
import { InputError } from "../../../event-files/input-error.ts";

/** The maximum bytes of a line; files with longer ones don't contain events. */
const LINE_BYTES_MAX = 1 << 24;
const LINE_END = 0x0a;

/** Signatures of binary files, with advice on each. */
const BINARY_KINDS: readonly (readonly [bytes: readonly number[], advice: string])[] = [
  [[0x50, 0x41, 0x52, 0x31], "the file is Parquet, which ratebook preview --events FILE --map MAP prices"],
  [[0x50, 0x4b, 0x03, 0x04], "the file is a spreadsheet or an archive: save it as CSV in UTF-8"],
  [[0xd0, 0xcf, 0x11, 0xe0], "the file is a spreadsheet: save it as CSV in UTF-8"],
  [[0xff, 0xfe], "the file is UTF-16: save it as UTF-8"],
  [[0xfe, 0xff], "the file is UTF-16: save it as UTF-8"],
  [[0x25, 0x50, 0x44, 0x46], "the file is a PDF, not an event file"],
];
const GZIP = [0x1f, 0x8b] as const;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/**
 * Reads the blocks of a file, decompressing gzip. Every block ends at a line end or the end of the file.
 *
 * @param onRead receives the number of bytes read from the file itself
 * @throws {InputError} for a file that isn't text or can't be read
 */
export async function* readLineBlocks(file: Blob, onRead: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  let lineParts: Uint8Array[] = [];
  let isFirst = true;
  for await (const part of readBytes(file, onRead)) {
    const end = part.lastIndexOf(LINE_END) + 1;
    if (end === 0) {
      lineParts.push(part);
      if (totalLength(lineParts) > LINE_BYTES_MAX) {
        throw new InputError("a line is longer than 16 MiB; this is not an event file");
      }
      continue;
    }
    yield requireTextBlock(concatenateBytes([...lineParts, part.subarray(0, end)]), isFirst);
    isFirst = false;
    lineParts = end === part.length ? [] : [part.subarray(end)];
  }
  if (lineParts.length > 0) yield requireTextBlock(concatenateBytes(lineParts), isFirst);
}

async function* readBytes(file: Blob, onRead: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  try {
    const beginning = new Uint8Array(await file.slice(0, 8).arrayBuffer());
    const isGzip = startsWith(beginning, GZIP);
    let bytesRead = 0;
    const countedStream = file.stream().pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform: (part, controller) => {
          bytesRead += part.byteLength;
          onRead(bytesRead);
          controller.enqueue(part);
        },
      }),
    );
    const reader = (isGzip ? countedStream.pipeThrough(new DecompressionStream("gzip")) : countedStream).getReader();
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  } catch (error) {
    throw new InputError(describeReadError(error));
  }
}

/** Why a browser stopped reading. */
function describeReadError(error: unknown): string {
  if (error instanceof InputError) return error.message;
  if (error instanceof TypeError) return "the gzip data is damaged";
  const name = error instanceof Error ? error.name : "";
  if (name === "NotFoundError" || name === "NotReadableError") {
    return "the file cannot be read; it may be a folder or may have changed";
  }
  return error instanceof Error ? error.message : String(error);
}

/** Removes a byte order mark. @throws {InputError} for a block that isn't text */
function requireTextBlock(block: Uint8Array, isFirst: boolean): Uint8Array {
  if (!isFirst) return block;
  const kind = BINARY_KINDS.find(([bytes]) => startsWith(block, bytes));
  if (kind !== undefined) throw new InputError(kind[1]);
  return startsWith(block, BYTE_ORDER_MARK) ? block.subarray(BYTE_ORDER_MARK.length) : block;
}

function startsWith(block: Uint8Array, bytes: readonly number[]): boolean {
  return bytes.every((byte, at) => block[at] === byte);
}

function totalLength(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

function concatenateBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [only, ...more] = parts;
  if (only !== undefined && more.length === 0) return only;
  const whole = new Uint8Array(totalLength(parts));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}
