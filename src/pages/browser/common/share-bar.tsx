/**
 * Bars that show a share of a whole.
 *
 * @module
 */
import type { JSX } from "preact";

/** A small bar behind a row. @param share 0 to 1 */
export function ShareBar({ share }: { readonly share: number }): JSX.Element {
  return (
    <svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="share-whole" width="100" height="6" />
      <rect class="share-part" width={Math.max(0.5, share * 100)} height="6" />
    </svg>
  );
}
