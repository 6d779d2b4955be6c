/** A printable invoice whose lines expand to their calculation. */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";

import { ENGLISH } from "../../../invoicing/invoice-words.ts";
import type { AccountData, EventsOfDay, InvoiceData, LineData, LineDays } from "../../report/report-data.ts";
import { ShareBar } from "../common/charts.tsx";
import { Aligned, TableHead } from "../common/data-table.tsx";
import {
  countDecimals,
  formatCount,
  formatDay,
  formatDayRange,
  formatMoney,
  formatNumber,
  localizeNumbers,
} from "../common/format.ts";

/** The currency of an invoice and its minor-unit digits. */
export interface InvoiceMoney {
  readonly currency: string;
  readonly digits: number;
}

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
      <InvoiceLines lines={lines} money={{ currency: account.currency, digits }} isPrinted={isPrinted} />
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
  readonly money: InvoiceMoney;
  readonly isPrinted?: boolean;
  /** Whether each card is one line at first. */
  readonly isCompact?: boolean;
}

/** The lines of an invoice, whose amounts open to their calculation. */
export function InvoiceLines({ lines, money, isPrinted = false, isCompact = false }: InvoiceLinesProps): JSX.Element {
  const style = { money, isPrinted, isCompact, decimals: findDecimals(lines, money) };
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
          <Line key={index} line={line} depth={0} style={style} />
        ))}
      </tbody>
    </table>
  );
}

/** The most decimal places in each column. */
interface ColumnDecimals {
  readonly quantity: number;
  readonly rate: number;
  readonly amount: number;
}

function findDecimals(lines: readonly LineData[], { digits }: InvoiceMoney): ColumnDecimals {
  return lines.reduce<ColumnDecimals>(
    (most, { quantity = "", rate = "", amount, lines: below = [] }) => {
      const ofBelow = findDecimals(below, { currency: "", digits });
      return {
        quantity: Math.max(most.quantity, countDecimals(quantity), ofBelow.quantity),
        rate: Math.max(most.rate, countDecimals(rate), ofBelow.rate),
        amount: Math.max(most.amount, countDecimals(amount), ofBelow.amount),
      };
    },
    { quantity: 0, rate: digits, amount: digits },
  );
}

/** How the lines of an invoice are shown. */
interface LineStyle {
  readonly money: InvoiceMoney;
  readonly isPrinted: boolean;
  readonly isCompact: boolean;
  readonly decimals: ColumnDecimals;
}

interface LineProps {
  readonly line: LineData;
  readonly depth: number;
  readonly style: LineStyle;
  /** Whether to show its share of the line above. */
  readonly hasShare?: boolean;
}

function Line({ line, depth, style, hasShare = false }: LineProps): JSX.Element {
  const { kind, label, amount, lines = [], days, exact } = line;
  const { money, isPrinted, isCompact, decimals } = style;
  const [isOpen, setOpen] = useState(false);
  const detailId = useId();
  const hasDetail = days !== undefined || exact !== undefined;
  const isExpandable = !isPrinted && (hasDetail || (isCompact && lines.length > 0));
  const amountText = <MoneyFigure value={amount} money={money} most={decimals.amount} />;
  const isLast = kind === "total" && label === "Total";
  return (
    <>
      <tr class={isLast ? "total last" : kind}>
        <th scope="row" class={`indent-${Math.min(depth, 3)}`}>
          <LineLabel line={line} money={money} hasShare={hasShare} />
        </th>
        <QuantityCells line={line} style={style} />
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
          <td colSpan={6}>{isOpen && hasDetail && <LineDetail line={line} money={money} />}</td>
        </tr>
      )}
      {(isCompact && !isOpen ? [] : lines).map((each, index) => (
        <Line key={index} line={each} depth={depth + 1} style={style} hasShare={!isPrinted && lines.length > 2} />
      ))}
    </>
  );
}

