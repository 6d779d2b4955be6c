/**
 * The size of data in a page.
 *
 * @module
 */
import { escapeJsonForHtml } from "../self-contained-page.ts";

/** The bytes of data in a page, with the comma after it. */
export function countDataBytes(data: unknown): number {
  return Buffer.byteLength(escapeJsonForHtml(JSON.stringify(data))) + 1;
}
