/**
 * Checking and compiling only what a configuration change affects gives the same result as checking and compiling
 * everything.
 */
import fc from "fast-check";
import { expect, test } from "vitest";

import type { Engine } from "../../../src/engine/engine.ts";
import { RatebookError } from "../../../src/errors.ts";
import { type MemoryStore, memoryStore } from "../../../src/store/memory/memory.ts";
import { monthlyWithGrace, perUnit } from "../../book/builder.ts";
import { runs } from "../../support/runs.ts";
import { engineAt } from "../support.ts";

/** An engine whose ids depend only on how many were generated before. */
const engineOver = (store: MemoryStore, counter: { count: number }): Engine =>
  engineAt("2024-01-10", store, { ids: (prefix) => `${prefix}.${++counter.count}` }).engine;

const count = { name: "count" };
const place = fc.nat(2);
const attributes = fc.constantFrom([count], [count, { name: "size" }], [{ name: "size" }]);
const rule = fc.constantFrom<unknown>(
  { var: "attribute.count" },
  { "+": [{ var: "attribute.size" }, 1] },
  { var: "attribute.half" },
  { "*": [{ var: "dependencies.factor" }, 2] },
  '{"var": "attribute.count"}',
  // No event schema of these has a rule.
  { var: "attribute.unknown" },
  { unknown: [] },
);
const enrichments = fc.option(
  fc.record({
    dependencies: fc.constantFrom([], [{ key: "factor", name: "factor" }]),
    fields: fc.constantFrom<readonly string[]>([], ["JSON_LOGIC"], ["JSON_LOGIC_FROM_DEPENDENCY"], ["VALUE"]),
    rule,
  }),
  { nil: undefined },
);
type Enrichments = typeof enrichments extends fc.Arbitrary<infer Value> ? Value : never;

function buildEnrichments(rules: Enrichments): object {
  if (rules === undefined) return {};
  const value = { JSON_LOGIC: rules.rule, JSON_LOGIC_FROM_DEPENDENCY: "factor", VALUE: "2.5" };
  const fields = rules.fields.map((enrichmentType) => ({
    name: "half",
    type: "ATTRIBUTE",
    order: 1,
    enrichmentType,
    value: value[enrichmentType as keyof typeof value],
  }));
  return { enrichments: { dependencies: rules.dependencies, fields } };
}

const slabs = fc.constantFrom<readonly (readonly [number, number | null])[]>(
  [[0, null]],
  [
    [0, 5],
    [5, null],
  ],
  // A gap.
  [
    [0, 5],
    [6, null],
  ],
);
const details = fc
  .record({
    slabs,
    meter: place,
    addOn: fc.option(place),
    feature: fc.option(place),
    currency: fc.constantFrom("USD", "EUR"),
  })
  .map(({ slabs: rules, meter, addOn, feature, currency }) => ({
    ...monthlyWithGrace(1),
    supportedCurrencies: [currency],
    usageRateCards: [
      {
        usageMeterId: `meter ${meter}`,
        ratePlan: {
          pricingModel: "TIERED",
          slabs: rules.map(([startAfter, endAt], at) => ({ order: at + 1, startAfter, endAt, priceType: "PER_UNIT" })),
        },
        rateValues: [{ currency: "USD", slabRates: rules.map((_, at) => ({ order: at + 1, rate: `0.${at + 1}` })) }],
      },
    ],
    ...(addOn !== null && {
      fixedFeeRateCards: [{ id: `add-on ${addOn}`, rateValues: [{ currency: "USD", rate: 10 }] }],
    }),
    ...(feature !== null && {
      entitlementOverageRateCards: [{ featureId: `feature ${feature}`, ...perUnit("0.5") }],
    }),
  }));

/** A change of the resource with an index among those of its kind. */
type Write = (engine: Engine, at: Ids) => Promise<unknown>;
type Ids = Readonly<Record<"meter" | "addOn" | "feature" | "plan" | "setting", (place: number) => string>>;

const settingValue = fc.constantFrom(
  "2",
  "3.5",
  ...["count", "unknown"].map((n) => `{"var": "attribute.${n}"}`),
  "no number",
);
const dataType = fc.constantFrom("NUMERIC", "STRING", "JSON_LOGIC");
/** A change with random values. */
const writeWith = <Values extends unknown[]>(
  values: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  run: (drawn: Values, engine: Engine, at: Ids) => Promise<unknown>,
): fc.Arbitrary<Write> =>
  fc.tuple(...values).map((drawn) => (engine, at) => run(drawn as unknown as Values, engine, at));
