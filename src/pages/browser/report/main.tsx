/**
 * The report in a browser. In print, each invoice is on its own page.
 *
 * @module
 */
import { render } from "preact";

import type { ReportData } from "../../report/report-data.ts";
import { readEmbeddedData } from "../common/embedded-data.ts";
import { readAccountInAddress } from "./account-address.ts";
import { PrintedInvoices } from "./printed-invoices.tsx";
import { Report } from "./report.tsx";

import "../common/common.css";
import "./report.css";

const page = document.getElementById("page");
if (page !== null) {
  const data = readEmbeddedData() as ReportData;
  const printArea = document.createElement("div");
  printArea.id = "paper";
  document.body.append(printArea);
  render(<Report data={data} />, page);
  addEventListener("beforeprint", () =>
    render(<PrintedInvoices data={data} accountId={readAccountInAddress()} />, printArea),
  );
  addEventListener("afterprint", () => render(null, printArea));
}
