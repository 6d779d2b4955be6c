/**
 * Long texts in pieces.
 *
 * @module
 */
import { jsonPieces } from "../../numbers/json-pieces.ts";
import { createYielder } from "../../store/yielder.ts";

/** Characters after which pieces are put into bytes: long concatenations are slow. */
const CHUNK_LENGTH = 16_384;

/** Puts the pieces of a text together, while other requests have their turn between them. */
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

/** The JSON text of a value, while other requests have their turn between its pieces; of a small one, at once. */
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
