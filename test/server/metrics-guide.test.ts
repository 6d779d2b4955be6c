/** The requests and answers in docs/reference/analytics.md match the server's. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { countEvent, teamBook } from "../engine/team-book.ts";
import { startApi } from "./support.ts";

const guide = readFileSync(join(import.meta.dirname, "../../docs/reference/analytics.md"), "utf8");

/** The JSON blocks of one kind, in their order. */
function blocks(kind: "request" | "answer"): readonly unknown[] {
  return [...guide.matchAll(new RegExp(`\`\`\`json ${kind}\\n([^]*?)\`\`\``, "g"))].map(([, text = ""]) =>
    JSON.parse(text),
  );
}

test("the examples in the guide to analytics are correct", async () => {
  const { engine, at, call } = await startApi("2024-01-01T00:00:00Z");
  await engine.load(teamBook());
  at("2024-01-31T12:00:00Z");
  await engine.ingest([countEvent("e1", "2024-01-30T10:30:00Z", 60), countEvent("e2", "2024-01-31T11:00:00Z", 60)]);
  const [revenue, metrics] = blocks("request");
  const { invoices, pricePlanDetails, revenueInfo, ...answer } = (
    await call("POST /revenue_calculator", { body: revenue })
  ).json;
  const { results, ...metricsAnswer } = (await call("POST /metrics", { body: metrics })).json;
  const credit = { accountId: "prod", purpose: "welcome", effectiveFrom: "2024-01-01" };
  await engine.credits.create([
    { ...credit, creditAmount: 100, priority: 1, applicableEntityIds: ["addon.fee"] },
    { ...credit, creditAmount: 500, priority: 2 },
  ]);
  const balance = (await call("GET /accounts/prod/credit_balance")).json;
  expect([answer, metricsAnswer, balance]).toEqual(blocks("answer"));
  // The same series again, as lists of times and of values.
  for (const [query, { id, series }] of metricsAnswer.data.entries()) {
    expect(results[query]).toMatchObject({ id });
    for (const [place, { points }] of series.entries()) {
      const { timestamps, metricValues } = results[query].data[place];
      const pairs = points.map(({ startTime, value }: Record<string, unknown>) => [startTime, value]);
      expect(timestamps.map((time: string, at: number) => [time, metricValues[at]])).toEqual(pairs);
    }
  }
  expect(pricePlanDetails.usageRateCards).toHaveLength(1);
  expect(revenueInfo).toContainEqual(expect.objectContaining({ usages: { "um.calls": 120 } }));
  expect(Object.keys(invoices[0])).toEqual(
    expect.arrayContaining(["invoiceType", "invoiceDate", "totalAmount", "usageInfo", "revenueInfo", "notices"]),
  );
});
