/** A plan that changes to a version with another recurrence of a card: no paid month is charged again. */
import { expect, test } from "vitest";

import { feeCards, planOfMonths } from "../../book/builder.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { engineAt } from "../support.ts";

const TIMINGS = ["IN_ADVANCE", "IN_ARREARS"] as const;

/** 100.00 a month, charged for several months together. */
const every = (interval: number, version: number, more: object, offset = 0): ReturnType<typeof planOfMonths> =>
  planOfMonths("pp", feeCards(100 * interval, { recurrenceConfig: { interval, offset }, ...more }), { version });

/** The charges from January to April if the last version follows on 10 February, and one between them on the first. */
async function chargeVersions(...versions: readonly ReturnType<typeof planOfMonths>[]): Promise<number> {
  const { engine, at } = engineAt("2023-01-01");
  await engine.load({
    addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" }],
    pricePlans: [...versions],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [{ id: "a", name: "Acme a", customerId: "acme" }],
  });
  await engine.associate("a", { pricePlanId: "pp", version: 1, effectiveFrom: "2023-01-01" });
  for (const version of versions.slice(1).keys()) {
    const effectiveFrom = version + 2 === versions.length ? "2023-02-10" : "2023-02-01";
    await at(`${effectiveFrom}T09:00:00Z`).associate("a", { pricePlanId: "pp", version: version + 2, effectiveFrom });
  }
  await at("2023-04-20").dissociate("a", { effectiveFrom: "2023-05-01" });
  const { items } = await at("2023-06-01").invoices.list({ page: { limit: 100 } });
  return items
    .flatMap(({ invoice }) => linesOfType(invoice, "GROSS_AMOUNT"))
    .reduce((sum, { value }) => sum + Number(value.toFixed()), 0);
}

test.each(TIMINGS)(
  "S9.1 an unprorated quarter %s counts as paid when its version is replaced by a monthly one",
  async (invoiceTiming) => {
    for (const enableProration of [false, true]) {
      // 300.00 for January to March, and 100.00 for April.
      expect(
        await chargeVersions(every(3, 1, { invoiceTiming }), every(1, 2, { invoiceTiming, enableProration })),
      ).toBe(400);
    }
  },
);

test.each(TIMINGS)(
  "S9.1 an unprorated quarter %s stays paid if a version in between would have charged a part of it",
  async (invoiceTiming) => {
    const more = { invoiceTiming };
    for (const enableProration of [false, true]) {
      // 300.00 for January to March: the second version's period, February and March, is paid, and so is March of the
      // third
      // version. 100.00 for April.
      const last = every(1, 3, { ...more, enableProration });
      expect(await chargeVersions(every(3, 1, more), every(2, 2, more, 1), last)).toBe(400);
    }
  },
);
