/**
 * A printable invoice whose lines expand to their calculation.
 *
 * @module
 */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";

import { INVOICE_TITLES } from "../../invoice-titles.ts";
import type { AccountData, InvoiceData, LineData } from "../../report/report-data.ts";
import { formatDay, formatMoney, formatNumber, formatDayRange, localizeNumbers } from "../common/format.ts";
import { ShareBar } from "../common/share-bar.tsx";
import { LineDetail } from "./line-detail.tsx";

export interface InvoiceProps {
  readonly invoice: InvoiceData;
  readonly account: AccountData;
  readonly digits: number;
  /** Whether it is printed: nothing expands, and the account is named. */
  readonly isPrinted?: boolean;
}

export function Invoice({ invoice, account, digits, isPrinted = false }: InvoiceProps): JSX.Element {
  const { type, status, from, until, date, due, plan, lines, unpriced, notices } = invoice;
  const title = `${INVOICE_TITLES[type]} for ${formatDayRange(from, until)}`;
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
        <thead>
          <tr>
            <th scope="col">Item</th>
            <th scope="col" class="number wide-only">
              Quantity
            </th>
            <th scope="col" class="number wide-only">
              Rate
            </th>
            <th scope="col" class="number">
              {account.currency}
            </th>
          </tr>
        </thead>
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
  const { kind, label, quantity, rate, amount, lines = [], days, exact } = line;
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
        <td class="number wide-only">{rate === undefined ? "" : formatNumber(rate)}</td>
        <td class="number">
          {isExpandable ? (
            <button
              type="button"
              class="link"
              aria-expanded={isOpen}
              aria-controls={detailId}
              title="how it was made"
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

/** The label of a line, with its quantity and rate on phones, then its calculation and share. */
function LineLabel({ line }: Pick<LineProps, "line">): JSX.Element {
  const { kind, label, figures, quantity, rate, because = [], share } = line;
  return (
    <>
      <bdi>{figures === true ? localizeNumbers(label) : label}</bdi>
      {quantity !== undefined && (
        <span class="narrow-only soft small">
          {rate === undefined ? formatNumber(quantity) : `${formatNumber(quantity)} × ${formatNumber(rate)}`}
        </span>
      )}
      {because.map((sentence) => (
        <span class="because soft small" key={sentence}>
          {localizeNumbers(sentence)}
        </span>
      ))}
      {share !== undefined && kind !== "total" && <ShareBar share={share} />}
    </>
  );
}