/** The quantity and the price of a line, each with what it is of; only on wide screens. */
function QuantityCells({ line, style }: Pick<LineProps, "line" | "style">): JSX.Element {
  const { quantity, unit, rate, isRatePerMillion } = line;
  const { money, decimals } = style;
  return (
    <>
      <td class="number wide-only">
        {quantity !== undefined && (
          <Aligned text={formatNumber(quantity)} shown={countDecimals(quantity)} most={decimals.quantity} />
        )}
      </td>
      <td class="unit wide-only">{unit}</td>
      <td class="number wide-only">
        {rate !== undefined && <MoneyFigure value={rate} money={money} most={decimals.rate} />}
      </td>
      <td class="unit wide-only">{isRatePerMillion === true && "per million"}</td>
    </>
  );
}

interface MoneyFigureProps {
  readonly value: string;
  readonly money: InvoiceMoney;
  /** The most decimal places in the column. */
  readonly most: number;
}

function MoneyFigure({ value, money, most }: MoneyFigureProps): JSX.Element {
  return <Aligned text={formatMoney(value, money)} shown={Math.max(money.digits, countDecimals(value))} most={most} />;
}

interface LineLabelProps extends Required<Pick<LineProps, "line" | "hasShare">> {
  readonly money: InvoiceMoney;
}

/** The label of a line, with its quantity and price on phones, then its calculation and share. */
function LineLabel({ line, money, hasShare }: LineLabelProps): JSX.Element {
  const { label, figures, period, tier, quantity, unit, rate, isRatePerMillion, because = [], share } = line;
  const price =
    rate === undefined ? "" : ` × ${formatMoney(rate, money)}${isRatePerMillion === true ? " per million" : ""}`;
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

function LineDetail({ line, money }: { readonly line: LineData; readonly money: InvoiceMoney }): JSX.Element {
  const { amount, exact, days, unit } = line;
  return (
    <>
      {exact !== undefined && (
        <p>
          Exactly {formatMoney(exact, money)}, rounded once to {formatMoney(amount, money)}.
        </p>
      )}
      {days !== undefined && <DaysTable days={days} unit={unit} money={money} />}
    </>
  );
}

interface DaysTableProps {
  readonly days: LineDays;
  readonly unit: string | undefined;
  readonly money: InvoiceMoney;
}

function DaysTable({ days, unit, money }: DaysTableProps): JSX.Element {
  const { from, quantities, amounts, tiers, events = [] } = days;
  const eventsByDay = new Map(events.map((each) => [each.day, each]));
  const daysWithUsage = quantities
    .map((quantity, day) => ({ day, quantity }))
    .filter(({ quantity }) => quantity !== "0");
  if (daysWithUsage.length === 0) return <p class="soft">No usage in this billing period.</p>;
  const most = Math.max(...quantities.map(countDecimals));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Days with usage">
      <table class="days">
        <TableHead
          columns={[
            { label: "Day" },
            ...(events.length === 0 ? [] : [{ label: "Events" }]),
            ...(tiers === undefined ? [] : [{ label: "Tier", class: "number" }]),
            { label: unit === undefined ? "Used" : `Used, ${unit}`, class: "number" },
            { label: "Amount so far", class: "number" },
          ]}
        />
        <tbody>
          {daysWithUsage.map(({ day, quantity }) => (
            <tr key={day}>
              <th scope="row">{formatDay(from, day)}</th>
              {events.length > 0 && (
                <td>
                  <Events dayEvents={eventsByDay.get(day)} />
                </td>
              )}
              {tiers !== undefined && <td class="number">{describeTier(tiers, day)}</td>}
              <td class="number">
                <Aligned text={formatNumber(quantity)} shown={countDecimals(quantity)} most={most} />
              </td>
              <td class="number">{formatMoney(amounts[day] ?? "0", money)}</td>
            </tr>
          ))}
        </tbody>
      </table>
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

/** The days on which the next tier was reached, with its name. */
export function findTierChanges(tiers: Tiers = []): ReadonlyMap<number, string> {
  return new Map(tiers.filter(([, tier]) => tier > 1).map(([day, tier]) => [day, `tier ${formatNumber(tier)}`]));
}
