/**
 * Small marks, drawn: a font may not have them.
 *
 * @module
 */
import type { JSX } from "preact";

/** Which way a column is sorted. */
export function SortMark({ descending }: { readonly descending: boolean }): JSX.Element {
  return (
    <svg class="sort-mark" width="9" height="7" viewBox="0 0 9 7" aria-hidden="true">
      <path d={descending ? "M0 0h9L4.5 7z" : "M0 7h9L4.5 0z"} />
    </svg>
  );
}

/** A point of a legend. */
export function Dot({ name }: { readonly name: string }): JSX.Element {
  return (
    <svg class={`dot ${name}`} width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
      <circle cx="5" cy="5" r="4" />
    </svg>
  );
}
