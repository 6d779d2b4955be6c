/** A run caches the shape of the last events. It is compared with a new run for each event, which has no cache. */
import { Decimal as HostDecimal } from "decimal.js";
import fc from "fast-check";
import { expect, test } from "vitest";

import { rememberIds } from "../../../src/ledger/preview/accepted-ids.ts";
import { startEventRun, type EventRun } from "../../../src/ledger/preview/preview-run.ts";
import type { UsageCell } from "../../../src/metering/usage.ts";
import { add, type Decimal } from "../../../src/numbers/decimal.ts";
import { contosoAccount, bookWithParts } from "../support.ts";

const tokens = { var: "attribute.tokens" };
const isEurope = { "==": [{ var: "dimension.region" }, "eu"] };
/** More meters than are stored side by side, some of which an event does not affect. */
const requestMeters = Array.from({ length: 11 }, (_, index) => ({
  id: `um.${index}`,
  name: `meter ${index}`,
  aggregation: "SUM",
  eventSchemaName: "request",
  computations: [
    {
      order: 1,
      ...(index % 3 === 0 ? { matcher: isEurope } : {}),
      computation: index % 2 === 0 ? tokens : { "*": [tokens, { var: "attribute.ms" }] },
    },
  ],
}));
const book = bookWithParts({
  eventSchemas: [
    { name: "request", attributes: [{ name: "tokens" }, { name: "ms" }], dimensions: [{ name: "region" }] },
    { name: "odd", attributes: [{ name: "constructor" }], dimensions: [{ name: "__proto__" }, { name: "1" }] },
  ],
  usageMeters: [
    ...requestMeters,
    {
      id: "um.odd",
      name: "odd",
      aggregation: "SUM",
      eventSchemaName: "odd",
      computations: [
        {
          order: 1,
          matcher: { "==": [{ var: "dimension.__proto__" }, "eu"] },
          computation: { var: "attribute.constructor" },
        },
      ],
    },
  ],
  accounts: [contosoAccount("prod", { aliases: ["alias"] }), contosoAccount("other")],
});

