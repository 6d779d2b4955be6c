/** Rows for which a fault in a statement changes the bill, and the book that meters them. */
import { expect } from "vitest";

import { readBook } from "../../src/book/book.ts";
import { byCore, byDatabase, comparable, type Types, type World } from "./law.ts";
import type { Row } from "./rows.ts";

const row = { schema: "use", account: "a", x: "1", y: "1", d: "eu" };

/** A book that sums `x`. */
export const SUMMING_BOOK = readBook({
  eventSchemas: [{ name: "use", attributes: ["x", "y"], dimensions: ["d"] }],
  usageMeters: [{ id: "um", name: "m", schema: "use", sum: "x" }],
  accounts: [{ id: "a", name: "Account" }],
});

/** Files or tables whose rows show a fault, by fault. */
export const FAULTS = {
  "an unchecked scale": [[{ ...row, id: "1", time: "2024-03-01T10:00:00Z", x: "0.1234567" }]],
  "any of an id's events instead of the first": [
    [{ ...row, id: "1", time: "2024-03-01T10:00:00Z", x: "5" }],
    [{ ...row, id: "1", time: "2024-03-01T11:00:00Z", x: "7" }],
  ],
  "ids that repeat in another file": [
    [{ ...row, id: "1", time: "2024-03-01T10:00:00Z", x: "5" }],
    [{ ...row, id: "1", time: "2024-03-01T11:00:00Z", x: "7" }],
  ],
  "days of a local time zone": [[{ ...row, id: "1", time: "2024-03-02T01:00:00Z" }]],
  "an offset that is dropped": [[{ ...row, id: "1", time: "2024-03-02T01:00:00+05:30" }]],
  "rows of an unknown account, which are not decided": [
    [
      { ...row, id: "1", account: "nobody", time: "2024-03-02T01:00:00Z" },
      { ...row, id: "2", time: "2024-03-02T01:00:00Z" },
    ],
  ],
  "a sum that is beyond 64 bits": [
    Array.from({ length: 12 }, (_, n) => ({ ...row, id: `${n}`, time: "2024-03-02T01:00:00Z", x: "999999999997" })),
  ],
} satisfies Readonly<Record<string, readonly (readonly Row[])[]>>;

/** The name of a fault. */
export type Fault = keyof typeof FAULTS;

/** A fault of a dialect: a part of its statements, and its replacement. */
export type Planted = readonly [fault: Fault, found: RegExp, instead: string];

/** Faults of both dialects. */
export const COMMON_FAULTS: readonly Planted[] = [
  ["an unchecked scale", /\{1,6\}/g, "{1,20}"],
  [
    "any of an id's events instead of the first",
    /order by at_ms asc nulls first, order_id/g,
    "order by at_ms desc, order_id",
  ],
  ["ids that repeat in another file", /having count\(\*\) > 1/g, "having count(*) > 2"],
  ["rows of an unknown account, which are not decided", /where not plain/g, "where not plain and id is null"],
];

/** Expects that the law holds for the rows of a fault, and does not with faulty statements. */
export async function expectCaught(fault: Fault, types: Types, world: World, faultyWorld: World): Promise<void> {
  const summing = { dedupes: true, usesPushdown: true };
  await world(FAULTS[fault], types, async (rows) => {
    expect(comparable(await byDatabase(SUMMING_BOOK, rows, summing))).toEqual(byCore(SUMMING_BOOK, rows, true));
  });
  await faultyWorld(FAULTS[fault], types, async (rows) => {
    const failure = byDatabase(SUMMING_BOOK, rows, summing).then(comparable, String);
    expect(await failure).not.toEqual(byCore(SUMMING_BOOK, rows, true));
  });
}