const entityType = fc.constantFrom("ORGANIZATION" as const, "ACCOUNT" as const);
const move = fc.constantFrom(...(["activate", "activate", "deactivate", "archive"] as const));
const planMove = fc.constantFrom(...(["activate", "activate", "createVersion", "archive"] as const));
const addOnType = fc.constantFrom("FIXED_FEE" as const, "LICENSE" as const);
const schemaNames = fc.subarray([0, 1, 2]).map((places) => places.map((each) => `schema${each}`));
const netTermDays = fc.constantFrom(0, 30, -1);
const computations = rule.map((computation) => [{ order: 1, computation: computation as object }]);

const write = fc.oneof(
  writeWith([place, attributes, enrichments], ([n, rules, more], { eventSchemas }) =>
    eventSchemas.create({ name: `schema${n}`, attributes: rules, ...buildEnrichments(more) }),
  ),
  writeWith([place, attributes, enrichments], ([n, rules, more], { eventSchemas }) =>
    eventSchemas.update(`schema${n}`, { attributes: rules, ...buildEnrichments(more) }),
  ),
  writeWith([place, move], ([n, to], { eventSchemas }) => eventSchemas[to](`schema${n}`)),
  writeWith([entityType, dataType, settingValue], ([owner, type, value], { settings }) =>
    settings.create({
      id: "factor",
      entityType: owner,
      ...(owner === "ACCOUNT" && { entityId: "acme" }),
      dataType: type,
      value,
    }),
  ),
  writeWith([place, settingValue], ([n, value], { settings }, at) => settings.update(at.setting(n), { value })),
  writeWith([place, place, computations], ([n, schema, steps], { usageMeters }) =>
    usageMeters.create({
      name: `meter ${n}`,
      aggregation: "SUM",
      eventSchemaName: `schema${schema}`,
      computations: steps,
    }),
  ),
  writeWith([place, move], ([n, to], { usageMeters }, at) => usageMeters[to](at.meter(n))),
  writeWith([place, computations], ([n, steps], { usageMeters }, at) =>
    usageMeters.update(at.meter(n), { billableName: `Billed ${n}`, computations: steps }),
  ),
  writeWith([place, schemaNames], ([n, schemaAssociations], { features }) =>
    features.create({ name: `feature ${n}`, schemaAssociations }),
  ),
  writeWith([place, schemaNames], ([n, schemaAssociations], { features }, at) =>
    features.update(at.feature(n), { schemaAssociations }),
  ),
  writeWith([place, addOnType], ([n, type], { addOns }) => addOns.create({ name: `add-on ${n}`, type })),
  writeWith([place], ([n], { addOns }, at) => addOns.archive(at.addOn(n))),
  writeWith([place, details], ([n, pricePlanDetails], { pricePlans }) =>
    pricePlans.create({ name: `plan ${n}`, type: "BILLING", pricePlanDetails } as never),
  ),
  writeWith([place, details], ([n, pricePlanDetails], { pricePlans }, at) =>
    pricePlans.update(at.plan(n), { pricePlanDetails } as never),
  ),
  writeWith([place, planMove], ([n, to], { pricePlans }, at) => pricePlans[to](at.plan(n))),
  writeWith([netTermDays], ([days], { invoiceGroups }) =>
    invoiceGroups.create({ name: "group", invoiceCurrency: "USD", netTermDays: days } as never),
  ),
);

const PAGE = { page: { limit: 1000 } };

async function collectIds(engine: Engine): Promise<Ids> {
  const pickFrom =
    (items: readonly { readonly item: { readonly id: string } }[]): ((place: number) => string) =>
    (n) =>
      items[n % items.length]?.item.id ?? "none";
  const settings = (await engine.settings.list(PAGE)).items.map(
    ({ item: { namespace, id } }) => `setting.${namespace}.${id}`,
  );
  return {
    meter: pickFrom((await engine.usageMeters.list(PAGE)).items),
    addOn: pickFrom((await engine.addOns.list(PAGE)).items),
    feature: pickFrom((await engine.features.list(PAGE)).items),
    plan: pickFrom((await engine.pricePlans.list(PAGE)).items),
    setting: (n) => settings[n % settings.length] ?? "none",
  };
}

