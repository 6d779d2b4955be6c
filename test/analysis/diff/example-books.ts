/** Invoices of one account in June 2026 for books with one plan, and the diff of two of them as text. */
import { type AccountDiff, diffInvoices, type DiffLine } from "../../../src/analysis/diff/diff-invoices.ts";
import { parseBook } from "../../../src/book/book.ts";
import type { Book } from "../../../src/book/resources/book.ts";
import type { Invoice } from "../../../src/invoicing/invoice.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";
import { formatFraction } from "../../../src/numbers/fraction.ts";
import { planOfMonths, slabs, sumMeter } from "../../book/builder.ts";

export const diffBook = (details: object, account: object = {}): Book =>
  parseBook({
    organization: { id: "acme" },
    eventSchemas: [{ name: "call", attributes: [{ name: "units" }] }],
    usageMeters: [sumMeter("um.units", "call", "units")],
    addOns: [
      { id: "addon.fee", name: "Platform", type: "FIXED_FEE" },
      { id: "addon.seats", name: "Seats", type: "LICENSE" },
      { id: "addon.grant", name: "Included credits", type: "CREDIT_GRANT" },
    ],
    pricePlans: [planOfMonths("pp", details)],
    customers: [{ id: "contoso", name: "Contoso" }],
    accounts: [
      {
        id: "prod",
        name: "Production",
        customerId: "contoso",
        pricePlans: [{ pricePlanId: "pp", effectiveFrom: "2026-06-01" }],
        ...account,
      },
    ],
  });
export const usageCards = (pricing: object): object => ({ usageRateCards: [{ usageMeterId: "um.units", ...pricing }] });
export type PreviewedBook = readonly [Book, readonly Invoice[]];
export const previewUnits = (book: Book, units: number | string): PreviewedBook => {
  const event = {
    schemaName: "call",
    id: "e",
    timestamp: "2026-06-20T12:00:00Z",
    accountId: "prod",
    attributes: [{ name: "units", value: units }],
  };
  return [book, preview(book, [event], { explain: true, from: "2026-06-01", until: "2026-07-01" }).invoices];
};
export const diffAccount = ([a, before]: PreviewedBook, [b, after]: PreviewedBook): AccountDiff => {
  const [account] = diffInvoices(before, after, { books: [a, b] }).accounts;
  if (account === undefined) throw new Error("no account");
  return account;
};
export const causesOf = ({ causes }: Pick<DiffLine, "causes">): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(causes).map(([cause, amount]) => [cause, formatFraction(amount)]));
/** Each line as `TYPE difference: cause amount, cause amount`. */
export const describeLines = ({ lines }: AccountDiff): readonly string[] =>
  lines.map((line) => {
    const causes = Object.entries(causesOf(line)).map(([cause, amount]) => `${cause} ${amount}`);
    return `${line.type} ${formatDecimal(line.difference)}: ${causes.join(", ") || "none"}`;
  });
export const changesOf = (before: PreviewedBook, after: PreviewedBook): readonly string[] =>
  describeLines(diffAccount(before, after));
/** The changes without the books: plans with the same name and version then look like one plan. */
export const changesWithoutBooks = ([, before]: PreviewedBook, [, after]: PreviewedBook): readonly string[] =>
  diffInvoices(before, after).accounts.flatMap(describeLines);
/** What the account used, and on which plan. */
export type Side = readonly [details: object, units: number, account?: object];
export const previewSide = ([details, units, account]: Side): PreviewedBook =>
  previewUnits(diffBook(details, account), units);

export const CARD = "USAGE_RATE_CARD_AMOUNT";
/** 2 a unit up to 100, 1 above. */
export const bands = slabs("TIERED", [0, 2], [100, 1]);
/** Cards in bands. */
export const inBands = usageCards(bands);
export const commitmentOf200 = { minimumCommitment: { rateValues: [{ currency: "USD", rate: 200 }] } };
