import { expect, test } from "vitest";

import { parseBook, preview } from "../../src/index.ts";
import { planOfMonths } from "../book/builder.ts";
import { flattenLines } from "../support/invoice-lines.ts";

test("S13.2 a card's line has the name of the item that it charges for, if a meter, a feature and an add-on share an id", () => {
  const book = parseBook({
    eventSchemas: [{ name: "call", attributes: ["n"] }],
    usageMeters: [{ id: "tokens", name: "the meter", schema: "call", sum: "n" }],
    pricePlans: [
      {
        id: "plan",
        cycle: "MONTHLY",
        usage: [{ meter: "tokens", rate: 1 }],
        fees: [{ id: "tokens", name: "the add-on", rate: 5 }],
        entitlements: [{ feature: "tokens", name: "the feature", quantity: 7, for: "P1M", rate: 1 }],
      },
    ],
    accounts: [{ id: "acc", plan: "plan", from: "2024-06-01" }],
  });
  const event = { schemaName: "call", id: "e1", accountId: "acc", timestamp: "2024-06-05T00:00:00Z" };
  const { invoices } = preview(book, [{ ...event, attributes: { n: 3 } }]);
  const lines = invoices.flatMap(({ revenueInfo }) => flattenLines(revenueInfo)).map(({ line }) => line);
  const cards = lines.filter(({ type }) => type.endsWith("_RATE_CARD_AMOUNT"));
  expect(cards.map(({ type, description }) => `${type} ${description ?? ""}`)).toEqual([
    "USAGE_RATE_CARD_AMOUNT the meter",
    "FIXED_FEE_RATE_CARD_AMOUNT the add-on",
    "BILLING_ENTITLEMENT_RATE_CARD_AMOUNT the feature",
  ]);
});

test("S13.3 a true-up has the name of the commitment", () => {
  const minimumCommitment = { displayName: "At least", rateValues: [{ currency: "USD", rate: 10 }] };
  const pricePlans = [planOfMonths("plan", { minimumCommitment })];
  const book = parseBook({ pricePlans, accounts: [{ id: "acc", plan: "plan", from: "2024-06-01" }] });
  const { invoices } = preview(book, [], { from: "2024-06-01", until: "2024-07-01" });
  const lines = invoices.flatMap(({ revenueInfo }) => flattenLines(revenueInfo)).map(({ line }) => line);
  expect(lines.find(({ type }) => type === "TRUE_UP_AMOUNT")?.description).toBe("At least");
});
