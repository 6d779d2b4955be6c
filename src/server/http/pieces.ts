/**
 * Long texts in pieces.
 *
 * @module
 */
import { takingTurns } from "../../store/turns.ts";

/** Characters after which pieces are put into bytes: long concatenations are slow. */
const CHUNK_LENGTH = 16_384;

/** Puts the pieces of a text together, while other requests have their turn between them. */
export async function joinPieces(pieces: Iterable<string>): Promise<Buffer> {
  const giveWay = takingTurns();
  const chunks: Buffer[] = [];
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < CHUNK_LENGTH) continue;
    chunks.push(Buffer.from(text));
    text = "";
    await giveWay();
  }
  return Buffer.concat([...chunks, Buffer.from(text)]);
}
