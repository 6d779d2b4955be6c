import { createServer } from "node:http";
import { text } from "node:stream/consumers";

import { createEngine, memoryStore, RatebookError } from "../../src/index.ts";

// What is sold: calls at a cent each, the first 1,000 of a month free; two days of grace.
const book = {
  organization: { id: "acme", baseCurrency: "USD" },
  eventSchemas: [{ name: "api_call", attributes: [{ name: "calls" }] }],
  usageMeters: [
    {
      id: "um.calls",
      name: "calls",
      aggregation: "SUM",
      eventSchemaName: "api_call",
      computations: [{ order: 1, computation: { var: "attribute.calls" } }],
    },
  ],
  pricePlans: [
    {
      id: "pp.team",
      name: "Team",
      status: "ACTIVE",
      pricePlanDetails: {
        supportedCurrencies: ["USD"],
        pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod: 2 },
        usageRateCards: [
          {
            usageMeterId: "um.calls",
            ratePlan: {
              pricingModel: "TIERED",
              slabs: [
                { order: 1, startAfter: 0, priceType: "PER_UNIT" },
                { order: 2, startAfter: 1000, priceType: "PER_UNIT" },
              ],
            },
            rateValues: [
              {
                currency: "USD",
                slabRates: [
                  { order: 1, rate: 0 },
                  { order: 2, rate: "0.01" },
                ],
              },
            ],
          },
        ],
      },
    },
  ],
};

// A clock of its own lets this program tell a month in a moment; leave it out, and it is the system's.
let now = Date.parse("2024-06-01T09:00:00Z");
const engine = createEngine({ store: memoryStore(), clock: () => now });
await engine.load(book);
await engine.customers.create({ id: "globex", name: "Globex" });
await engine.accounts.create({ id: "globex-prod", name: "Globex production", customerId: "globex" });
await engine.associate("globex-prod", { pricePlanId: "pp.team", effectiveFrom: "2024-06-01" });

// POST takes a batch of events, DELETE undoes some of them, GET shows the invoices.
const server = createServer(async (request, response) => {
  const answer = (status, body) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  try {
    const { searchParams } = new URL(request.url ?? "/", "http://localhost");
    if (request.method === "POST") {
      const events = JSON.parse(await text(request));
      answer(202, await engine.ingest(events));
    } else if (request.method === "DELETE") {
      const undone = await engine.undo(Object.fromEntries(searchParams));
      answer(
        200,
        undone.map(({ event, status }) => ({ id: event.eventId, status })),
      );
    } else {
      const { items } = await engine.invoices.list({ filter: { accountId: "globex-prod" } });
      answer(
        200,
        items.map(({ invoice }) => ({ status: invoice.status, total: invoice.revenueInfo.value })),
      );
    }
  } catch (error) {
    if (error instanceof RatebookError) answer(400, { message: error.message });
    else answer(500, { message: "internal error" });
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}/`;

// A bill run now and then makes final what is due; how often it runs changes no invoice.
const billRun = setInterval(() => void engine.finalize().catch(console.error), 60_000);

// June passes.
now = Date.parse("2024-06-20T12:00:00Z");
const event = (id, calls) => ({
  schemaName: "api_call",
  id,
  accountId: "globex-prod",
  timestamp: "2024-06-20T11:59:00Z",
  attributes: [{ name: "calls", value: calls }],
});
const send = async (method, path = "", body) =>
  (await fetch(url + path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })).json();
const outcomes = await send("POST", "", [event("e1", 1500), event("e2", 900), event("e1", 1500)]);
for (const { status } of outcomes) console.log(status);
console.log(JSON.stringify(await send("DELETE", "?account=globex-prod&eventId=e2")));
console.log(JSON.stringify(await send("GET")));

// The grace of June is over on 3 July.
now = Date.parse("2024-07-03T00:00:00Z");
console.log(JSON.stringify(await engine.finalize()));
console.log(JSON.stringify(await send("GET")));

clearInterval(billRun);
server.close();
await engine.close();
