/**
 * An invoice as it is printed: each line opens how it was made.
 *
 * @module
 */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";

import { INVOICE_TITLES } from "../../invoice-titles.ts";
import type { AccountData, InvoiceData, LineData } from "../../report/report-data.ts";
import { dayText, moneyText, numberText, rangeText, sentenceText } from "../look/figures.ts";
import { ShareBar } from "../look/share-bars.tsx";
import { LineDetail } from "./line-detail.tsx";

/** An invoice of an account. */
export interface InvoiceProps {
  readonly invoice: InvoiceData;
  readonly account: AccountData;
  readonly digits: number;
  /** Whether it stands on paper, where nothing opens and the account is named. */
  readonly printed?: boolean;
}

/** The invoice. */
export function Invoice({ invoice, account, digits, printed = false }: InvoiceProps): JSX.Element {
  const { type, status, from, until, date, due, plan, lines, unpriced, notices } = invoice;
  const title = `${INVOICE_TITLES[type]} for ${rangeText(from, until)}`;
  return (
    <section class="invoice" aria-label={title}>
      <h2>{title}</h2>
      {printed && (
        <p>
          <strong>
            <bdi>{account.name}</bdi>
          </strong>{" "}
          (<bdi>{account.id}</bdi>), customer <bdi>{account.customer}</bdi>
        </p>
      )}
      <p class="soft">
        {status === "DRAFT" ? <strong class="draft">Draft</strong> : status.toLowerCase()}
        {` · dated ${dayText(date)}, due ${dayText(due)} · plan `}
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
            <Line key={index} line={line} depth={0} digits={digits} printed={printed} />
          ))}
        </tbody>
      </table>
      {unpriced.length > 0 && (
        <>
          <h3>Usage that is not priced</h3>
          <ul>
            {unpriced.map(({ label, quantity }) => (
              <li key={label}>
                <bdi>{label}</bdi>: {numberText(quantity)}
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
  readonly printed: boolean;
}

function Line({ line, depth, digits, printed }: LineProps): JSX.Element {
  const { kind, label, quantity, rate, amount, lines = [], days, exact } = line;
  const [isOpen, setOpen] = useState(false);
  const detail = useId();
  const opens = !printed && (days !== undefined || exact !== undefined);
  const shown = moneyText(amount, { digits });
  const isLast = kind === "total" && label === "Total";
  return (
    <>
      <tr class={kind === "total" ? (isLast ? "total last" : "total") : kind}>
        <th scope="row" class={`indent-${Math.min(depth, 3)}`}>
          <LineLabel line={line} />
        </th>
        <td class="number wide-only">{quantity === undefined ? "" : numberText(quantity)}</td>
        <td class="number wide-only">{rate === undefined ? "" : numberText(rate)}</td>
        <td class="number">
          {opens ? (
            <button
              type="button"
              class="link"
              aria-expanded={isOpen}
              aria-controls={detail}
              title="how it was made"
              onClick={() => setOpen(!isOpen)}
            >
              {shown}
            </button>
          ) : (
            shown
          )}
        </td>
      </tr>
      {opens && (
        <tr id={detail} hidden={!isOpen} class="detail">
          <td colSpan={4}>{isOpen && <LineDetail line={line} digits={digits} />}</td>
        </tr>
      )}
      {lines.map((each, index) => (
        <Line key={index} line={each} depth={depth + 1} digits={digits} printed={printed} />
      ))}
    </>
  );
}

/** What a line is for: on a phone with its quantity and rate, then how it was made, and which part it is. */
function LineLabel({ line }: Pick<LineProps, "line">): JSX.Element {
  const { kind, label, figures, quantity, rate, because = [], share } = line;
  return (
    <>
      <bdi>{figures === true ? sentenceText(label) : label}</bdi>
      {quantity !== undefined && (
        <span class="narrow-only soft small">
          {rate === undefined ? numberText(quantity) : `${numberText(quantity)} × ${numberText(rate)}`}
        </span>
      )}
      {because.map((sentence) => (
        <span class="because soft small" key={sentence}>
          {sentenceText(sentence)}
        </span>
      ))}
      {share !== undefined && kind !== "total" && <ShareBar share={share} />}
    </>
  );
}
