/** The checks of price tables, in both forms of a book: a book with one change, and its problems. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { readBook } from "../../../src/book/book.ts";
import { type RateTableInput, whenKey } from "../../../src/book/resources/rate-table.ts";
import { listProblems, readCases } from "../break-book.ts";
import { MONTHLY, perUnit } from "../builder.ts";

interface Changes {
  readonly card?: object;
  readonly currencies?: readonly string[];
  readonly groupBy?: readonly string[] | null;
  /** The card of an override. */
  readonly override?: object;
}

const TABLE: RateTableInput = { rows: [{ when: { model: "a" }, rate: 1 }] };
const table = JSON.stringify(TABLE).slice(1, -1);
const priced = JSON.stringify(perUnit(1)).slice(1, -1);

/** A book with a table: in short form, or with its plan and override in the long one. */
function bookWith(changes: Changes, isLong: boolean): object {
  const { card = { rateTable: TABLE }, currencies = ["USD"], groupBy = ["model", "kind"], override } = changes;
  const details = isLong
    ? { ...MONTHLY, supportedCurrencies: currencies, usageRateCards: [{ usageMeterId: "um.tokens", ...card }] }
    : { cycle: "MONTHLY", currencies, usage: [{ meter: "um.tokens", ...card }] };
  const plan = { id: "pp", name: "pp", status: "ACTIVE", ...(isLong ? { pricePlanDetails: details } : details) };
  const longOverride = { pricePlanDetailsOverride: { usageRateCards: [{ usageMeterId: "um.tokens", ...override }] } };
  const shortOverride = { override: { usage: [{ meter: "um.tokens", ...override }] } };
  const shortAssociation = { plan: "pp", from: "2026-10-01", ...(override && shortOverride) };
  const longAssociation = { pricePlanId: "pp", effectiveFrom: "2026-10-01", ...(override && longOverride) };
  return {
    eventSchemas: [
      {
        name: "call",
        attributes: [{ name: "tokens" }],
        dimensions: [{ name: "model" }, { name: "kind" }, { name: "region" }],
      },
    ],
    usageMeters: [
      {
        id: "um.tokens",
        name: "tokens",
        aggregation: "SUM",
        eventSchemaName: "call",
        computations: [{ order: 1, computation: { var: "attributes.tokens" } }],
        groupBy,
      },
    ],
    pricePlans: [plan],
    customers: [{ id: "c", name: "customer" }],
    accounts: [
      {
        id: "acct",
        name: "acct",
        customerId: "c",
        ...(isLong ? { pricePlans: [longAssociation] } : { plans: [shortAssociation] }),
      },
    ],
  };
}

/** The problems of a book, with paths below the card. */
function listBookProblems(changes: Changes, isLong: boolean): readonly string[] {
  const card = isLong ? "pricePlanDetails.usageRateCards[0]" : "usage[0]";
  return listProblems(() => readBook(bookWith(changes, isLong))).map((problem) =>
    problem
      .replaceAll(`$.pricePlans[0].${card}`, "card")
      .replaceAll("$.accounts[0].pricePlans[0].pricePlanDetailsOverride.usageRateCards[0]", "override")
      .replaceAll("$.accounts[0].plans[0].override.usage[0]", "override"),
  );
}

/** The problems, the same in both forms. */
function problemsOf(changes: Changes): readonly string[] {
  const [short, long] = [listBookProblems(changes, false), listBookProblems(changes, true)];
  expect(short.map((problem) => problem.replaceAll("ratePlan", "rate"))).toEqual(
    long.map((problem) => problem.replaceAll("ratePlan", "rate")),
  );
  return long;
}

function problemsOfRows(...rows: readonly object[]): readonly string[] {
  return problemsOf({ card: { rateTable: { rows } } });
}

const a = '{ model: "a" }';
const x = '{ kind: "x" }';
const ax = '{ model: "a", kind: "x" }';

test.each<[string, Changes]>([
  ["a table", {}],
  ["numbers as texts", { card: { rateTable: { rows: [{ when: { model: 2 }, rate: "0.5" }], per: "1000000" } } }],
  [
    "amounts by currency",
    { card: { rateTable: { rows: [{ rate: { USD: 1, EUR: 2 } }] } }, currencies: ["USD", "EUR"] },
  ],
  ["a table in an override", { override: { rateTable: TABLE } }],
  ["changes of a table", { override: { rows: [{ rate: 1 }], multiply: "0.8" } }],
  ["a table in place of slabs", { card: { ...perUnit(1) }, override: { rateTable: TABLE } }],
])("S18 accepts %s, in both forms", (_, changes) => {
  expect(problemsOf(changes)).toEqual([]);
});

/** Tests that each card, as `card` or by its `rows`, with what else a case changes, has its single problem in both forms. */
function testCards(title: string, table: string): void {
  describe(title, () => {
    test.each(readCases(table))("$problem", ({ changes, problem }) => {
      const { rows, ...others } = Object.fromEntries(changes) as Changes & { readonly rows?: readonly object[] };
      expect(problemsOf({ ...(rows && { card: { rateTable: { rows } } }), ...others })).toEqual([problem]);
    });
  });
}

