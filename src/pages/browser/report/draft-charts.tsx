/** Charts of a draft: the accounts by size of their difference, and their amounts now and with the draft. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { DraftAccount, DraftTotal } from "../../report/report-data.ts";
import { computeTicks, Dot, GridLine, useWidth } from "../common/charts.tsx";
import { formatAxisValue, formatCount, formatMoney, formatNumber } from "../common/format.ts";

const HEIGHT = 280;
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 22, 12, 40];
/** About how many bars the chart of differences has. */
const BIN_COUNT = 20;
/** The maximum distance in pixels at which a point is described. */
const DISTANCE_MAX = 24;

interface DraftChartProps {
  readonly accounts: readonly DraftAccount[];
  readonly total: DraftTotal;
}

/** The difference of each account by what it pays now. The table of accounts below it has the same data. */
export function Scatter({ accounts, total }: DraftChartProps): JSX.Element {
  const { currency } = total;
  const [figureRef, width] = useWidth(460);
  const [selectedIndex, setSelectedIndex] = useState(-1);
  const points = accounts.map(({ before, difference }) => [Number(before), Number(difference)] as const);
  const xTicks = findTicks(points.map(([before]) => before));
  const yTicks = findTicks(points.map(([, difference]) => difference));
  const x = createScale(xTicks, LEFT, width - RIGHT);
  const y = createScale(yTicks, HEIGHT - BOTTOM, TOP);
  const selectNearest = (left: number, top: number): void => {
    let [nearest, leastDistance] = [-1, DISTANCE_MAX ** 2];
    for (const [index, [before, difference]] of points.entries()) {
      const distance = (x(before) - left) ** 2 + (y(difference) - top) ** 2;
      if (distance < leastDistance) [nearest, leastDistance] = [index, distance];
    }
    setSelectedIndex(nearest);
  };
  const drawPoints = (sign: number): string =>
    points
      .filter(([, difference]) => Math.sign(difference) === sign)
      .map(([before, difference]) => `M${x(before).toFixed(1)} ${y(difference).toFixed(1)}h0`)
      .join("");
  const [account, point] = [accounts[selectedIndex], points[selectedIndex]];
  return (
    <figure class="chart keep-together" ref={figureRef}>
      <figcaption>
        Difference by what an account pays now
        <span class="legend">
          <span class="key">
            <Dot name="more" /> pays more
          </span>
          <span class="key">
            <Dot name="less" /> pays less
          </span>
        </span>
      </figcaption>
      <div class="plot">
        <svg
          width={width}
          height={HEIGHT}
          viewBox={`0 0 ${width} ${HEIGHT}`}
          role="img"
          aria-label="Each account's difference by what it pays now; the table of accounts has the figures"
          onPointerMove={({ offsetX, offsetY }) => selectNearest(offsetX, offsetY)}
          onPointerLeave={() => setSelectedIndex(-1)}
        >
          {yTicks.map((tick) => (
            <GridLine
              key={tick}
              y={y(tick)}
              left={LEFT}
              right={width - RIGHT}
              label={formatAxisValue(tick, currency)}
            />
          ))}
          <AxisLabels ticks={xTicks} x={x} y={HEIGHT - BOTTOM + 16} currency={currency} />
          <line class="zero" x1={LEFT} y1={y(0)} x2={width - RIGHT} y2={y(0)} />
          {(["same", "less", "more"] as const).map((name, index) => (
            <path key={name} class={`points ${name}`} d={drawPoints([0, -1, 1][index] ?? 0)} />
          ))}
          {point !== undefined && <circle class="selected-point" cx={x(point[0])} cy={y(point[1])} r="6" />}
          <text class="tick" x={width - RIGHT} y={HEIGHT - 6} text-anchor="end">
            now
          </text>
        </svg>
        {account !== undefined && point !== undefined && (
          <div class={`day-values screen-only ${x(point[0]) > width / 2 ? "at-left" : "at-right"}`} aria-hidden="true">
            <strong>{account.name}</strong>
            <span>now</span>
            <span class="number">{formatMoney(account.before, total)}</span>
            <span>draft</span>
            <span class="number">{formatMoney(account.after, total)}</span>
            <span>difference</span>
            <span class="number">{formatMoney(account.difference, { ...total, hasPlusSign: true })}</span>
          </div>
        )}
      </div>
    </figure>
  );
}

