/** Charts of values by day, and the parts that all charts share. Drawing uses doubles; the printed values are exact. */
import type { JSX, RefObject } from "preact";
import { useState, useLayoutEffect, useRef } from "preact/hooks";

import { SERIES_COLORS } from "../../tokens.ts";
import { TableHead } from "./data-table.tsx";
import { formatAxisValue, formatDay, formatShortDay } from "./format.ts";

export interface DaySeries {
  readonly label: string;
  /** One decimal text for each day. */
  readonly values: readonly string[];
  /** Days on which something changed, by index, with a description. */
  readonly marks?: ReadonlyMap<number, string>;
}

interface DayChartProps {
  readonly title: string;
  /** The first day. */
  readonly from: string;
  readonly series: readonly DaySeries[];
  readonly formatValue: (value: string) => string;
  /** Whether to draw bars instead of a line. */
  readonly hasBars?: boolean;
}

const HEIGHT = 190;
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 12, 12, 26];

/** The chart, with a table of its values to open. */
export function DayChart({ title, from, series, formatValue, hasBars = false }: DayChartProps): JSX.Element {
  const [figureRef, width] = useWidth(600);
  const [selectedDay, setSelectedDay] = useState<number | undefined>();
  const days = Math.max(1, ...series.map(({ values }) => values.length));
  const numbers = series.map(({ values }) => values.map(Number));
  const ticks = computeTicks(Math.min(0, ...numbers.flat()), Math.max(0, ...numbers.flat()));
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const x = (day: number): number => LEFT + ((day + 0.5) / days) * (width - LEFT - RIGHT);
  const y = (value: number): number => TOP + (1 - (value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const selectDay = (offset: number): void => {
    const day = Math.floor(((offset - LEFT) / (width - LEFT - RIGHT)) * days);
    setSelectedDay(day >= 0 && day < days ? day : undefined);
  };
  return (
    <figure class="chart keep-together" ref={figureRef}>
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
        onPointerMove={({ offsetX }) => selectDay(offsetX)}
        onPointerLeave={() => setSelectedDay(undefined)}
      >
        {ticks.map((tick) => (
          <GridLine key={tick} y={y(tick)} left={LEFT} right={width - RIGHT} label={formatAxisValue(tick)} />
        ))}
        {chooseLabeledDays(days, width).map((day) => (
          <text class="tick" key={day} x={x(day)} y={HEIGHT - 8} text-anchor="middle">
            {formatShortDay(from, day)}
          </text>
        ))}
        {selectedDay !== undefined && (
          <line class="cursor" x1={x(selectedDay)} x2={x(selectedDay)} y1={TOP} y2={HEIGHT - BOTTOM} />
        )}
        {numbers.map((values, index) => (
          <g key={index} class={`series-${(index % SERIES_COLORS) + 1}`}>
            {hasBars ? (
              <path class="day-bars" d={drawBars(values, x, y)} stroke-width={((width - LEFT - RIGHT) / days) * 0.7} />
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
        {selectedDay === undefined
          ? " "
          : [formatDay(from, selectedDay), ...series.map((each) => formatReadout(each, selectedDay, formatValue))].join(
              " · ",
            )}
      </p>
      <DayTable title={title} from={from} series={series} formatValue={formatValue} days={days} />
    </figure>
  );
}

/** A bar from 0 to the value of each day. */
function drawBars(values: readonly number[], x: (day: number) => number, y: (value: number) => number): string {
  const drawStroke = (value: number, day: number): string =>
    `M${x(day).toFixed(1)} ${y(0).toFixed(1)}V${y(value).toFixed(1)}`;
  return values.map((value, day) => (value === 0 ? "" : drawStroke(value, day))).join("");
}

function formatReadout(
  { label, values, marks }: DaySeries,
  day: number,
  formatValue: (value: string) => string,
): string {
  const mark = marks?.get(day);
  return `${label} ${formatValue(values[day] ?? "0")}${mark === undefined ? "" : ` (${mark})`}`;
}

function Legend({ series }: Pick<DayChartProps, "series">): JSX.Element | null {
  const hasMarks = series.some(({ marks }) => marks !== undefined && marks.size > 0);
  if (series.length < 2 && !hasMarks) return null;
  return (
    <span class="legend">
      {series.length > 1 &&
        series.map(({ label }, index) => (
          <span key={index} class={`key series-${(index % SERIES_COLORS) + 1}`}>
            <svg width="14" height="8" aria-hidden="true">
              <line x1="0" x2="14" y1="4" y2="4" />
            </svg>{" "}
            <bdi>{label}</bdi>
          </span>
        ))}
      {hasMarks && (
        <span class="key soft">
          <Dot name="soft-dot" /> another tier
        </span>
      )}
    </span>
  );
}

function DayTable({ title, from, series, formatValue, days }: DayChartProps & { readonly days: number }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="screen-only" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        As a table<span class="hidden-text">{`: ${title}`}</span>
      </summary>
      {isOpen && (
        <div class="scroll" tabIndex={0} role="region" aria-label={title}>
          <table>
            <TableHead
              columns={[
                { label: "Day" },
                ...series.map(({ label }) => ({ label: <bdi>{label}</bdi>, class: "number" })),
              ]}
            />
            <tbody>
              {Array.from({ length: days }, (_, day) => (
                <tr key={day}>
                  <th scope="row">{formatDay(from, day)}</th>
                  {series.map(({ values, marks }, index) => (
                    <td key={index} class="number">
                      {formatValue(values[day] ?? "0")}
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

/** The days that have room for a label. */
function chooseLabeledDays(days: number, width: number): readonly number[] {
  const step = Math.max(1, Math.ceil(days / Math.max(1, Math.floor((width - LEFT - RIGHT) / 64))));
  return Array.from({ length: Math.ceil(days / step) }, (_, index) => index * step);
}

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
