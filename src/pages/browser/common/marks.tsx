/**
 * Small symbols as SVG, because fonts may lack them.
 *
 * @module
 */
import type { JSX } from "preact";

/** The sort direction of a column. */
export function SortMark({ descending }: { readonly descending: boolean }): JSX.Element {
  return (
    <svg class="sort-mark" width="9" height="7" viewBox="0 0 9 7" aria-hidden="true">
      <path d={descending ? "M0 0h9L4.5 7z" : "M0 7h9L4.5 0z"} />
    </svg>
  );
}

/** The dot of a legend entry. */
export function Dot({ name }: { readonly name: string }): JSX.Element {
  return (
    <svg class={`dot ${name}`} width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
      <circle cx="5" cy="5" r="4" />
    </svg>
  );
}
