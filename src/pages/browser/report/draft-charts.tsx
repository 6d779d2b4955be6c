/** Charts of a draft: the accounts by size of their difference, and their amounts now and with the draft. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { DraftAccount, DraftTotal } from "../../report/report-data.ts";
import { Chart, computeTicks, createScale, Dot, Tooltip } from "../common/charts.tsx";
import { formatAxisValue, formatCount, formatDifference, formatMoney, formatNumber } from "../common/format.ts";

const HEIGHT = 280;
const MARGINS = { left: 56, right: 22, top: 12, bottom: 40 };
/** About how many bars the chart of differences has. */
const BIN_COUNT = 20;
/** The maximum distance in pixels at which a point is described. */
const DISTANCE_MAX = 24;

interface DraftChartProps {
  readonly accounts: readonly DraftAccount[];
  readonly total: DraftTotal;
}

/** The difference of each account by what it pays now. The table of accounts below it has the same data. */
export function Scatter({ accounts, total: { currency } }: DraftChartProps): JSX.Element {
  const [selectedIndex, setSelectedIndex] = useState(-1);
  const points = accounts.map(({ before, difference }) => [Number(before), Number(difference)] as const);
  const xTicks = findTicks(points.map(([before]) => before));
  const yTicks = findTicks(points.map(([, difference]) => difference));
  const selectNearest = (left: number, top: number, width: number): void => {
    const x = createXScale(xTicks, width);
    const y = createScale(yTicks, HEIGHT - MARGINS.bottom, MARGINS.top);
    let [nearest, leastDistance] = [-1, DISTANCE_MAX ** 2];
    for (const [index, [before, difference]] of points.entries()) {
      const distance = (x(before) - left) ** 2 + (y(difference) - top) ** 2;
      if (distance < leastDistance) [nearest, leastDistance] = [index, distance];
    }
    setSelectedIndex(nearest);
  };
  const [account, point] = [accounts[selectedIndex], points[selectedIndex]];
  const caption = (
    <>
      Difference by what an account pays now
      <span class="legend">
        {["more", "less"].map((name) => (
          <span key={name} class="key">
            <Dot name={name} /> {`pays ${name}`}
          </span>
        ))}
      </span>
    </>
  );
  return (
    <Chart
      caption={caption}
      label="Each account's difference by what it pays now; the table of accounts has the figures"
      height={HEIGHT}
      margins={MARGINS}
      ticks={yTicks}
      formatTick={(tick) => formatAxisValue(tick, currency)}
      onPoint={selectNearest}
      tooltip={
        account !== undefined && (
          <Tooltip title={account.name} isAtLeft={createScale(xTicks, 0, 1)(Number(account.before)) > 0.5}>
            <span>now</span>
            <span class="number">{formatMoney(account.before, currency)}</span>
            <span>draft</span>
            <span class="number">{formatMoney(account.after, currency)}</span>
            <span>difference</span>
            <span class="number">{formatDifference(account.difference, currency)}</span>
          </Tooltip>
        )
      }
    >
      {({ width, y, grid }) => {
        const x = createXScale(xTicks, width);
        const drawPoints = (sign: number): string =>
          points
            .filter(([, difference]) => Math.sign(difference) === sign)
            .map(([before, difference]) => `M${x(before).toFixed(1)} ${y(difference).toFixed(1)}h0`)
            .join("");
        return (
          <>
            {grid}
            {drawXAxis(xTicks, x, currency, "now")}
            <line class="zero" x1={MARGINS.left} y1={y(0)} x2={width - MARGINS.right} y2={y(0)} />
            {(["same", "less", "more"] as const).map((name, index) => (
              <path key={name} class={`points ${name}`} d={drawPoints([0, -1, 1][index] ?? 0)} />
            ))}
            {point !== undefined && <circle class="selected-point" cx={x(point[0])} cy={y(point[1])} r="6" />}
          </>
        );
      }}
    </Chart>
  );
}

/** The number of accounts by size of their difference. No bar has both accounts that pay more and that pay less. */
export function Histogram({ accounts, total: { currency, median } }: DraftChartProps): JSX.Element {
  const differences = accounts.map(({ difference }) => Number(difference)).filter((difference) => difference !== 0);
  const edges = findTicks(differences, BIN_COUNT);
  const counts = countByBin(differences, edges);
  const labels = findTicks(differences).filter((tick) => tick >= (edges[0] ?? 0) && tick <= (edges.at(-1) ?? 0));
  const unchanged = accounts.length - differences.length;
  const caption = (
    <>
      Accounts by size of their difference
      <span class="note">
        {`Median ${formatDifference(median, currency)}`}
        {unchanged > 0 && `; without ${formatCount(unchanged, "account")} of no difference`}
      </span>
    </>
  );
  return (
    <Chart
      caption={caption}
      label="How many accounts change by how much; the table of accounts has the figures"
      height={HEIGHT}
      margins={MARGINS}
      ticks={computeTicks(0, Math.max(...counts)).filter(Number.isInteger)}
      formatTick={formatNumber}
    >
      {({ width, y, grid }) => {
        const x = createXScale(edges, width);
        const drawBar = (count: number, bin: number): JSX.Element => {
          const [start = 0, end = 0] = edges.slice(bin);
          const range = [start, end].map((edge) => formatAxisValue(edge, currency)).join(" to ");
          return (
            <rect
              key={bin}
              class={end > 0 ? "bar more" : "bar less"}
              x={x(start) + 0.5}
              y={y(count)}
              width={Math.max(1, x(end) - x(start) - 1)}
              height={HEIGHT - MARGINS.bottom - y(count)}
            >
              <title>{`${formatCount(count, "account")}: ${range}`}</title>
            </rect>
          );
        };
        return (
          <>
            {grid}
            {counts.map((count, bin) => count > 0 && drawBar(count, bin))}
            <line class="zero" x1={x(0)} x2={x(0)} y1={MARGINS.top} y2={HEIGHT - MARGINS.bottom} />
            {drawXAxis(labels, x, currency, "difference")}
          </>
        );
      }}
    </Chart>
  );
}

/** The number of differences between each two edges. One on an edge is in the bar nearer to zero. */
function countByBin(differences: readonly number[], edges: readonly number[]): readonly number[] {
  const counts = edges.slice(1).map(() => 0);
  const position = createScale(edges, 0, counts.length);
  for (const difference of differences) {
    const bin = difference > 0 ? Math.ceil(position(difference)) - 1 : Math.floor(position(difference));
    const index = Math.min(counts.length - 1, Math.max(0, bin));
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
}

/** Ticks around 0 and the values, without spreading a hundred thousand arguments. @param count about how many */
function findTicks(values: readonly number[], count?: number): readonly number[] {
  const find = (choose: (a: number, b: number) => number): number =>
    values.reduce((extreme, value) => choose(extreme, value), 0);
  return computeTicks(find(Math.min), find(Math.max), count);
}

function createXScale(ticks: readonly number[], width: number): (value: number) => number {
  return createScale(ticks, MARGINS.left, width - MARGINS.right);
}

/** Values below the x axis, and its name. */
function drawXAxis(
  ticks: readonly number[],
  x: (value: number) => number,
  currency: string,
  name: string,
): JSX.Element {
  return (
    <>
      {ticks.map((tick) => (
        <text class="tick" key={tick} x={x(tick)} y={HEIGHT - MARGINS.bottom + 16} text-anchor="middle">
          {formatAxisValue(tick, currency)}
        </text>
      ))}
      <text class="tick" x="100%" dx={-MARGINS.right} y={HEIGHT - 6} text-anchor="end">
        {name}
      </text>
    </>
  );
}
