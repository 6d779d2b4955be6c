/** An invoice of the small book, for tests of its page. */
import { parseBook, preview } from "../../src/index.ts";
import type { Invoice } from "../../src/invoicing/invoice.ts";
import { SMALL_BOOK } from "../cli/fake-io.ts";

/** An event of the account's usage. */
const eventOfUnits = (units: number) => ({
  schemaName: "call",
  id: "e",
  accountId: "prod",
  timestamp: "2024-06-20T00:00:00Z",
  attributes: [{ name: "units", value: units }],
  dimensions: { region: "eu" },
});

/** The invoice of a book for the usage in June. @param book default: the small one */
export function invoiceForUnits(units: number, book: object = SMALL_BOOK): Invoice {
  const options = { from: "2024-06-01", until: "2024-07-01", explain: true };
  const [invoice] = preview(parseBook(book), [eventOfUnits(units)], options).invoices;
  if (invoice === undefined) throw new TypeError("expected an invoice");
  return invoice;
}
