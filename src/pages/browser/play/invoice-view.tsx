/** The invoices of one billing period, with what the last step changed. */
import type { JSX } from "preact";

import type { PageRow } from "../../invoice/invoice-lines.ts";
import { findNextCycle, type PlayInvoice } from "../../play/play-periods.ts";
import type { Days } from "../../play/typed-usage.ts";
import { formatCount } from "../common/format.ts";
import { SelectField } from "./field.tsx";
import { describeChange, formatTotal, type Play, type PlayProps } from "./play.ts";

/** The maximum number of invoices shown. */
const INVOICES_MAX = 50;

export function InvoiceView({ play }: PlayProps): JSX.Element {
  const { session, periods, period, before, changeState } = play;
  const { invoices } = period;
  const change = describeChange(period, before);
  const renderStep = (direction: "earlier" | "later", label: string, sign: string): JSX.Element => {
    const days = findNextPeriod(play, direction);
    const { from, until } = session.state;
    return (
      <button
        type="button"
        aria-label={label}
        disabled={days === undefined}
        onClick={() =>
          days &&
          changeState({
            shown: days.from,
            from: days.from < from ? days.from : from,
            until: days.until > until ? days.until : until,
          })
        }
      >
        {sign}
      </button>
    );
  };
  return (
    <section class="invoices" aria-labelledby="invoices" tabIndex={0}>
      <h2 id="invoices" class="hidden-text">
        Invoice
      </h2>
      <div class="period">
        {renderStep("earlier", "Earlier billing period", "‹")}
        {periods.length > 1 ? (
          <SelectField
            label="Billing period"
            value={period.from}
            options={[
              ...(periods.includes(period) ? [] : [[period.from, period.label] as const]),
              ...periods.map((each) => [each.from, `${each.label} · ${formatTotal(each)}`] as const),
            ]}
            onValue={(shown) => changeState({ shown })}
          />
        ) : (
          <strong>{period.label}</strong>
        )}
        {renderStep("later", "Later billing period", "›")}
      </div>
      <p class="grand-total">
        <strong class="number">{formatTotal(period)}</strong>
        {change !== undefined && <span class="delta">{`${change} by the last change`}</span>}
      </p>
      {invoices.length === 0 && <p class="soft empty">{describeEmpty(play)}</p>}
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

function describeEmpty({ session: { file }, problems, fileResult: { message } }: Play): string {
  if (file !== undefined && message?.kind === "progress") return "The file is being priced.";
  if (file !== undefined && message?.kind !== "done")
    return "The file is not priced yet: complete its columns, or remove it.";
  if (problems.length > 0) return "There is a problem with the plan or the usage.";
  return "No invoice in this period. Add usage, set a quantity, or choose another period.";
}

/** The days of the period before or after the shown one; undefined if there is none. */
function findNextPeriod(
  { periods, period, bill: { book }, session: { file } }: Play,
  direction: "earlier" | "later",
): Days | undefined {
  if (book !== undefined && file === undefined) return findNextCycle(book, period, direction);
  if (direction === "later") return periods.find(({ from }) => from > period.from);
  return periods.findLast(({ from }) => from < period.from);
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