testCards(
  "S18.2 rows",
  `
    rows = [{ when: { modle: "a" }, rate: 1 }]
      card.rateTable.rows[0].when.modle: expected "model" or "kind", a dimension by which the usage meter "um.tokens" groups, got "modle"
    rows = [{ when: { model: "" }, rate: 1 }]
      card.rateTable.rows[0].when.model: expected a text of 1 to 512 characters, got ""
    rows = [{ when: { model: 1152921504606846976 }, rate: 1 }]
      card.rateTable.rows[0].when.model: expected a text of 1 to 512 characters, got 1152921504606847000
    rows = [{ when: { model: "a", kind: "x" }, rate: 1 }, { when: { kind: "x", model: "a" }, rate: 1 }]
      card.rateTable.rows[1]: the combination of when and from is already used by rows[0]
    rows = [{ when: ${a}, rate: 1, from: "2026-10-01" }, { when: ${a}, rate: 1, from: "2026-10-01T00:00:00Z" }]
      card.rateTable.rows[1]: the combination of when and from is already used by rows[0]
    rows = [{ rate: 1, from: "2026-02-30" }]
      card.rateTable.rows[0].from: "2026-02-30" is not a date: 2026-02 has days 01 to 28, not 30
    rows = [{ when: ${x}, rate: 1 }, { when: { model: "b" }, rate: 1 }]
      card.rateTable.rows[1].when: rows[0] names as many dimensions and holds for kind "x" and model "b" too: add a row for both
    rows = [{ when: ${x}, rate: 1, from: "2026-10-03" }, { when: ${a}, rate: 1 }, { when: ${ax}, rate: 1, from: "2026-10-04" }]
      card.rateTable.rows[1].when: rows[0] names as many dimensions and holds for kind "x" and model "a" too: add a row for both
    groupBy = null
      card.rateTable: the usage meter "um.tokens" has no groups: give it a groupBy, such as ["model"]
  `,
);

describe("S18.2 rows", () => {
  test("that name equally many dimensions can share groups of a more specific row", () => {
    const rows = [
      { when: { kind: "x" }, rate: 1, from: "2026-10-03" },
      { when: { model: "a" }, rate: 1 },
      { when: { model: "a", kind: "x" }, rate: 1, from: "2026-10-03" },
    ];
    expect(problemsOfRows(...rows)).toEqual([]);
  });

  test("are at most 5,000", () => {
    const rows = Array.from({ length: 5001 }, (_, index) => ({ when: { model: `m${index}` }, rate: 1 }));
    expect(problemsOfRows(...rows)).toEqual(["card.rateTable.rows: expected at most 5000 items, got 5001"]);
    expect(problemsOfRows(...rows.slice(1))).toEqual([]);
  });
});

/** Rows with up to two texts for each of three dimensions, some of them from a day. */
const randomRows = fc.uniqueArray(
  fc.record({
    when: fc.dictionary(fc.constantFrom("model", "kind", "region"), fc.constantFrom("a", "b")),
    day: fc.integer({ min: 0, max: 3 }),
  }),
  { selector: ({ when }) => whenKey(when), minLength: 1, maxLength: 8 },
);

test("S18.2 rows are rejected if two that name most dimensions hold for one group on one day, and only then", () => {
  const groupBy = ["model", "kind", "region"];
  fc.assert(
    fc.property(randomRows, (conditions) => {
      const texts = ["a", "b", "another"];
      const groups = texts.flatMap((model) =>
        texts.flatMap((kind) => texts.map((region) => ({ model, kind, region }))),
      );
      const isAmbiguous = groups.some((group) =>
        [0, 1, 2, 3].some((day) => {
          const inForce = conditions.filter(
            (row) =>
              row.day <= day &&
              Object.entries(row.when).every(([name, text]) => group[name as keyof typeof group] === text),
          );
          const sizes = inForce.map(({ when }) => Object.keys(when).length);
          return sizes.filter((size) => size === Math.max(...sizes)).length > 1;
        }),
      );
      const rows = conditions.map(({ when, day }) => ({ when, rate: 1, ...(day > 0 && { from: `2026-10-0${day}` }) }));
      expect(listBookProblems({ card: { rateTable: { rows } }, groupBy }, false).length > 0).toBe(isAmbiguous);
    }),
  );
});

