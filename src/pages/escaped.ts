/**
 * Texts from outside in HTML and SVG.
 *
 * @module
 */
import { printable } from "./printable.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A {@link printable} text as HTML and SVG show it, in content and in quoted attributes; what is no character is a blank. */
export function escaped(text: string): string {
  return printable(text)
    .replaceAll(/[\p{Cs}\uFFFE\uFFFF]+/gu, " ")
    .replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
