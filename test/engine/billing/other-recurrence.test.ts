/** A plan that changes to a version in which a card recurs otherwise: no month that was paid is charged again. */
import { expect, test } from "vitest";

import { fee, plan } from "../../book/builder.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { engineAt } from "../support.ts";

const TIMINGS = ["IN_ADVANCE", "IN_ARREARS"] as const;

/** 100.00 a month, charged for some months at once. */
const every = (interval: number, version: number, more: object): ReturnType<typeof plan> =>
  plan("pp", fee(100 * interval, { recurrenceConfig: { interval }, ...more }), { version });

/** What is charged from January to April where the version changes on 10 February. */
async function charged(before: ReturnType<typeof plan>, after: ReturnType<typeof plan>): Promise<number> {
  const { engine, at } = engineAt("2023-01-01");
  await engine.load({
    addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" }],
    pricePlans: [before, after],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [{ id: "a", name: "Acme a", customerId: "acme" }],
  });
  await engine.associate("a", { pricePlanId: "pp", version: 1, effectiveFrom: "2023-01-01" });
  await at("2023-02-10T09:00:00Z").associate("a", { pricePlanId: "pp", version: 2, effectiveFrom: "2023-02-10" });
  await at("2023-04-20").dissociate("a", { effectiveFrom: "2023-05-01" });
  const { items } = await at("2023-06-01").invoices.list({ page: { limit: 100 } });
  return items
    .flatMap(({ invoice }) => linesOfType(invoice, "GROSS_AMOUNT"))
    .reduce((sum, { value }) => sum + Number(value.toFixed()), 0);
}

test.each(TIMINGS)(
  "S9.1 a quarter that is charged whole %s is paid when its version gives way to one by the month",
  async (invoiceTiming) => {
    for (const enableProration of [false, true]) {
      // 300.00 for January to March, and 100.00 for April.
      expect(await charged(every(3, 1, { invoiceTiming }), every(1, 2, { invoiceTiming, enableProration }))).toBe(400);
    }
  },
);
