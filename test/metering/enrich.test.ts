import { describe, expect, test } from "vitest";

import { startEventRun } from "../../src/ledger/preview/preview-run.ts";
import { contosoAccount, bookWithParts, europeMeter, requestEvent, requestSchema } from "../ledger/support.ts";

type Parts = Readonly<Record<string, unknown>>;

const key = (id: string): string => `setting.user.${id}`;
const setting = (id: string, dataType: string, value: string, more: Parts = {}): Parts => ({
  id,
  dataType,
  value,
  ...more,
});
const field = (name: string, value: unknown, more: Parts = {}): Parts => ({
  name,
  type: "ATTRIBUTE",
  value,
  order: 1,
  ...more,
});

interface Enrichment {
  readonly fields: readonly Parts[];
  readonly dependencies?: readonly Parts[];
  readonly settings?: readonly Parts[];
  /** Default: the attribute `made`. */
  readonly computation?: unknown;
  readonly accounts?: readonly unknown[];
}

/** A run whose only meter sums `computation` over every event. */
function startEnrichedRun({
  fields,
  dependencies = [],
  settings = [],
  computation = { var: "attribute.made" },
  accounts,
}: Enrichment): ReturnType<typeof startEventRun> {
  return startEventRun(
    bookWithParts({
      settings,
      eventSchemas: [{ ...requestSchema, enrichments: { dependencies, fields } }],
      usageMeters: [{ ...europeMeter, computations: [{ order: 1, computation }] }],
      ...(accounts === undefined ? {} : { accounts }),
    }),
  );
}

/** The units that the meter counts for one event with 10 tokens from Europe. */
function countUnits(enrichment: Enrichment, accountId = "prod"): string {
  const run = startEnrichedRun(enrichment);
  const { status, description } = run.add(requestEvent({ accountId }));
  if (!status.startsWith("INGESTION_COMPLETED")) return description;
  return run.usage.between(accountId, "um.eu", 0, 30_000).toFixed();
}

describe("S4.3 fields", () => {
  test("are computed in ascending order, each seeing the ones before", () => {
    const fields = [
      field("made", { "+": [{ var: "attribute.half" }, 1] }, { order: 7 }),
      field("half", { "/": [{ var: "attributes.tokens" }, 4] }, { order: 3 }),
    ];
    expect(countUnits({ fields })).toBe("3.5");
  });

  test("a constant is an attribute or a dimension", () => {
    const fields = [
      field("made", "0.10", { enrichmentType: "VALUE" }),
      field("class", "large", { enrichmentType: "VALUE", type: "DIMENSION", order: 2 }),
    ];
    const computation = { if: [{ "==": [{ var: "dimension.class" }, "large"] }, { var: "attribute.made" }, 0] };
    expect(countUnits({ fields, computation })).toBe("0.1");
  });

  test("an attribute may be computed as decimal text, a dimension as a decimal", () => {
    const fields = [
      field("made", { cat: ["1", ".", "5"] }),
      field("class", { "/": [1, 8] }, { type: "DIMENSION", order: 2 }),
    ];
    const computation = { if: [{ "===": [{ var: "dimension.class" }, "0.125"] }, { var: "attribute.made" }, 0] };
    expect(countUnits({ fields, computation })).toBe("1.5");
  });

  test("rules can read the event itself", () => {
    const text = {
      cat: [{ var: "event.id" }, { var: "event.accountId" }, { var: "event.schemaName" }, { var: "event.timestamp" }],
    };
    const fields = [field("made", text, { type: "DIMENSION" })];
    const matches = { "===": [{ var: "dimension.made" }, "e1prodrequest2024-03-05T10:00:00.000Z"] };
    expect(countUnits({ fields, computation: { if: [matches, 1, 0] } })).toBe("1");
  });

  test("a name that is only computed is found, but not in a later field", () => {
    const computedVariable = (name: string): unknown => ({ var: [{ cat: ["attribute.", name] }, -1] });
    const fields = [
      field("made", { "+": [computedVariable("later"), computedVariable("tokens")] }),
      field("later", { "+": [5] }, { order: 2 }),
    ];
    const run = startEnrichedRun({ fields });
    run.add(requestEvent());
    run.add(requestEvent({ id: "e2" }));
    // −1 + 10 each: the first event's later field must not be visible to the second event.
    expect(run.usage.between("prod", "um.eu", 0, 30_000).toFixed()).toBe("18");
  });
});

