/**
 * Any sequence of operations, done by two engines on one store beside a model that recomputes from scratch: what counts is
 * what was accepted and not reverted, credits balance, and a final invoice never changes (S11.6, S13.4, S14, S15).
 */
import fc from "fast-check";
import { expect } from "vitest";

import { createEngine, type Engine, memoryStore, RatebookError, type Store } from "../../src/index.ts";
import { linesOfType } from "../support/invoice-lines.ts";
import { countOf, emptyModel, isHeld, type Model, revertIn } from "./model.ts";
import { call, perUnit } from "./support.ts";

const DAY = 86_400_000;
const START = Date.parse("2024-01-01T06:00:00Z");
/** The accounts of the run, by place. */
export const ACCOUNTS = ["one", "two"] as const;
const RATES = { "pp.cheap": 1, "pp.dear": 3 } as const;

/** One thing that is done. */
export type Operation =
  | {
      readonly do: "ingest";
      readonly events: readonly { id: number; account: number; daysAgo: number; count: number }[];
    }
  | { readonly do: "undo"; readonly account: number; readonly id: number | undefined }
  | { readonly do: "grant"; readonly account: number; readonly granted: number; readonly days: number }
  | { readonly do: "void"; readonly account: number; readonly entry: number }
  | { readonly do: "seats"; readonly account: number; readonly quantity: number }
  | { readonly do: "plan"; readonly account: number; readonly plan: keyof typeof RATES | undefined }
  | { readonly do: "clock"; readonly days: number }
  | { readonly do: "finalize" };

const account = fc.nat(ACCOUNTS.length - 1);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("ingest" as const),
      events: fc.array(fc.record({ id: fc.nat(15), account, daysAgo: fc.nat(12), count: fc.nat(40) }), {
        maxLength: 5,
      }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("undo" as const), account, id: fc.option(fc.nat(15), { nil: undefined }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("grant" as const),
      account,
      granted: fc.nat(60),
      days: fc.integer({ min: 1, max: 40 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("void" as const), account, entry: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("seats" as const), account, quantity: fc.nat(9) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("plan" as const),
      account,
      plan: fc.constantFrom("pp.cheap" as const, "pp.dear" as const, undefined),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("clock" as const), days: fc.nat(25) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("finalize" as const) }) },
);
/** Anything that may be done, one after another. */
export const operations = fc.array(operation, { minLength: 1, maxLength: 25 });

/** One meter and one feature that count the same attribute; seats; 50 or 70 units a month, and 30 beyond them. */
const BOOK = {
  eventSchemas: [{ name: "call", attributes: [{ name: "count" }], dimensions: [{ name: "region" }] }],
  usageMeters: [
    {
      id: "um.calls",
      name: "calls",
      aggregation: "SUM",
      eventSchemaName: "call",
      computations: [{ order: 1, computation: { var: "attribute.count" } }],
    },
  ],
  features: [{ id: "calls", name: "Calls", schemaAssociations: ["call"] }],
  addOns: [{ id: "seats", name: "Seats", type: "LICENSE" }],
  pricePlans: Object.entries(RATES).map(([id, rate]) => ({
    id,
    name: id,
    status: "ACTIVE",
    pricePlanDetails: {
      supportedCurrencies: ["USD"],
      pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod: 3 },
      usageRateCards: [{ usageMeterId: "um.calls", ...perUnit(rate) }],
      licenseRateCards: [{ id: "seats", invoiceTiming: "IN_ADVANCE", ...perUnit(5) }],
      billingEntitlementRateCards: [
        {
          featureId: "calls",
          featureConfigs: (id === "pp.dear" ? [50, 20] : [50]).map((featureCreditLimit) => ({
            featureCreditLimit,
            effectiveUntil: "P1M",
          })),
          ...perUnit(0),
        },
      ],
      entitlementOverageRateCards: [{ featureId: "calls", maxQuantity: 30, ...perUnit(1) }],
    },
  })),
  customers: [{ id: "acme", name: "Acme" }],
  accounts: ACCOUNTS.map((id) => ({
    id,
    name: `Account ${id}`,
    customerId: "acme",
    pricePlans: [{ pricePlanId: "pp.cheap", effectiveFrom: "2024-01-01" }],
  })),
};

/** What runs a sequence: its engines, its clock, and what it knows of what was done. */
export interface Run {
  readonly engines: readonly Engine[];
  readonly model: Model;
  readonly final: Map<string, string>;
  now: number;
  done: number;
}

