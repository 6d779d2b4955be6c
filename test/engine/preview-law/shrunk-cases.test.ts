/** Cases that once broke the law of S13.5, shrunk to what they need. */
import { describe, test } from "vitest";

import { readBook } from "../../../src/book/book.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { account, fee, perUnit, plan } from "../../book/builder.ts";
import { LONG } from "./books.ts";
import { compareEvents, compareInvoices } from "./law.ts";

describe("S1.4 S13.5 an event whose overage alone is too long for a bill", () => {
  const n = { var: "attribute.n" };
  // The square of 40 digits has 79; times a rate of 40 digits it has more than 100.
  const book: object = {
    eventSchemas: [
      {
        name: "squaring",
        attributes: [{ name: "n" }],
        enrichments: {
          fields: [
            { name: "square", type: "ATTRIBUTE", order: 1, enrichmentType: "JSON_LOGIC", value: { "*": [n, n] } },
          ],
        },
      },
      { name: "ping", attributes: [] },
    ],
    features: [
      { id: "f.square", name: "Square", schemaAssociations: [{ schemaName: "squaring", attributeName: "square" }] },
    ],
    addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" }],
    pricePlans: [plan("p", { ...fee(3), entitlementOverageRateCards: [{ featureId: "f.square", ...perUnit(LONG) }] })],
    customers: [{ id: "c", name: "Customer" }],
    accounts: [account("a", "c", "p", "2024-05-01"), account("b", "c", "p", "2024-05-01")],
  };
  // Its month is not over, but the one before it is.
  const long = {
    schemaName: "squaring",
    id: "long",
    accountId: "a",
    timestamp: "2024-06-10T00:00:00Z",
    attributes: [{ name: "n", value: LONG }],
  };

  test("is accepted, and the account takes none once its month is billed", async ({ expect }) => {
    await compareEvents(book, [long], memoryStore());
    const late = { schemaName: "ping", id: "late", accountId: "a", timestamp: "2024-07-01T00:00:00Z", attributes: [] };
    const { problems, skipped } = preview(readBook(book), [long, late]);
    expect(problems.map(({ event, status }) => [event, status])).toEqual([[2, "INGESTION_FAILED"]]);
    expect(skipped?.map(({ accountId }) => accountId)).toEqual(["a"]);
  });

  test("leaves its account without invoices, in both", async () => {
    await compareInvoices(book, [long], memoryStore());
  });
});
