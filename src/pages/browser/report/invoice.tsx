/** A printable invoice whose lines expand to their calculation. */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";

import { ENGLISH } from "../../../invoicing/invoice-words.ts";
import { minorUnitDigits } from "../../../numbers/currency.ts";
import type { AccountData, EventsOfDay, InvoiceData, LineData, LineDays } from "../../report/report-data.ts";
import { ShareBar } from "../common/charts.tsx";
import { Aligned, type Column, Table, TableHead } from "../common/data-table.tsx";
import {
  countDecimals,
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
  /** Whether it is printed: nothing expands, and the account is named. */
  readonly isPrinted?: boolean;
}

/** The title of an invoice. */
export function describeInvoice({ type, from, until }: InvoiceData): string {
  return `${ENGLISH.titles[type]} for ${formatDayRange(from, until)}`;
}

export function Invoice({ invoice, account, isPrinted = false }: InvoiceProps): JSX.Element {
  const { status, date, due, plan, lines, unpriced, notices } = invoice;
  const title = describeInvoice(invoice);
  return (
    <section class="invoice panel" aria-label={title}>
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
      {unpriced.length > 0 && (
        <div class="notice">
          <strong>Usage without a price:</strong>{" "}
          {unpriced.map(({ label, quantity, unit = "" }, index) => (
            <span key={label}>
              {index > 0 && ", "}
              {`${formatNumber(quantity)} ${unit} `}
              <bdi>{label}</bdi>
            </span>
          ))}
          . The plan has no price for it.
        </div>
      )}
      <InvoiceLines lines={lines} currency={account.currency} isPrinted={isPrinted} />
      {notices.map((notice) => (
        <p class="notice" key={notice}>
          <bdi>{notice}</bdi>
        </p>
      ))}
    </section>
  );
}

interface InvoiceLinesProps {
  readonly lines: readonly LineData[];
  readonly currency: string;
  readonly isPrinted?: boolean;
  /** Whether each card is one line at first. */
  readonly isCompact?: boolean;
}

/** The lines of an invoice, whose amounts open to their calculation. */
export function InvoiceLines({ lines, ...props }: InvoiceLinesProps): JSX.Element {
  const all = flattenLines(lines);
  const countMost = (field: "quantity" | "rate" | "amount", least: number): number =>
    all.reduce((most, line) => Math.max(most, countDecimals(line[field] ?? "")), least);
  const digits = minorUnitDigits(props.currency);
  const decimals = {
    quantity: countMost("quantity", 0),
    rate: countMost("rate", digits),
    amount: countMost("amount", digits),
  };
  return (
    <table class="lines">
      <TableHead
        columns={[
          { label: "Item" },
          { label: "Quantity", class: "number wide-only" },
          { label: <span class="hidden-text">Unit</span>, class: "unit wide-only" },
          { label: "Price", class: "number wide-only" },
          { label: <span class="hidden-text">Price for</span>, class: "unit wide-only" },
          { label: "Amount", class: "number" },
        ]}
      />
      <tbody>
        {lines.map((line, index) => (
          <Line key={index} line={line} depth={0} hasShare={false} decimals={decimals} {...props} />
        ))}
      </tbody>
    </table>
  );
}

/** All lines, each with those below it. */
export function flattenLines(lines: readonly LineData[]): readonly LineData[] {
  return lines.flatMap((line) => [line, ...flattenLines(line.lines ?? [])]);
}

interface LineProps extends Omit<InvoiceLinesProps, "lines"> {
  readonly line: LineData;
  readonly depth: number;
  /** The most decimal places in each column. */
  readonly decimals: Readonly<Record<"quantity" | "rate" | "amount", number>>;
  /** Whether to show its share of the line above. */
  readonly hasShare: boolean;
}

function Line({ line, depth, hasShare, ...props }: LineProps): JSX.Element {
  const { kind, label, amount, lines = [], days, exact } = line;
  const { currency, decimals, isPrinted, isCompact } = props;
  const [isOpen, setOpen] = useState(false);
  const detailId = useId();
  const hasDetail = days !== undefined || exact !== undefined;
  const isExpandable = isPrinted !== true && (hasDetail || (isCompact === true && lines.length > 0));
  const amountText = <Figure value={amount} currency={currency} most={decimals.amount} />;
  return (
    <>
      <tr class={kind === "total" && label === "Total" ? "total last" : kind}>
        <th scope="row" class={`indent-${Math.min(depth, 3)}`}>
          <LineLabel line={line} currency={currency} hasShare={hasShare} />
        </th>
        <td class="number wide-only">
          <Figure value={line.quantity} most={decimals.quantity} />
        </td>
        <td class="unit wide-only">{line.unit}</td>
        <td class="number wide-only">
          <Figure value={line.rate} currency={currency} most={decimals.rate} />
        </td>
        <td class="unit wide-only">{line.isRatePerMillion === true && "per million"}</td>
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
        <tr id={detailId} hidden={!isOpen || !hasDetail} class="detail">
          <td colSpan={6}>{isOpen && hasDetail && <LineDetail line={line} currency={currency} />}</td>
        </tr>
      )}
      {(isCompact === true && !isOpen ? [] : lines).map((each, index) => (
        <Line key={index} line={each} depth={depth + 1} hasShare={isPrinted !== true && lines.length > 2} {...props} />
      ))}
    </>
  );
}

