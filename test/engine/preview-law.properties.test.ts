/**
 * The law of S13.5: a preview gives every event what an engine gives it that was loaded with the same book before the first
 * event, and whose clock goes to each event's timestamp. Books and events are as hostile as the rules allow.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { readBook } from "../../src/book/book.ts";
import { DAY_MS, formatDate, instantOf, instantOrUndefined } from "../../src/calendar/instant.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { Invoice } from "../../src/invoicing/invoice.ts";
import { isCompleted } from "../../src/ledger/outcome.ts";
import { type EventRun, startEventRun } from "../../src/ledger/preview/preview-run.ts";
import { preview } from "../../src/ledger/preview/preview.ts";
import { rememberIds } from "../../src/ledger/preview/seen-ids.ts";
import { noChanges } from "../../src/ledger/workspace.ts";
import { textOf } from "../../src/numbers/decimal.ts";
import { addExact, type Exact, isZeroExact, textOfExact } from "../../src/numbers/exact.ts";
import { type MemoryStore, memoryStore } from "../../src/store/memory/memory.ts";

const LOADED = instantOf("2024-01-01");
const MONTHS = ["2024-02", "2024-03", "2024-04", "2024-05", "2024-06"];

const LONG = "12345678901234567890.12345678901234567891";
type Rates = fc.Arbitrary<number | string>;
const rates: Rates = fc.constantFrom<number | string>(0, 1, "0.00000000000000000001", LONG, LONG);
/** Beside a sum with 40 digits before the point and 39 after it, an amount at this rate has more than 100 (S1.4). */
const longRates: Rates = fc.constant(LONG);
const quantities = fc.constantFrom<number | string>(0, 1, 3, 10, 100, "0.5", "1e13", "99999999999999999999", LONG);

const limits = fc.constantFrom<number | string>(0, 1, 10, 1000, "99999999999999999999");

const perUnit = (rate: number | string): object => ({
  ratePlan: { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] },
  rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate }] }],
});

const FEATURES = ["f.n", "f.cube"];
const METERS = ["um.count", "um.n", "um.cube"];
const n = { var: "attribute.n" };
const cube = { "*": [n, n, n] };
const unlessLab = { "!=": [{ var: "dimension.region" }, "lab"] };

const cards = <Card>(ids: readonly string[], card: (id: string) => fc.Arbitrary<Card>): fc.Arbitrary<readonly Card[]> =>
  fc
    .oneof({ weight: 2, arbitrary: fc.constant([...ids]) }, fc.subarray([...ids]))
    .chain((chosen) => fc.tuple(...chosen.map(card)));

/** Plans that price and grant some of all that there is. */
const details = (rated: Rates): fc.Arbitrary<object> =>
  fc.record({
    supportedCurrencies: fc.constant(["USD"]),
    pricingCycleConfig: fc.record({
      interval: fc.constantFrom("WEEKLY", "MONTHLY"),
      startOffset: fc.constant({ dayOffset: "1" }),
      gracePeriod: fc.constantFrom(0, 3, 40),
    }),
    usageRateCards: cards(METERS, (usageMeterId) => rated.map((rate) => ({ usageMeterId, ...perUnit(rate) }))),
    billingEntitlementRateCards: cards(FEATURES, (featureId) =>
      fc
        .record({ limit: limits, effectiveUntil: fc.constantFrom("P1M", "P7D", "P45D"), rate: rated })
        .map(({ limit, effectiveUntil, rate }) => ({
          featureId,
          featureConfigs: [{ featureCreditLimit: limit, effectiveUntil }],
          ...perUnit(rate),
        })),
    ),
    entitlementOverageRateCards: cards(FEATURES, (featureId) =>
      fc.record({ maxQuantity: fc.option(limits, { nil: undefined }), rate: rated }).map(({ maxQuantity, rate }) => ({
        featureId,
        ...(maxQuantity === undefined ? {} : { maxQuantity }),
        ...perUnit(rate),
      })),
    ),
  });

/** Up to three stretches of plans, with gaps between them or none, in the order of time. */
const associations = fc
  .uniqueArray(fc.record({ month: fc.nat(4), day: fc.constantFrom(1, 8, 15, 20) }), {
    minLength: 1,
    maxLength: 3,
    selector: ({ month, day }) => month * 31 + day,
  })
  .chain((starts) => {
    const sorted = starts.toSorted((a, b) => a.month - b.month || a.day - b.day);
    return fc.tuple(
      ...sorted.map(({ month, day }) =>
        fc
          .record({
            pricePlanId: fc.constantFrom("p.one", "p.two"),
            days: fc.constantFrom(undefined, undefined, 14, 62),
          })
          .map(({ pricePlanId, days }) => {
            const effectiveFrom = `${MONTHS[month]}-${String(day).padStart(2, "0")}`;
            const end = days === undefined ? undefined : formatDate(instantOf(effectiveFrom) + days * DAY_MS);
            return { pricePlanId, effectiveFrom, ...(end === undefined ? {} : { effectiveUntil: end }) };
          }),
      ),
    );
  });