testCards(
  "S18.3 prices",
  `
    rows = [{}]
      card.rateTable.rows[0].rate: missing: expected a rate or tiers
    rows = [{ rate: 1, tiers: [{ rate: 1 }] }]
      card.rateTable.rows[0].rate: expected rate or tiers, got both
    rows = [{ rate: "1.0.0" }]
      card.rateTable.rows[0].rate: expected a decimal, got "1.0.0"
    rows = [{ rate: { USD: "x" } }]
      card.rateTable.rows[0].rate.USD: expected a decimal, got "x"
    rows = [{ rate: [] }]
      card.rateTable.rows[0].rate: expected a decimal, or decimals by currency, such as { "USD": "0.002" }, got an empty list
    rows = [{ rate: -1 }]
      card.rateTable.rows[0].rate: expected 0 or more, got -1
    rows = [{ tiers: [{ rate: 1, flat: { USD: "-0.5" } }] }]
      card.rateTable.rows[0].tiers[0].flat.USD: expected 0 or more, got "-0.5"
    rows = [{ rate: { USD: 1, EUR: 1 } }]
      card.rateTable.rows[0].rate.EUR: expected "USD", a currency of the plan, got "EUR"
    rows = [{ rate: 1, per: 3 }]
      card.rateTable.rows[0].per: unknown field
    rows = [{ tiers: [{ upTo: 5, rate: 1 }, { upTo: 5, rate: 1 }, { rate: 1 }] }]
      card.rateTable.rows[0].tiers[1].upTo: expected more than 5, got 5
    rows = [{ volumeTiers: [{ rate: 1 }, { rate: 1 }] }]
      card.rateTable.rows[0].volumeTiers[0].upTo: missing: expected the last unit of the tier, because another tier follows
    rows = [{ tiers: [{ rate: 1, upTo: 5 }] }]
      card.rateTable.rows[0].tiers[0].upTo: remove it; it can't be set in the last tier, which has no end
    rows = [{ tiers: [{ maximum: 5 }] }]
      card.rateTable.rows[0].tiers[0].rate: missing: expected a rate or a flat amount
    rows = [{ tiers: [{ flat: 5, package: 5 }] }]
      card.rateTable.rows[0].tiers[0].package: remove it; it can't be set without a rate
    rows = [{ tiers: [{ rate: 1, minimum: 5, maximum: 4 }] }]
      card.rateTable.rows[0].tiers[0].minimum: expected at most 4, the maximum, got 5
    rows = [{ tiers: [{ flat: 1, chargeAtZero: true }], slabsOver: "GROUP" }]
      card.rateTable.rows[0].tiers[0].chargeAtZero: remove it; it can't be set in a row whose groups count by themselves
    currencies = ["USD", "EUR"]
    rows = [{ rate: { USD: 1 } }]
      card.rateTable.rows[0].rate: missing rates in "EUR"
    currencies = ["USD", "EUR"]
    rows = [{ rate: 1 }]
      card.rateTable.rows[0].rate: the plan has several currencies: write { "USD": …, "EUR": … }
    card = { rateTable: { per: 3, rows: [{ rate: 1 }] } }
      card.rateTable.rows[0].rate: 1 per 3 units is no exact decimal for one unit: change the rate or per
    card = { rateTable: { ${table}, minimum: 3, maximum: 2 } }
      card.rateTable.minimum: expected at most 2, the maximum, got 3
  `,
);

describe("S18.4 dated rows", () => {
  test.each(["flat", "package", "minimum", "maximum", "chargeAtZero"])("have no %s", (field) => {
    const tiers = [{ rate: 1, [field]: field === "chargeAtZero" ? true : 5 }];
    const problem = (index: number): string =>
      `card.rateTable.rows[${index}].tiers[0].${field}: a price that changes on a date has only rates: remove ${field}, or make a new version of the plan`;
    expect(problemsOfRows({ tiers, from: "2026-10-02" })).toEqual([problem(0)]);
    expect(problemsOfRows({ tiers }, { rate: 1, from: "2026-10-02" })).toEqual([problem(0)]);
    expect(problemsOfRows({ tiers })).toEqual([]);
  });

  test("count their groups alike", () => {
    expect(problemsOfRows({ rate: 1 }, { rate: 1, from: "2026-10-02", slabsOver: "GROUP" })).toEqual([
      "card.rateTable.rows[1].slabsOver: expected ROW, as in rows[0], which has the same when",
    ]);
  });
});

testCards(
  "S18.7 overrides",
  `
    card = { rows: [{ rate: 1 }] }
      card.rows: remove it; it can't be set in a plan, only in an override
    card = { rateTable: { ${table} }, multiply: 1 }
      card.multiply: remove it; it can't be set in a plan, only in an override
    override = { multiply: -1 }
      override.multiply: expected 0 or more, got -1
    override = { rateTable: { ${table} }, rows: [{ rate: 1 }] }
      override.rateTable: expected rateTable or rows, got both
    card = { ${priced} }
    override = { multiply: "0.8" }
      override.multiply: the plan has no price table for "um.tokens": write a rateTable, or change another card
    card = { rateTable: { rows: [{ rate: 3 }], per: 6 } }
    override = { rows: [{ rate: 1 }] }
      override.rows[0].rate: 1 per 6 units is no exact decimal for one unit: change the rate or per
    override = { rows: [{ when: { size: 1 }, rate: 1 }] }
      override.rows[0].when.size: expected "model" or "kind", a dimension by which the usage meter "um.tokens" groups, got "size"
    card = { rateTable: { ${table} }, ${priced} }
      card.ratePlan: expected ratePlan or rateTable, got both
  `,
);
