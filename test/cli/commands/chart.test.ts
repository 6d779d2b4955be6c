import { describe, expect, test } from "vitest";

import { textsOf } from "../../support/svg.ts";
import { failure, SMALL_BOOK, smallPlan, testFolder } from "../fake-io.ts";

const files = testFolder();

const [PLAN] = SMALL_BOOK.pricePlans;
const chart = async (content: object, ...more: readonly string[]) =>
  files.run(["chart", files.file("plan.json", content), ...more]);

describe("ratebook chart", () => {
  test("draws the plan of a book, with the names of the book", async () => {
    const { code, out, err } = await chart(SMALL_BOOK);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(textsOf(out)).toContain("at least 2,000.00 in all");
    expect(textsOf(out)).toContain("units");
  });

  test.each(["um.units", "Units used"])("draws a plan without its book, with the id or name %s", async (name) => {
    const text = JSON.stringify(PLAN).replaceAll("um.units", name);
    const { code, out } = await chart(JSON.parse(text) as object);
    expect([code, textsOf(out)]).toEqual([0, expect.arrayContaining([name])]);
  });

  test("writes a file", async () => {
    expect(await chart({ ...PLAN }, "-o", "plan.svg")).toEqual({ code: 0, out: "", err: "" });
    expect(files.read("plan.svg")).toMatch(/^<svg .*<\/svg>\n$/s);
  });

  test("reports the problems of a plan and where they are", async () => {
    const { code, err } = await chart({ ...PLAN, pricePlanDetails: { usageRateCards: [{ usageMeterId: 3 }] } });
    expect(code).toBe(1);
    expect(err).toContain("plan.json:1:87: $.pricePlanDetails.usageRateCards[0].usageMeterId: expected a string");
  });

  test.each([
    ["a currency that the plan has not", ["--currency", "EUR"], '--currency: the plan supports USD, not "EUR"'],
    ["no quantity", ["--up-to", "0"], "--up-to: expected more than 0, got 0"],
    ["an invalid quantity", ["--up-to", "many"], '--up-to: "many" is not a decimal'],
    ["a card without a quantity", ["--at", "um.units"], '--at: expected ID=QUANTITY, got "um.units"'],
  ])("rejects %s", async (_, more, message) => {
    expect(await chart(SMALL_BOOK, ...more)).toEqual(failure(message, 2));
  });

  test("requires the plan if the book has several", async () => {
    const book = { ...SMALL_BOOK, pricePlans: [PLAN, { ...PLAN, id: "pp.other", name: "Other" }] };
    const { code, err } = await chart(book);
    expect([code, err]).toEqual([
      2,
      "ratebook: plan.json has several plans; select one with --plan ID: pp.small, pp.other\n",
    ]);
    expect((await chart(book, "--plan", "pp.other")).code).toBe(0);
  });

  test("uses fixed quantities for other cards", async () => {
    const licenses = [{ id: "addon.seats", name: "Seats", tiers: [{ upTo: 100, rate: 2 }, { rate: 1 }] }];
    const { out } = await chart({ ...smallPlan("pp", 2), licenses }, "--at", "addon.seats=5000");
    expect(textsOf(out)).toContain("the whole cycle costs 5,100.00 more, with Seats at 5,000");
  });
});
