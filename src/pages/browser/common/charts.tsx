/** Charts of values by day, and the parts that all charts share. Drawing uses doubles; the printed values are exact. */
import { type ComponentChildren, Fragment, type JSX } from "preact";
import { useState, useLayoutEffect, useRef } from "preact/hooks";

import { SERIES_COLORS } from "../../tokens.ts";
import { Table } from "./data-table.tsx";
import { formatAxisValue, formatDay, formatShortDay } from "./format.ts";

export interface DaySeries {
  readonly label: string;
  /** One decimal text for each day. */
  readonly values: readonly string[];
  /** Whether it is all that has no series of its own. */
  readonly isOther?: boolean;
  /** Days on which something changed, by index, with a description. */
  readonly marks?: ReadonlyMap<number, string>;
}

interface DayChartProps {
  readonly title: string;
  /** The first day. */
  readonly from: string;
  readonly series: readonly DaySeries[];
  readonly formatValue: (value: string) => string;
  /** Formats a value of the axis. */
  readonly formatTick?: (value: number) => string;
  /** Whether to draw bars, one on the other, instead of lines. */
  readonly hasBars?: boolean;
  /** A sentence below the title. */
  readonly note?: string;
  /** In pixels; default 190. */
  readonly height?: number;
}

const MARGINS = { left: 52, right: 4, top: 12, bottom: 26 };

/** The chart, with a table of its values to open. */
export function DayChart(props: DayChartProps): JSX.Element {
  const { title, note, from, series, formatValue, formatTick = formatAxisValue, hasBars = false, height = 190 } = props;
  const [selectedDay, setSelectedDay] = useState(-1);
  const days = countDays(series);
  const spans = hasBars
    ? stackValues(series, days)
    : series.map(({ values }) => values.map((value) => [0, Number(value)] as const));
  const ends = spans.flat(2);
  const { left, right, top, bottom } = MARGINS;
  const measureDay = (width: number): number => (width - left - right) / days;
  const caption = (
    <>
      {title}
      {note !== undefined && <span class="note">{note}</span>}
      <Legend series={series} />
    </>
  );
  return (
    <Chart
      caption={caption}
      label={`${title}; the same as a table follows`}
      height={height}
      margins={MARGINS}
      ticks={computeTicks(Math.min(0, ...ends), Math.max(0, ...ends), height < 150 ? 2 : 4)}
      formatTick={formatTick}
      onPoint={(x, _, width) => setSelectedDay(Math.floor((x - left) / measureDay(width)))}
      tooltip={
        selectedDay >= 0 &&
        selectedDay < days && (
          <Tooltip title={formatDay(from, selectedDay)} isAtLeft={selectedDay > days / 2}>
            {series.map(({ label, values, marks }, index) => (
              <Fragment key={index}>
                <span>
                  {series.length > 1 && <Swatch series={seriesClass(series, index)} />} <bdi>{label}</bdi>
                </span>
                <span class="number">
                  {[formatValue(values[selectedDay] ?? "0"), marks?.get(selectedDay)].filter(Boolean).join(", ")}
                </span>
              </Fragment>
            ))}
          </Tooltip>
        )
      }
      below={<DayTable {...props} />}
    >
      {({ width, y, grid }) => {
        const dayWidth = measureDay(width);
        const x = (day: number): number => left + (day + 0.5) * dayWidth;
        return (
          <>
            {selectedDay >= 0 && selectedDay < days && (
              <rect class="day-band" x={x(selectedDay - 0.5)} y={top} width={dayWidth} height={height - top - bottom} />
            )}
            {grid}
            {chooseLabeledDays(days, width).map((day) => (
              <text class="tick" key={day} x={Math.min(x(day), width - 22)} y={height - 8} text-anchor="middle">
                {formatShortDay(from, day)}
              </text>
            ))}
            {spans.map((values, index) => (
              <g key={index} class={seriesClass(series, index)}>
                {hasBars ? (
                  <path class="day-bars" d={drawBars(values, x, y)} stroke-width={dayWidth * 0.75} />
                ) : (
                  <polyline
                    points={values.map(([, value], day) => `${x(day).toFixed(1)},${y(value).toFixed(1)}`).join(" ")}
                  />
                )}
                {[...(series[index]?.marks ?? [])].map(([day, text]) => (
                  <circle key={day} class="mark" cx={x(day)} cy={y(values[day]?.[1] ?? 0)} r="4">
                    <title>{text}</title>
                  </circle>
                ))}
              </g>
            ))}
          </>
        );
      }}
    </Chart>
  );
}

