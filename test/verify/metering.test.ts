/** Quantities and cells, metered independently by the verifier. */
import { expect, describe, test } from "vitest";

import { verify } from "../../src/verify.ts";
import { add, type Fraction, ZERO } from "../../src/verify/figures.ts";
import type { Usage } from "../../src/verify/quantities.ts";
import { usageFromCells } from "../../src/verify/verify.ts";
import { exampleEvents, exampleText, previewExample } from "../support/examples.ts";
import { asJson, meterEvents } from "./figures.ts";

/** The units of a meter on 1 June. */
function unitsOn(usage: Usage): Fraction | undefined {
  const cells = usage.cellsBetween("a", "um.n", "2024-06-01", "2024-06-02");
  return cells?.reduce((sum, [, units]) => add(sum, units), ZERO);
}

describe("events", () => {
  const QUARTERS = '{"/":[{"var":"attribute.n"},{"var":"dependencies.scale"}]}';
  const BOOK = {
    settings: [{ id: "scale", namespace: "user", dataType: "NUMERIC", value: "4" }],
    eventSchemas: [
      {
        name: "call",
        attributes: [{ name: "n" }],
        enrichments: {
          dependencies: [{ name: "scale", key: "setting.user.scale" }],
          fields: [{ order: 1, name: "quarters", type: "ATTRIBUTE", enrichmentType: "JSON_LOGIC", value: QUARTERS }],
        },
      },
    ],
    usageMeters: [{ id: "um.n", schema: "call", sum: "quarters" }],
    accounts: [{ id: "a", aliases: ["alias"] }],
  };
  const callOn = (id: string, n: unknown, more: object = {}): unknown => ({
    schemaName: "call",
    id,
    accountId: "a",
    timestamp: "2024-06-01T23:59:59.999Z",
    attributes: [{ name: "n", value: n }],
    ...more,
  });
  const meterCells = (events: readonly unknown[], book: unknown = BOOK) => {
    const metering = meterEvents(book, events);
    const units = unitsOn(usageFromCells(metering.cells, metering.unverified));
    return { reasons: [...metering.reasons], units, ...metering.events() };
  };

  test.each<[string, unknown, number]>([
    ["one value", { region: "eu" }, 1],
    ["one of several", { region: ["eu", 7] }, 5],
    ["none", { region: { not: "eu" } }, 6],
    ["none of several", { region: { not: ["eu", "us"] } }, 4],
    ["two conditions", { region: { not: "eu" }, tier: "a" }, 6],
    ["a computed dimension", { tier: "b" }, 1],
  ])("S5.2 count where the dimensions of a meter in short form have %s", (_, where, total) => {
    const book = {
      eventSchemas: [
        {
          name: "call",
          attributes: [{ name: "n", unit: "calls" }],
          dimensions: ["region"],
          computed: { half: { "/": [{ var: "attribute.n" }, 2] } },
          computedDimensions: { tier: { if: [{ ">": [{ var: "attribute.half" }, 1] }, "a", "b"] } },
        },
      ],
      usageMeters: [{ id: "um.n", schema: "call", sum: "half", where }],
      accounts: [{ id: "a", plan: "pp.team", from: "2024-06-01" }],
    };
    const events = [
      callOn("1", 2, { dimensions: { region: "eu" } }),
      callOn("2", 4, { dimensions: { region: "us" } }),
      callOn("3", 8, { dimensions: { region: 7 } }),
    ];
    const { units } = meterCells(events, book);
    expect(units && Number(units.numerator) / Number(units.denominator)).toBe(total);
    const counted = meterCells(events, { ...book, usageMeters: [{ id: "um.n", schema: "call", count: true }] });
    expect(counted.units?.numerator).toBe(3n);
  });

  test.each<[string, readonly unknown[], bigint, bigint]>([
    // 3 ÷ 4, and 10 ÷ 4 by an alias.
    ["S4.3 are enriched and added up", [callOn("1", 3), callOn("2", "10", { accountId: "alias" })], 325n, 100n],
    [
      "S4.1 may have an object of attributes",
      [
        callOn("1", 0, { attributes: { n: 3 } }),
        callOn("2", 0, { attributes: { n: { value: "10", unit: "x" } } }),
        callOn("3", 0, { attributes: { n: { unit: "x" } } }),
      ],
      325n,
      100n,
    ],
    ["S14.1 count once for an id", [callOn("1", 4), callOn("1", 4), callOn("1", 8)], 1n, 1n],
    ["S14.2 that failed do not block their id", [callOn("1", "x"), callOn("1", 4)], 1n, 1n],
    [
      "S5.3 belong to their own day",
      [
        callOn("1", 4, { timestamp: "2024-06-02T00:30:00+01:00" }),
        callOn("2", 4, { timestamp: "2024-06-02T00:00:00Z" }),
      ],
      1n,
      1n,
    ],
    ["S1.3 have at most 20 digits", [callOn("1", "1".repeat(21)), callOn("2", 4)], 1n, 1n],
    ["S2.2 without a zone count nothing", [callOn("1", 4, { timestamp: "2024-06-01T10:00:00" })], 0n, 1n],
    ["S4.1 without a declared field count nothing", [callOn("1", 4, { attributes: [] })], 0n, 1n],
    ["S1.1 are exact beyond doubles", [callOn("1", "0.4"), callOn("2", "0.8")], 3n, 10n],
  ])("%s", (_, events, numerator, denominator) => {
    const { units } = meterCells(events);
    expect(units && units.numerator * denominator).toBe(units && numerator * units.denominator);
    expect(units).toBeDefined();
  });

  test.each([
    ["numbers", [2, 1]],
    ["texts of numbers, as a JSON file may have them", ["2", "1"]],
  ])("S4.3 are enriched by the order of fields, not by their position in the list: %s", (_, [second, first]) => {
    const [schema] = BOOK.eventSchemas;
    const [field] = schema?.enrichments.fields ?? [];
    const twice = { ...field, name: "twice", value: { "*": [{ var: "attribute.n" }, 8] } };
    const fields = [
      { ...field, order: second, value: { "/": [{ var: "attribute.twice" }, { var: "dependencies.scale" }] } },
      { ...twice, order: first },
    ];
    const eventSchemas = [{ ...schema, enrichments: { ...schema?.enrichments, fields } }];
    // 3 × 8 ÷ 4.
    expect(meterCells([callOn("1", 3)], { ...BOOK, eventSchemas }).units).toEqual({ numerator: 6n, denominator: 1n });
  });

  test("S14.1 with an id that repeats after 45 days can't be decided", () => {
    const later = callOn("1", 4, { timestamp: "2024-07-20T00:00:00Z" });
    expect(meterCells([callOn("1", 4), later])).toMatchObject({ total: 2, unverified: 1, units: undefined });
  });

  test("with an unknown operator are reported as unverified", () => {
    const meters = [{ id: "um.n", schema: "call", sum: { mystery: [] } }];
    expect(meterCells([callOn("1", 4)], { ...BOOK, usageMeters: meters })).toEqual({
      reasons: ["the operator mystery is not supported"],
      units: undefined,
      total: 1,
      unverified: 1,
    });
  });

  test("S11.3 that consume feature credits are unverified, unless all had enough", () => {
    const features = [{ id: "f", schemaAssociations: [{ schemaName: "call", attributeName: "n" }] }];
    expect(meterCells([callOn("1", 4)], { ...BOOK, features })).toMatchObject({ units: undefined, unverified: 1 });
    const metering = meterEvents({ ...BOOK, features }, [callOn("1", 4), callOn("2", -4)], true);
    expect(unitsOn(usageFromCells(metering.cells))).toEqual({ numerator: 1n, denominator: 1n });
  });

  test("S11.2 consume the first attribute if a feature names only the schema, and none of an empty name", () => {
    const countUnits = (schemaAssociations: readonly unknown[]): unknown => {
      const calls = [4, -4].map((value) => callOn(String(value), value));
      const metering = meterEvents({ ...BOOK, features: [{ id: "f", schemaAssociations }] }, calls, true);
      return unitsOn(usageFromCells(metering.cells));
    };
    // The event with -4 fails because its attribute is consumed.
    expect(countUnits(["call"])).toEqual(countUnits([{ schemaName: "call", attributeName: "n" }]));
    expect(countUnits(["call"])).not.toEqual(countUnits([{ schemaName: "call", attributeName: "" }]));
  });
});

