import { expect, test } from "vitest";

import { preview } from "../../src/ledger/preview/preview.ts";
import { idsAmong, LOOK_AHEAD, lookAtEvents } from "../../src/metering/look-ahead.ts";
import { bookOf, eventOf } from "../ledger/support.ts";

const odd: readonly unknown[] = [
  undefined,
  null,
  7,
  "text",
  [],
  [[]],
  {},
  { id: 1, attributes: 5, dimensions: "x" },
  { id: "x".repeat(513), attributes: [null, 1, [], { value: {} }] },
];

test("anything may be in the list that is looked at", () => {
  expect(Number.isFinite(lookAtEvents(odd, 0, odd.length + 1))).toBe(true);
  expect(idsAmong([...odd, eventOf({ id: "e7" })], 0, odd.length + 1)).toEqual(["e7"]);
});

test("S14.1 a list and any other iterable of the same events have the same preview", () => {
  const good = Array.from({ length: 3 * LOOK_AHEAD }, (_, index) => eventOf({ id: `e${index % 40}` }));
  const events = [...odd, ...good, ...odd, ...good];
  const listed = preview(bookOf({}), events);
  expect(listed).toEqual(preview(bookOf({}), events.values()));
  expect(listed.events.INGESTION_COMPLETED_EVENT_NOT_BILLED).toBe(40);
});
