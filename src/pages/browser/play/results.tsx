/**
 * What comes out: invoices with how they were made, cost curves, cycles.
 *
 * @module
 */
import type { JSX } from "preact";

import type { PageRow } from "../../invoice/invoice-lines.ts";
import type { PlayBill, PlayChart, PlayCycle, PlayInvoice } from "../../play/play-bill.ts";

/** The invoices, live. */
export function Invoices({ bill: { invoices, problems } }: { readonly bill: PlayBill }): JSX.Element {
  return (
    <section class="panel" aria-labelledby="invoices">
      <h2 id="invoices">Invoice</h2>
      <div aria-live="polite">
        {invoices.length === 0 && (
          <p class="soft">
            {problems.length > 0 ? "There is a problem with the plan or the usage." : "No invoice in this time."}
          </p>
        )}
        {invoices.map((invoice, index) => (
          <InvoiceTable key={index} invoice={invoice} />
        ))}
      </div>
    </section>
  );
}

/** One invoice as a table. */
export function InvoiceTable({ invoice: { title, rows, notices } }: { readonly invoice: PlayInvoice }): JSX.Element {
  return (
    <>
      <table class="invoice">
        <caption>
          <bdi>{title}</bdi>
        </caption>
        <tbody>
          {rows.map((row, index) => (
            <Row key={index} row={row} />
          ))}
        </tbody>
      </table>
      {notices.map((notice) => (
        <p key={notice} class="bad">
          <bdi>{notice}</bdi>
        </p>
      ))}
    </>
  );
}

function Row({ row: { kind, label, quantity, rate, amount } }: { readonly row: PageRow }): JSX.Element {
  if (kind === "note") {
    return (
      <tr class="note">
        <td colSpan={2}>
          <bdi>{label}</bdi>
        </td>
      </tr>
    );
  }
  const figures = [quantity, rate].filter((figure) => figure !== undefined).join(" × ");
  return (
    <tr class={kind}>
      <th scope="row">
        <bdi>{label}</bdi>
        {figures !== "" && <span class="figures">{figures}</span>}
      </th>
      <td class="number">{amount}</td>
    </tr>
  );
}

/** The cost curves. A picture has no way into the page, whatever is in a name. */
export function Costs({ charts }: { readonly charts: readonly PlayChart[] }): JSX.Element {
  return (
    <section aria-labelledby="costs">
      <h2 id="costs">Cost as usage grows</h2>
      <div class="charts">
        {charts.map(({ name, svg, description }, index) => (
          <figure key={index} tabIndex={0}>
            <img
              src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`}
              alt={`What ${name} costs. ${description}.`}
            />
          </figure>
        ))}
      </div>
    </section>
  );
}

/** When cycles begin and end, and what of them is served. */
export function Cycles({ cycles }: { readonly cycles: readonly PlayCycle[] }): JSX.Element {
  return (
    <section aria-labelledby="cycles">
      <h2 id="cycles">Cycles</h2>
      {cycles.length === 0 && <p class="soft">No cycle of a plan in this time.</p>}
      <ol class="cycles">
        {cycles.map(({ plan, words, start, end, servedStart, servedEnd }, index) => (
          <li key={index}>
            <span>
              <bdi>{plan}</bdi>, {words}
            </span>
            <svg viewBox="0 0 1000 16" preserveAspectRatio="none" aria-hidden="true">
              <rect class="natural" x={start * 1000} width={(end - start) * 1000} y="1" height="14" rx="3" />
              <rect
                class="served"
                x={servedStart * 1000}
                width={(servedEnd - servedStart) * 1000}
                y="1"
                height="14"
                rx="3"
              />
            </svg>
          </li>
        ))}
      </ol>
    </section>
  );
}
