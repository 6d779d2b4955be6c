/** The verifier on invoices with price tables: they are verified, and a changed digit is detected (S18). */
import fc from "fast-check";
import { expect, test } from "vitest";

import { type Book, type EventInput, meter, preview, readBook } from "../../src/index.ts";
import { verify } from "../../src/verify.ts";
import { type FigurePath, listFigures, withOtherDigit } from "./figures.ts";

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

const invoices: unknown = JSON.parse(JSON.stringify(preview(bookWith(), events, { explain: true }).invoices));

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
  expect(verify({ invoices: JSON.parse(JSON.stringify(own.invoices)) }).differences).toEqual([]);
});

test("S18.2 usage compared with rows: units of another group's row are found", () => {
  const book = bookWith();
  const uses = events.filter(({ attributes }) => (attributes as { n: number }).n > 0);
  const { usage } = meter(book, uses);
  const priced: unknown = JSON.parse(JSON.stringify(preview(book, uses, { explain: true }).invoices));
  const rows = JSON.parse(JSON.stringify(usage)) as { readonly group: { readonly model: string } }[];
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
