/**
 * Old against new, a point for each account, with the diagonal on which nothing changes. Drawn with doubles.
 *
 * @module
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { DraftAccount } from "../../report/report-data.ts";
import { axisText, moneyText } from "../look/figures.ts";
import { GridLine } from "../look/grid-line.tsx";
import { Dot } from "../look/marks.tsx";
import { ticksUpTo } from "../look/ticks.ts";
import { useWidth } from "../look/width.ts";

const HEIGHT = 300;
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 14, 12, 40];
/** How near a point must be to be told, in pixels. */
const NEAR = 24;

/** The chart. The table of changes below it says the same. */
export function Scatter({
  accounts,
  currency,
  digits,
}: {
  readonly accounts: readonly DraftAccount[];
  readonly currency: string;
  readonly digits: number;
}): JSX.Element {
  const [holder, width] = useWidth(460);
  const [at, setAt] = useState<number | undefined>();
  const points = accounts.map(({ before, after }) => [Number(before), Number(after)] as const);
  const ticks = ticksUpTo(Math.min(0, ...extremes(points, Math.min)), Math.max(0, ...extremes(points, Math.max)));
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const x = (value: number): number => LEFT + ((value - low) / (high - low)) * (width - LEFT - RIGHT);
  const y = (value: number): number => TOP + (1 - (value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const look = (left: number, top: number): void => {
    let [nearest, least] = [-1, NEAR ** 2];
    for (const [index, [before, after]] of points.entries()) {
      const distance = (x(before) - left) ** 2 + (y(after) - top) ** 2;
      if (distance < least) [nearest, least] = [index, distance];
    }
    setAt(nearest === -1 ? undefined : nearest);
  };
  const pathOf = (isShown: (before: number, after: number) => boolean): string =>
    points
      .filter(([before, after]) => isShown(before, after))
      .map(([before, after]) => `M${x(before).toFixed(1)} ${y(after).toFixed(1)}h0`)
      .join("");
  const told = at === undefined ? undefined : accounts[at];
  const toldPoint = at === undefined ? undefined : points[at];
  return (
    <figure class="chart keep" ref={holder}>
      <figcaption>
        {`Each account in ${currency}: now and on the draft`}
        <span class="legend">
          <span class="key">
            <Dot name="more" /> pays more
          </span>
          <span class="key">
            <Dot name="less" /> pays less
          </span>
        </span>
      </figcaption>
      <svg
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label="Each account's amount now and on the draft; the table of largest changes has the figures"
        onPointerMove={({ offsetX, offsetY }) => look(offsetX, offsetY)}
        onPointerLeave={() => setAt(undefined)}
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <GridLine y={y(tick)} left={LEFT} right={width - RIGHT} label={axisText(tick)} />
            <text class="tick" x={x(tick)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">
              {axisText(tick)}
            </text>
          </g>
        ))}
        <line class="diagonal" x1={x(low)} y1={y(low)} x2={x(high)} y2={y(high)} />
        <path class="points same" d={pathOf((before, after) => before === after)} />
        <path class="points less" d={pathOf((before, after) => after < before)} />
        <path class="points more" d={pathOf((before, after) => after > before)} />
        {toldPoint !== undefined && <circle class="told" cx={x(toldPoint[0])} cy={y(toldPoint[1])} r="6" />}
        <text class="tick" x={width - RIGHT} y={HEIGHT - 6} text-anchor="end">
          now
        </text>
        <text class="tick" x={LEFT + 4} y={TOP + 8}>
          draft
        </text>
      </svg>
      <p class="readout soft screen-only" aria-hidden="true">
        {told === undefined
          ? " "
          : `${told.name}: ${moneyText(told.before, { digits })} to ${moneyText(told.after, { digits })}`}
      </p>
    </figure>
  );
}

/** The least or most of all coordinates, without spreading a hundred thousand arguments. */
function extremes(
  points: readonly (readonly [number, number])[],
  choose: (a: number, b: number) => number,
): readonly [number] {
  return [points.reduce((found, [before, after]) => choose(found, choose(before, after)), 0)];
}