/** The result of a change: its answer, or the rejection. */
async function settle(change: Promise<unknown>): Promise<unknown> {
  try {
    return { answer: await change };
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return { code: error.code, message: error.message, details: error.details };
  }
}

/** The whole configuration, and how it meters events. */
async function readAll(engine: Engine): Promise<unknown> {
  const schemas = (await engine.eventSchemas.list(PAGE)).items;
  const sent = { accountId: "acme", timestamp: "2024-01-09T12:00:00Z", attributes: { count: 3, size: "0.5" } };
  const events = schemas.map(({ item: { name } }, at) => ({ ...sent, schemaName: name, id: `${at}` }));
  return {
    schemas,
    versions: await Promise.all(schemas.map(({ item: { name } }) => engine.eventSchemas.versions(name, PAGE))),
    settings: await engine.settings.list(PAGE),
    meters: await engine.usageMeters.list(PAGE),
    features: await engine.features.list(PAGE),
    addOns: await engine.addOns.list(PAGE),
    plans: await engine.pricePlans.list(PAGE),
    groups: await engine.invoiceGroups.list(PAGE),
    outcomes: events.length === 0 ? [] : await engine.ingest(events),
    usage: await engine.usage({ accountIds: ["acme"], from: "2024-01-01", until: "2024-02-01" }),
  };
}

/**
 * Resources that depend on each other: a rule in a setting, fields of an event schema, a meter, an add-on, a feature, a
 * plan.
 */
async function begin(engine: Engine): Promise<void> {
  await engine.customers.create({ id: "acme", name: "Acme", account: { id: "acme", name: "Acme" } });
  await engine.settings.create({ id: "factor", entityType: "ORGANIZATION", dataType: "STRING", value: "2" });
  const fromSetting = {
    dependencies: [{ key: "factor", name: "factor" }],
    fields: ["JSON_LOGIC_FROM_DEPENDENCY"],
  } as const;
  for (const [n, attribute] of ["half", "size", "size"].entries()) {
    const name = `schema${n}`;
    const more = n === 0 ? buildEnrichments({ ...fromSetting, rule: undefined }) : {};
    await engine.eventSchemas.create({ name, attributes: n === 0 ? [count] : [count, { name: "size" }], ...more });
    if (n === 0) await engine.eventSchemas.activate(name);
    const steps = [{ order: 1, computation: { var: `attribute.${attribute}` } }];
    const meter = { name: `meter ${n}`, aggregation: "SUM", eventSchemaName: name, computations: steps } as const;
    const { item } = await engine.usageMeters.create(meter);
    if (n === 0) await engine.usageMeters.activate(item.id);
  }
  await engine.addOns.create({ name: "add-on 0", type: "FIXED_FEE" });
  await engine.features.create({ name: "feature 0", schemaAssociations: [] });
}

test("S16 any sequence of changes has the same outcomes, problems and metering as if everything were checked and compiled anew each time", async () => {
  const counts = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(write, fc.boolean()), { minLength: 8, maxLength: 30 }), async (writes) => {
      const store = memoryStore();
      const counter = { count: 0 };
      const engine = engineOver(store, counter);
      const other = engineOver(store, counter);
      await begin(engine);
      for (const [change, byOther] of writes) {
        const counterCopy = { count: counter.count };
        const anew = engineOver(memoryStore({ snapshot: store.snapshot() }), counterCopy);
        const expected = await settle(change(anew, await collectIds(anew)));
        const acting = byOther ? other : engine;
        const outcome = await settle(change(acting, await collectIds(acting)));
        expect(outcome).toEqual(expected);
        const { code = "accepted", message = "" } = outcome as { readonly code?: string; readonly message?: string };
        const kind = message.includes("the change is invalid for") ? "break" : code;
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
        // An id generated for a rejected change is not used again by either of them.
        counter.count = Math.max(counter.count, counterCopy.count);
      }
      const snapshot = store.snapshot();
      const whole = await readAll(engineOver(memoryStore({ snapshot }), { count: 1000 }));
      counter.count = 1000;
      expect(await readAll(engine)).toEqual(whole);
    }),
    { numRuns: runs(80) },
  );
  for (const kind of ["accepted", "ERR_INPUT_INVALID", "ERR_REFUSED", "break"])
    expect(counts.get(kind)).toBeGreaterThan(0);
});