/** A linear scale from the first tick to the last, in pixels. */
function createScale(ticks: readonly number[], start: number, end: number): (value: number) => number {
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  return (value) => start + ((value - low) / (high - low)) * (end - start);
}

/** Values below the x axis. */
function AxisLabels({
  ticks,
  x,
  y,
  currency,
}: {
  readonly ticks: readonly number[];
  readonly x: (value: number) => number;
  readonly y: number;
  readonly currency: string;
}): JSX.Element {
  return (
    <>
      {ticks.map((tick) => (
        <text class="tick" key={tick} x={x(tick)} y={y} text-anchor="middle">
          {formatAxisValue(tick, currency)}
        </text>
      ))}
    </>
  );
}

/** Ticks around 0 and the values, without spreading a hundred thousand arguments. @param count about how many */
function findTicks(values: readonly number[], count?: number): readonly number[] {
  const find = (choose: (a: number, b: number) => number): number =>
    values.reduce((extreme, value) => choose(extreme, value), 0);
  return computeTicks(find(Math.min), find(Math.max), count);
}

/** The number of accounts by size of their difference. No bar has both accounts that pay more and that pay less. */
export function Histogram({ accounts, total }: DraftChartProps): JSX.Element {
  const [figureRef, width] = useWidth(460);
  const differences = accounts.map(({ difference }) => Number(difference)).filter((difference) => difference !== 0);
  const edges = findTicks(differences, BIN_COUNT);
  const counts = edges.slice(1).map(() => 0);
  const position = createScale(edges, 0, counts.length);
  for (const difference of differences) {
    // A difference on an edge is in the bar nearer to zero.
    const bin = difference > 0 ? Math.ceil(position(difference)) - 1 : Math.floor(position(difference));
    const index = Math.min(counts.length - 1, Math.max(0, bin));
    counts[index] = (counts[index] ?? 0) + 1;
  }
  const ticks = computeTicks(0, Math.max(...counts)).filter(Number.isInteger);
  const x = createScale(edges, LEFT, width - RIGHT);
  const y = createScale(ticks, HEIGHT - BOTTOM, TOP);
  const unchanged = accounts.length - differences.length;
  return (
    <figure class="chart keep-together" ref={figureRef}>
      <figcaption>
        Accounts by size of their difference
        <span class="note">
          {`Median ${formatMoney(total.median, { ...total, hasPlusSign: true })}`}
          {unchanged > 0 && `; without ${formatCount(unchanged, "account")} of no difference`}
        </span>
      </figcaption>
      <svg
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label="How many accounts change by how much; the table of accounts has the figures"
      >
        {ticks.map((tick) => (
          <GridLine key={tick} y={y(tick)} left={LEFT} right={width - RIGHT} label={formatNumber(tick)} />
        ))}
        {counts.map((count, bin) => {
          const [start = 0, end = 0] = edges.slice(bin);
          const range = [start, end].map((edge) => formatAxisValue(edge, total.currency)).join(" to ");
          return (
            count > 0 && (
              <rect
                key={bin}
                class={end > 0 ? "bar more" : "bar less"}
                x={x(start) + 0.5}
                y={y(count)}
                width={Math.max(1, x(end) - x(start) - 1)}
                height={HEIGHT - BOTTOM - y(count)}
              >
                <title>{`${formatCount(count, "account")}: ${range}`}</title>
              </rect>
            )
          );
        })}
        <line class="zero" x1={x(0)} x2={x(0)} y1={TOP} y2={HEIGHT - BOTTOM} />
        <AxisLabels
          ticks={findTicks(differences).filter((tick) => tick >= (edges[0] ?? 0) && tick <= (edges.at(-1) ?? 0))}
          x={x}
          y={HEIGHT - BOTTOM + 16}
          currency={total.currency}
        />
        <text class="tick" x={width - RIGHT} y={HEIGHT - 6} text-anchor="end">
          difference
        </text>
      </svg>
    </figure>
  );
}
