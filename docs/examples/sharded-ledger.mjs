import { createHash } from "node:crypto";

import { createEngine, Decimal, memoryStore } from "ratebook";

const book = {
  organization: { id: "acme", baseCurrency: "USD" },
  eventSchemas: [{ name: "api_call", attributes: ["calls"] }],
  usageMeters: [{ id: "um.calls", name: "calls", schema: "api_call", sum: "calls" }],
};

// Two databases; with PostgreSQL each would be `await postgresStore(new Pool({ connectionString }))`.
const shards = [memoryStore(), memoryStore()].map((store) => createEngine({ store }));
// The configuration is the same in each.
for (const engine of shards) await engine.load(book);

// An account belongs to one shard for good, and so does everything of it.
const shardOf = (accountId) => createHash("sha256").update(accountId).digest().readUInt32BE(0) % shards.length;
const accounts = ["north", "south", "east", "west"];
for (const id of accounts) {
  const engine = shards[shardOf(id)];
  await engine.customers.create({ id: `of-${id}`, name: `Customer ${id}` });
  await engine.accounts.create({ id, name: `Account ${id}`, customerId: `of-${id}` });
}

// A batch goes in parts, one to each shard: each part is committed as one, the batch as a whole is not.
async function ingest(events) {
  const results = [];
  for (const [shard, engine] of shards.entries()) {
    const own = events.flatMap((event, place) => (shardOf(event.accountId) === shard ? [place] : []));
    const outcomes = own.length === 0 ? [] : await engine.ingest(own.map((place) => events[place]));
    for (const [index, outcome] of outcomes.entries()) results[own[index]] = outcome;
  }
  return results;
}

const timestamp = new Date(Date.now() - 60_000).toISOString();
const events = accounts.map((accountId, index) => ({
  schemaName: "api_call",
  id: `e${index}`,
  accountId,
  timestamp,
  attributes: { calls: index + 1 },
}));
for (const outcome of await ingest([...events, events[0]])) console.log(outcome.eventId, outcome.status);

// What is asked of all accounts is asked of each shard, and put together.
const range = { from: timestamp.slice(0, 10), until: new Date(Date.now() + 86_400_000).toISOString().slice(0, 10) };
const usage = [];
for (const [shard, engine] of shards.entries()) {
  const accountIds = accounts.filter((id) => shardOf(id) === shard);
  if (accountIds.length > 0) usage.push(...(await engine.usage({ accountIds, ...range })));
}
const total = usage.reduce((sum, { quantity }) => sum.plus(quantity), new Decimal(0));
console.log(total.toFixed());
for (const engine of shards) await engine.close();