/** Opens two engines over a store, and loads what is sold. */
export async function opened(store: Store = memoryStore()): Promise<Run> {
  const run: Omit<Run, "engines"> & { engines: Engine[] } = {
    engines: [],
    model: emptyModel(),
    final: new Map(),
    now: START,
    done: 0,
  };
  let made = 0;
  const ids = (prefix: string): string => `${prefix}.${String(++made).padStart(6, "0")}`;
  for (let count = 0; count < 2; count++) run.engines.push(createEngine({ store, clock: () => run.now, ids }));
  await run.engines[0]?.load(BOOK);
  return run;
}

/** Operations go to the engines in turn. */
export function engineOf(run: Run): Engine {
  const engine = run.engines[run.done++ % run.engines.length];
  if (engine === undefined) throw new Error("a run has engines");
  return engine;
}

/** Does one thing, and notes in the model what came of it. */
export async function perform(run: Run, operation: Operation): Promise<void> {
  const engine = engineOf(run);
  switch (operation.do) {
    case "ingest":
      return ingest(run, engine, operation.events);
    case "undo":
      return undo(run, engine, operation);
    case "grant": {
      const of = { accountId: ACCOUNTS[operation.account] ?? "", featureId: "calls" };
      const effectiveFrom = new Date(run.now - 2 * DAY).toISOString();
      const effectiveUntil = new Date(run.now + operation.days * DAY).toISOString();
      await engine.entries.grant(of, { granted: operation.granted, effectiveFrom, effectiveUntil });
      return;
    }
    case "void": {
      const accountId = ACCOUNTS[operation.account] ?? "";
      const { items } = await engine.entries.list({ accountId, featureId: "calls" });
      const entry = items[operation.entry];
      if (entry !== undefined) await unlessRefused(engine.entries.void({ accountId, entryId: entry.id }));
      return;
    }
    case "seats": {
      const update = { licenseId: "seats", updateType: "ABSOLUTE" as const, quantity: operation.quantity };
      await engine.licenses.update(ACCOUNTS[operation.account] ?? "", update);
      return;
    }
    case "plan": {
      const accountId = ACCOUNTS[operation.account] ?? "";
      const effectiveFrom = new Date(run.now).toISOString().slice(0, 10);
      const { plan } = operation;
      if (plan === undefined) await unlessRefused(engine.dissociate(accountId, { effectiveFrom }));
      else await unlessRefused(engine.associate(accountId, { pricePlanId: plan, effectiveFrom }));
      return;
    }
    case "clock":
      run.now += operation.days * DAY;
      return;
    case "finalize": {
      const previewed = await engine.preview();
      await engine.finalize();
      // S13.5
      expect(await engine.preview()).toEqual(previewed);
    }
  }
}

async function ingest(
  { model, now }: Run,
  engine: Engine,
  sent: Extract<Operation, { do: "ingest" }>["events"],
): Promise<void> {
  const events = sent.map((each) => ({
    id: `e${each.id}`,
    accountId: ACCOUNTS[each.account] ?? "",
    at: now - each.daysAgo * DAY,
    count: each.count,
  }));
  const batch = events.map(({ id, at, count, accountId }) => call(id, new Date(at).toISOString(), count, accountId));
  const results = await engine.ingest(batch);
  expect(results).toHaveLength(events.length);
  for (const [place, event] of events.entries()) {
    const status = results[place]?.status ?? "";
    // S14.1: a duplicate is one, whatever else is wrong with it.
    expect(status === "INGESTION_FAILED_DUPLICATE_EVENT").toBe(isHeld(model, event.id, now));
    if (!status.startsWith("INGESTION_COMPLETED")) continue;
    model.accepted.push({ ...event, ingestedAt: now, referenceId: results[place]?.referenceId ?? "" });
  }
}

async function undo(
  { model }: Run,
  engine: Engine,
  { account, id }: { account: number; id: number | undefined },
): Promise<void> {
  const filter = { account_id: ACCOUNTS[account] ?? "", ...(id === undefined ? {} : { event_id: `e${id}` }) };
  const undone = await engine.undo(filter);
  expect(undone.length).toBeLessThanOrEqual(5);
  for (const { status, event } of undone) if (status === "REVERTED") revertIn(model, event.referenceId);
}