/** Entries of few different stretches and amounts, so that many tie. */
const featureCredits = fc.array(
  fc.record({
    featureId: fc.constantFrom(...FEATURES),
    granted: quantities,
    effectiveFrom: fc.constantFrom("2024-02-01", "2024-03-01"),
    effectiveUntil: fc.constantFrom("2024-04-01", "2024-05-01"),
  }),
  { maxLength: 4 },
);

const ACTIVE = ["a", "b"];
const account = (id: string): fc.Arbitrary<object> =>
  fc.record({ pricePlans: associations, featureCredits }).map((more) => ({
    id,
    name: `Account ${id}`,
    customerId: "c",
    invoiceCurrency: "USD",
    aliases: [`alias.${id}`],
    ...more,
  }));

const books = (rate: Rates): fc.Arbitrary<object> =>
  fc
    .record({ one: details(rate), two: details(rate), accounts: fc.tuple(...ACTIVE.map(account)) })
    .map(({ one, two, accounts }) => ({
      eventSchemas: [
        { name: "metered", attributes: [{ name: "n" }], dimensions: [{ name: "region" }] },
        { name: "taking", attributes: [{ name: "n" }] },
        {
          name: "cubing",
          attributes: [{ name: "n" }],
          enrichments: {
            fields: [{ name: "cube", type: "ATTRIBUTE", order: 1, enrichmentType: "JSON_LOGIC", value: cube }],
          },
        },
        { name: "bare", attributes: [] },
      ],
      usageMeters: [
        {
          id: "um.count",
          name: "count",
          aggregation: "COUNT",
          eventSchemaName: "taking",
          computations: [{ order: 1 }],
        },
        {
          id: "um.n",
          name: "n",
          aggregation: "SUM",
          eventSchemaName: "metered",
          computations: [{ order: 1, matcher: unlessLab, computation: n }],
        },
        {
          id: "um.cube",
          name: "cube",
          aggregation: "SUM",
          eventSchemaName: "metered",
          computations: [{ order: 1, computation: cube }],
        },
      ],
      features: [
        { id: "f.n", name: "N", schemaAssociations: [{ schemaName: "taking", attributeName: "n" }] },
        { id: "f.cube", name: "Cube", schemaAssociations: [{ schemaName: "cubing", attributeName: "cube" }] },
      ],
      pricePlans: [
        { id: "p.one", name: "One", status: "ACTIVE", pricePlanDetails: one },
        { id: "p.two", name: "Two", status: "ACTIVE", pricePlanDetails: two },
      ],
      customers: [{ id: "c", name: "Customer" }],
      accounts: [
        ...accounts,
        { id: "gone", name: "Archived", customerId: "c", status: "ARCHIVED", aliases: ["alias.gone"] },
      ],
    }));

/** Numbers that meters and entries trip over: 1e13 cubed has 40 digits, 1e14 cubed 43. */
const values = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>(0, 1, 2, 5, 10, 0.5, 1e-7) },
  { weight: 6, arbitrary: fc.constantFrom<unknown>("1e13", 1e-13) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(-1, 1e14, 1e15, 1e-14, "9".repeat(20), `0.${"0".repeat(19)}1`, LONG),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>("1e21", "many", "") },
);

const event = (value: fc.Arbitrary<unknown>): fc.Arbitrary<ArbitraryEvent> =>
  fc.record({
    /** In order; some are alike. */
    at: fc
      .record({ day: fc.nat(175), ms: fc.constantFrom(0, 1, 43_200_000, DAY_MS - 1) })
      .map(({ day, ms }) => instantOf("2024-01-10") + day * DAY_MS + ms),
    schemaName: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom("metered", "taking", "cubing") },
      { weight: 1, arbitrary: fc.constantFrom("bare", "unknown") },
    ),
    id: fc.nat(60).map((place) => `e${place}`),
    accountId: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom("a", "a", "alias.a", "b", "alias.b") },
      { weight: 1, arbitrary: fc.constantFrom("gone", "alias.gone", "nobody", "__proto__") },
    ),
    value,
    region: fc.constantFrom<unknown>("eu", "eu", "eu", "lab", 5, undefined),
    fault: fc.oneof(
      { weight: 20, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom("nothing", "no id", "no timestamp", "twice", "no attributes") },
    ),
  });

