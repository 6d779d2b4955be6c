/**
 * The current width of an element.
 *
 * @module
 */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

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
