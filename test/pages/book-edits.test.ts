/** Forms of the playground edit a book in the form in which it was written. */
import { expect, test } from "vitest";

import { valueAt } from "../../src/book/short/fields.ts";
import { parseBook } from "../../src/index.ts";
import {
  addSlab,
  changeInterval,
  moveSlabStart,
  readEditableValue,
  removeLastSlab,
  replaceValue,
  tryParseJson,
} from "../../src/pages/play/book-edits.ts";

const SHORT = JSON.stringify({
  organization: { id: "acme" },
  eventSchemas: [{ name: "usage", attributes: ["quantity"] }],
  usageMeters: [{ id: "um.used", name: "Usage", schema: "usage", sum: "quantity" }],
  pricePlans: [
    {
      id: "team",
      cycle: "MONTHLY",
      usage: [{ meter: "um.used", tiers: [{ upTo: 1000, rate: 0 }, { rate: "0.002" }] }],
      fees: [{ id: "fee", rate: 49 }],
    },
  ],
});
const details = ["pricePlans", 0, "pricePlanDetails"];
const card = [...details, "usageRateCards", 0];

/** The first plan of a text, as written. */
const planOf = (text: string): unknown => valueAt(tryParseJson(text), ["pricePlans", 0]);
const usageOf = (text: string): unknown => valueAt(planOf(text), ["usage"]);

test("an edit of a short book leaves it short", () => {
  const rate = [...card, "rateValues", 0, "slabRates", 1, "rate"];
  expect(usageOf(replaceValue(SHORT, rate, "0.003"))).toEqual([
    { meter: "um.used", tiers: [{ upTo: 1000, rate: 0 }, { rate: "0.003" }] },
  ]);
  expect(usageOf(moveSlabStart(SHORT, card, 1, "2000"))).toEqual([
    { meter: "um.used", tiers: [{ upTo: 2000, rate: 0 }, { rate: "0.002" }] },
  ]);
  const more = addSlab(SHORT, card);
  expect(usageOf(more)).toEqual([
    { meter: "um.used", tiers: [{ upTo: 1000, rate: 0 }, { upTo: "2000", rate: "0.002" }, { rate: "0.002" }] },
  ]);
  expect(usageOf(removeLastSlab(more, card))).toEqual(usageOf(SHORT));
  expect(valueAt(planOf(changeInterval(SHORT, [...details, "pricingCycleConfig"], "ANNUALLY")), ["cycle"])).toBe(
    "ANNUALLY",
  );
  const prorated = replaceValue(SHORT, [...details, "fixedFeeRateCards", 0, "enableProration"], true);
  expect(valueAt(planOf(prorated), ["fees"])).toEqual([{ id: "fee", rate: 49, prorate: true }]);
});

test("a first day of billing periods makes an object of a cycle that is a text", () => {
  const startOffset = [...details, "pricingCycleConfig", "startOffset"];
  const edited = replaceValue(SHORT, [...startOffset, "dayOffset"], "15");
  expect(valueAt(planOf(edited), ["cycle"])).toEqual({ interval: "MONTHLY", day: 15 });
  const quarterly = changeInterval(SHORT, [...details, "pricingCycleConfig"], "QUARTERLY");
  expect(valueAt(planOf(replaceValue(quarterly, [...startOffset, "monthOffset"], "2")), ["cycle"])).toEqual({
    interval: "QUARTERLY",
    month: 2,
  });
  const wrong = replaceValue(SHORT, [...startOffset, "dayOffset"], "x");
  expect(valueAt(readEditableValue(wrong), [...startOffset, "dayOffset"])).toBe("x");
});

test("a rate that is being typed stays in the book until it is right", () => {
  const rate = [...card, "rateValues", 0, "slabRates", 1, "rate"];
  const typed = replaceValue(SHORT, rate, "0.");
  expect(valueAt(readEditableValue(typed), rate)).toBe("0.");
  expect(usageOf(replaceValue(typed, rate, "0.5"))).toEqual([
    { meter: "um.used", tiers: [{ upTo: 1000, rate: 0 }, { rate: "0.5" }] },
  ]);
  const misplaced = moveSlabStart(SHORT, card, 1, "");
  expect(usageOf(moveSlabStart(misplaced, card, 1, "500"))).toEqual([
    { meter: "um.used", tiers: [{ upTo: "500", rate: 0 }, { rate: "0.002" }] },
  ]);
  expect(() => parseBook(tryParseJson(SHORT))).not.toThrow();
});

test("a book with a wrong short form is not edited, because its parts would be lost", () => {
  const wrong = SHORT.replace('"cycle"', '"cycl"');
  expect(readEditableValue(wrong)).toBeUndefined();
  expect(replaceValue(wrong, ["organization", "id"], "other")).toBe(wrong);
});

test("edits keep comments, layout and numbers as they are written", () => {
  const text = `// Our prices
{
  "organization": { "id": "acme" }, // the seller
  "eventSchemas": [{ "name": "usage", "attributes": ["quantity"] }],
  "usageMeters": [{ "id": "um.used", "name": "Usage", "schema": "usage", "sum": "quantity" }],
  "pricePlans": [{
    "id": "team", "cycle": "MONTHLY",
    "usage": [
      { "meter": "um.used", "tiers": [
        { "upTo": 1000, "rate": 0 }, // free
        { "rate": 2.50 } /* each */
      ] }
    ],
    "fees": [{ "id": "fee", "rate": 49.00 }]
  }],
}
`;
  const rate = [...card, "rateValues", 0, "slabRates", 1, "rate"];
  expect(replaceValue(text, rate, "0.003")).toBe(text.replace("2.50 }", "0.003 }"));
  expect(moveSlabStart(text, card, 1, "2000")).toBe(text.replace('"upTo": 1000', '"upTo": 2000'));
  const more = addSlab(text, card);
  for (const part of ["// Our prices", "// the seller", "// free", "/* each */", "2.50", "49.00"])
    expect(more).toContain(part);
  expect(removeLastSlab(more, card)).not.toContain("2000");
  expect(usageOf(removeLastSlab(more, card))).toEqual(usageOf(text));
  const prorated = replaceValue(text, [...details, "fixedFeeRateCards", 0, "enableProration"], true);
  expect(prorated).toContain('"rate": 49.00,');
  expect(valueAt(planOf(prorated), ["fees"])).toEqual([{ id: "fee", rate: 49, prorate: true }]);
});

test("an edit of a book that is partly in long form changes only what it edits", () => {
  const long = {
    ...(readEditableValue(SHORT) as object),
    usageMeters: [{ id: "um.used", name: "Usage", schema: "usage", sum: "quantity" }],
  };
  const text = `${JSON.stringify(long, null, 4)} // end`;
  const rate = [...card, "rateValues", 0, "slabRates", 1, "rate"];
  const edited = replaceValue(text, rate, "0.5");
  expect(valueAt(readEditableValue(edited), rate)).toBe("0.5");
  expect(edited).toContain("// end");
});
