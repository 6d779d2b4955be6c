import fc from "fast-check";
import { expect, test } from "vitest";

import { parseBook } from "../../../src/book/book.ts";
import { DAY_MS, formatDate, parseInstant } from "../../../src/calendar/instant.ts";
import { rememberIds } from "../../../src/ledger/preview/accepted-ids.ts";
import { startEventRun } from "../../../src/ledger/preview/preview-run.ts";
import type { UsageTally } from "../../../src/metering/usage.ts";
import { exactOfText } from "../../../src/numbers/exact.ts";
import { meterPlainly, type OracleBook, type OracleEvent } from "./ingest-oracle.ts";

const ATTRIBUTES = ["tokens", "my seconds", "a.b"];
const DIMENSIONS = ["region", "data-center"];
const ACCOUNTS = ["prod", "test", "__proto__"];

const attributeVariable = (names: readonly string[]): fc.Arbitrary<unknown> =>
  fc.constantFrom(...names).map((name) => ({ var: `attribute.${name}` }));
const term = (names: readonly string[]): fc.Arbitrary<unknown> =>
  fc.oneof(attributeVariable(names), fc.integer({ min: -9, max: 9 }));
const arithmetic = (names: readonly string[]): fc.Arbitrary<unknown> =>
  fc
    .tuple(fc.constantFrom("+", "*", "-", "max"), term(names), term(names))
    .map(([operator, a, b]) => ({ [operator]: [a, b] }));
