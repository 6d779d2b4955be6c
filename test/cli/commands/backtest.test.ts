import { describe, expect, test } from "vitest";

import { eventLine, SMALL_BOOK, smallPlan, testFolder } from "../fake-io.ts";

const files = testFolder();

type Options = Parameters<typeof files.run>[1];
const backtest = async (...args: readonly (string | Options)[]) => {
  const more = args.filter((each) => typeof each === "string");
  const options = args.find((each) => typeof each === "object");
  return files.run(
    [
      "backtest",
      files.file("book.json", { ...SMALL_BOOK, pricePlans: [smallPlan("pp.small", 2)] }),
      "--plan",
      files.file("dear.json", smallPlan("pp.dear", 3)),
      "--events",
      files.file("events.ndjson", eventLine("e", "2024-06-20T12:00:00Z", 60)),
      ...more,
    ],
    options,
  );
};

describe("ratebook backtest", () => {
  test("prices 60 units at 2 less a credit of 50, then at 3: 70, then 130", async () => {
    expect(await backtest()).toEqual({
      code: 0,
      err: "",
      out: [
        "dear.json: pp.dear version 1, instead of the current plans",
        "",
        "Total in USD     now   draft  difference   share",
        "────────────────────────────────────────────────",
        "1 account      70.00  130.00      +60.00  +85.7%",
        "1 pays more, 0 the same, 0 less",
        "",
        "Accounts         now   draft  difference   share",
        "────────────────────────────────────────────────",
        "prod           70.00  130.00      +60.00  +85.7%",
        "  units       120.00  180.00      +60.00  +50.0%",
        "",
      ].join("\n"),
    });
    expect((await backtest("--format", "csv")).out.split("\r\n")).toEqual([
      "planId,version,accountId,currency,type,id,description,before,after,difference",
      "pp.dear,1,prod,USD,TOTAL,,,70,130,60",
      "pp.dear,1,prod,USD,USAGE_RATE_CARD_AMOUNT,um.units,units,120,180,60",
      "",
    ]);
    expect(JSON.parse((await backtest("--format", "json")).out)).toMatchObject({
      period: { startDate: "2024-06-01T00:00:00.000Z", endDate: "2024-07-01T00:00:00.000Z" },
      plans: [{ planId: "pp.dear", name: expect.any(String) }],
    });
  });

  test("checks a gate", async () => {
    expect(await backtest("--fail-if", "account.increase > 20%")).toMatchObject({
      code: 1,
      err: "ratebook: --fail-if: pp.dear@1: increase of prod above 20%: 70 → 130 USD\n",
    });
    expect((await backtest("--fail-if", "total.decrease > 0")).code).toBe(0);
    expect(await backtest("--fail-if", "nonsense")).toMatchObject({
      code: 2,
      err: 'ratebook: --fail-if: "nonsense": expected "account" or "total" at character 1, "nonsense"; for example "account.increase > 20%" or "total.decrease > 0"\n',
    });
    expect((await backtest("--fail-if", "total.increase > lots")).err).toContain(
      "expected an amount of at most 20 digits before and after the point at character 18, ",
    );
    for (const amount of ["1".repeat(21), `0.${"1".repeat(21)}`]) {
      expect((await backtest("--fail-if", `total.increase > ${amount}`)).err).toContain(
        `expected an amount of at most 20 digits before and after the point at character 18, "${amount.slice(0, 20)}"; `,
      );
    }
    expect((await backtest("--fail-if", "total.increase")).err).toContain('expected ">" or ">=" at its end; ');
  });

  test("fits a terminal of 72 columns", async () => {
    const { out } = await backtest({ terminal: { columns: 72, hasColors: false } });
    expect(Math.max(...out.split("\n").map((each) => each.length))).toBeLessThanOrEqual(72);
  });

  test("S17.1 prices usage cells like their events", async () => {
    const usage = files.file(
      "cells.csv",
      "accountId,meterId,date,quantity\nprod,um.units,2024-06-20,25\nc-1,um.units,2024-06-20,35\n",
    );
    const argv = ["backtest", `${files.path}/book.json`, "--plan", `${files.path}/dear.json`, "--usage", usage];
    expect((await files.run(argv)).out).toBe((await backtest()).out);
  });

  test("S16.5 moves accounts on a date: 60 units on 20 June at 2, or at 3 from 16 June on; the credit pays 50 of either", async () => {
    const { out, code } = await backtest("--migrate", "IMMEDIATE", "--on", "2024-06-16");
    expect(code).toBe(0);
    expect(out.split("\n").slice(0, 5)).toEqual([
      "dear.json: pp.dear version 1, IMMEDIATE on 2024-06-16: 1 account moved, 0 stayed",
      "",
      "Total in USD                   now   draft  difference    share",
      "───────────────────────────────────────────────────────────────",
      "1 account                    70.00  130.00      +60.00   +85.7%",
    ]);
    expect(out).toMatch(/^ {2}2024-06-01 to 2024-07-01 +70\.00 +0\.00 +-70\.00 +-100\.0%$/m);
    expect(out).toMatch(/^ {2}2024-06-16 to 2024-07-01 +0\.00 +130\.00 +\+130\.00$/m);
    expect((await backtest("--migrate", "IMMEDIATE")).err).toBe(
      "ratebook: --migrate MODE and --on DATE must be given together\n",
    );
    expect((await backtest("--migrate", "IMMEDIATE", "--on", "2024-06-31")).code).toBe(2);
  });

  test("rejects a draft in another currency, with its line", async () => {
    const draft = JSON.stringify({ ...SMALL_BOOK.pricePlans[0], id: "pp.euro" }, null, 1).replaceAll('"USD"', '"EUR"');
    const { code, err } = await backtest("--plan", files.file("euro.json", draft));
    expect(code).toBe(1);
    expect(err).toMatch(
      /^euro\.json:\d+:\d+: \$\.pricePlanDetails\.supportedCurrencies: the plan "pp\.euro" supports EUR, not the invoice currency of prod \(USD\)\n/,
    );
  });

  test("reports invalid lines, also in its exit code", async () => {
    const events = files.file("bad.ndjson", `null\n${eventLine("e", "2024-06-20T12:00:00Z", 60)}`);
    const { code, err } = await backtest("--events", events);
    expect(err).toMatch(/^bad\.ndjson:1: /m);
    expect(code).toBe(1);
  });
});