function countDays(series: readonly DaySeries[]): number {
  return Math.max(1, ...series.map(({ values }) => values.length));
}

type Span = readonly [start: number, end: number];

/** The ends of the bars by series and day: positive ones above those before them, negative ones below. */
function stackValues(series: readonly DaySeries[], days: number): readonly (readonly Span[])[] {
  const tops = Array.from({ length: days }, () => [0, 0] as [up: number, down: number]);
  return series.map(({ values }) =>
    tops.map((top, day): Span => {
      const value = Number(values[day] ?? 0);
      const side = value < 0 ? 1 : 0;
      const start = top[side];
      top[side] += value;
      return [start, top[side]];
    }),
  );
}

/** A bar for each day, with a gap to the one on which it stands. */
function drawBars(spans: readonly Span[], x: (day: number) => number, y: (value: number) => number): string {
  const drawStroke = ([start, end]: Span, day: number): string => {
    const gap = start === 0 || Math.abs(y(end) - y(start)) < 2 ? 0 : Math.sign(y(end) - y(start));
    return `M${x(day).toFixed(1)} ${(y(start) + gap).toFixed(1)}V${y(end).toFixed(1)}`;
  };
  return spans.map((span, day) => (span[0] === span[1] ? "" : drawStroke(span, day))).join("");
}

/** The color of a series. */
function seriesClass(series: readonly DaySeries[], index: number): string {
  return series[index]?.isOther === true ? "series-other" : `series-${(index % SERIES_COLORS) + 1}`;
}

/** The values of the days as a line without axes. */
export function Sparkline({ values }: { readonly values: readonly number[] }): JSX.Element {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const toPoint = (value: number, day: number): string =>
    `${(1 + (day / Math.max(1, values.length - 1)) * 94).toFixed(1)},${(20 - ((value - low) / (high - low || 1)) * 18).toFixed(1)}`;
  return (
    <svg class="sparkline" width="96" height="22" viewBox="0 0 96 22" aria-hidden="true">
      <polyline points={values.map(toPoint).join(" ")} />
    </svg>
  );
}

/** The square of a series in a legend or a table. */
export function Swatch({ series }: { readonly series: string }): JSX.Element {
  return (
    <svg class={`swatch ${series}`} width="9" height="9" aria-hidden="true">
      <rect width="9" height="9" rx="2" />
    </svg>
  );
}

