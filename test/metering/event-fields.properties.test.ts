import fc from "fast-check";
import { expect, test } from "vitest";

import { compileMetering } from "../../src/metering/compile-metering.ts";
import { readEnvelope } from "../../src/metering/event-envelope.ts";
import { createFieldReader, type ReadFields } from "../../src/metering/event-fields.ts";
import { Decimal } from "../../src/numbers/decimal.ts";
import { formatExact } from "../../src/numbers/exact.ts";
import { bookWithParts } from "../ledger/support.ts";

const book = bookWithParts({
  eventSchemas: [
    { name: "request", attributes: [{ name: "tokens" }, { name: "ms" }], dimensions: [{ name: "region" }] },
    { name: "bare", attributes: [], dimensions: [] },
  ],
});

const values = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>(1, 0, -0, 2.5, 0.125, 1e21, "3", "0.10", new Decimal("1.5")) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>("x", "", null, undefined, Number.NaN, true, {}) },
);
const names = fc.constantFrom<unknown>("tokens", "ms", "region", "other", 1);
const attribute = fc.oneof(
  { weight: 8, arbitrary: fc.record({ name: names, value: values }) },
  { weight: 1, arbitrary: fc.record({ name: names, value: values, unit: fc.constantFrom<unknown>("s", null, 7) }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, 3) },
);
/** Mostly declared fields, in either order, so that one event often resembles the previous one. */
const usualAttributes = fc.tuple(values, values, fc.boolean()).map(([tokens, ms, isReversed]) => {
  const list = [
    { name: "tokens", value: tokens },
    { name: "ms", value: ms },
  ];
  return isReversed ? list.toReversed() : list;
});
const members = fc.oneof(
  { weight: 4, arbitrary: values },
  { weight: 1, arbitrary: fc.record({ value: values, unit: fc.constantFrom<unknown>("s", null, undefined, 7) }) },
);
/** Attributes as an object: mostly declared fields, in any order. */
const attributeObject = fc
  .tuple(
    fc.shuffledSubarray(["tokens", "ms", "other", "__proto__"], { minLength: 1 }),
    fc.array(members, { minLength: 4, maxLength: 4 }),
  )
  .map(([names, all]) => Object.fromEntries(names.map((name, index): [string, unknown] => [name, all[index]])));
const dimensionValues = fc.constantFrom<unknown>("eu", "us", "x".repeat(513), 5, 2.5, null, "");
const dimensions = fc.oneof(
  { weight: 5, arbitrary: dimensionValues.map((region): unknown => ({ region })) },
  { weight: 2, arbitrary: dimensionValues.map((region): unknown => ({ zone: "a", region })) },
  { weight: 1, arbitrary: dimensionValues.map((region): unknown => ({ region, zone: "a" })) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, null, {}, [], "eu", Object.create({ region: "eu" })) },
);
const events = fc.array(
  fc.record({
    schemaName: fc.constantFrom("request", "request", "request", "bare", "unknown"),
    id: fc.constant("id"),
    accountId: fc.constant("prod"),
    timestamp: fc.constant("2024-01-02T03:04:05Z"),
    attributes: fc.oneof(
      { weight: 4, arbitrary: usualAttributes },
      { weight: 4, arbitrary: attributeObject },
      { weight: 1, arbitrary: fc.array(attribute, { maxLength: 4 }) },
      { weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, null, "x") },
    ),
    dimensions,
  }),
  { maxLength: 12 },
);

/** The result of a reader for an event: a rejection, a failure, or the values of its slots. */
function readBy(readFields: ReadFields, event: unknown): unknown {
  const incoming = readEnvelope(event);
  if ("code" in incoming) throw new Error(incoming.message);
  const { program, problem, fault } = readFields(incoming);
  if (problem !== undefined) return { problem };
  if (program === undefined || fault !== undefined) return { schema: program?.schema.name, fault };
  const { values: read, texts } = program.slots;
  return { schema: program.schema.name, values: read.map(formatExact), texts: [...texts] };
}

function newReader(): ReadFields {
  return createFieldReader(compileMetering(book).schemas);
}

test("S4.1 the values read from an event do not depend on the events before it", () => {
  fc.assert(
    fc.property(events, (list) => {
      const reader = newReader();
      for (const event of list) expect(readBy(reader, event)).toEqual(readBy(newReader(), event));
    }),
    { numRuns: 300 },
  );
});

/** The same attributes as a list. */
function toList(object: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Object.entries(object).map(([name, member]) =>
    typeof member === "object" && member !== null && !(member instanceof Decimal)
      ? { name, value: (member as { value?: unknown }).value, unit: (member as { unit?: unknown }).unit }
      : { name, value: member },
  );
}

test("S4.1 attributes as an object are read like the same list; a problem has the path as it was written", () => {
  const base = { schemaName: "request", id: "id", accountId: "prod", timestamp: "2024-01-02T03:04:05Z" };
  fc.assert(
    fc.property(fc.array(attributeObject, { minLength: 1, maxLength: 6 }), (objects) => {
      const [objectReader, listReader] = [newReader(), newReader()];
      for (const attributes of objects) {
        const dimensions = { region: "eu" };
        const listResult = readBy(listReader, { ...base, attributes: toList(attributes), dimensions });
        const result = readBy(objectReader, { ...base, attributes, dimensions });
        const names = Object.keys(attributes);
        const asWritten = JSON.stringify(listResult)
          .replaceAll(/attributes\[(\d)\]/g, (_, index: string) => `attributes.${names[Number(index)] ?? ""}`)
          .replaceAll(".value", "");
        expect(JSON.stringify(result).replaceAll(".value", "")).toBe(asWritten);
      }
    }),
    { numRuns: 300 },
  );
});
