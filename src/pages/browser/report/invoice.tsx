/** A printable invoice whose lines expand to their calculation. */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";

import { ENGLISH } from "../../../invoicing/invoice-words.ts";
import type { AccountData, EventsOfDay, InvoiceData, LineData, LineDays } from "../../report/report-data.ts";
import { ShareBar } from "../common/charts.tsx";
import { TableHead } from "../common/data-table.tsx";
import {
  formatCount,
  formatDay,
  formatDayRange,
  formatMoney,
  formatNumber,
  localizeNumbers,
} from "../common/format.ts";

interface InvoiceProps {
  readonly invoice: InvoiceData;
  readonly account: AccountData;
  readonly digits: number;
  /** Whether it is printed: nothing expands, and the account is named. */
  readonly isPrinted?: boolean;
}

export function Invoice({ invoice, account, digits, isPrinted = false }: InvoiceProps): JSX.Element {
  const { type, status, from, until, date, due, plan, lines, unpriced, notices } = invoice;
  const title = `${ENGLISH.titles[type]} for ${formatDayRange(from, until)}`;
  return (
    <section class="invoice" aria-label={title}>
      <h2>{title}</h2>
      {isPrinted && (
        <p>
          <strong>
            <bdi>{account.name}</bdi>
          </strong>{" "}
          (<bdi>{account.id}</bdi>), customer <bdi>{account.customer}</bdi>
        </p>
      )}
      <p class="soft">
        {status === "DRAFT" ? <strong class="draft">Draft</strong> : status.toLowerCase()}
        {` · dated ${formatDay(date)}, due ${formatDay(due)} · plan `}
        <bdi>{plan}</bdi>
      </p>
      <table class="lines">
        <TableHead
          columns={[
            { label: "Item" },
            { label: "Quantity", class: "number wide-only" },
            { label: "Rate", class: "number wide-only" },
            { label: account.currency, class: "number" },
          ]}
        />
        <tbody>
          {lines.map((line, index) => (
            <Line key={index} line={line} depth={0} digits={digits} isPrinted={isPrinted} />
          ))}
        </tbody>
      </table>
      {unpriced.length > 0 && (
        <>
          <h3>Usage without a price</h3>
          <ul>
            {unpriced.map(({ label, quantity }) => (
              <li key={label}>
                <bdi>{label}</bdi>: {formatNumber(quantity)}
              </li>
            ))}
          </ul>
        </>
      )}
      {notices.map((notice) => (
        <p class="notice" key={notice}>
          <bdi>{notice}</bdi>
        </p>
      ))}
    </section>
  );
}

interface LineProps {
  readonly line: LineData;
  readonly depth: number;
  readonly digits: number;
  readonly isPrinted: boolean;
}

function Line({ line, depth, digits, isPrinted }: LineProps): JSX.Element {
  const { kind, label, quantity, amount, lines = [], days, exact } = line;
  const [isOpen, setOpen] = useState(false);
  const detailId = useId();
  const isExpandable = !isPrinted && (days !== undefined || exact !== undefined);
  const amountText = formatMoney(amount, { digits });
  const isLast = kind === "total" && label === "Total";
  return (
    <>
      <tr class={kind === "total" ? (isLast ? "total last" : "total") : kind}>
        <th scope="row" class={`indent-${Math.min(depth, 3)}`}>
          <LineLabel line={line} />
        </th>
        <td class="number wide-only">{quantity === undefined ? "" : formatNumber(quantity)}</td>
        <td class="number wide-only">{formatRate(line)}</td>
        <td class="number">
          {isExpandable ? (
            <button
              type="button"
              class="link"
              aria-expanded={isOpen}
              aria-controls={detailId}
              title="How this amount was calculated"
              onClick={() => setOpen(!isOpen)}
            >
              {amountText}
            </button>
          ) : (
            amountText
          )}
        </td>
      </tr>
      {isExpandable && (
        <tr id={detailId} hidden={!isOpen} class="detail">
          <td colSpan={4}>{isOpen && <LineDetail line={line} digits={digits} />}</td>
        </tr>
      )}
      {lines.map((each, index) => (
        <Line key={index} line={each} depth={depth + 1} digits={digits} isPrinted={isPrinted} />
      ))}
    </>
  );
}

