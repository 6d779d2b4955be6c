import { createClient } from "@clickhouse/client";

import { createEngine, memoryStore } from "ratebook";
import { clickhouseUsage } from "ratebook/warehouse";

const client = createClient({ url: process.env.CLICKHOUSE_URL ?? "http://localhost:8123" });

// A million calls of two accounts in January, which the server makes itself; some are sent twice.
await client.command({
  query: `create or replace table api_calls (account String, id String, at DateTime64(3, 'UTC'), calls Decimal(18, 6))
    engine = MergeTree partition by toYYYYMM(at) order by (account, toDate(at), id)`,
});
await client.command({
  query: `insert into api_calls
    select ['north', 'south'][1 + number % 2], toString(number % 999990),
      toDateTime64('2024-01-01 00:00:00', 3, 'UTC') + toIntervalSecond(intDiv(number, 400)), 1
    from numbers(1000000)`,
});

let now = Date.parse("2023-12-31T00:00:00Z");
const source = clickhouseUsage(client, {
  table: "api_calls",
  columns: {
    schemaName: { value: "api_call" },
    id: { column: "id" },
    accountId: { column: "account" },
    timestamp: { column: "at" },
    attributes: { calls: { column: "calls" } },
  },
});
const engine = createEngine({ store: memoryStore(), clock: () => now, usage: { schemas: ["api_call"], source } });
await engine.load({
  organization: { id: "acme", baseCurrency: "USD" },
  eventSchemas: [{ name: "api_call", attributes: ["calls"] }],
  usageMeters: [{ id: "um.calls", name: "calls", schema: "api_call", sum: "calls" }],
  pricePlans: [
    {
      id: "pp.calls",
      name: "Calls",
      cycle: { interval: "MONTHLY", gracePeriod: 2 },
      usage: [{ meter: "um.calls", rate: "0.01" }],
    },
  ],
  customers: [{ id: "globex", name: "Globex" }],
  accounts: ["north", "south"].map((id) => ({ id, customerId: "globex", plan: "pp.calls", from: "2024-01-01" })),
});

// January is billed two days after its end.
now = Date.parse("2024-02-03T00:00:00Z");
console.log(JSON.stringify(await engine.finalize()));
const { items } = await engine.invoices.list({ filter: { status: "DUE" } });
for (const { invoice } of items) console.log(invoice.accountId, invoice.revenueInfo.value.toFixed());
await engine.close();
await client.close();
