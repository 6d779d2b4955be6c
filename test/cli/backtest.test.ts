import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Folder, folder, line, ratebook, SMALL_BOOK } from "./fake-io.ts";

let files: Folder;
beforeAll(() => {
  files = folder();
});
afterAll(() => files.remove());

/** The small plan without its commitment, at `rate` for every unit up to 100. */
const planOf = (id: string, rate: number): object => {
  const [plan] = SMALL_BOOK.pricePlans;
  const details = { ...plan?.pricePlanDetails, minimumCommitment: null };
  const [card] = plan?.pricePlanDetails.usageRateCards ?? [];
  const slabRates = [
    { order: 1, rate },
    { order: 2, rate: 1 },
  ];
  return {
    ...plan,
    id,
    pricePlanDetails: { ...details, usageRateCards: [{ ...card, rateValues: [{ currency: "USD", slabRates }] }] },
  };
};
const backtest = async (...more: readonly string[]) =>
  ratebook(
    [
      "backtest",
      files.file("book.json", JSON.stringify({ ...SMALL_BOOK, pricePlans: [planOf("pp.small", 2)] })),
      "--plan",
      files.file("dear.json", JSON.stringify(planOf("pp.dear", 3))),
      "--events",
      files.file("events.ndjson", line("e", "2024-06-20T12:00:00Z", 60)),
      ...more,
    ],
    { cut: files.path },
  );

describe("ratebook backtest", () => {
  test("60 units at 2 less a credit of 50, then at 3: 70, then 130", async () => {
    expect(await backtest()).toEqual({
      code: 0,
      err: "",
      out: [
        "pp.dear version 1",
        "  total: 70.00 → 130.00 USD (+60.00)",
        "  accounts: 1 pay more, 0 the same, 0 less",
        "  difference of an account: 0% 60.00, 5% 60.00, 25% 60.00, 50% 60.00, 75% 60.00, 95% 60.00, 100% 60.00",
        "  prod: 70.00 → 130.00 USD (+60.00)",
        "    units: 120.00 → 180.00 USD (+60.00)",
        "",
      ].join("\n"),
    });
    expect((await backtest("--format", "csv")).out).toBe(
      "plan,version,account,currency,before,after,difference\npp.dear,1,prod,USD,70,130,60\n",
    );
    expect(JSON.parse((await backtest("--format", "json")).out)).toMatchObject({ plans: [{ planId: "pp.dear" }] });
  });

  test("is a gate", async () => {
    expect(await backtest("--fail-if", "account.increase > 20%")).toMatchObject({
      code: 1,
      err: "ratebook: --fail-if: pp.dear@1: increase of prod above 20%: 70 → 130 USD\n",
    });
    expect((await backtest("--fail-if", "total.decrease > 0")).code).toBe(0);
    expect(await backtest("--fail-if", "nonsense")).toMatchObject({
      code: 2,
      err: 'ratebook: --fail-if: expected a rule such as "account.increase > 20%" or "total.decrease > 0", got "nonsense"\n',
    });
  });

  test("tells bad lines, and says so with its exit code", async () => {
    const events = files.file("bad.ndjson", `null\n${line("e", "2024-06-20T12:00:00Z", 60)}`);
    const { code, err } = await backtest("--events", events);
    expect(err).toMatch(/^bad\.ndjson:1: /m);
    expect(code).toBe(1);
  });
});
