/** The programs in the guides print the output shown. */
import { expect, test } from "vitest";

import {
  type EventInput,
  meter,
  parseBook,
  parsePlan,
  priceQuantity,
  readBook,
  type ShortBookInput,
} from "../../src/index.ts";
import { firstBlock, readGuide, readProgram, runProgram } from "../support/guides.ts";

/** The text blocks of a page. */
const textBlocks = (guide: string): readonly string[] =>
  [...guide.matchAll(/```text\n([^]*?)\n```/g)].map(([, text = ""]) => text);

test("the first invoice in code prints the output shown", async () => {
  const guide = readGuide("guide/first-invoice.md");
  expect(await runProgram("test/examples/first-invoice.ts")).toBe(textBlocks(guide)[1]);
  const source = readProgram("test/examples/first-invoice.ts");
  expect(source.replace("../../src/index.ts", "ratebook").trimEnd()).toBe(firstBlock(guide, "ts"));
});

test("the engine ingests, undoes, shows a draft and finalizes it", async () => {
  const guide = readGuide("guide/embedding.md");
  expect(await runProgram("docs/examples/embedded-engine.mjs")).toBe(firstBlock(guide, "text"));
  expect(readProgram("docs/examples/embedded-engine.mjs").trimEnd()).toBe(firstBlock(guide, "js"));
});

test("the API can be mounted in another server", async () => {
  const output = await runProgram("docs/examples/mounted-server.mjs");
  expect(output).toBe('200 {"data":[],"nextToken":null,"context":{"pageSize":20}}\n{"shop":"open"}');
  const [, shown = ""] = /## Mount the whole API[^]*?```js\n([^]*?)\n```/.exec(readGuide("guide/embedding.md")) ?? [];
  const program = readProgram("docs/examples/mounted-server.mjs");
  for (const line of shown.split("\n")) expect(program).toContain(`${line}\n`);
});

/** The JSON blocks of a page. */
const jsonBlocks = (page: string): readonly unknown[] =>
  [...readGuide(page).matchAll(/```json[^\n]*\n([^]*?)\n```/g)].map(([, text = ""]) => JSON.parse(text) as unknown);

test("the event in the guide to metering is counted by the meters in it", () => {
  const [event, metering] = jsonBlocks("guide/metering.md") as [EventInput, ShortBookInput];
  const book = { ...metering, accounts: [{ id: "contoso-prod" }] };
  const { usage } = meter(book, [event]);
  expect(usage.map(({ meterId, quantity }) => [meterId, quantity.toFixed()])).toEqual([
    ["requests", "1"],
    ["tokens", "0.0015"],
  ]);
});

test("the plan in the README is valid in the book of the reference", () => {
  const [, book = ""] = /```json book\n([^]*?)\n```/.exec(readGuide("reference/book.md")) ?? [];
  const plan = parsePlan(JSON.parse(firstBlock(readProgram("README.md"), "json")), readBook(book));
  expect(plan.pricePlanDetails.fixedFeeRateCards[0]?.invoiceTiming).toBe("IN_ADVANCE");
});

test("the credit and the plan in the guide to credits are valid in a book", () => {
  const [credit, plan] = jsonBlocks("guide/credits-and-entitlements.md");
  const { accounts, pricePlans } = parseBook({
    pricePlans: [plan],
    accounts: [{ id: "contoso-prod", plan: "credits", from: "2026-01-01", credits: [credit] }],
  });
  expect(accounts[0]?.credits[0]).toMatchObject({ purpose: "Welcome credit", effectiveFrom: Date.parse("2023-11-01") });
  expect(pricePlans[0]?.pricePlanDetails.entitlementOverageRateCards[0]?.maxQuantity?.toFixed()).toBe("5000");
});

test("the prices in the guide to plans charge what it says for 150 calls", () => {
  const [{ tiers }] = jsonBlocks("guide/plans.md") as [{ readonly tiers: object[] }];
  const rows = [...readGuide("guide/plans.md").matchAll(/^\| `("(?:rate|flat)".*)` \|.* = (\d+) \|$/gm)];
  const cases = rows.map(([, fields = "", amount]) => [JSON.parse(`{ ${fields} }`) as object, amount] as const);
  expect(cases).toHaveLength(3);
  const price = (fields: object): string => {
    const book = {
      eventSchemas: [{ name: "api_call", attributes: ["calls"] }],
      usageMeters: [{ id: "um.calls", name: "API calls", schema: "api_call", sum: "calls" }],
    };
    const plan = parsePlan({ id: "team", cycle: "MONTHLY", usage: [{ meter: "um.calls", ...fields }] }, readBook(book));
    const [card] = plan.pricePlanDetails.usageRateCards;
    const [rates] = card?.rateValues ?? [];
    if (card === undefined || rates === undefined) throw new Error("expected a usage card with rates");
    return priceQuantity(card.ratePlan, rates, "150").amount.toFixed();
  };
  for (const [fields, amount] of cases) expect(price(fields)).toBe(amount);
  expect([price({ tiers }), price({ volumeTiers: tiers }), price({ flat: 2 })]).toEqual(["250", "150", "2"]);
});
