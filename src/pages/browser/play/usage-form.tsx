/** The usage of one item in the shown billing period: a total with a slider, its days, or where else it comes from. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

import type { Book } from "../../../book/resources/book.ts";
import { addDays, formatDate, parseDate } from "../../../calendar/instant.ts";
import type { DatedQuantity } from "../../play-state.ts";
import { listAt, replaceValue, textAt } from "../../play/book-edits.ts";
import type { PlayItem, PlayPeriod } from "../../play/play-periods.ts";
import {
  isUsageIn,
  readDayShares,
  readShape,
  readTotal,
  spreadTotal,
  takesEventsOnly,
  type UsageShape,
} from "../../play/typed-usage.ts";
import { formatNumber } from "../common/format.ts";
import { bind, type FieldValue, type FormProps, LinkButton, NumberField, RemoveButton, DayField } from "./field.tsx";
import type { PlayProps } from "./play.ts";

interface UsageProps extends PlayProps {
  readonly name: string;
  /** The id of the meter or feature. */
  readonly id: string;
  readonly item: PlayItem | undefined;
  /** The largest quantity of the item's curve. */
  readonly upTo: string | undefined;
}

export function UsageForm({ play, name, id, item, upTo }: UsageProps): JSX.Element {
  const { session, bill, period, changeState } = play;
  const { state } = session;
  const { book } = bill;
  const meter = book?.usageMeters.find((each) => each.id === id);
  const isOwn = ({ of }: DatedQuantity): boolean => of === id || of === meter?.name;
  const rows = state.usage.filter((row) => isOwn(row) && isUsageIn(period, row));
  const needsEvents = meter === undefined || book === undefined || takesEventsOnly(meter, book);
  const hasEvents = state.events.trim() !== "";
  const isFromEvents = rows.length === 0 && (needsEvents || (hasEvents && Number(item?.quantity ?? 0) !== 0));
  if (session.file !== undefined || isFromEvents)
    return <EventUsage play={play} item={item} isUnused={meter !== undefined && needsEvents && !hasEvents} />;
  const setRows = (next: readonly DatedQuantity[]): void =>
    changeState({ usage: [...state.usage.filter((row) => !rows.includes(row)), ...next] });
  const total = readTotal(rows);
  const setTotal = (text: string): void => setRows(spreadTotal(rows, text, findShape(id, book), period));
  return (
    <>
      <label class="tiny">
        {period.label}
        <span class="use-figure">
          <NumberField label={`${name}: quantity`} value={total} onValue={setTotal} /> <span>units</span>
        </span>
      </label>
      <Slider name={name} upTo={upTo} total={total} onTotal={setTotal} />
      <Days rows={rows} period={period} />
      <Unpriced groups={item?.unpriced ?? []} />
      <DayRows name={name} id={id} rows={rows} period={period} onRows={setRows} />
    </>
  );
}

/** The shape of a meter; while the book has a problem, rows keep their proportions. */
function findShape(id: string, book: Book | undefined): UsageShape {
  const meter = book?.usageMeters.find((each) => each.id === id);
  return meter === undefined || book === undefined ? { id, isSum: true } : readShape(meter, book);
}

/** @param isUnused whether usage of the meter is events only, and none are typed */
function EventUsage({
  play: { session, period },
  item,
  isUnused,
}: Pick<UsageProps, "play" | "item"> & { readonly isUnused: boolean }): JSX.Element {
  const file = session.file?.file.name;
  return (
    <>
      <span class="tiny" title={file}>
        {file === undefined ? `${period.label}, from events` : <bdi>{file}</bdi>}
      </span>
      <span class="use-figure">
        <strong>{formatNumber(item?.quantity ?? "0")}</strong> <span>units</span>
      </span>
      <Unpriced groups={item?.unpriced ?? []} />
      {isUnused && file === undefined && (
        <p class="soft small">Its events use feature credits: add a file or events below.</p>
      )}
    </>
  );
}

function Unpriced({ groups }: { readonly groups: readonly string[] }): JSX.Element | null {
  if (groups.length === 0) return null;
  const more = groups.length > 3 ? ` and ${groups.length - 3} more` : "";
  return (
    <p class="bad small">
      Without a price: <bdi>{`${groups.slice(0, 3).join("; ")}${more}`}</bdi>
    </p>
  );
}

/** A slider over the range of the item's curve; none for extremely large quantities. */
function Slider({
  name,
  total,
  upTo,
  onTotal,
}: Pick<UsageProps, "name" | "upTo"> & {
  readonly total: string;
  readonly onTotal: (text: string) => void;
}): JSX.Element | null {
  const value = Number(total);
  if (!Number.isFinite(value) || value < 0 || value > 1e12) return null;
  const range = Number(upTo ?? 0);
  const max = value <= range ? range : 10 ** Math.max(2, Math.ceil(Math.log10(value + 1)));
  return (
    <input
      type="range"
      aria-label={`${name}: quantity, slider`}
      min={0}
      max={max}
      step={max > 200 ? Math.max(1, Math.round(max / 200)) : "any"}
      value={value}
      onInput={({ currentTarget }) => onTotal(currentTarget.value)}
    />
  );
}

