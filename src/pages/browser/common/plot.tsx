/**
 * The parts that charts share: ticks, grid lines, the available width, dots and bars. Drawn with doubles.
 *
 * @module
 */
import type { JSX, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** About four round values within a range, as doubles for drawing only. */
export function computeTicks(min: number, max: number): readonly number[] {
  const span = max - min || 1;
  const roughStep = span / 4;
  const power = 10 ** Math.floor(Math.log10(roughStep));
  const step = power * ([1, 2, 2.5, 5, 10].find((each) => each * power >= roughStep) ?? 10);
  const [first, last] = [Math.floor(min / step), Math.ceil((min + span) / step)];
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

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

/** The width of an element in pixels, updated when it changes. @param initialWidth used until it is measured */
export function useWidth(initialWidth: number): readonly [RefObject<HTMLElement | null>, number] {
  const element = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(initialWidth);
  useLayoutEffect(() => {
    const target = element.current;
    if (target === null) return undefined;
    const measure = (): void => setWidth(Math.max(240, Math.floor(target.clientWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

/** The dot of a legend entry. */
export function Dot({ name }: { readonly name: string }): JSX.Element {
  return (
    <svg class={`dot ${name}`} width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
      <circle cx="5" cy="5" r="4" />
    </svg>
  );
}

/** A small bar behind a row. @param share 0 to 1 */
export function ShareBar({ share }: { readonly share: number }): JSX.Element {
  return (
    <svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="share-whole" width="100" height="6" />
      <rect class="share-part" width={Math.max(0.5, share * 100)} height="6" />
    </svg>
  );
}