async function unlessRefused(operation: Promise<unknown>): Promise<void> {
  try {
    await operation;
  } catch (error) {
    if (!(error instanceof RatebookError) || error.code !== "ERR_REFUSED") throw error;
  }
}

const ALL_TIME = { from: "2023-01-01T00:00:00Z", until: "2030-01-01T00:00:00Z" };

/** Compares all that counts with the model. */
export async function check(run: Run): Promise<void> {
  const [engine] = run.engines;
  if (engine === undefined) return;
  for (const accountId of ACCOUNTS) {
    const usage = await engine.usage({ accountIds: [accountId], ...ALL_TIME });
    const used = usage.reduce((total, { quantity }) => total + quantity.toNumber(), 0);
    expect(used).toBe(countOf(run.model, accountId));
    expect(await metered(engine, accountId)).toEqual([used, used]);
    const overage = await engine.overage({ accountIds: [accountId], ...ALL_TIME });
    const over = overage.reduce((total, { quantity }) => total + quantity.toNumber(), 0);
    const { items } = await engine.entries.list({ accountId, featureId: "calls" }, { limit: 1000 });
    // S11.6
    let spent = 0;
    for (const { granted, balance } of items) {
      expect(balance.gte(0) && balance.lte(granted)).toBe(true);
      spent += granted.toNumber() - balance.toNumber();
    }
    expect(spent + over).toBe(countOf(run.model, accountId));
  }
  await checkInvoices(run, engine);
}

/** The units of an account, as the sums by day tell, and as its events do. */
async function metered(engine: Engine, accountId: string): Promise<readonly number[]> {
  const filters = [{ fieldName: "ACCOUNT_ID" as const, fieldValues: [accountId] }];
  const query = { name: "USAGE", aggregationPeriod: "MONTH", filters } as const;
  const results = await engine.metrics({
    startTime: ALL_TIME.from,
    endTime: ALL_TIME.until,
    metricQueries: [
      { ...query, id: "days" },
      { ...query, id: "events", groupBy: "EVENT_STATUS" },
    ],
  });
  return results.map(({ series }) =>
    series.flatMap(({ points }) => points).reduce((total, { value }) => total + value.toNumber(), 0),
  );
}

async function checkInvoices({ model, final }: Run, engine: Engine): Promise<void> {
  const { items } = await engine.invoices.list({}, { limit: 1000 });
  const found = new Map(items.map((item) => [item.id, item]));
  // S13.4: what was final is there, as it was.
  for (const [id, text] of final) expect(JSON.stringify(found.get(id))).toBe(text);
  for (const item of items) {
    if (item.finalizedAt !== undefined) final.set(item.id, JSON.stringify(item));
    const { accountId, startDate, endDate, invoiceType, pricePlanId } = item.invoice;
    if (invoiceType !== "STANDARD") continue;
    const count = countOf(model, accountId, Date.parse(startDate), Date.parse(endDate));
    const [line] = linesOfType(item.invoice, "USAGE_RATE_CARD_AMOUNT");
    const rate = RATES[pricePlanId as keyof typeof RATES];
    expect(line?.value.toNumber() ?? 0).toBe(count * rate);
  }
}

/** What anybody can see at the end. */
export async function shownOf({ engines }: Run): Promise<unknown> {
  const [engine] = engines;
  if (engine === undefined) return undefined;
  const entries = await Promise.all(
    ACCOUNTS.map((accountId) => engine.entries.list({ accountId, featureId: "calls" }, { limit: 1000 })),
  );
  return {
    invoices: (await engine.preview()).map(({ id, invoice }) => ({ id, invoice })),
    usage: await engine.usage({ accountIds: ACCOUNTS, ...ALL_TIME }),
    overage: await engine.overage({ accountIds: ACCOUNTS, ...ALL_TIME }),
    entries,
    metrics: await engine.metrics({
      startTime: ALL_TIME.from,
      endTime: ALL_TIME.until,
      metricQueries: [
        { id: "events", name: "EVENTS", aggregationPeriod: "MONTH", groupBy: "EVENT_STATUS" },
        { id: "revenue", name: "REVENUE", aggregationPeriod: "MONTH", groupBy: "ACCOUNT_ID" },
      ],
    }),
    credits: await Promise.all(ACCOUNTS.map((accountId) => engine.creditBalance(accountId))),
  };
}
