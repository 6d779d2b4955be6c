/** Meters with groups in previews (S18.1). */
import { describe, expect, test } from "vitest";

import { readBook } from "../../../src/book/book.ts";
import type { ShortBookInput } from "../../../src/book/resources/book.ts";
import { createPreview, preview } from "../../../src/ledger/preview/preview.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";

const book: ShortBookInput = {
  eventSchemas: [
    {
      name: "tokens",
      attributes: ["count"],
      dimensions: ["model", "kind"],
      computedDimensions: { family: { if: [{ "==": [{ var: "dimension.model" }, "none"] }, "", "nova"] } },
    },
  ],
  usageMeters: [
    { id: "tokens", schema: "tokens", sum: "count", groupBy: ["model", "kind"] },
    { id: "family", schema: "tokens", sum: "count", where: { kind: "in" }, groupBy: ["family"] },
    { id: "all", schema: "tokens", sum: "count" },
  ],
  accounts: [{ id: "acme" }],
};

let ids = 0;
const eventOf = (
  count: number,
  model: string | number,
  kind = "in",
  timestamp = "2026-10-03T10:00:00Z",
): EventInput => ({
  schemaName: "tokens",
  id: `e${++ids}`,
  accountId: "acme",
  timestamp,
  attributes: { count },
  dimensions: { model, kind },
});

function listCells(events: readonly EventInput[]): readonly string[] {
  const run = createPreview(readBook(book));
  for (const event of events) expect(run.add(event).status).toMatch(/^INGESTION_COMPLETED/);
  return [...run.cellsOf("acme")].map(({ meterId, day, group, quantity }) =>
    [meterId, day - 20_729, group?.join("/") ?? "-", quantity.toFixed()].join(" "),
  );
}

describe("usage by group", () => {
  test("S18.1 is kept by meter, day and group, by declared and computed dimensions", () => {
    const cells = listCells([
      eventOf(5, "large", "out"),
      eventOf(2, "large"),
      eventOf(1, "large"),
      eventOf(4, "mini", "in", "2026-10-04T00:00:00Z"),
    ]);
    expect(cells).toEqual([
      "tokens 0 large/in 3",
      "tokens 0 large/out 5",
      "tokens 1 mini/in 4",
      "family 0 nova 3",
      "family 1 nova 4",
      "all 0 - 8",
      "all 1 - 4",
    ]);
  });

  test('S4.1 the number 2 and the text "2" are one group, as are 2.0 and 2', () => {
    expect(listCells([eventOf(1, 2), eventOf(2, "2"), eventOf(4, 2)])[0]).toBe("tokens 0 2/in 7");
  });
});

describe("an event fails whole", () => {
  const failureOf = (...events: readonly EventInput[]): readonly string[] => {
    const { problems, events: counts } = preview(readBook(book), events);
    expect(counts.INGESTION_FAILED_UNITS_INVALID ?? 0).toBe(problems.length);
    return problems.map(({ message }) => message);
  };

  test("S18.1 if a text of its group is empty or too long", () => {
    expect(failureOf(eventOf(1, ""))).toEqual([
      'The dimension "model", by which the meter "tokens" groups usage, has an empty text; expected 1 to 512 characters.',
    ]);
    expect(failureOf(eventOf(1, "none"))).toEqual([
      'The dimension "family", by which the meter "family" groups usage, has an empty text; expected 1 to 512 characters.',
    ]);
    // The meter does not measure this one.
    expect(failureOf(eventOf(1, "none", "out"))).toEqual([]);
  });

  test("S18.1 if the account already has 1,000 groups of the meter on its day", () => {
    const full = Array.from({ length: 1000 }, (_, index) => eventOf(1, `model ${index}`));
    const sentence =
      'The account has usage of 1000 groups of the meter "tokens" on 2026-10-03, the maximum; use dimensions with fewer values.';
    expect(failureOf(...full, eventOf(1, "another"), eventOf(1, "model 7"))).toEqual([sentence]);
    expect(failureOf(...full, eventOf(0, "another"))).toEqual([]);
    expect(failureOf(...full, eventOf(-1, "model 7"), eventOf(1, "another"), eventOf(1, "third"))).toEqual([sentence]);
    expect(failureOf(...full, eventOf(1, "another", "in", "2026-10-04T00:00:00Z"))).toEqual([]);
  });
});