describe("S4.2 dependencies", () => {
  const factor = {
    fields: [field("made", { "*": [{ var: "attribute.tokens" }, { var: "dependencies.factor" }] })],
    dependencies: [{ key: key("factor"), name: "factor" }],
  };
  const accounts = [contosoAccount("prod"), contosoAccount("test")];

  test.each([
    ["a NUMERIC setting is its exact decimal", "0.10", key("factor"), "1"],
    ["a bare id refers to a setting too", "2", "factor", "20"],
  ])("%s", (_, value, dependency, units) => {
    const settings = [setting("factor", "NUMERIC", value)];
    expect(countUnits({ ...factor, dependencies: [{ key: dependency, name: "factor" }], settings })).toBe(units);
  });

  test("the account's setting overrides its customer's, which overrides the organization's", () => {
    const settings = [
      setting("factor", "NUMERIC", "1"),
      setting("factor", "NUMERIC", "2", { entityType: "CUSTOMER", entityId: "contoso" }),
      setting("factor", "NUMERIC", "3", { entityType: "ACCOUNT", entityId: "prod" }),
    ];
    expect(countUnits({ ...factor, accounts, settings })).toBe("30");
    expect(countUnits({ ...factor, accounts, settings }, "test")).toBe("20");
    expect(countUnits({ ...factor, accounts, settings: settings.slice(0, 1) }, "test")).toBe("10");
  });

  test("a setting missing for an account fails only the events of that account", () => {
    const settings = [setting("factor", "NUMERIC", "3", { entityType: "ACCOUNT", entityId: "prod" })];
    expect(countUnits({ ...factor, accounts, settings })).toBe("30");
    expect(countUnits({ ...factor, accounts, settings }, "test")).toBe(
      'The setting "setting.user.factor" is missing for the account "test".',
    );
  });

  test("S3.3 a dependency whose name has a dot takes precedence over a property of a shorter name", () => {
    const settings = [setting("a", "JSON", '{"b": 2, "c": 4}'), setting("ab", "NUMERIC", "3")];
    const dependencies = [
      { key: key("a"), name: "a" },
      { key: key("ab"), name: "a.b" },
    ];
    // 10 tokens times 3 of "a.b", and times 4 of "a" if there is no longer name.
    const unitsWithDependency = (name: string): string => {
      const fields = [field("made", { "*": [{ var: "attribute.tokens" }, { var: `dependencies.${name}` }] })];
      return countUnits({ fields, dependencies, settings });
    };
    expect([unitsWithDependency("a.b"), unitsWithDependency("a.c")]).toEqual(["30", "40"]);
  });

  test("properties of a JSON setting can be read, with exact numbers", () => {
    const settings = [setting("prices", "JSON", '{"eu": {"rate": 0.1}, "list": [1, 2.5]}')];
    const dependencies = [{ key: key("prices"), name: "prices" }];
    const unitsOf = (rule: unknown): string => countUnits({ fields: [field("made", rule)], dependencies, settings });
    expect(unitsOf({ "*": [{ var: "attribute.tokens" }, { var: "dependencies.prices.eu.rate" }] })).toBe("1");
    const path = { cat: ["dependencies.prices.", { var: "dimension.region" }, ".rate"] };
    expect(unitsOf({ "*": [3, { var: path }] })).toBe("0.3");
    const sum = { "+": [{ var: "current" }, { var: "accumulator" }] };
    expect(unitsOf({ reduce: [{ var: "dependencies.prices.list" }, sum, 0] })).toBe("3.5");
  });

  test("a rule in a setting depends on the account", () => {
    const settings = [
      setting("rule", "JSON_LOGIC", '{"*": [{"var": "attribute.tokens"}, 2]}'),
      setting("rule", "JSON_LOGIC", "7", { entityType: "ACCOUNT", entityId: "test" }),
    ];
    const fields = [field("made", "rule", { enrichmentType: "JSON_LOGIC_FROM_DEPENDENCY" })];
    const parts = { fields, dependencies: [{ key: key("rule"), name: "rule" }], settings, accounts };
    expect([countUnits(parts), countUnits(parts, "test")]).toEqual(["20", "7"]);
  });
});