function eventOf({ at, schemaName, id, accountId, value, region, fault }: ArbitraryEvent): unknown {
  const attributes = [{ name: "n", value }];
  const whole = {
    schemaName,
    id,
    accountId,
    timestamp: new Date(at).toISOString(),
    attributes,
    ...(region === undefined ? {} : { dimensions: { region } }),
  };
  switch (fault) {
    case undefined:
      return whole;
    case "nothing":
      return null;
    case "no id":
      return { ...whole, id: 7 };
    case "no timestamp":
      return { ...whole, timestamp: "2024-02-30T00:00:00Z" };
    case "twice":
      return { ...whole, attributes: [...attributes, ...attributes] };
    case "no attributes":
      return { ...whole, attributes: null };
  }
}

interface ArbitraryEvent {
  readonly at: number;
  readonly schemaName: string;
  readonly id: string;
  readonly accountId: string;
  readonly value: unknown;
  readonly region: unknown;
  readonly fault: "nothing" | "no id" | "no timestamp" | "twice" | "no attributes" | undefined;
}

const events = (value: fc.Arbitrary<unknown>): fc.Arbitrary<readonly unknown[]> =>
  fc
    .array(event(value), { minLength: 1, maxLength: 30, size: "max" })
    .map((list) => list.toSorted((a, b) => a.at - b.at).map(eventOf));

/** Beside each event one that is large and one that is fine: the sum of their cubes has 79 digits. */
const wideEvents = fc.array(event(fc.constant(1)), { minLength: 2, maxLength: 8, size: "max" }).map((list) =>
  list
    .toSorted((a, b) => a.at - b.at)
    .flatMap((each, place) => [
      eventOf(each),
      ...["1e13", 1e-13].map((value) =>
        eventOf({
          ...each,
          schemaName: "metered",
          id: `wide.${place}.${value}`,
          value,
          region: "eu",
          fault: undefined,
        }),
      ),
    ]),
);

/** What one account holds, in words. What is 0 says nothing, and is left out. */
interface Held {
  readonly usage: readonly string[];
  readonly taken: readonly string[];
  readonly overage: readonly string[];
}

async function heldByEngine(store: MemoryStore, accountId: string): Promise<Held> {
  const { read } = store;
  const cells = async (kind: "usage" | "overage"): Promise<readonly string[]> =>
    (await read[kind]([accountId], -1_000_000, 1_000_000))
      .map(({ meterOrFeatureId, day, quantity }) => `${meterOrFeatureId} ${day} ${textOf(quantity)}`)
      .toSorted();
  const entries = await read.entries([accountId]);
  return { usage: await cells("usage"), overage: await cells("overage"), taken: takenOf(entries) };
}

function heldByPreview({ accounts, usage }: EventRun, accountId: string): Held {
  const work = accounts.of(accountId)?.seen.work;
  const changes = noChanges();
  work?.addTo(changes);
  const overage = new Map<string, Exact>();
  for (const { meterOrFeatureId, day, quantity } of changes.overage) {
    const key = `${meterOrFeatureId} ${day}`;
    overage.set(key, addExact(overage.get(key) ?? 0, quantity));
  }
  return {
    usage: [...usage.cellsOf(accountId)]
      .filter(({ quantity }) => !quantity.isZero())
      .map(({ meterId, day, quantity }) => `${meterId} ${day} ${textOf(quantity)}`)
      .toSorted(),
    overage: [...overage]
      .filter(([, quantity]) => !isZeroExact(quantity))
      .map(([key, quantity]) => `${key} ${textOfExact(quantity)}`)
      .toSorted(),
    taken: takenOf(work?.entries() ?? []),
  };
}

type Entries = Awaited<ReturnType<MemoryStore["read"]["entries"]>>;

/** The entries of which something was taken: which, and how much is left. */
function takenOf(entries: Entries): readonly string[] {
  return entries
    .filter(({ granted, balance }) => !granted.eq(balance))
    .map(({ id, granted, balance }) => `${id} ${textOf(granted)} ${textOf(balance)}`)
    .toSorted();
}

/** All that entries say. */
function shownEntries(entries: Entries): readonly string[] {
  return entries
    .map(
      ({ id, featureId, granted, balance, effectiveFrom, effectiveUntil, voided }) =>
        `${id} ${featureId} ${textOf(granted)} ${textOf(balance)} ${effectiveFrom} ${effectiveUntil} ${voided}`,
    )
    .toSorted();
}

