/**
 * Serializes long texts in steps.
 *
 * @module
 */
import { jsonPieces } from "../../numbers/json-pieces.ts";
import { createYielder } from "../../store/yielder.ts";

/** The length at which pieces are encoded, because long concatenations are slow. */
const CHUNK_LENGTH = 16_384;

/** Joins the pieces of a text, yielding to other requests in between. */
export async function joinPieces(pieces: Iterable<string>): Promise<Buffer> {
  const yieldToOthers = createYielder();
  const chunks: Buffer[] = [];
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < CHUNK_LENGTH) continue;
    chunks.push(Buffer.from(text));
    text = "";
    await yieldToOthers();
  }
  return Buffer.concat([...chunks, Buffer.from(text)]);
}

/** Serializes a value as JSON, yielding to other requests. Small values are serialized immediately. */
export async function serializeJson(value: unknown): Promise<string | Buffer> {
  const pieces = jsonPieces(value);
  const first = pieces.next();
  const second = pieces.next();
  if (first.done === true || second.done === true) return first.value ?? "";
  return joinPieces(concatPieces([first.value, second.value], pieces));
}

function* concatPieces(first: readonly string[], more: Iterable<string>): Generator<string> {
  yield* first;
  yield* more;
}
