/**
 * Texts from outside in HTML and SVG.
 *
 * @module
 */
import { toPrintable } from "./printable.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A {@link toPrintable} text as HTML and SVG show it, in content and in quoted attributes; what is no character is a blank. */
export function escapeHtml(text: string): string {
  return toPrintable(text)
    .replaceAll(/[\p{Cs}\uFFFE\uFFFF]+/gu, " ")
    .replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
