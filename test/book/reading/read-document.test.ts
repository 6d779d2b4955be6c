import { describe, expect, test } from "vitest";

import { collectProblems } from "../../../src/book/problems.ts";
import { NO_CACHE } from "../../../src/book/reading/book-cache.ts";
import { readBookShape } from "../../../src/book/reading/read-document.ts";
import type { ResourceList } from "../../../src/book/resources/book.ts";
import type { Problem } from "../../../src/errors.ts";
import { runToCompletion } from "../../../src/numbers/steps.ts";
import { sampleBook } from "../sample-book.ts";

/** Enough items that the schema of their list is compiled. */
const MANY = 5_000;

/** Reads a book with one list. */
function readShape(
  list: ResourceList,
  items: readonly unknown[],
): { items: readonly unknown[]; problems: readonly Problem[] } {
  const problems = collectProblems();
  const { document } = runToCompletion(readBookShape({ [list]: items }, problems, NO_CACHE));
  return { items: document[list], problems: problems.error("the book", { [list]: items }).details.problems };
}

describe("a list of many items", () => {
  test.each(["settings", "customers", "accounts", "invoiceGroups"] as const)(
    "of %s gives the same result as a short list",
    (list) => {
      const listItems: readonly unknown[] = sampleBook()[list] ?? [];
      const short = readShape(list, listItems);
      const long = readShape(
        list,
        Array.from({ length: MANY }, (_, at) => listItems[at % listItems.length]),
      );
      expect(short.problems).toEqual([]);
      expect(long.problems).toEqual([]);
      expect(long.items.slice(0, listItems.length)).toEqual(short.items);
      expect(long.items.at(-1)).toEqual(short.items[(MANY - 1) % listItems.length]);
    },
  );

  test("reports the problems of its invalid items, and keeps the valid ones", () => {
    const whole = { id: "a", name: "Contoso", customerId: "c", aliases: ["c-1"] };
    const brokenDocument = {
      ...whole,
      aliases: ["c-2", 3],
      pricePlans: [{ pricePlanId: "p", effectiveFrom: "2023-02-30" }],
      colour: "red",
    };
    const short = readShape("accounts", [brokenDocument]);
    const long = readShape("accounts", [...Array.from({ length: MANY }, () => whole), brokenDocument]);
    expect(short.problems.map(({ path }) => path)).toEqual([
      "$.accounts[0].aliases[1]",
      "$.accounts[0].pricePlans[0].effectiveFrom",
      "$.accounts[0].colour",
    ]);
    expect(long.problems).toMatchObject(
      short.problems.map(({ path, message }) => ({ path: path.replace("[0]", `[${MANY}]`), message })),
    );
    expect(long.items.at(-1)).toEqual(short.items[0]);
  });
});
