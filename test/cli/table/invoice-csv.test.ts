/** Invoices as CSV for spreadsheets. */
import { expect, test } from "vitest";

import { formatInvoiceCsv } from "../../../src/cli/table/invoice-table.ts";
import type { Invoice } from "../../../src/invoicing/invoice.ts";
import { ZERO } from "../../../src/numbers/decimal.ts";

/** An invoice whose one line has a description. */
function invoiceWithLine(description: string): Invoice {
  return {
    accountId: "acme",
    customerId: "acme",
    invoiceType: "STANDARD",
    status: "DRAFT",
    currency: "USD",
    pricePlanId: "p",
    pricePlanVersion: 1,
    startDate: "2024-01-01T00:00:00.000Z",
    endDate: "2024-02-01T00:00:00.000Z",
    invoiceDate: "2024-02-01T00:00:00.000Z",
    dueDate: "2024-02-01T00:00:00.000Z",
    revenueInfo: { type: "TOTAL_AMOUNT", description, value: ZERO },
    notices: [],
  } as unknown as Invoice;
}

test.each([
  ["=1+1", "'=1+1"],
  [" =1+1", "' =1+1"],
  ["\u00a0\t +1", "'\u00a0\t +1"],
  [";=1+1", "';=1+1"],
  ['"=1+1"', `"'""=1+1"""`],
  [' ";@SUM(A1)', `"' "";@SUM(A1)"`],
  ["\n-1+2", `"'\n-1+2"`],
  ["\ufeff=1", "'\ufeff=1"],
  ["-1+2", "'-1+2"],
  [" -5", "' -5"],
  ["-5", "-5"],
  ["a = b", "a = b"],
  ['"quoted"', '"""quoted"""'],
  ["; semicolon", "; semicolon"],
])("a description %j is written as the cell %j", (description, cell) => {
  expect(formatInvoiceCsv(invoiceWithLine(description))).toContain(`,TOTAL_AMOUNT,,${cell},`);
});
