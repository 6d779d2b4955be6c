/** Usage by group and by value, and price tables, in the verifier: quantities, prices and changed figures (S18, S19). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { type Book, type EventInput, meter, preview, readBook, type ShortBookInput } from "../../src/index.ts";
import { type Difference, verify } from "../../src/verify.ts";
import {
  asJson,
  type FigurePath,
  listFigures,
  meterEvents,
  previewToVerify,
  sampleBook,
  toSampleEvents,
  withOtherDigit,
} from "./figures.ts";

const RATE_TABLE = {
  per: 10,
  allowance: { quantity: 5 },
  minimum: 1,
  rows: [
    { when: { model: "a" }, tiers: [{ upTo: 20, rate: 3 }, { rate: 2 }] },
    { when: { model: "a" }, tiers: [{ upTo: 20, rate: 2 }, { rate: 1 }], from: "2026-10-10" },
    { when: { model: "b" }, volumeTiers: [{ upTo: 9, rate: 3 }, { rate: 2 }], slabsOver: "GROUP" as const },
    { when: { model: "c" }, tiers: [{ rate: 7, package: 3 }, { flat: 1 }].slice(0, 1) },
    { when: { model: "d" }, rate: "0.333" },
  ],
};

function bookWith(override: object = {}): Book {
  return readBook({
    eventSchemas: [{ name: "call", attributes: ["n"], dimensions: ["model", "kind"] }],
    usageMeters: [{ id: "calls", schema: "call", sum: "n", groupBy: ["model", "kind"] }],
    pricePlans: [{ id: "pp", cycle: "MONTHLY", usage: [{ meter: "calls", rateTable: RATE_TABLE }] }],
    accounts: [{ id: "acme", plans: [{ plan: "pp", from: "2026-10-05", override }] }],
  });
}

const events = [
  ["a", "x", 18, "06"],
  ["a", "y", 9, "07"],
  ["a", "x", 12, "15"],
  ["a", "x", -4, "20"],
  ["b", "x", 8, "08"],
  ["b", "y", 12, "08"],
  ["c", "x", 10, "08"],
  ["d", "x", 1, "08"],
  ["none", "x", 6, "08"],
].map(([model, kind, n, day], index): EventInput => ({
  schemaName: "call",
  id: `e${index}`,
  timestamp: `2026-10-${day}T00:00:00Z`,
  accountId: "acme",
  attributes: { n: Number(n) },
  dimensions: { model: String(model), kind: String(kind) },
}));

const invoices = asJson(preview(bookWith(), events, { explain: true }).invoices);

test("S13.6 S18.6 every line of a price table is verified", () => {
  const { differences, amounts } = verify({ invoices });
  expect(differences).toEqual([]);
  expect(amounts.verified).toBe(amounts.total);
  expect(amounts.total).toBeGreaterThan(10);
});

test("S18.7 a row of an override and one of the plan with the same when have their own running quantities", () => {
  const rows = ["2026-10-07", "2026-10-20"].map((from, index) => ({ when: { model: "a" }, from, rate: index + 1 }));
  const uses = [
    ...events,
    ...events.map((event) => ({ ...event, id: `${event.id}-2`, timestamp: "2026-10-06T00:00:00Z" })),
  ];
  const own = preview(bookWith({ usage: [{ meter: "calls", rows }] }), uses, { explain: true });
  expect(verify({ invoices: asJson(own.invoices) }).differences).toEqual([]);
});

test("S18.2 usage compared with rows: units of another group's row are found", () => {
  const book = bookWith();
  const uses = events.filter(({ attributes }) => (attributes as { n: number }).n > 0);
  const { usage } = meter(book, uses);
  const priced = asJson(preview(book, uses, { explain: true }).invoices);
  const rows = asJson(usage) as { readonly group: { readonly model: string } }[];
  expect(verify({ invoices: priced, usage: rows }).differences).toEqual([]);
  const moved = rows.map((row) => (row.group.model === "d" ? { ...row, group: { ...row.group, model: "c" } } : row));
  // Of c, 10 are used, and 1 of d.
  expect(verify({ invoices: priced, usage: moved }).differences.map((each) => Object.values(each).join(" "))).toEqual([
    'acme STANDARD 2026-11-01T00:00:00.000Z: usage of calls, row {"model":"c"} 11 10',
    'acme STANDARD 2026-11-01T00:00:00.000Z: usage of calls, row {"model":"d"} 0 1',
  ]);
});

/** Figures that only the book or the events determine: limits that do not apply, and groups. */
function isTerm(path: FigurePath): boolean {
  const [name = ""] = path.filter((step) => typeof step === "string").slice(-1);
  const isLimit = name === "minimumRate" || (name === "endAt" && path.includes("slabs")) || path.at(-2) === "allowance";
  return isLimit || path.includes("groups") || path.includes("when") || name === "startAfter" || name === "order";
}