interface Clocked {
  readonly engine: Engine;
  readonly store: MemoryStore;
  /** Sends one event when it happens. */
  readonly send: (event: unknown) => ReturnType<Engine["ingest"]>;
}

/** An engine that was loaded with a book before anything, and whose clock goes to each event's timestamp and never back. */
async function loadedWith(book: object): Promise<Clocked> {
  let now = LOADED;
  const store = memoryStore();
  const engine = createEngine({ store, clock: () => now });
  await engine.load(book);
  return {
    engine,
    store,
    send(sent) {
      const { timestamp } = (sent ?? {}) as { readonly timestamp?: unknown };
      const at = typeof timestamp === "string" ? instantOrUndefined(timestamp) : undefined;
      if (at !== undefined) now = Math.max(now, at);
      return engine.ingest([sent]);
    },
  };
}

/** Sends the events to both, one by one, and compares all that comes of each. */
async function compare(book: object, sent: readonly unknown[]): Promise<void> {
  const { store, send } = await loadedWith(book);
  const run = startEventRun(readBook(book), { ids: rememberIds() });
  for (const each of sent) {
    const [answer] = await send(each);
    const outcome = run.add(each);
    expect(outcome).toEqual({ status: answer?.status, description: answer?.description });
    if (!isCompleted(outcome.status)) continue;
    const [stored] = await store.read.events({ referenceId: answer?.referenceId ?? "" }, { limit: 1 });
    const accountId = stored?.accountId ?? "";
    expect(heldByPreview(run, accountId)).toEqual(await heldByEngine(store, accountId));
  }
  // What fell due of an account is done with its next event: with these, all of it is in both.
  for (const accountId of ACTIVE) {
    const last = { schemaName: "bare", id: `last.${accountId}`, accountId, timestamp: "2024-07-04T00:00:00Z" };
    const [answer] = await send(last);
    expect(run.add(last)).toEqual({ status: answer?.status, description: answer?.description });
    expect(heldByPreview(run, accountId)).toEqual(await heldByEngine(store, accountId));
    expect(shownEntries(run.accounts.of(accountId)?.seen.work.entries() ?? [])).toEqual(
      shownEntries(await store.read.entries([accountId])),
    );
  }
}

const RANGE = { from: "2024-01-01", until: "2024-07-05" };

/** Invoices as both say them: whose, of which period and what is to be paid. */
const headsOf = (invoices: readonly Invoice[]): readonly string[] =>
  invoices
    .map(({ accountId, invoiceType, startDate, endDate, revenueInfo: { value } }) =>
      [accountId, invoiceType, startDate, endDate, textOf(value)].join(" "),
    )
    .toSorted();

/** Sends the events to both, and compares the invoices of all accounts and which accounts have none. */
async function compareInvoices(book: object, sent: readonly unknown[]): Promise<void> {
  const { engine, send } = await loadedWith(book);
  const lasts = ACTIVE.map((accountId) => ({
    schemaName: "bare",
    id: `last.${accountId}`,
    accountId,
    timestamp: "2024-07-04T00:00:00Z",
  }));
  for (const each of [...sent, ...lasts]) await send(each);
  const byEngine = await engine.preview(RANGE);
  const offline = preview(readBook(book), [...sent, ...lasts], RANGE);
  const left = ({
    skipped = [],
  }: {
    readonly skipped?: readonly { readonly accountId: string }[];
  }): readonly string[] => skipped.map(({ accountId }) => accountId).toSorted();
  expect(left(offline)).toEqual(left(byEngine));
  expect(headsOf(offline.invoices)).toEqual(headsOf(byEngine.invoices.map(({ invoice }) => invoice)));
}

describe("S13.5 each event has the outcome, units and consumption in a preview that it has in an engine", () => {
  test("S13.5 whatever the book and the events", async () => {
    await fc.assert(fc.asyncProperty(books(rates), events(values), compare), { numRuns: 60 });
  }, 60_000);

  test("S13.5 where amounts are so long that bills cannot be made", async () => {
    await fc.assert(fc.asyncProperty(books(longRates), wideEvents, compare), { numRuns: 60 });
  }, 60_000);
});

describe("S13.5 a preview has the invoices of an engine, without the accounts whose bill cannot be made", () => {
  test("S1.4 S13.5 both leave out the same accounts, and have the same invoices of the others", async () => {
    await fc.assert(fc.asyncProperty(books(longRates), wideEvents, compareInvoices), { numRuns: 40 });
  }, 60_000);

  test("S13.5 whatever the book and the events", async () => {
    await fc.assert(fc.asyncProperty(books(rates), events(values), compareInvoices), { numRuns: 40 });
  }, 60_000);
});
