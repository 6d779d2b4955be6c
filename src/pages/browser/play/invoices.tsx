/**
 * Invoices and how they were calculated.
 *
 * @module
 */
import type { JSX } from "preact";

import type { PageRow } from "../../invoice/invoice-lines.ts";
import type { PlayBill, PlayInvoice } from "../../play/play-bill.ts";
import { formatCount } from "../common/format.ts";

/** The maximum number of invoices shown. */
const INVOICES_MAX = 50;

/** The invoices, updated live. */
export function Invoices({ bill: { invoices, problems } }: { readonly bill: PlayBill }): JSX.Element {
  return (
    <section class="panel" aria-labelledby="invoices">
      <h2 id="invoices">Invoice</h2>
      <div aria-live="polite">
        {invoices.length === 0 && (
          <p class="soft">
            {problems.length > 0
              ? "There is a problem with the plan or the usage."
              : "No usage yet: add usage or drop a file."}
          </p>
        )}
        <InvoiceTables invoices={invoices} />
      </div>
    </section>
  );
}

/** Invoice tables, up to the maximum. */
export function InvoiceTables({ invoices }: { readonly invoices: readonly PlayInvoice[] }): JSX.Element {
  return (
    <>
      {invoices.length > INVOICES_MAX && (
        <p class="soft">{`The first ${INVOICES_MAX} of ${formatCount(invoices.length, "invoice")}:`}</p>
      )}
      {invoices.slice(0, INVOICES_MAX).map((invoice, index) => (
        <InvoiceTable key={index} invoice={invoice} />
      ))}
    </>
  );
}

function InvoiceTable({ invoice: { title, rows, notices } }: { readonly invoice: PlayInvoice }): JSX.Element {
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