test("S13.6 S18.6 a changed digit of a figure is found", () => {
  const figures = listFigures(invoices).filter((path) => !isTerm(path));
  expect(figures.length).toBeGreaterThan(100);
  fc.assert(
    fc.property(fc.constantFrom(...figures), fc.nat(), fc.nat(), (path, place, step) => {
      const { differences } = verify({ invoices: withOtherDigit(invoices, path, place, step) });
      expect([path.join("."), differences.length > 0]).toEqual([path.join("."), true]);
    }),
    { numRuns: 300 },
  );
});

const GROUP_BOOK = {
  eventSchemas: [
    {
      name: "tokens",
      attributes: ["count"],
      dimensions: ["model"],
      computedDimensions: { size: { if: [{ ">": [{ var: "attribute.count" }, 9] }, "large", "small"] } },
    },
  ],
  usageMeters: [{ id: "tokens", schema: "tokens", sum: "count", groupBy: ["size", "model"] }],
  pricePlans: [{ id: "team", cycle: "MONTHLY", usage: [{ meter: "tokens", rate: "0.01" }] }],
  accounts: [{ id: "acme", plan: "team", from: "2026-10-01" }],
} as const;

const tokensOf = (id: string | number, count: number, model: string | number): EventInput => ({
  schemaName: "tokens",
  id: String(id),
  accountId: "acme",
  timestamp: "2026-10-03T10:00:00Z",
  attributes: { count },
  dimensions: { model },
});

const many = Array.from({ length: 1000 }, (_, index) => tokensOf(index, index % 12, `model ${index % 990}`));
const others = Array.from({ length: 120 }, (_, index) => tokensOf(`o${index}`, 1, `other ${index}`));
const groupEvents = [
  ...many,
  ...others,
  tokensOf("back", -1, "other 1"),
  tokensOf("2", 5, 2),
  tokensOf("x", 5, ""),
  tokensOf("y", 5, "y"),
];

