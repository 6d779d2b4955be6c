/**
 * The report in a browser. In print, each invoice is on its own page.
 *
 * @module
 */
import { type JSX, render } from "preact";

import type { ReportData } from "../../report/report-data.ts";
import { Invoice } from "./invoice.tsx";
import { readAccountInAddress, Report } from "./report.tsx";

import "../common/common.css";
import "./report.css";

const page = document.getElementById("page");
if (page !== null) {
  const data = JSON.parse(document.getElementById("data")?.textContent ?? "null") as ReportData;
  const printArea = document.createElement("div");
  printArea.id = "print-area";
  document.body.append(printArea);
  render(<Report data={data} />, page);
  addEventListener("beforeprint", () =>
    render(<PrintedInvoices data={data} accountId={readAccountInAddress()} />, printArea),
  );
  addEventListener("afterprint", () => render(null, printArea));
}

/** The invoices after the summary. */
function PrintedInvoices({
  data,
  accountId,
}: {
  readonly data: ReportData;
  readonly accountId: string | undefined;
}): JSX.Element {
  const digits = new Map(data.totals.map((total) => [total.currency, total.digits]));
  const printedAccounts = data.accounts.filter(({ id }) => accountId === undefined || id === accountId);
  return (
    <>
      {printedAccounts.flatMap((account) =>
        (account.detail?.invoices ?? []).map((invoice, index) => (
          <Invoice
            key={`${account.id} ${index}`}
            invoice={invoice}
            account={account}
            digits={digits.get(account.currency) ?? 0}
            isPrinted
          />
        )),
      )}
    </>
  );
}
