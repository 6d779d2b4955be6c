import { readFileSync } from "node:fs";

import { preview, readBook } from "../../src/index.ts";

const book = readBook(JSON.parse(readFileSync("docs/examples/seats-and-usage/book.json", "utf8")));
const calls = [{ name: "count", value: 2500 }];
const event = { schemaName: "api_calls", id: "calls-1", accountId: "acme-main", timestamp: "2024-06-03T09:00:00Z" };
const { invoices } = preview(book, [{ ...event, attributes: calls }], { accounts: ["acme-main"] });
for (const { invoiceType, invoiceDate, revenueInfo, currency } of invoices) {
  console.log(invoiceType, invoiceDate.slice(0, 10), revenueInfo.value.toFixed(2), currency);
}