interface FigureProps {
  readonly value: string | undefined;
  /** Of an amount or a rate. */
  readonly currency?: string;
  /** The most decimal places in the column. */
  readonly most: number;
}

function Figure({ value, currency, most }: FigureProps): JSX.Element | null {
  if (value === undefined) return null;
  const shown = Math.max(countDecimals(value), currency === undefined ? 0 : minorUnitDigits(currency));
  const text = currency === undefined ? formatNumber(value) : formatMoney(value, currency);
  return <Aligned text={text} shown={shown} most={most} />;
}

/** The label of a line, with its quantity and price on phones, then its calculation and share. */
function LineLabel({ line, currency, hasShare }: Pick<LineProps, "line" | "currency" | "hasShare">): JSX.Element {
  const { label, figures, period, tier, quantity, unit, rate, isRatePerMillion, because = [], share } = line;
  const price =
    rate === undefined ? "" : ` × ${formatMoney(rate, currency)}${isRatePerMillion === true ? " per million" : ""}`;
  return (
    <>
      <bdi>{figures === true ? localizeNumbers(label) : label}</bdi>
      {period !== undefined && `, ${formatDayRange(period.from, period.until)}`}
      {tier !== undefined && `: ${localizeNumbers(tier)}`}
      {quantity !== undefined && (
        <span class="narrow-only soft small">{`${formatNumber(quantity)}${unit === undefined ? "" : ` ${unit}`}${price}`}</span>
      )}
      {because.map((sentence) => (
        <span class="calculation soft small" key={sentence}>
          {localizeNumbers(sentence)}
        </span>
      ))}
      {share !== undefined && hasShare && <ShareBar share={share} />}
    </>
  );
}

function LineDetail({ line, currency }: Pick<LineProps, "line" | "currency">): JSX.Element {
  const { amount, exact, days, unit } = line;
  return (
    <>
      {exact !== undefined && (
        <p>
          Exactly {formatMoney(exact, currency)}, rounded once to {formatMoney(amount, currency)}.
        </p>
      )}
      {days !== undefined && <DaysTable days={days} unit={unit} currency={currency} />}
    </>
  );
}

interface DaysTableProps {
  readonly days: LineDays;
  readonly unit: string | undefined;
  readonly currency: string;
}

function DaysTable({ days, unit, currency }: DaysTableProps): JSX.Element {
  const { from, quantities, amounts, tiers, events = [] } = days;
  const eventsByDay = new Map(events.map((each) => [each.day, each]));
  const daysWithUsage = [...quantities.keys()].filter((day) => quantities[day] !== "0");
  if (daysWithUsage.length === 0) return <p class="soft">No usage in this billing period.</p>;
  const most = Math.max(...quantities.map(countDecimals));
  const columns: (Column<number> | false)[] = [
    { label: "Day", cell: (day) => formatDay(from, day) },
    events.length > 0 && { label: "Events", cell: (day) => <Events dayEvents={eventsByDay.get(day)} /> },
    tiers !== undefined && { label: "Tier", class: "number", cell: (day) => describeTier(tiers, day) },
    {
      label: unit === undefined ? "Used" : `Used, ${unit}`,
      class: "number",
      cell: (day) => <Figure value={quantities[day]} most={most} />,
    },
    { label: "Amount so far", class: "number", cell: (day) => formatMoney(amounts[day] ?? "0", currency) },
  ];
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Days with usage">
      <Table class="days" columns={columns.filter((column) => column !== false)} rows={daysWithUsage} />
    </div>
  );
}

/** The tier that the units up to a day reach, or both if the day began in the one before: `1 to 2`. */
function describeTier(tiers: Tiers, day: number): string {
  const index = tiers.findLastIndex(([from]) => from <= day);
  const [from = 0, tier = 1] = tiers[index] ?? [];
  const before = tiers[index - 1]?.[1] ?? 1;
  return from === day && before !== tier ? `${formatNumber(before)} to ${formatNumber(tier)}` : formatNumber(tier);
}

type Tiers = NonNullable<LineDays["tiers"]>;

/** The events of a day's usage; if there are many, the largest. */
function Events({ dayEvents }: { readonly dayEvents: EventsOfDay | undefined }): JSX.Element | null {
  if (dayEvents === undefined) return null;
  const { count, largest } = dayEvents;
  return (
    <details class="events">
      <summary>
        {`${formatCount(count, "event")}${count === largest.length ? "" : `, the largest ${largest.length}`}`}
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

/** The days on which the next tier was reached, with its name. */
export function findTierChanges(tiers: Tiers = []): ReadonlyMap<number, string> {
  return new Map(tiers.filter(([, tier]) => tier > 1).map(([day, tier]) => [day, `tier ${formatNumber(tier)}`]));
}
