/** The usage panel: daily usage and license quantities. */
import type { JSX } from "preact";

import { valueAt } from "../../../book/short/json-object.ts";
import { readBillableNames, listAt, readEditableValue } from "../../play/book-edits.ts";
import type { DatedQuantity, PlayState } from "../../play/play-state.ts";
import { Field } from "./field.tsx";

export function UsagePanel({
  state,
  onChange,
}: {
  readonly state: PlayState;
  readonly onChange: (part: Partial<PlayState>) => void;
}): JSX.Element {
  const value = readEditableValue(state.book);
  const names = readBillableNames(value);
  // Usage of meters with groups is entered as events, which have the dimensions.
  const groupedMeters = listAt(value, ["usageMeters"]).filter((meter) => valueAt(meter, ["groupBy"]) !== undefined);
  const grouped = listIds(groupedMeters).filter((id) => state.usage.every(({ of }) => of !== id));
  const meters = listIds(listAt(value, ["usageMeters"])).filter((id) => !grouped.includes(id));
  const keyed = listAt(value, ["usageMeters"]).some((meter) => !doesSum(meter));
  const seats = listIds(listAt(value, ["addOns"]).filter((addOn) => valueAt(addOn, ["type"]) === "LICENSE"));
  return (
    <section class="panel" aria-labelledby="usage">
      <h2 id="usage">Usage</h2>
      <div class="row">
        <label>
          From{" "}
          <input
            type="date"
            value={state.from}
            onInput={({ currentTarget }) => onChange({ from: currentTarget.value })}
          />
        </label>
        <label>
          Until{" "}
          <input
            type="date"
            value={state.until}
            onInput={({ currentTarget }) => onChange({ until: currentTarget.value })}
          />
        </label>
      </div>
      <DatedQuantities
        kind="usage"
        names={names}
        ids={meters}
        rows={state.usage}
        from={state.from}
        onRows={(usage) => onChange({ usage })}
      />
      {keyed && state.usage.length > 0 && (
        <p class="soft">
          For a peak, a lowest or last value or a level, a row is a value at the start of its day. For different values,
          it is how many there are, the same ones each day.
        </p>
      )}
      <DatedQuantities
        kind="seats"
        names={names}
        ids={seats}
        rows={state.seats}
        from={state.from}
        onRows={(rows) => onChange({ seats: rows })}
      />
      <details open={state.events !== ""}>
        <summary>Events, one JSON object per line</summary>
        <textarea
          class="code"
          aria-label="Events, one JSON object per line"
          spellcheck={false}
          rows={8}
          value={state.events}
          onInput={({ currentTarget }) => onChange({ events: currentTarget.value })}
        />
      </details>
    </section>
  );
}

/** Whether a meter of a book, in short or long form, counts events or sums their units. */
function doesSum(meter: unknown): boolean {
  const fields = ["max", "min", "unique", "latest", "level", "change"];
  const aggregation = valueAt(meter, ["aggregation"]);
  const isOther = aggregation !== undefined && aggregation !== "COUNT" && aggregation !== "SUM";
  return !isOther && fields.every((field) => valueAt(meter, [field]) === undefined);
}

function DatedQuantities({
  kind,
  names,
  ids,
  rows,
  from,
  onRows,
}: {
  readonly kind: "usage" | "seats";
  readonly names: ReadonlyMap<string, string>;
  readonly ids: readonly string[];
  readonly rows: readonly DatedQuantity[];
  readonly from: string;
  readonly onRows: (rows: readonly DatedQuantity[]) => void;
}): JSX.Element | null {
  const [first] = ids;
  if (first === undefined) return null;
  const updateRow = (index: number, part: Partial<DatedQuantity>): void =>
    onRows(rows.map((row, rowIndex) => (rowIndex === index ? { ...row, ...part } : row)));
  return (
    <div class="card">
      <h3>{kind === "usage" ? "Usage by day" : "Quantity by start date"}</h3>
      {rows.map((row, index) => {
        const name = `${names.get(row.of) ?? row.of}, row ${index + 1}`;
        return (
          <div class="dated-row" key={index}>
            <select
              aria-label={`${name}: of`}
              value={row.of}
              onChange={({ currentTarget }) => updateRow(index, { of: currentTarget.value })}
            >
              {[...new Set([row.of, ...ids])].map((id) => (
                <option key={id} value={id}>
                  {names.get(id) ?? id}
                </option>
              ))}
            </select>
            <input
              type="date"
              aria-label={`${name}: day`}
              value={row.date}
              onInput={({ currentTarget }) => updateRow(index, { date: currentTarget.value })}
            />
            <Field
              label={`${name}: quantity`}
              value={row.quantity}
              onValue={(quantity) => updateRow(index, { quantity })}
            />
            <button
              type="button"
              aria-label={`Remove ${name}`}
              onClick={() => onRows(rows.filter((_, rowIndex) => rowIndex !== index))}
            >
              ×
            </button>
            <Slider name={name} quantity={row.quantity} onQuantity={(quantity) => updateRow(index, { quantity })} />
          </div>
        );
      })}
      <button type="button" onClick={() => onRows([...rows, { of: first, date: from, quantity: "100" }])}>
        {kind === "usage" ? "Add usage" : "Add seats"}
      </button>
    </div>
  );
}

/** A slider from 0 to a round number above the quantity; none for extremely large quantities. */
function Slider({
  name,
  quantity,
  onQuantity,
}: {
  readonly name: string;
  readonly quantity: string;
  readonly onQuantity: (quantity: string) => void;
}): JSX.Element | null {
  const value = Number(quantity);
  if (!Number.isFinite(value) || value < 0 || value > 1e12) return null;
  const max = 10 ** Math.max(2, Math.ceil(Math.log10(value + 1)));
  return (
    <input
      type="range"
      aria-label={`${name}: quantity`}
      min={0}
      max={max}
      step={max / 100}
      value={value}
      onInput={({ currentTarget }) => onQuantity(currentTarget.value)}
    />
  );
}

function listIds(items: readonly unknown[]): readonly string[] {
  return items.map((item) => valueAt(item, ["id"])).filter((id) => typeof id === "string");
}
