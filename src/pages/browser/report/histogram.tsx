/**
 * The number of accounts by size of their difference. Drawn with doubles.
 *
 * @module
 */
import type { JSX } from "preact";

import type { DraftAccount } from "../../report/report-data.ts";
import { formatAxisValue, formatCount, formatNumber } from "../common/format.ts";
import { GridLine } from "../common/grid-line.tsx";
import { computeTicks } from "../common/ticks.ts";
import { useWidth } from "../common/use-width.ts";

const HEIGHT = 300;
const [LEFT, RIGHT, TOP, BOTTOM] = [48, 14, 12, 40];
const BIN_COUNT = 24;

export function Histogram({
  accounts,
  currency,
}: {
  readonly accounts: readonly DraftAccount[];
  readonly currency: string;
}): JSX.Element {
  const [figureRef, width] = useWidth(460);
  const differences = accounts.map(({ difference }) => Number(difference));
  const low = differences.reduce((a, b) => Math.min(a, b), 0);
  const high = differences.reduce((a, b) => Math.max(a, b), 0);
  const step = (high - low || 1) / BIN_COUNT;
  const counts = Array.from({ length: BIN_COUNT }, () => 0);
  for (const difference of differences) {
    const bin = Math.min(BIN_COUNT - 1, Math.floor((difference - low) / step));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const ticks = computeTicks(0, Math.max(...counts)).filter(Number.isInteger);
  const maxCount = ticks.at(-1) ?? 1;
  const x = (difference: number): number => LEFT + ((difference - low) / (step * BIN_COUNT)) * (width - LEFT - RIGHT);
  const y = (count: number): number => TOP + (1 - count / maxCount) * (HEIGHT - TOP - BOTTOM);
  return (
    <figure class="chart keep" ref={figureRef}>
      <figcaption>{`How many accounts change by how much, in ${currency}`}</figcaption>
      <svg
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label="How many accounts change by how much; the table of largest changes has the figures"
      >
        {ticks.map((tick) => (
          <GridLine key={tick} y={y(tick)} left={LEFT} right={width - RIGHT} label={formatNumber(tick)} />
        ))}
        {counts.map((count, bin) => {
          const start = low + bin * step;
          return (
            count > 0 && (
              <rect
                key={bin}
                class={start + step / 2 > 0 ? "bar more" : "bar less"}
                x={x(start) + 0.5}
                y={y(count)}
                width={Math.max(1, x(start + step) - x(start) - 1)}
                height={HEIGHT - BOTTOM - y(count)}
              >
                <title>{`${formatCount(count, "account")} from ${formatAxisValue(start)} to ${formatAxisValue(start + step)}`}</title>
              </rect>
            )
          );
        })}
        <line class="zero" x1={x(0)} x2={x(0)} y1={TOP} y2={HEIGHT - BOTTOM} />
        {computeTicks(low, high)
          .filter((value) => value >= low && value <= high)
          .map((value) => (
            <text class="tick" key={value} x={x(value)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">
              {formatAxisValue(value)}
            </text>
          ))}
        <text class="tick" x={width - RIGHT} y={HEIGHT - 6} text-anchor="end">
          change
        </text>
      </svg>
    </figure>
  );
}