test("S18.1 cells of groups and quantities of invoices are those of the events", () => {
  const { usage, events: counts } = meter(GROUP_BOOK, groupEvents);
  expect(counts.INGESTION_FAILED_UNITS_INVALID).toBeGreaterThan(2);
  const { invoices } = preview(GROUP_BOOK, groupEvents, { explain: true });
  const metering = meterEvents(GROUP_BOOK, groupEvents);
  const input = { invoices: asJson(invoices), usage, metering };
  const verification = verify(input);
  expect(verification.differences).toEqual([]);
  expect(verification.quantities).toEqual({ verified: 1, total: 1 });
  expect(verification.cells.total).toBeGreaterThan(900);
  const swapped = usage.map((row, index) => (index === 0 ? { ...row, group: { size: "small", model: "wrong" } } : row));
  expect(verify({ ...input, usage: swapped }).differences[0]?.where).toMatch(
    /^the cell of acme, tokens, 2026-10-03 \[\[/,
  );
});

test("S18.1 the usage of a group with the text $key is a sum, verified without the book", () => {
  const ofGroup = [tokensOf("a", 5, "$key"), tokensOf("b", 9, "x")];
  const { invoices } = preview(GROUP_BOOK, ofGroup, { explain: true });
  const usage = meter(GROUP_BOOK, ofGroup).usage;
  const { metersWithoutBook, quantities, differences } = verify({ invoices, usage });
  expect([[...metersWithoutBook], quantities, differences]).toEqual([[], { verified: 1, total: 1 }, []]);
});

const MEASURES = ["max", "min", "latest", "level", "change"] as const;

function bookOf(meters: readonly object[], until = "2026-11-01"): ShortBookInput {
  return sampleBook(
    meters.map((each) => [each, { rate: 2 }]),
    [["2026-10-01", until]],
  );
}

/** Events on the mornings from 1 October on, each with a value and a user. */
function eventsOf(...samples: readonly (readonly [value: number | string, user: string])[]): readonly EventInput[] {
  return toSampleEvents(
    samples.map(([value, user], index) => ({ day: index + 1, time: "10:00:00Z", value, region: "eu", user })),
    (day) => `2026-10-0${day}`,
  );
}

/** The differences of the invoices and the rows of the core, or of changed ones, from the events. */
function check(
  book: ShortBookInput,
  events: readonly EventInput[],
  change: (text: string) => string = (text) => text,
): readonly Difference[] {
  const verifier = previewToVerify(book, events);
  return verifier.check(JSON.parse(change(JSON.stringify(verifier.invoices))));
}

const value = { var: "attribute.value" };

describe("S19.2 events fail in the verifier as they do in the core", () => {
  test.each<[string, object, readonly EventInput[]]>([
    ["a text where a number must be", { max: { var: "dimension.user" } }, eventsOf([1, "12"], [1, "ann"])],
    [
      "texts of 256 and 257 characters, and an empty one",
      { unique: "user" },
      eventsOf([1, "x".repeat(256)], [1, "x".repeat(257)], [1, ""]),
    ],
    ["a value that is no text", { unique: { "==": [1, 1] } }, eventsOf([1, "ann"])],
    ["a level below zero", { level: "value" }, eventsOf([5, "ann"], [-1, "ann"])],
    ["a change with too many digits", { change: { "*": [value, "1e19"] } }, eventsOf(["1e19", "ann"], [1, "ann"])],
    ["a level with too many digits", { level: { "*": [value, value, value] } }, eventsOf(["1e14", "ann"], [3, "ann"])],
  ])("%s", (_, measure, events) => {
    expect(check(bookOf([measure]), events)).toEqual([]);
  });
});

describe("S13.6 S19 the verifier finds", () => {
  const samples = eventsOf([3, "ann"], [7, "bob"], [5, "ann"]);
  const meters = [...MEASURES.map((measure) => ({ [measure]: "value" })), { unique: "user" }];

  test("another quantity of each meter", () => {
    const book = bookOf(meters);
    expect(check(book, samples)).toEqual([]);
    for (const index of meters.keys()) {
      const where = check(book, samples, (text) =>
        text.replaceAll(new RegExp(`("USAGE_METER_USAGE","id":"m${index}".*?"quantity":)("?)`, "g"), "$1$29"),
      ).map((each) => each.where);
      expect(where).toContain(`acme STANDARD 2026-11-01T00:00:00.000Z: usage of m${index}`);
    }
  });

  test("a level whose price is not prorated in a cut cycle, and a daily peak whose price is", () => {
    const book = bookOf([{ level: "value" }, { max: "value", daily: true }], "2026-10-16");
    expect(check(book, samples)).toEqual([]);
    const withoutRule = check(book, samples, (text) => text.replaceAll("#s19.4", "#s7.3"));
    expect(withoutRule).toContainEqual({
      where: "acme STANDARD 2026-10-16T00:00:00.000Z: usage of m0, prorated price",
      expected: "true",
      found: "false",
    });
    const withRule = check(book, samples, (text) => text.replaceAll("#s7.2", "#s19.4"));
    expect(withRule).toContainEqual({
      where: "acme STANDARD 2026-10-16T00:00:00.000Z: usage of m1, prorated price",
      expected: "false",
      found: "true",
    });
  });
});
