/**
 * Escapes untrusted text for HTML and SVG.
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

/** Escapes text for content and quoted attributes, after {@link toPrintable}. Invalid characters become spaces. */
export function escapeHtml(text: string): string {
  return toPrintable(text)
    .replaceAll(/[\p{Cs}\uFFFE\uFFFF]+/gu, " ")
    .replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
