import { preview, readBook } from "../../src/index.ts";

const book = readBook({
  eventSchemas: [{ name: "api_call", attributes: ["calls"] }],
  usageMeters: [{ id: "um.calls", name: "API calls", schema: "api_call", sum: "calls" }],
  pricePlans: [
    {
      id: "pp.team",
      name: "Team",
      cycle: "MONTHLY",
      // The first thousand calls are free; each further call costs 0.002.
      usage: [{ meter: "um.calls", tiers: [{ upTo: 1000, rate: 0 }, { rate: "0.002" }] }],
    },
  ],
  accounts: [{ id: "contoso-prod", plan: "pp.team", from: "2026-01-01" }],
});

const event = { schemaName: "api_call", id: "e-1", accountId: "contoso-prod", timestamp: "2026-01-05T09:00:00Z" };
const { invoices } = preview(book, [{ ...event, attributes: { calls: 2500 } }]);
for (const { accountId, startDate, revenueInfo, currency } of invoices) {
  console.log(accountId, startDate.slice(0, 10), revenueInfo.value.toFixed(2), currency);
}
