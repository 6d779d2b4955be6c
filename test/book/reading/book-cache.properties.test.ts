/** Reading a book with a cache of items, compared with reading it whole. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { parseBook, readBookInSteps } from "../../../src/book/book.ts";
import { createBookCache } from "../../../src/book/reading/book-cache.ts";
import type { BookInput } from "../../../src/book/resources/book.ts";
import { runToCompletion } from "../../../src/numbers/steps.ts";
import { RULE_BUDGET } from "../../../src/rules/budget.ts";
import { runs } from "../../support/runs.ts";
import { listProblems } from "../break-book.ts";
import { sampleBook } from "../sample-book.ts";

type Lists = Readonly<Record<string, readonly object[]>>;
type Json = Record<string, unknown>;
const LISTS = ["settings", "eventSchemas", "usageMeters", "features", "addOns", "pricePlans"] as const;

/** The sample book, with a schema whose rule is in a setting. */
function startingBook(): BookInput {
  const book = sampleBook();
  return {
    ...book,
    settings: [
      ...(book.settings ?? []),
      { id: "weight", dataType: "JSON_LOGIC", value: '{"var": "attribute.tons"}' },
      { id: "weight", entityType: "CUSTOMER", entityId: book.customers?.[0]?.id, dataType: "STRING", value: "7" },
    ],
    eventSchemas: [
      ...(book.eventSchemas ?? []),
      {
        name: "weighed",
        attributes: [{ name: "tons" }],
        enrichments: {
          dependencies: [{ key: "weight", name: "weight" }],
          fields: [
            {
              name: "load",
              type: "ATTRIBUTE",
              enrichmentType: "JSON_LOGIC_FROM_DEPENDENCY",
              order: 1,
              value: "weight",
            },
          ],
        },
      },
    ],
  };
}

/** Sets another value at a random path within an item. */
const edit = fc.record({
  list: fc.constantFrom(...LISTS),
  item: fc.nat(20),
  kind: fc.constantFrom("change", "change", "change", "remove", "restore", "again"),
  steps: fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
  value: fc.constantFrom<unknown>(undefined, null, "", "x", 0, 7, [], {}, "ARCHIVED", "DRAFT", "tons", "1/0", {
    var: "attribute.none",
  }),
});
type Edit = typeof edit extends fc.Arbitrary<infer Value> ? Value : never;

function changedCopy(item: object, { steps, value }: Edit): object {
  const copy = structuredClone(item) as Json;
  let at: Json = copy;
  for (const [depth, step] of steps.entries()) {
    const keys = Object.keys(at);
    const key = keys[step % Math.max(keys.length, 1)] ?? "other";
    const below = at[key];
    if (depth === steps.length - 1 || typeof below !== "object" || below === null) {
      if (value === undefined) delete at[key];
      else at[key] = value;
      return copy;
    }
    at = below as Json;
  }
  return copy;
}

/** A book with one edit; unchanged items stay the same objects. */
function editBook(book: Lists, start: Lists, change: Edit): Lists {
  const { list: name, item, kind } = change;
  const list = book[name] ?? [];
  const place = item % Math.max(list.length, 1);
  const next = {
    change: () => list.map((each, at) => (at === place ? changedCopy(each, change) : each)),
    remove: () => list.filter((_, at) => at !== place),
    restore: () => start[name] ?? [],
    again: () => [...list, ...list.slice(place, place + 1).map((each) => structuredClone(each))],
  };
  return { ...book, [name]: next[kind as "change"]() };
}

const WORK = { budget: RULE_BUDGET, isChecked: () => true };

function readOutcome(read: () => unknown): unknown {
  let book: unknown;
  const problems = listProblems(() => {
    book = read();
  });
  return problems.length > 0 ? problems : book;
}

describe("a book of cached items", () => {
  test("reads the same as without a cache: the same problems, or an equal book", () => {
    const counts = { sound: 0, broken: 0 };
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 12 }), (edits) => {
        const memory = createBookCache();
        const start = startingBook() as unknown as Lists;
        let book = start;
        runToCompletion(readBookInSteps(book, WORK, memory));
        for (const change of edits) {
          const before = book;
          book = editBook(book, start, change);
          const actual = readOutcome(() => runToCompletion(readBookInSteps(book, WORK, memory)));
          const whole = structuredClone(book);
          expect(actual).toEqual(readOutcome(() => parseBook(whole)));
          counts[Array.isArray(actual) ? "broken" : "sound"] += 1;
          // Repair most broken items; otherwise all later books would be invalid.
          if (Array.isArray(actual) && change.item % 4 !== 0) book = before;
        }
      }),
      { numRuns: runs(250) },
    );
    expect(counts.sound).toBeGreaterThan(40);
    expect(counts.broken).toBeGreaterThan(40);
  });

  test("rereads only changed items", () => {
    const readings: string[] = [];
    const names = new Map<object, string>();
    const memory = createBookCache((work, item) => readings.push(`${work} ${names.get(item) ?? "other"}`));
    const start = startingBook() as unknown as Lists;
    for (const list of LISTS) for (const [at, item] of (start[list] ?? []).entries()) names.set(item, `${list}[${at}]`);
    runToCompletion(readBookInSteps(start, WORK, memory));
    readings.length = 0;
    runToCompletion(readBookInSteps(start, WORK, memory));
    expect(readings).toEqual([]);
    const [first, ...others] = start["addOns"] ?? [];
    const otherName = { ...first, displayName: "Another" };
    names.set(otherName, "changed");
    runToCompletion(readBookInSteps({ ...start, addOns: [otherName, ...others] }, WORK, memory));
    expect(readings).toEqual(["read changed"]);
  });
});