/** Empty without a rate. */
function formatRate({ rate, isRatePerMillion }: LineData): string {
  if (rate === undefined) return "";
  return isRatePerMillion === true ? `${formatNumber(rate)} per million` : formatNumber(rate);
}

/** The label of a line, with its quantity and rate on phones, then its calculation and share. */
function LineLabel({ line }: Pick<LineProps, "line">): JSX.Element {
  const { kind, label, figures, period, tier, quantity, because = [], share } = line;
  return (
    <>
      <bdi>{figures === true ? localizeNumbers(label) : label}</bdi>
      {period !== undefined && `, ${formatDayRange(period.from, period.until)}`}
      {tier !== undefined && `: ${localizeNumbers(tier)}`}
      {quantity !== undefined && (
        <span class="narrow-only soft small">
          {[formatNumber(quantity), formatRate(line)].filter((text) => text !== "").join(" × ")}
        </span>
      )}
      {because.map((sentence) => (
        <span class="calculation soft small" key={sentence}>
          {localizeNumbers(sentence)}
        </span>
      ))}
      {share !== undefined && kind !== "total" && <ShareBar share={share} />}
    </>
  );
}

function LineDetail({ line, digits }: { readonly line: LineData; readonly digits: number }): JSX.Element {
  const { amount, exact, days } = line;
  return (
    <>
      {exact !== undefined && (
        <p>
          Exactly {formatNumber(exact)}, rounded once to {formatMoney(amount, { digits })}.
        </p>
      )}
      {days !== undefined && <DaysTable days={days} digits={digits} />}
    </>
  );
}

function DaysTable({ days, digits }: { readonly days: LineDays; readonly digits: number }): JSX.Element {
  const { from, quantities, amounts, slabs, events = [] } = days;
  const eventsByDay = new Map(events.map((each) => [each.day, each]));
  const marks = findSlabChanges(slabs);
  const daysWithUsage = quantities
    .map((quantity, day) => ({ day, quantity }))
    .filter(({ quantity }) => quantity !== "0");
  if (daysWithUsage.length === 0) return <p class="soft">No usage in this billing period.</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Days with usage">
      <table class="days">
        <TableHead
          columns={[{ label: "Day" }, { label: "Used", class: "number" }, { label: "Amount so far", class: "number" }]}
        />
        <tbody>
          {daysWithUsage.map(({ day, quantity }) => (
            <tr key={day}>
              <th scope="row">
                {formatDay(from, day)}
                {marks.has(day) && <span class="soft small">{` enters ${marks.get(day) ?? ""}`}</span>}
                <Events dayEvents={eventsByDay.get(day)} />
              </th>
              <td class="number">{formatNumber(quantity)}</td>
              <td class="number">{formatMoney(amounts[day] ?? "0", { digits })}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The events of a day's usage; if there are many, the largest. */
function Events({ dayEvents }: { readonly dayEvents: EventsOfDay | undefined }): JSX.Element | null {
  if (dayEvents === undefined) return null;
  const { count, largest } = dayEvents;
  return (
    <details class="events">
      <summary>
        {count === largest.length
          ? formatCount(count, "event")
          : `${formatCount(count, "event")}, the largest ${largest.length}`}
      </summary>
      <ul>
        {largest.map(({ id, time, quantity }, index) => (
          <li key={index}>
            {time} UTC, <bdi>{id}</bdi>: {formatNumber(quantity)}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The days on which another slab was reached, with the name of its tier. */
export function findSlabChanges(slabs: readonly number[]): ReadonlyMap<number, string> {
  const changes = new Map<number, string>();
  for (const [day, slab] of slabs.entries()) {
    const before = slabs[day - 1] ?? 0;
    if (slab !== before && slab > 0 && (before > 0 || slab > 1)) changes.set(day, `tier ${slab}`);
  }
  return changes;
}
