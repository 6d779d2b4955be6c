/**
 * The lines of a chart that are read from its side.
 *
 * @module
 */
import type { JSX } from "preact";

/** A line across a chart with what it stands for at its left end. Places are pixels. */
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
