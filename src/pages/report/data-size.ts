/**
 * How much room data takes in a page.
 *
 * @module
 */
import { escapeJsonForHtml } from "../self-contained-page.ts";

/** The bytes of data as a page holds it, with the comma after it. */
export function countDataBytes(data: unknown): number {
  return Buffer.byteLength(escapeJsonForHtml(JSON.stringify(data))) + 1;
}