describe("cells", () => {
  const events = exampleEvents("seats-and-usage", "events.ndjson");
  const book: unknown = JSON.parse(exampleText("seats-and-usage", "book.json"));
  const result = previewExample("seats-and-usage", events, { explain: true });
  const usageRow = (date: string, quantity: string): object => ({
    accountId: "acme-main",
    meterId: "um.calls",
    date,
    quantity,
  });
  const days = ["2024-06-03", "2024-06-24", "2024-07-10", "2024-07-11", "2024-07-20"];
  /** As in the example's README. */
  const quantities = ["1500", "1000", "400", "700", "500"];
  const usage = days.map((date, place) => usageRow(date, quantities[place] ?? ""));

  test("are verified from events, and quantities from cells", () => {
    const metering = meterEvents(book, events, true);
    const report = verify({ invoices: asJson(result.invoices), usage, metering });
    expect(report.differences).toEqual([]);
    expect(report.cells).toEqual({ verified: 5, total: 5 });
    expect(report.quantities).toEqual({ verified: 3, total: 3 });
  });

  test("with several rows are summed", () => {
    const splitRows = [usageRow("2024-06-03", "499.5"), usageRow("2024-06-03", "1000.5"), ...usage.slice(1)];
    expect(verify({ invoices: asJson(result.invoices), usage: splitRows }).differences).toEqual([]);
  });

  test("with another digit, or with one missing, differ", () => {
    for (const otherUsage of [usage.slice(1), [usageRow("2024-06-03", "1501"), ...usage.slice(1)]]) {
      const { differences } = verify({ invoices: asJson(result.invoices), usage: otherUsage });
      expect(differences.map(({ where }) => where)).toContain(
        "acme-main STANDARD 2024-07-01T00:00:00.000Z: usage of um.calls",
      );
    }
  });

  test.each<[string, object, string]>([
    ["an invalid day", usageRow("2024-02-30", "1"), "is not an instant"],
    ["a day in words", usageRow("June", "1"), "row 1: the date June is not a UTC date"],
    ["no quantity", usageRow("2024-06-03", "many"), "row 1: the quantity many is not a decimal"],
    ["no meter", { ...usageRow("2024-06-03", "1"), meterId: "" }, "row 1: expected accountId and meterId"],
  ])("with %s are rejected", (_, bad, sentence) => {
    expect(() => verify({ invoices: [], usage: [bad] })).toThrow(sentence);
  });
});
