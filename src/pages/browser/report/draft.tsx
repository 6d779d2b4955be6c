/** The effect of a draft: old and new amounts, the distribution of differences, and their causes. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { AmountChange, DraftAccount, DraftData, DraftTotal } from "../../report/report-data.ts";
import { computeTicks, Dot, GridLine, useWidth } from "../common/charts.tsx";
import { type Column, compareNames, DataTable, TableHead } from "../common/data-table.tsx";
import {
  compareDecimals,
  formatCount,
  formatMoney,
  formatNumber,
  formatPercent,
  removeSign,
  formatAxisValue,
} from "../common/format.ts";

export function Draft({ draft }: { readonly draft: DraftData }): JSX.Element {
  const { name, totals, accounts, more, leftOut } = draft;
  return (
    <section aria-label={`Draft ${name}`}>
      <h2>
        Draft <bdi>{name}</bdi>
      </h2>
      {totals.length === 0 && <p>Nothing is billed, neither on the current plans nor on the draft.</p>}
      {totals.map((total) => (
        <DraftCurrency
          key={total.currency}
          total={total}
          accounts={accounts.filter(({ currency }) => currency === total.currency)}
          isOnlyCurrency={totals.length === 1}
          label={`Changes in ${total.currency} by ${name}`}
        />
      ))}
      {more > 0 && (
        <p>{`${formatCount(more, "account")} with smaller differences left out: page too large. The totals include them.`}</p>
      )}
      {leftOut.length > 0 && (
        <p class="notice">
          Left out, as the draft has no prices in their currency: <bdi>{leftOut.slice(0, 50).join(", ")}</bdi>
          {leftOut.length > 50 ? ` and ${formatNumber(leftOut.length - 50)} more` : ""}
        </p>
      )}
    </section>
  );
}

interface DraftCurrencyProps {
  readonly total: DraftTotal;
  readonly accounts: readonly DraftAccount[];
  readonly isOnlyCurrency: boolean;
  readonly label: string;
}

function DraftCurrency({ total, accounts, isOnlyCurrency, label }: DraftCurrencyProps): JSX.Element {
  const { currency, digits, before, after, more, same, less, quantiles } = total;
  const toMoneyText = (value: string): string => formatMoney(value, { digits });
  return (
    <>
      {!isOnlyCurrency && <h3>{currency}</h3>}
      <dl class="cards">
        <div class="figure">
          <dt>Now</dt>
          <dd>{toMoneyText(before)}</dd>
          <dd>{currency}</dd>
        </div>
        <div class="figure">
          <dt>On the draft</dt>
          <dd>{toMoneyText(after)}</dd>
          <dd>{formatChange(total, digits)}</dd>
        </div>
        <div class="figure">
          <dt>Accounts</dt>
          <dd>{formatNumber(more + same + less)}</dd>
          <dd>{`${formatNumber(more)} ${more === 1 ? "pays" : "pay"} more, ${formatNumber(same)} the same, ${formatNumber(less)} less`}</dd>
        </div>
      </dl>
      {accounts.length > 1 && (
        <div class="charts">
          <Scatter accounts={accounts} currency={currency} digits={digits} />
          <Histogram accounts={accounts} currency={currency} />
        </div>
      )}
      {more + same + less > 2 && (
        <table class="quantiles">
          <caption>This share of the accounts changes by no more than</caption>
          <TableHead
            columns={quantiles.map(({ percent }) => ({ label: `${formatNumber(percent)} %`, class: "number" }))}
          />
          <tbody>
            <tr>
              {quantiles.map(({ percent, difference }) => (
                <td key={percent} class="number">
                  {formatMoney(difference, { digits, hasPlusSign: true })}
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      )}
      <h3>Largest changes</h3>
      <DataTable
        rowNoun="account"
        label={label}
        rows={accounts}
        columns={createColumns(digits)}
        rowKey={({ id }) => id}
        searchText={({ id, name }) => `${id} ${name}`}
        placeholder="Search by name or id"
        initialSort="difference"
        pageSize={10}
      />
    </>
  );
}

function createColumns(digits: number): readonly Column<DraftAccount>[] {
  const amountColumn = (name: "before" | "after", label: string): Column<DraftAccount> => ({
    name,
    label,
    isNumber: true,
    isWideOnly: true,
    cell: (row) => formatMoney(row[name], { digits }),
    compare: (a, b) => compareDecimals(a[name], b[name]),
  });
  return [
    {
      name: "name",
      label: "Account",
      cell: (account) => <Causes account={account} digits={digits} />,
      compare: (a, b) => compareNames(a.name, b.name),
    },
    amountColumn("before", "Now"),
    amountColumn("after", "Draft"),
    {
      name: "difference",
      label: "Difference",
      isNumber: true,
      cell: (row) => formatChange(row, digits),
      compare: (a, b) => compareDecimals(removeSign(a.difference), removeSign(b.difference)),
    },
  ];
}

function formatChange({ difference, percent }: AmountChange, digits: number): string {
  const text = formatMoney(difference, { digits, hasPlusSign: true });
  return percent === undefined ? text : `${text} (${formatPercent(percent)})`;
}

/** An account that expands to the causes of each changed line. */
function Causes({ account, digits }: { readonly account: DraftAccount; readonly digits: number }): JSX.Element {
  const { name, id, lines, before, after } = account;
  if (lines.length === 0) return <bdi>{name}</bdi>;
  return (
    <details>
      <summary>
        <bdi>{name}</bdi>
        {name !== id && (
          <span class="soft small">
            {" "}
            <bdi>{id}</bdi>
          </span>
        )}
        <span class="narrow-only soft small">
          {formatMoney(before, { digits })} to {formatMoney(after, { digits })}
        </span>
      </summary>
      <ul class="causes">
        {lines.map((line, index) => (
          <li key={index}>
            <bdi>{line.label}</bdi>: {formatMoney(line.before, { digits })} to {formatMoney(line.after, { digits })}
            {line.causes.length > 0 && (
              <span class="soft small">
                {" "}
                {line.causes
                  .map((cause) => `${cause.label} ${formatMoney(cause.amount, { digits, hasPlusSign: true })}`)
                  .join(", ")}
              </span>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

const HEIGHT = 300;
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 14, 12, 40];
/** The left margin of the histogram, whose labels are shorter. */
const HISTOGRAM_LEFT = 48;
const BIN_COUNT = 24;
/** The maximum distance in pixels at which a point is described. */
const DISTANCE_MAX = 24;

interface DraftChartProps {
  readonly accounts: readonly DraftAccount[];
  readonly currency: string;
}

/** Old and new amounts as one point per account. The table of changes below it contains the same data. */
function Scatter({ accounts, currency, digits }: DraftChartProps & { readonly digits: number }): JSX.Element {
  const [figureRef, width] = useWidth(460);
  const [selectedIndex, setSelectedIndex] = useState<number | undefined>();
  const points = accounts.map(({ before, after }) => [Number(before), Number(after)] as const);
  const ticks = computeTicks(findExtreme(points, Math.min), findExtreme(points, Math.max));
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const x = (value: number): number => LEFT + ((value - low) / (high - low)) * (width - LEFT - RIGHT);
  const y = (value: number): number => TOP + (1 - (value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const selectNearest = (left: number, top: number): void => {
    let [nearest, leastDistance] = [-1, DISTANCE_MAX ** 2];
    for (const [index, [before, after]] of points.entries()) {
      const distance = (x(before) - left) ** 2 + (y(after) - top) ** 2;
      if (distance < leastDistance) [nearest, leastDistance] = [index, distance];
    }
    setSelectedIndex(nearest === -1 ? undefined : nearest);
  };
  const drawPoints = (isIncluded: (before: number, after: number) => boolean): string =>
    points
      .filter(([before, after]) => isIncluded(before, after))
      .map(([before, after]) => `M${x(before).toFixed(1)} ${y(after).toFixed(1)}h0`)
      .join("");
  const selectedAccount = selectedIndex === undefined ? undefined : accounts[selectedIndex];
  const selectedPoint = selectedIndex === undefined ? undefined : points[selectedIndex];
  return (
    <figure class="chart keep-together" ref={figureRef}>
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
        onPointerMove={({ offsetX, offsetY }) => selectNearest(offsetX, offsetY)}
        onPointerLeave={() => setSelectedIndex(undefined)}
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <GridLine y={y(tick)} left={LEFT} right={width - RIGHT} label={formatAxisValue(tick)} />
            <text class="tick" x={x(tick)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">
              {formatAxisValue(tick)}
            </text>
          </g>
        ))}
        <line class="diagonal" x1={x(low)} y1={y(low)} x2={x(high)} y2={y(high)} />
        <path class="points same" d={drawPoints((before, after) => before === after)} />
        <path class="points less" d={drawPoints((before, after) => after < before)} />
        <path class="points more" d={drawPoints((before, after) => after > before)} />
        {selectedPoint !== undefined && (
          <circle class="selected-point" cx={x(selectedPoint[0])} cy={y(selectedPoint[1])} r="6" />
        )}
        <text class="tick" x={width - RIGHT} y={HEIGHT - 6} text-anchor="end">
          now
        </text>
        <text class="tick" x={LEFT + 4} y={TOP + 8}>
          draft
        </text>
      </svg>
      <p class="readout soft screen-only" aria-hidden="true">
        {selectedAccount === undefined
          ? " "
          : `${selectedAccount.name}: ${formatMoney(selectedAccount.before, { digits })} to ${formatMoney(selectedAccount.after, { digits })}`}
      </p>
    </figure>
  );
}

/** The minimum or maximum of 0 and all coordinates, without spreading a hundred thousand arguments. */
function findExtreme(points: readonly (readonly [number, number])[], choose: (a: number, b: number) => number): number {
  return points.reduce((extreme, [before, after]) => choose(extreme, choose(before, after)), 0);
}

/** The number of accounts by size of their difference. */
function Histogram({ accounts, currency }: DraftChartProps): JSX.Element {
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
  const x = (difference: number): number =>
    HISTOGRAM_LEFT + ((difference - low) / (step * BIN_COUNT)) * (width - HISTOGRAM_LEFT - RIGHT);
  const y = (count: number): number => TOP + (1 - count / maxCount) * (HEIGHT - TOP - BOTTOM);
  return (
    <figure class="chart keep-together" ref={figureRef}>
      <figcaption>{`How many accounts change by how much, in ${currency}`}</figcaption>
      <svg
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label="How many accounts change by how much; the table of largest changes has the figures"
      >
        {ticks.map((tick) => (
          <GridLine key={tick} y={y(tick)} left={HISTOGRAM_LEFT} right={width - RIGHT} label={formatNumber(tick)} />
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
