/** Equal and conflicting concurrent writes: one of them takes effect, and the others get a message with the reason. */
import { describe, expect, test } from "vitest";

import type { BookInput } from "../../src/book/resources/book.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { manageApiKeys, serve } from "../../src/server.ts";
import { calls, planOfMonths, perUnit, sumMeter } from "../book/builder.ts";
import { closingAfterEach, type OpenStore, STORES } from "./stores.ts";

const closing = closingAfterEach();

const SEATS = { licenseRateCards: [{ id: "addon.seats", ...perUnit(10), invoiceTiming: "IN_ADVANCE" as const }] };
const CHATS = {
  billingEntitlementRateCards: [
    { featureId: "chat", featureConfigs: [{ featureCreditLimit: 100, effectiveUntil: "P1M" }], ...perUnit(1) },
  ],
};

/** Two plans of calls, seats and 100 chats a month, and an account on the first one. */
const BOOK: BookInput = {
  eventSchemas: [
    { name: "calls", attributes: [{ name: "n" }], status: "ACTIVE" },
    { name: "chat", attributes: [{ name: "n" }], status: "ACTIVE" },
    { name: "tokens", attributes: [{ name: "n" }], dimensions: [{ name: "model" }], status: "ACTIVE" },
  ],
  features: [{ id: "chat", name: "Chat", schemaAssociations: ["chat"] }],
  addOns: [{ id: "addon.seats", name: "Seats", type: "LICENSE" }],
  usageMeters: [sumMeter("um.calls", "calls", "n"), { ...sumMeter("um.tokens", "tokens", "n"), groupBy: ["model"] }],
  pricePlans: [
    planOfMonths("pp.one", { ...calls(1), ...SEATS, ...CHATS }),
    planOfMonths("pp.two", { ...calls(2), ...SEATS, ...CHATS }),
    planOfMonths("pp.table", { usageRateCards: [{ usageMeterId: "um.tokens", rateTable: { rows: [{ rate: 1 }] } }] }),
  ],
  customers: [{ id: "acme", name: "Acme" }],
  accounts: [
    {
      id: "prod",
      name: "Acme prod",
      customerId: "acme",
      pricePlans: [{ pricePlanId: "pp.one", effectiveFrom: "2024-06-01", decidedAt: "2024-06-01T00:00:00Z" }],
    },
  ],
};

interface Answer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

type Ask = (line: string, body?: object) => Promise<Answer>;

