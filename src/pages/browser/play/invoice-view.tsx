/** The invoices of one billing period, with what the last step changed. */
import type { JSX } from "preact";

import type { PageRow } from "../../invoice/invoice-lines.ts";
import { describeDifference, type PlayInvoice, type PlayPeriod } from "../../play/play-periods.ts";
import { formatCount } from "../common/format.ts";
import { SelectField } from "./field.tsx";

/** The maximum number of invoices shown. */
const INVOICES_MAX = 50;

/** The sum of the invoices of a period. @param currency where there are none */
export function formatTotal({ totals }: PlayPeriod): string {
  return totals.map(({ text }) => text).join(" + ") || "–";
}

/** How the last step changed the total: `+ $9.00`. */
export function describeChange(period: PlayPeriod, before: PlayPeriod | undefined): string | undefined {
  const [[now], [old]] = [period.totals, before?.totals ?? []];
  if (now === undefined || old === undefined || now.currency !== old.currency) return undefined;
  return describeDifference(now, old);
}

export interface InvoiceViewProps {
  readonly periods: readonly PlayPeriod[];
  readonly period: PlayPeriod;
  /** The same period before the last step. */
  readonly before: PlayPeriod | undefined;
  /** What to do where there is no invoice. */
  readonly emptyText: string;
  readonly onPeriod: (from: string) => void;
  /** Absent where there is no earlier or later billing period. */
  readonly onEarlier: (() => void) | undefined;
  readonly onLater: (() => void) | undefined;
}

export function InvoiceView({
  periods,
  period,
  before,
  emptyText,
  onPeriod,
  onEarlier,
  onLater,
}: InvoiceViewProps): JSX.Element {
  const { invoices } = period;
  const change = describeChange(period, before);
  return (
    <section class="invoices" aria-labelledby="invoices" tabIndex={0}>
      <h2 id="invoices" class="hidden-text">
        Invoice
      </h2>
      <div class="period">
        <button
          type="button"
          aria-label="Earlier billing period"
          disabled={onEarlier === undefined}
          onClick={onEarlier}
        >
          ‹
        </button>
        {periods.length > 1 ? (
          <SelectField
            label="Billing period"
            value={period.from}
            options={[
              ...(periods.includes(period) ? [] : [[period.from, period.label] as const]),
              ...periods.map((each) => [each.from, `${each.label} · ${formatTotal(each)}`] as const),
            ]}
            onValue={onPeriod}
          />
        ) : (
          <strong>{period.label}</strong>
        )}
        <button type="button" aria-label="Later billing period" disabled={onLater === undefined} onClick={onLater}>
          ›
        </button>
      </div>
      <p class="grand-total">
        <strong class="number">{formatTotal(period)}</strong>
        {change !== undefined && <span class="delta">{`${change} by the last change`}</span>}
      </p>
      {invoices.length === 0 && <p class="soft empty">{emptyText}</p>}
      {invoices.length > INVOICES_MAX && (
        <p class="soft">{`The first ${INVOICES_MAX} of ${formatCount(invoices.length, "invoice")}:`}</p>
      )}
      {invoices.slice(0, INVOICES_MAX).map((invoice) => (
        <InvoiceTable
          key={invoice.title}
          invoice={invoice}
          before={before?.invoices.find(({ title }) => title === invoice.title)}
          isCompared={before !== undefined}
        />
      ))}
    </section>
  );
}

interface InvoiceTableProps {
  readonly invoice: PlayInvoice;
  readonly before: PlayInvoice | undefined;
  readonly isCompared: boolean;
}

function InvoiceTable({ invoice: { title, rows, notices }, before, isCompared }: InvoiceTableProps): JSX.Element {
  const textsBefore = new Set(listRowTexts(before?.rows ?? []));
  const texts = listRowTexts(rows);
  return (
    <>
      <table class="invoice">
        <caption>
          <bdi>{title}</bdi>
        </caption>
        <tbody>
          {rows.map((row, index) => (
            <Row key={index} row={row} isChanged={isCompared && !textsBefore.has(texts[index] ?? "")} />
          ))}
        </tbody>
      </table>
      {notices.map((notice) => (
        <p key={notice} class="bad small">
          <bdi>{notice}</bdi>
        </p>
      ))}
    </>
  );
}

/** Rows with the item that they are below, as texts that can be compared. */
function listRowTexts(rows: readonly PageRow[]): readonly string[] {
  let item = "";
  return rows.map(({ kind, label, quantity, rate, amount }) => {
    if (kind === "card") item = label;
    return JSON.stringify([item, kind, label, quantity, rate, amount]);
  });
}

function Row({
  row: { kind, label, quantity, rate, amount },
  isChanged,
}: {
  readonly row: PageRow;
  readonly isChanged: boolean;
}): JSX.Element {
  const className = `${kind}${isChanged ? " changed" : ""}`;
  if (kind === "note") {
    return (
      <tr class={className}>
        <td colSpan={2}>
          <bdi>{label}</bdi>
        </td>
      </tr>
    );
  }
  const figures = [quantity, rate].filter((figure) => figure !== undefined).join(" × ");
  return (
    <tr class={className}>
      <th scope="row">
        <bdi>{label}</bdi>
        {figures !== "" && <span class="figures">{figures}</span>}
        {isChanged && <span class="hidden-text"> (changed)</span>}
      </th>
      <td class="number">{amount}</td>
    </tr>
  );
}
