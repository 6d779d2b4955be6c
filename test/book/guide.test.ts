/** The examples in docs/reference/book.md are correct. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { readBook, type ShortBookInput } from "../../src/book/book.ts";
import type { ShortPlanInput } from "../../src/book/resources/short-plan.ts";
import type { Problem } from "../../src/errors.ts";
import { priceQuantity } from "../../src/rating/slab-charge.ts";
import { listProblems } from "./break-book.ts";

const guide = readFileSync(join(import.meta.dirname, "../../docs/reference/book.md"), "utf8");

/** The text of the guide's code block with a label. */
function block(label: string): string {
  return new RegExp(`^\`\`\`json ${label}\\n(.*?)^\`\`\``, "ms").exec(guide)?.[1] ?? "";
}

describe("docs/reference/book.md", () => {
  test("contains a valid book", () => {
    const book = readBook(block("book"));
    expect(book.accounts[0]?.pricePlans[0]).toMatchObject({ pricePlanId: "team", version: 1 });
  });

  test("shows the same plan in both forms", () => {
    const [short, long] = ["short", "long"].map((label) => {
      const book = JSON.parse(block("book")) as ShortBookInput;
      const pricePlans = [JSON.parse(block(label)) as ShortPlanInput];
      const addOns = [{ id: "platform", name: "platform", type: "FIXED_FEE" as const }];
      return readBook({ ...book, accounts: [], addOns, pricePlans }).pricePlans;
    });
    expect(long).toHaveLength(1);
    expect(short).toEqual(long);
  });

  test("says which units are in which tier", () => {
    const [plan] = readBook(block("book")).pricePlans;
    const [card] = plan?.pricePlanDetails.usageRateCards ?? [];
    const [rates] = card?.rateValues ?? [];
    if (card === undefined || rates === undefined) throw new Error("expected a usage card with rates");
    const quantities = ["1500", "1000.5"].map((units) =>
      priceQuantity(card.ratePlan, rates, units).slabs.map(({ quantity }) => quantity.toFixed()),
    );
    expect(quantities).toEqual([
      ["1000", "500"],
      ["1000", "0.5"],
    ]);
    expect(guide).toContain("the first 1,000 are in the first tier and 500 in the second; of 1,000.5 units, 0.5");
  });

  test("shows the actual problems", () => {
    const brokenText = block("book")
      .replace('"meter": "um.calls"', '"meter": "um.cals"')
      .replace('"aliases": ["key-1"]', '"netTermDays": 1.5');
    const problems = JSON.parse(block("problems")) as readonly Problem[];
    expect(listProblems(() => readBook(brokenText))).toEqual(
      problems.map(({ path, message }) => `${path}: ${message}`),
    );
  });
});