const value = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom<unknown>(1, 2.5, 0.125, "3", "0.10", 3.3, -4, 123_456_789.25) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(-0, 1e-7, "+5", "1e3", "5.", "9".repeat(20), `-0.${"9".repeat(20)}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(new HostDecimal("12.5"), 1e-20, 1e21, "x", "1e20", null, Number.NaN),
  },
);
const text = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom<unknown>("eu", "us", "") },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(5, 2.5, new HostDecimal("1e3"), null, "x".repeat(513)) },
);
/** Fields that the schemas do not declare, between those that they do. */
const more = fc.option(fc.tuple(fc.nat(2), fc.constantFrom("other", "__proto__", "toString", "tokens"), value), {
  freq: 3,
  nil: undefined,
});

const arbitraryList = (names: readonly string[]) =>
  fc.tuple(value, value, fc.boolean(), more, fc.nat(9)).map(([first, second, isTurned, extra, kind]): unknown => {
    const list: unknown[] = names.map((name, index) => ({ name, value: index === 0 ? first : second }));
    if (isTurned) list.reverse();
    if (extra !== undefined) list.splice(extra[0], 0, Object.freeze({ name: extra[1], value: extra[2] }));
    // With a hole at its end.
    if (kind === 0) list.length++;
    return kind === 2 ? Object.freeze(list) : list;
  });
/** Attributes as an object, some with a unit. */
const arbitraryObject = (names: readonly string[]) =>
  fc
    .tuple(
      fc.shuffledSubarray([...names, "other", "__proto__"], { minLength: 1 }),
      fc.array(
        fc.oneof(
          { weight: 4, arbitrary: value },
          fc.record({ value, unit: fc.constantFrom<unknown>("s", null, undefined, 7) }),
        ),
        { minLength: 4, maxLength: 4 },
      ),
    )
    .map(([all, members]) => Object.fromEntries(all.map((name, index): [string, unknown] => [name, members[index]])));
const arbitraryAttributes = (names: readonly string[]) =>
  fc.oneof(
    { weight: 5, arbitrary: arbitraryList(names) },
    { weight: 4, arbitrary: arbitraryObject(names) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, null, "x", [null, 3], [{ name: 1, value: 1 }]) },
  );
const arbitraryDimensions = (names: readonly string[]) =>
  fc.tuple(text, text, fc.nat(9)).map(([first, second, kind]): unknown => {
    // A computed key with this name is an own property, as in JSON.
    const own = names.map((name, index): readonly [string, unknown] => [name, index === 0 ? first : second]);
    if (kind === 0) return Object.create(Object.fromEntries(own), {});
    if (kind === 9) return first === "eu" ? [second] : first;
    if (kind === 1) return Object.assign(Object.create({ zone: "a" }) as object, { region: first });
    return Object.fromEntries(kind < 4 ? [["zone", second], ...own] : kind < 6 ? [...own, ["zone", second]] : own);
  });
const timestamps = [
  "2024-01-02T03:04:05Z",
  "2024-01-03T03:04:05+02:00",
  "1969-12-31T23:59:59Z",
  "0001-01-01T00:00:00Z",
];
const eventOfSchema = (schemaName: string, attributes: readonly string[], dimensions: readonly string[]) =>
  fc.record({
    schemaName: fc.constant(schemaName),
    id: fc.nat(200).map(String),
    accountId: fc.constantFrom("prod", "prod", "alias", "other"),
    timestamp: fc.constantFrom(...timestamps, "9998-12-31T00:00:00Z"),
    attributes: arbitraryAttributes(attributes),
    dimensions: arbitraryDimensions(dimensions),
  });
const events = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: eventOfSchema("request", ["tokens", "ms"], ["region"]) },
    { weight: 1, arbitrary: eventOfSchema("odd", ["constructor"], ["__proto__", "1"]) },
    { weight: 1, arbitrary: eventOfSchema("unknown", ["tokens"], ["region"]) },
  ),
  { maxLength: 40, size: "max" },
);

interface Result {
  readonly outcomes: readonly string[];
  readonly cells: Readonly<Record<string, string>>;
}

function sumCells(cells: Iterable<UsageCell>): Record<string, string> {
  const sums = new Map<string, Decimal>();
  for (const { accountId, meterId, day, quantity } of cells) {
    const key = `${accountId} ${meterId} ${day}`;
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? quantity : add(sum, quantity));
  }
  return Object.fromEntries([...sums].map(([key, sum]) => [key, sum.toFixed()]));
}

function runAll(run: EventRun, list: readonly unknown[], asSent: (event: unknown) => unknown): Result {
  const outcomes = list.map((event) => {
    const { status, description } = run.add(asSent(event));
    return `${status}: ${description}`;
  });
  return { outcomes, cells: sumCells(run.usage.cells()) };
}

function remembering(): EventRun {
  return startEventRun(book, { ids: rememberIds() });
}

test("S4.1 S14.4 a run decides each event as if it were the first, except for its id", () => {
  fc.assert(
    fc.property(events, (eventList) => {
      const list = eventList.map((event, index) => ({ ...event, id: `${event.id}-${index}` }));
      const alone = list.map((event) => {
        const run = startEventRun(book);
        return { ...runAll(run, [event], (input) => input), counted: [...run.usage.cells()] };
      });
      const expected = {
        outcomes: alone.flatMap(({ outcomes }) => outcomes),
        cells: sumCells(alone.flatMap(({ counted }) => counted)),
      };
      expect(runAll(remembering(), list, (event) => event)).toEqual(expected);
    }),
    // Compiles the book for each event.
    { numRuns: 25 },
  );
});

test("S14.1 one object reused for every event has the same outcomes as a new object for each", () => {
  fc.assert(
    fc.property(events, (list) => {
      const plain = runAll(remembering(), list, (event) => event);
      const shared = {};
      const withReuse = runAll(remembering(), list, (event) => Object.assign(shared, event));
      expect(withReuse).toEqual(plain);
    }),
  );
});

/** The same attributes as a list. */
function toList(object: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Object.entries(object).map(([name, member]) =>
    typeof member === "object" && member !== null && !(member instanceof HostDecimal)
      ? { name, ...("value" in member && { value: member.value }), ...("unit" in member && { unit: member.unit }) }
      : { name, value: member },
  );
}

test("S4.1 attributes as an object are read like the same list; a problem has the path as it was written", () => {
  const base = {
    schemaName: "request",
    accountId: "prod",
    timestamp: "2024-01-02T03:04:05Z",
    dimensions: { region: "eu" },
  };
  fc.assert(
    fc.property(fc.array(arbitraryObject(["tokens", "ms"]), { minLength: 1, maxLength: 6 }), (objects) => {
      const [byObject, byList] = [remembering(), remembering()];
      for (const [index, attributes] of objects.entries()) {
        const names = Object.keys(attributes);
        const { problem, ...outcome } = byObject.add({ ...base, id: `${index}`, attributes });
        const asList = byList.add({ ...base, id: `${index}`, attributes: toList(attributes) });
        const withNames = JSON.stringify({ ...asList, problem: undefined })
          .replaceAll(/attributes\[(\d)\]/g, (_, place: string) => `attributes.${names[Number(place)] ?? ""}`)
          .replaceAll(".value", "");
        expect(JSON.stringify(outcome).replaceAll(".value", "")).toBe(withNames);
        expect(problem?.code).toBe(asList.problem?.code);
      }
      expect(sumCells(byObject.usage.cells())).toEqual(sumCells(byList.usage.cells()));
    }),
    { numRuns: 300 },
  );
});
