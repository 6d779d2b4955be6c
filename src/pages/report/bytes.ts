/**
 * How much room data takes in a page.
 *
 * @module
 */
import { inert } from "../self-contained.ts";

/** The bytes of data as a page holds it, with the comma after it. */
export function bytesOf(data: unknown): number {
  return Buffer.byteLength(inert(JSON.stringify(data))) + 1;
}