/** Two servers over one store, called alternately. */
async function startServers(open: OpenStore): Promise<{ engine: Engine; sendInTurn: Ask; at: (time: string) => void }> {
  let now = Date.parse("2024-06-15T12:00:00Z");
  const store = await open(closing);
  const engines = [1, 2].map(() => createEngine({ store, clock: () => now }));
  const [engine] = engines;
  if (engine === undefined) throw new Error("there are two engines");
  await engine.load(BOOK);
  const { key } = await manageApiKeys(engine).create({ name: "all", role: "full" });
  const urls: string[] = [];
  for (const each of engines) {
    const server = await serve({ engine: each, port: 0, rateLimits: "off", log: { level: "silent" } });
    closing.push(() => server.close());
    urls.push(server.url);
  }
  let turn = 0;
  const sendInTurn: Ask = async (line, body) => {
    const [method = "", path = ""] = line.split(" ");
    const answer = await fetch(`${urls[turn++ % urls.length]}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, json: (await answer.json()) as Answer["json"] };
  };
  return { engine, sendInTurn, at: (time) => void (now = Date.parse(time)) };
}

function atOnce(count: number, work: (index: number) => Promise<Answer>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => work(index)));
}

/** The number of answers with each status and message. */
function tally(answers: readonly Answer[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status, json } of answers) {
    const name = status < 400 ? String(status) : `${status} ${String(json["message"])}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const chatOrCall = (id: string, n: number, schemaName = "calls", timestamp = "2024-06-10T08:00:00Z"): object => ({
  schemaName,
  id,
  accountId: "prod",
  timestamp,
  attributes: [{ name: "n", value: n }],
  dimensions: {},
});

describe.each(STORES)("at the same moment over %s", (_, open) => {
  test("a resource that is created twice exists once", async () => {
    const { sendInTurn } = await startServers(open);
    const customer = { id: "new", name: "New", primaryEmail: "new@acme.test" };
    expect(tally(await atOnce(20, () => sendInTurn("POST /customers", customer)))).toEqual({
      "201": 1,
      '409 the customer id "new" is taken': 19,
    });
    expect(tally(await atOnce(10, () => sendInTurn("POST /price_plans/pp.one/versions", {})))).toEqual({
      "200": 1,
      '400 version 2 of "pp.one" is a draft; edit it': 9,
    });
    const entry = { effectiveFrom: "2024-06-01", effectiveUntil: "2025-01-01", idempotencyKey: "e" };
    const grant = "POST /accounts/prod/features/chat/entries";
    const grants = await atOnce(20, (index) => sendInTurn(grant, { ...entry, granted: 10 + (index % 2) }));
    expect(tally(grants)).toEqual({ "201": 10, '409 the idempotencyKey "e" was used for another entry': 10 });
    expect(new Set(grants.flatMap(({ status, json }) => (status === 201 ? [json["id"]] : []))).size).toBe(1);
    const seats = { accountId: "prod", licenseId: "addon.seats", updateType: "RELATIVE", quantity: 5 };
    const updates = await atOnce(20, (index) =>
      sendInTurn("POST /license_updates", { ...seats, idempotencyKey: `l${index % 4}` }),
    );
    // Four keys, each for five more seats.
    expect([tally(updates), Math.max(...updates.map(({ json }) => Number(json["quantity"])))]).toEqual([
      { "200": 20 },
      20,
    ]);
  });

  test("S18.8 every row of a price table is added once", async () => {
    const { engine, sendInTurn } = await startServers(open);
    const answers = await atOnce(20, (index) => {
      const row = { when: { model: `m${index % 10}` }, from: "2024-06-15", rate: 2 };
      return sendInTurn("POST /price_plans/pp.table/rate_rows", { usageMeterId: "um.tokens", rows: [row] });
    });
    const countOf = (wanted: number): number => answers.filter(({ status }) => status === wanted).length;
    expect([countOf(200), countOf(400)]).toEqual([10, 10]);
    const { item } = await engine.pricePlans.get("pp.table");
    const models = item.pricePlanDetails.usageRateCards[0]?.rateTable?.rows.map(({ when }) => when?.["model"]) ?? [];
    expect([models.length, new Set(models).size]).toEqual([11, 11]);
  });

  test("S14.4 an event sent alone and in batches counts once, and no credit is consumed twice", async () => {
    const { engine, sendInTurn } = await startServers(open);
    const answers = await atOnce(40, (index) =>
      index % 2 === 0
        ? sendInTurn("POST /ingest", { event: chatOrCall("same", 7) })
        : sendInTurn("POST /ingestBatch", {
            events: [chatOrCall("same", 7), chatOrCall(`own${index}`, 1), chatOrCall("same", 7)],
          }),
    );
    expect(tally(answers)).toEqual({ "202": 40 });
    const cells = await engine.usage({ accountIds: ["prod"], from: "2024-06-01", until: "2024-07-01" });
    // 7 once, and 20 of 1.
    expect(cells.map(({ quantity }) => quantity.toNumber())).toEqual([27]);
    const results = await atOnce(60, (index) =>
      sendInTurn("POST /entitled", { event: chatOrCall(`t${index % 40}`, 7, "chat") }),
    );
    // 14 times 7 of 100.
    expect(results.filter(({ status }) => status === 200)).toHaveLength(14);
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set([200, 409, 422]));
    const { balance } = await engine.entries.balance({ accountId: "prod", featureId: "chat" });
    expect(balance.toNumber()).toBe(2);
  });

  test("S13.4 plan changes, migrations, undo, seats and bill runs leave one invoice for each billed day", async () => {
    const { engine, sendInTurn, at } = await startServers(open);
    for (const day of ["2024-06-16", "2024-07-04", "2024-08-05"]) {
      at(`${day}T09:00:00Z`);
      const versions = { sourceId: "pp.one", sourceVersion: 1, targetId: "pp.two", targetVersion: 1 };
      const works: readonly ((index: number) => Promise<Answer>)[] = [
        (index) =>
          sendInTurn("POST /accounts/prod/price_plans", {
            pricePlanId: index % 2 ? "pp.one" : "pp.two",
            effectiveFrom: day,
          }),
        () =>
          sendInTurn("POST /migrations/price_plan", {
            ...versions,
            migrationMode: "IMMEDIATE",
            retainStartOffsets: true,
          }),
        () => sendInTurn("POST /invoices/bill_runs", {}),
        (index) =>
          sendInTurn("POST /ingest", { event: chatOrCall(`${day}.${index % 12}`, 1, "calls", `${day}T08:00:00Z`) }),
        () => sendInTurn(`DELETE /events?account_id=prod&event_id=${day}.3`),
        () => sendInTurn("GET /invoices?account_id=prod"),
      ];
      const answers = await atOnce(48, async (index) => (await works[index % works.length]?.(index)) as Answer);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 202]));
    }
    at("2024-09-05T00:00:00Z");
    expect(tally(await atOnce(8, () => sendInTurn("POST /invoices/bill_runs", {})))).toEqual({ "200": 8 });
    const { items } = await engine.invoices.list({ filter: { accountId: "prod" }, page: { limit: 1000 } });
    const standard = items.filter(({ invoice }) => invoice.invoiceType === "STANDARD").map(({ invoice }) => invoice);
    const periods = standard.map(({ startDate, endDate }) => [startDate, endDate]).toReversed();
    // Each begins where the previous one ends.
    expect(periods.slice(1).map(([start]) => start)).toEqual(periods.slice(0, -1).map(([, end]) => end));
    expect([periods[0]?.[0], periods.at(-1)?.[1]]).toEqual(["2024-06-01T00:00:00.000Z", "2024-10-01T00:00:00.000Z"]);
  });
});
