import { createEngine, memoryStore } from "ratebook";

// Calls at one cent each, the first 1,000 of a month free; two days of grace.
const calls = { meter: "um.calls", tiers: [{ upTo: 1000, rate: 0 }, { rate: "0.01" }] };
const book = {
  eventSchemas: [{ name: "api_call", attributes: ["calls"] }],
  usageMeters: [{ id: "um.calls", name: "API calls", schema: "api_call", sum: "calls" }],
  pricePlans: [{ id: "team", cycle: { interval: "MONTHLY", gracePeriod: 2 }, usage: [calls] }],
};
// With a clock of its own, this program passes a month in a moment. The default is the system clock.
let now = Date.parse("2024-06-20T12:00:00Z");
const engine = createEngine({ store: memoryStore(), clock: () => now });
await engine.load(book);
await engine.customers.create({ id: "globex", name: "Globex", account: { id: "globex", name: "Globex" } });
await engine.associate("globex", { pricePlanId: "team", effectiveFrom: "2024-06-01" });

const event = { schemaName: "api_call", accountId: "globex", timestamp: "2024-06-20T11:59:00Z" };
const first = { ...event, id: "e1", attributes: { calls: 1500 } };
const second = { ...event, id: "e2", attributes: { calls: 900 } };
for (const { status } of await engine.ingest([first, second, first])) console.log(status);
const [undone] = await engine.undo({ account: "globex", eventId: "e2" });
console.log(undone.event.eventId, undone.status);
const [draft] = (await engine.invoices.list({ filter: { accountId: "globex" } })).items;
console.log(draft.invoice.status, draft.invoice.revenueInfo.value.toFixed(2));

now = Date.parse("2024-07-03T00:00:00Z"); // the grace period of June is over
console.log(JSON.stringify(await engine.finalize()));
const { invoice } = await engine.invoices.get(draft.id);
console.log(invoice.status, invoice.revenueInfo.value.toFixed(2));
await engine.close();
