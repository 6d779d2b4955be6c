/** Heavy rules in a preview and a book: each fails its own event, or is rejected when it is read (S3.8, S14.1). */
import { describe, expect, test } from "vitest";

import { parseBook } from "../../../src/book/book.ts";
import { RatebookError } from "../../../src/errors.ts";
import { preview, type PreviewOptions } from "../../../src/ledger/preview/preview.ts";

const variable = (path: string): { readonly var: string } => ({ var: path });
const ones = (count: number): readonly number[] => Array.from({ length: count }, () => 1);
const doubling = { merge: [variable("accumulator"), variable("accumulator")] };
/** Over a setting of 1,024 elements: each costs a step, and one for each of the 721 nodes of the body. */
const DIVISIONS = {
  reduce: [variable("dependencies.list"), { max: Array.from({ length: 240 }, () => ({ "/": [1, 3] })) }, 0],
};
const COPIES = {
  reduce: [
    variable("dependencies.list"),
    { cat: [variable("accumulator"), variable("accumulator")] },
    variable("dimension.region"),
  ],
};

interface Rules {
  readonly field?: unknown;
  readonly computation?: unknown;
  readonly setting?: string;
}

function bookWithRules({
  field,
  computation = variable("attribute.n"),
  setting = JSON.stringify(ones(1024)),
}: Rules): unknown {
  const fields = field === undefined ? [] : [{ name: "extra", type: "DIMENSION", order: 1, value: field }];
  const dependencies = [{ key: "list", name: "list" }];
  return {
    settings: [{ id: "list", name: "List", dataType: "JSON", value: setting }],
    eventSchemas: [
      { name: "call", attributes: ["n"], dimensions: ["region"], enrichments: { dependencies, fields } },
      { name: "plain", attributes: ["n"] },
    ],
    usageMeters: [
      { id: "calls", schema: "call", sum: computation },
      { id: "plain", schema: "plain", count: true },
    ],
    accounts: [{ id: "acc" }],
  };
}

/** The outcome of an event with the rules, between two events of another schema. */
function previewRules(rules: Rules, options: PreviewOptions = {}): readonly string[] {
  const call = { schemaName: "call", attributes: [{ name: "n", value: 1 }], dimensions: { region: "eu" } };
  const plain = { schemaName: "plain", attributes: [{ name: "n", value: 1 }] };
  const events = [plain, call, plain].map((event, at) => ({
    ...event,
    id: `e${at}`,
    accountId: "acc",
    timestamp: `2024-06-0${at + 1}T00:00:00Z`,
  }));
  const book = parseBook(bookWithRules(rules));
  const start = performance.now();
  const { problems, events: counts } = preview(book, events, options);
  expect(performance.now() - start).toBeLessThan(8000);
  expect(counts.read).toBe(3);
  return problems.map(({ event, status, message }) => `${event} ${status} ${message}`);
}

function listProblems(rules: Rules): readonly string[] {
  try {
    parseBook(bookWithRules(rules));
    return [];
  } catch (error) {
    if (!(error instanceof RatebookError) || error.code !== "ERR_BOOK_INVALID") throw error;
    const { problems } = error.details as { readonly problems: readonly { path: string; message: string }[] };
    return problems.map(({ path, message }) => `${path} ${message}`);
  }
}

describe("S3.8 a rule that exceeds its budget fails its event, and no other of the batch", () => {
  test("in a field", () => {
    expect(previewRules({ field: COPIES })).toEqual([
      '2 INGESTION_FAILED_ENRICHMENT_FAILED The field "extra" cannot be computed: the rule exceeds its budget of 65,536 characters of text.',
    ]);
  });

  test("in a meter", () => {
    expect(previewRules({ computation: DIVISIONS })).toEqual([
      '2 INGESTION_FAILED_UNITS_INVALID The meter "calls" cannot measure the event: the rule exceeds its budget of 10,000 steps.',
    ]);
  });

  test("unless options raise the budget", () => {
    // 20 elements, each a step and 721 for the body: 240 divisions of two literals, and max.
    const rules = { computation: DIVISIONS, setting: JSON.stringify(ones(20)) };
    expect(previewRules(rules)).toHaveLength(1);
    expect(previewRules(rules, { ruleBudget: { steps: 20 * 722 } })).toEqual([]);
    expect(previewRules(rules, { ruleBudget: { steps: 20 * 722 - 1 } })).toHaveLength(1);
  });

  test("but a rule may name a setting of a million elements, because naming it costs nothing", () => {
    const setting = JSON.stringify(ones(1_000_000));
    const bigRule = {
      and: [...Array.from({ length: 500 }, () => variable("dependencies.list")), variable("attribute.n")],
    };
    expect(previewRules({ computation: bigRule, setting })).toEqual([]);
    const comparison = { if: [{ "==": [variable("dependencies.list"), "x"] }, 1, 2] };
    expect(previewRules({ computation: comparison, setting })).toEqual([
      expect.stringContaining("budget of 10,000 steps") as string,
    ]);
  });
});

describe("S3.8 a rule that no event can evaluate within the budget is rejected", () => {
  const heavy = { reduce: [ones(40), doubling, [1]] };
  const message = "the rule exceeds its budget of 10,000 steps, for every event";

  test("in a meter and in a field, with its path", () => {
    expect(listProblems({ field: heavy, computation: heavy })).toEqual([
      `$.eventSchemas[0].enrichments.fields[0].value ${message}`,
      `$.usageMeters[0].sum ${message}`,
    ]);
  });

  test("unless the budget is higher", () => {
    // 20 elements: doubled 20 times, 2 + 4 + … + 2^20 copied, and 20 times 1 + 3 for the loop.
    const rule = { reduce: [ones(20), doubling, [1]] };
    const steps = 2 ** 21 - 2 + 80;
    expect(() => parseBook(bookWithRules({ computation: rule }))).toThrow(message);
    expect(parseBook(bookWithRules({ computation: rule }), { ruleBudget: { steps } }).usageMeters).toHaveLength(2);
  });
});