const comparison = (names: readonly string[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc
      .tuple(fc.constantFrom("<", ">=", "==", "!=="), term(names), term(names))
      .map(([operator, a, b]) => ({ [operator]: [a, b] })),
    fc
      .tuple(fc.constantFrom("==", "!=", "==="), fc.constantFrom(...DIMENSIONS), fc.constantFrom("eu", "us"))
      .map(([operator, name, text]) => ({ [operator]: [{ var: `dimension.${name}` }, text] })),
    attributeVariable(names),
  );

/** One schema with up to two enriched fields, and up to three meters, with dots, spaces and hyphens in names. */
const books: fc.Arbitrary<OracleBook> = fc
  .record({
    attributes: fc.subarray(ATTRIBUTES, { minLength: 1 }),
    dimensions: fc.constant(DIMENSIONS),
    fieldCount: fc.nat(2),
  })
  .chain(({ attributes, dimensions, fieldCount }) => {
    const fieldNames = ["made", "made again"].slice(0, fieldCount);
    const visibleFields = (index: number): readonly string[] => [...attributes, ...fieldNames.slice(0, index)];
    const computation = fc.record(
      { matcher: comparison(visibleFields(2)), computation: arithmetic(visibleFields(2)) },
      { requiredKeys: ["computation"] },
    );
    return fc.record({
      attributes: fc.constant(attributes),
      dimensions: fc.constant(dimensions),
      fields: fc.tuple(
        ...fieldNames.map((name, index) => arithmetic(visibleFields(index)).map((value) => ({ name, value }))),
      ),
      meters: fc
        .array(
          fc.record({
            aggregation: fc.constantFrom("COUNT", "SUM"),
            computations: fc.array(computation, { minLength: 1, maxLength: 2 }),
          }),
          { minLength: 1, maxLength: 3 },
        )
        .map((meters) => meters.map((meter, index) => ({ ...meter, id: `um.${index}` }))),
      accounts: fc.constant(ACCOUNTS),
    });
  });

const whole = fc.integer({ min: -50, max: 50 });
const attribute = (name: string): fc.Arbitrary<OracleEvent["attributes"][number]> =>
  fc.oneof(whole, whole.map(String)).map((value) => ({ name, value }));

/** Mostly valid events with these attributes, some with something missing, repeated or unknown. */
const arbitraryEvents = (attributes: readonly string[]): fc.Arbitrary<readonly OracleEvent[]> =>
  fc.array(
    fc.record({
      schemaName: fc.constantFrom("request", "request", "request", "request", "nothing"),
      id: fc.nat(30).map((number) => `e${number}`),
      timestamp: fc.integer({ min: 0, max: 40 * DAY_MS }).map((ms) => new Date(1_709_200_000_000 + ms).toISOString()),
      accountId: fc.constantFrom(...ACCOUNTS, "nobody"),
      attributes: fc
        .tuple(...[...attributes, "undeclared"].map(attribute))
        .chain((list) =>
          fc.oneof({ weight: 5, arbitrary: fc.shuffledSubarray(list, { minLength: list.length }) }, fc.subarray(list)),
        ),
      dimensions: fc.record(
        {
          region: fc.constantFrom("eu", "us"),
          "data-center": fc.constantFrom("eu", "us"),
          extra: fc.string({ maxLength: 3 }),
        },
        { requiredKeys: ["region", "data-center"] },
      ),
    }),
    { maxLength: 30 },
  );

const cases = books.chain((book) => fc.record({ book: fc.constant(book), events: arbitraryEvents(book.attributes) }));

function startOracleRun(book: OracleBook): ReturnType<typeof startEventRun> {
  const fields = book.fields.map(({ name, value }, order) => ({ name, value, type: "ATTRIBUTE", order }));
  return startEventRun(
    parseBook({
      eventSchemas: [
        {
          name: "request",
          attributes: book.attributes.map((name) => ({ name })),
          dimensions: book.dimensions.map((name) => ({ name })),
          enrichments: { dependencies: [], fields },
        },
      ],
      usageMeters: book.meters.map(({ id, aggregation, computations }) => ({
        id,
        name: id.replace(".", "-"),
        aggregation,
        eventSchemaName: "request",
        computations: computations.map((computation, order) => ({ ...computation, order })),
      })),
      customers: [{ id: "contoso", name: "Contoso" }],
      accounts: book.accounts.map((id) => ({ id, name: `Account ${id}`, customerId: "contoso" })),
    }),
    { ids: rememberIds() },
  );
}

function sumCells(usage: UsageTally): Readonly<Record<string, string>> {
  const sums = [...usage.cells()].map(({ accountId, meterId, day, quantity }) => [
    `${accountId} ${meterId} ${formatDate(day * DAY_MS).slice(0, 10)}`,
    quantity.toFixed(),
  ]);
  return Object.fromEntries(sums) as Readonly<Record<string, string>>;
}

test("S4, S5, S14.1 outcomes and usage equal a simple metering with json-logic-js and decimal.js", () => {
  fc.assert(
    fc.property(cases, ({ book, events }) => {
      const run = startOracleRun(book);
      const statuses = events.map((event) => run.add(event).status);
      const expected = meterPlainly(book, events);
      expect(statuses).toEqual(expected.statuses);
      expect(sumCells(run.usage)).toEqual(expected.sums);
    }),
  );
});

test("S13.5 an event in slots has the same outcome and usage as the event as an object", () => {
  fc.assert(
    fc.property(cases, ({ book, events }) => {
      const byObject = startOracleRun(book);
      const bySlots = startOracleRun(book);
      for (const event of events) {
        const slots = bySlots.slotsOf(event.schemaName);
        const values = new Map(event.attributes.map(({ name, value }) => [name, exactOfText(String(value)) ?? 0]));
        if (slots === undefined || !book.attributes.every((name) => values.has(name))) {
          expect(bySlots.add(event)).toEqual(byObject.add(event));
          continue;
        }
        slots.id = event.id;
        slots.accountId = event.accountId;
        slots.timestamp = parseInstant(event.timestamp);
        for (const name of book.attributes) slots.values[slots.attributeSlots.get(name) ?? -1] = values.get(name) ?? 0;
        for (const name of book.dimensions)
          slots.texts[slots.dimensionSlots.get(name) ?? -1] = event.dimensions[name] ?? "";
        expect(bySlots.addSlots(slots)).toEqual(byObject.add(event));
      }
      expect(sumCells(bySlots.usage)).toEqual(sumCells(byObject.usage));
      expect(bySlots.counts()).toEqual(byObject.counts());
    }),
  );
});
