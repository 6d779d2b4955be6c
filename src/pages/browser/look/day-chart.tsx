/**
 * Lines over days. The picture is drawn with doubles; what is read off it is printed from the exact text.
 *
 * @module
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { axisText, dayText, shortDayText } from "./figures.ts";
import { GridLine } from "./grid-line.tsx";
import { Dot } from "./marks.tsx";
import { ticksUpTo } from "./ticks.ts";
import { useWidth } from "./width.ts";

/** One line. */
export interface DaySeries {
  readonly label: string;
  /** One for each day, as decimal text. */
  readonly values: readonly string[];
  /** Days on which something changed, by their place, with what it was. */
  readonly marks?: ReadonlyMap<number, string>;
}

/** A chart of days. */
export interface DayChartProps {
  readonly title: string;
  /** The first day. */
  readonly from: string;
  readonly series: readonly DaySeries[];
  readonly valueText: (value: string) => string;
  /** Whether each day stands for itself: bars in place of a line. */
  readonly bars?: boolean;
}

const HEIGHT = 190;
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 12, 12, 26];

/** The chart, with what it shows as a table to open. */
export function DayChart({ title, from, series, valueText, bars = false }: DayChartProps): JSX.Element {
  const [holder, width] = useWidth(600);
  const [at, setAt] = useState<number | undefined>();
  const days = Math.max(1, ...series.map(({ values }) => values.length));
  const numbers = series.map(({ values }) => values.map(Number));
  const ticks = ticksUpTo(Math.min(0, ...numbers.flat()), Math.max(0, ...numbers.flat()));
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const x = (day: number): number => LEFT + ((day + 0.5) / days) * (width - LEFT - RIGHT);
  const y = (value: number): number => TOP + (1 - (value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const look = (offset: number): void => {
    const day = Math.floor(((offset - LEFT) / (width - LEFT - RIGHT)) * days);
    setAt(day >= 0 && day < days ? day : undefined);
  };
  return (
    <figure class="chart keep" ref={holder}>
      <figcaption>
        {title}
        <Legend series={series} />
      </figcaption>
      <svg
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={`${title}; the same as a table follows`}
        onPointerMove={({ offsetX }) => look(offsetX)}
        onPointerLeave={() => setAt(undefined)}
      >
        {ticks.map((tick) => (
          <GridLine key={tick} y={y(tick)} left={LEFT} right={width - RIGHT} label={axisText(tick)} />
        ))}
        {daysNamed(days, width).map((day) => (
          <text class="tick" key={day} x={x(day)} y={HEIGHT - 8} text-anchor="middle">
            {shortDayText(from, day)}
          </text>
        ))}
        {at !== undefined && <line class="cursor" x1={x(at)} x2={x(at)} y1={TOP} y2={HEIGHT - BOTTOM} />}
        {numbers.map((values, index) => (
          <g key={index} class={`series-${(index % 6) + 1}`}>
            {bars ? (
              <path class="day-bars" d={barsOf(values, x, y)} stroke-width={((width - LEFT - RIGHT) / days) * 0.7} />
            ) : (
              <polyline points={values.map((value, day) => `${x(day).toFixed(1)},${y(value).toFixed(1)}`).join(" ")} />
            )}
            {[...(series[index]?.marks ?? [])].map(([day, text]) => (
              <circle key={day} class="mark" cx={x(day)} cy={y(values[day] ?? 0)} r="4">
                <title>{text}</title>
              </circle>
            ))}
          </g>
        ))}
      </svg>
      <p class="readout soft screen-only" aria-hidden="true">
        {at === undefined
          ? " "
          : [dayText(from, at), ...series.map((each) => readout(each, at, valueText))].join(" · ")}
      </p>
      <DayTable title={title} from={from} series={series} valueText={valueText} days={days} />
    </figure>
  );
}

/** A stroke from 0 to the value for each day that has one. */
function barsOf(values: readonly number[], x: (day: number) => number, y: (value: number) => number): string {
  const stroke = (value: number, day: number): string =>
    `M${x(day).toFixed(1)} ${y(0).toFixed(1)}V${y(value).toFixed(1)}`;
  return values.map((value, day) => (value === 0 ? "" : stroke(value, day))).join("");
}

function readout({ label, values, marks }: DaySeries, day: number, valueText: (value: string) => string): string {
  const mark = marks?.get(day);
  return `${label} ${valueText(values[day] ?? "0")}${mark === undefined ? "" : ` (${mark})`}`;
}

function Legend({ series }: Pick<DayChartProps, "series">): JSX.Element | null {
  const marked = series.some(({ marks }) => marks !== undefined && marks.size > 0);
  if (series.length < 2 && !marked) return null;
  return (
    <span class="legend">
      {series.length > 1 &&
        series.map(({ label }, index) => (
          <span key={index} class={`key series-${(index % 6) + 1}`}>
            <svg width="14" height="8" aria-hidden="true">
              <line x1="0" x2="14" y1="4" y2="4" />
            </svg>{" "}
            <bdi>{label}</bdi>
          </span>
        ))}
      {marked && (
        <span class="key soft">
          <Dot name="soft-dot" /> another slab
        </span>
      )}
    </span>
  );
}

function DayTable({ title, from, series, valueText, days }: DayChartProps & { readonly days: number }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="screen-only" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        As a table<span class="hidden-text">{`: ${title}`}</span>
      </summary>
      {isOpen && (
        <div class="scroll" tabIndex={0} role="region" aria-label={title}>
          <table>
            <thead>
              <tr>
                <th scope="col">Day</th>
                {series.map(({ label }, index) => (
                  <th key={index} scope="col" class="number">
                    <bdi>{label}</bdi>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {Array.from({ length: days }, (_, day) => (
                <tr key={day}>
                  <th scope="row">{dayText(from, day)}</th>
                  {series.map(({ values, marks }, index) => (
                    <td key={index} class="number">
                      {valueText(values[day] ?? "0")}
                      {marks?.has(day) === true && <div class="soft">{marks.get(day)}</div>}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

/** The days that have room for their names. */
function daysNamed(days: number, width: number): readonly number[] {
  const step = Math.max(1, Math.ceil(days / Math.max(1, Math.floor((width - LEFT - RIGHT) / 64))));
  return Array.from({ length: Math.ceil(days / step) }, (_, index) => index * step);
}