/** The days of the period as bars. */
function Days({ rows, period }: { readonly rows: readonly DatedQuantity[]; readonly period: PlayPeriod }): JSX.Element {
  const shares = readDayShares(rows, period);
  return (
    <svg class="days" viewBox={`0 0 ${shares.length} 1`} preserveAspectRatio="none" aria-hidden="true">
      {shares.map((share, day) => (
        <rect key={day} x={day + 0.1} y={1 - Math.max(share, 0.03)} width={0.8} height={Math.max(share, 0.03)} />
      ))}
    </svg>
  );
}

/** The maximum number of rows with fields. */
const ROWS_MAX = 100;

interface DayRowsProps {
  readonly name: string;
  readonly id: string;
  readonly rows: readonly DatedQuantity[];
  readonly period: PlayPeriod;
  readonly onRows: (rows: readonly DatedQuantity[]) => void;
}

/** The rows of usage, day by day. */
function DayRows({ name, id, rows, period, onRows }: DayRowsProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const setRow = (index: number, part: Partial<DatedQuantity>): void =>
    onRows(rows.with(index, { ...(rows[index] as DatedQuantity), ...part }));
  const lastDay = formatDate(addDays(parseDate(period.until), -1));
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary aria-label={`${name}: by day`}>By day</summary>
      {isOpen && (
        <>
          {rows.slice(0, ROWS_MAX).map((row, index) => (
            <DatedRow
              key={index}
              name={`${name}, row ${index + 1}`}
              quantity={{ value: row.quantity, onValue: (quantity) => setRow(index, { quantity }) }}
              date={{ value: row.date, onValue: (date) => setRow(index, { date }), min: period.from, max: lastDay }}
              dateName="day"
              onRemove={() => onRows(rows.toSpliced(index, 1))}
            >
              {row.group !== undefined && (
                <span class="tiny">
                  <bdi>{Object.values(row.group).join(", ")}</bdi>
                </span>
              )}
            </DatedRow>
          ))}
          {rows.length > ROWS_MAX && <p class="soft small">{`The first ${ROWS_MAX} of ${rows.length} rows.`}</p>}
          <LinkButton
            label={`Add a day to ${name}`}
            onClick={() => onRows([...rows, { ...rows.at(-1), of: id, date: period.from, quantity: "100" }])}
          >
            Add a day
          </LinkButton>
        </>
      )}
    </details>
  );
}

interface DatedRowProps {
  readonly name: string;
  readonly quantity: FieldValue;
  readonly date: FieldValue & { readonly min?: string; readonly max?: string };
  /** What the date is, for screen readers. */
  readonly dateName: string;
  readonly onRemove: () => void;
  readonly children?: ComponentChildren;
}

/** A quantity and its date. */
function DatedRow({ name, quantity, date, dateName, onRemove, children }: DatedRowProps): JSX.Element {
  return (
    <div class="dated-row">
      <NumberField label={`${name}: quantity`} {...quantity} />
      <DayField label={`${name}: ${dateName}`} {...date} required />
      <RemoveButton label={`Remove ${name}`} onClick={onRemove} />
      {children}
    </div>
  );
}

/** License quantities of the first account from dates on. */
export function SeatsForm({
  licenseId,
  from,
  ...form
}: FormProps & { readonly licenseId: string; readonly from: string }): JSX.Element {
  const { value, name, text, onText } = form;
  const listPath = ["accounts", 0, "licenseUpdates"];
  const updates = listAt(value, listPath);
  const ownIndexes = [...updates.keys()].filter((index) => textAt(updates[index], ["licenseId"]) === licenseId);
  const setUpdates = (next: readonly unknown[]): void => onText(replaceValue(text, listPath, next));
  return (
    <>
      {ownIndexes.length === 0 && <p class="soft">No quantity yet.</p>}
      {ownIndexes.map((index, row) => (
        <DatedRow
          key={index}
          name={`${name}, row ${row + 1}`}
          quantity={bind(form, [...listPath, index, "quantity"])}
          date={bind(form, [...listPath, index, "effectiveFrom"])}
          dateName="from"
          onRemove={() => setUpdates(updates.toSpliced(index, 1))}
        />
      ))}
      <LinkButton onClick={() => setUpdates([...updates, { licenseId, quantity: "1", effectiveFrom: from }])}>
        {ownIndexes.length === 0 ? "Set a quantity" : "Add a change"}
      </LinkButton>
    </>
  );
}
