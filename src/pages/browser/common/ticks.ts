/**
 * Ticks with round numbers for axes.
 *
 * @module
 */

/** About four round values within a range, as doubles for drawing only. */
export function computeTicks(min: number, max: number): readonly number[] {
  const span = max - min || 1;
  const rough = span / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((each) => each * power >= rough) ?? 10);
  const [first, last] = [Math.floor(min / step), Math.ceil((min + span) / step)];
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}
