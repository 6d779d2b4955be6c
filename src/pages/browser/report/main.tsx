/**
 * The report, in a browser; on paper, its invoices one a page.
 *
 * @module
 */
import { render } from "preact";

import type { ReportData } from "../../report/report-data.ts";
import { embeddedData } from "../look/data.ts";
import { Paper } from "./paper.tsx";
import { accountInAddress } from "./place.ts";
import { Report } from "./report.tsx";

import "../look/look.css";
import "./report.css";

const page = document.getElementById("page");
if (page !== null) {
  const data = embeddedData() as ReportData;
  const paper = document.createElement("div");
  paper.id = "paper";
  document.body.append(paper);
  render(<Report data={data} />, page);
  addEventListener("beforeprint", () => render(<Paper data={data} accountId={accountInAddress()} />, paper));
  addEventListener("afterprint", () => render(null, paper));
}