function Legend({ series }: Pick<DayChartProps, "series">): JSX.Element | null {
  const hasMarks = series.some(({ marks }) => marks !== undefined && marks.size > 0);
  if (series.length < 2 && !hasMarks) return null;
  return (
    <span class="legend">
      {series.length > 1 &&
        series.map(({ label }, index) => (
          <span key={index} class="key">
            <Swatch series={seriesClass(series, index)} /> <bdi>{label}</bdi>
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

function DayTable({ title, from, series, formatValue }: DayChartProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const columns = series.map(({ label, values, marks }) => ({
    label: <bdi>{label}</bdi>,
    class: "number",
    cell: (day: number) => (
      <>
        {formatValue(values[day] ?? "0")}
        {marks?.has(day) === true && <div class="soft">{marks.get(day)}</div>}
      </>
    ),
  }));
  return (
    <details class="screen-only" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        As a table<span class="hidden-text">{`: ${title}`}</span>
      </summary>
      {isOpen && (
        <div class="scroll" tabIndex={0} role="region" aria-label={title}>
          <Table
            columns={[{ label: "Day", cell: (day: number) => formatDay(from, day) }, ...columns]}
            rows={[...Array(countDays(series)).keys()]}
          />
        </div>
      )}
    </details>
  );
}

/** The days that have room for a label. */
function chooseLabeledDays(days: number, width: number): readonly number[] {
  const step = Math.max(1, Math.ceil(days / Math.max(1, Math.floor((width - MARGINS.left - MARGINS.right) / 64))));
  return Array.from({ length: Math.ceil(days / step) }, (_, index) => index * step);
}

/** About so many round values within a range, as doubles for drawing only. */
export function computeTicks(min: number, max: number, count = 4): readonly number[] {
  const span = max - min || 1;
  const roughStep = span / count;
  const power = 10 ** Math.floor(Math.log10(roughStep));
  const step = power * ([1, 2, 2.5, 5, 10].find((each) => each * power >= roughStep) ?? 10);
  const [first, last] = [Math.floor(min / step), Math.ceil((min + span) / step)];
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/** A linear scale from the first tick to the last, in pixels. */
export function createScale(ticks: readonly number[], start: number, end: number): (value: number) => number {
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  return (value) => start + ((value - low) / (high - low)) * (end - start);
}

/** What the picture of a chart is drawn with, in pixels. */
interface Plot {
  readonly width: number;
  readonly y: (value: number) => number;
  /** Lines at the ticks of the y axis. */
  readonly grid: ComponentChildren;
}

interface ChartProps {
  readonly caption: ComponentChildren;
  /** The name of the picture. */
  readonly label: string;
  readonly height: number;
  readonly margins: typeof MARGINS;
  /** The values of the y axis with a line. */
  readonly ticks: readonly number[];
  readonly formatTick: (value: number) => string;
  /** Called with the place of the pointer in the picture; if it left, with a place outside of it. */
  readonly onPoint?: (x: number, y: number, width: number) => void;
  readonly tooltip?: ComponentChildren;
  readonly below?: ComponentChildren;
  readonly children: (plot: Plot) => JSX.Element;
}

/** A chart with its title, which is drawn again when its width changes. */
export function Chart({ caption, label, height, margins, ticks, formatTick, ...props }: ChartProps): JSX.Element {
  const { onPoint, tooltip, below, children } = props;
  const element = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(500);
  useLayoutEffect(() => {
    const target = element.current;
    if (target === null) return undefined;
    const measure = (): void => setWidth(Math.max(240, Math.floor(target.clientWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  const y = createScale(ticks, height - margins.bottom, margins.top);
  const grid = ticks.map((tick) => (
    <Fragment key={tick}>
      <line class="grid" x1={margins.left} x2={width - margins.right} y1={y(tick)} y2={y(tick)} />
      <text class="tick" x={margins.left - 6} y={y(tick) + 4} text-anchor="end">
        {formatTick(tick)}
      </text>
    </Fragment>
  ));
  return (
    <figure class="chart keep-together" ref={element}>
      <figcaption>{caption}</figcaption>
      <div class="plot">
        <svg
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={label}
          onPointerMove={({ offsetX, offsetY }) => onPoint?.(offsetX, offsetY, width)}
          onPointerLeave={() => onPoint?.(-width, -height, width)}
        >
          {children({ width, y, grid })}
        </svg>
        {tooltip}
      </div>
      {below}
    </figure>
  );
}

interface TooltipProps {
  readonly title: string;
  /** Whether the box is at the left of the plot, so that it does not cover what it describes. */
  readonly isAtLeft: boolean;
  readonly children: ComponentChildren;
}

/** The values of what is below the pointer; a table has them for all readers. */
export function Tooltip({ title, isAtLeft, children }: TooltipProps): JSX.Element {
  return (
    <div class={`day-values screen-only ${isAtLeft ? "at-left" : "at-right"}`} aria-hidden="true">
      <strong>{title}</strong>
      {children}
    </div>
  );
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
