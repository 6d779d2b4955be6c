/**
 * How wide an element is, while it changes.
 *
 * @module
 */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** The width of an element in pixels. @param before what is taken until it is known */
export function useWidth(before: number): readonly [RefObject<HTMLElement | null>, number] {
  const element = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(before);
  useLayoutEffect(() => {
    const measured = element.current;
    if (measured === null) return undefined;
    const measure = (): void => setWidth(Math.max(240, Math.floor(measured.clientWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(measured);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
