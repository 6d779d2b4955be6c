/**
 * Lines of files as bytes: how long one may be, and whether it is text.
 *
 * @module
 */

/** A line of more bytes than this is a bad line. */
export const LINE_BYTES_MAX = 1 << 20;

/** The reason of a line that is passed over without being kept. */
export const TOO_LONG = "the line is longer than 1 MiB";
/** The reason of a line with bytes that are no text. */
export const NOT_UTF8 = "the line is not valid UTF-8";
/** Said of a file whose lines no reader finds. */
export const CARRIAGE_RETURNS = "lines end with a carriage return only; use LF or CRLF line endings";

const LINE_END = 0x0a;

/** The text of bytes; undefined where they are no UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The lines of a run of bytes, each with its end, if it has one. */
export function* splitLines(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(LINE_END, start) + 1 || bytes.length;
    yield bytes.subarray(start, end);
    start = end;
  }
}
