/**
 * Horizontal grid lines of charts.
 *
 * @module
 */
import type { JSX } from "preact";

/** A horizontal line with its value at the left. Coordinates are in pixels. */
export function GridLine({
  y,
  left,
  right,
  label,
}: {
  readonly y: number;
  readonly left: number;
  readonly right: number;
  readonly label: string;
}): JSX.Element {
  return (
    <>
      <line class="grid" x1={left} x2={right} y1={y} y2={y} />
      <text class="tick" x={left - 6} y={y + 4} text-anchor="end">
        {label}
      </text>
    </>
  );
}
