/**
 * The problems of a file of records or of its map, in one sentence each.
 *
 * @module
 */
import type { TextPlace } from "../numbers/json-text.ts";

/** A file or its content is not what was expected. */
export class InputError extends Error {
  override readonly name: string = "InputError";
}

/** A text from outside, quoted and cut for a message. */
export function quoteText(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** A sentence whose place is told with it. */
export function removePlace(sentence: string, { line, column }: TextPlace): string {
  const place = ` at line ${line}, column ${column}`;
  return sentence.endsWith(place) ? sentence.slice(0, -place.length) : sentence;
}
