/** Pages of credits, compared with the credits of each account computed individually and sorted as a whole (S12.4). */
import { describe, expect, test } from "vitest";

import type { CreditFilter } from "../../../src/engine/billing/credits.ts";
import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import type { PageOptions } from "../../../src/engine/pages.ts";
import type { CreditSnapshot } from "../../../src/ledger/commands/credits.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { runs } from "../../support/runs.ts";
import { teamBook } from "../team-book.ts";
import { ACCOUNTS, allPages, checkedAsTimePasses } from "./account-steps.ts";

const STATES = [undefined, "ACTIVE", "CONSUMED", "EXPIRED", "VOIDED"] as const;

function pages(engine: Engine, filter: CreditFilter, limit: number): Promise<readonly CreditSnapshot[]> {
  return allPages((page) => engine.credits.list({ filter, page }), limit);
}

describe("pages of credits", () => {
  test("S12.4 contain the credits of each account, stored and due ones, whichever accounts are up to date", async () => {
    await checkedAsTimePasses(runs(50), async ({ engine }, limit) => {
      const own = await Promise.all(ACCOUNTS.map((accountId) => pages(engine, { accountId }, 1000)));
      const all = own
        .flat()
        .toSorted(
          ({ credit: a }, { credit: b }) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : Number(a.id > b.id)),
        );
      for (const status of STATES) {
        const matching = all.filter((snapshot) => status === undefined || snapshot.status === status);
        expect([status, await pages(engine, { status }, limit)]).toEqual([status, matching]);
      }
      for (const snapshot of all) expect(await engine.credits.get(snapshot.credit.id)).toEqual(snapshot);
    });
  });

  test("S12.4 may be short with the CONSUMED filter if many accounts are behind, and still list everything", async () => {
    const clock = { now: Date.parse("2024-01-10T00:00:00Z") };
    const engine = createEngine({ store: memoryStore(), clock: () => clock.now });
    const book = teamBook();
    const ids = Array.from({ length: 450 }, (_, index) => `m${1000 + index}`);
    const plans = [{ pricePlanId: "pp.team", effectiveFrom: "2024-01-01" }];
    const accounts = ids.map((id) => ({ id, name: id, customerId: "acme", invoiceCurrency: "USD", pricePlans: plans }));
    await engine.load({ ...book, accounts });
    // The fee of January is 30, so that it consumes one of 30 completely and one of 31 not.
    const requests = ids.map((accountId, index) => ({
      accountId,
      purpose: "Given",
      creditAmount: index < 20 ? 30 : 31,
      priority: 1,
      effectiveFrom: "2024-01-01",
    }));
    for (let start = 0; start < requests.length; start += 90)
      await engine.credits.create(requests.slice(start, start + 90));
    clock.now = Date.parse("2024-02-10T00:00:00Z");
    const sizes: number[] = [];
    const foundIds: string[] = [];
    let after: PageOptions["after"];
    do {
      const page = await engine.credits.list({ filter: { status: "CONSUMED" }, page: { limit: 10, after } });
      sizes.push(page.items.length);
      foundIds.push(...page.items.map(({ credit }) => credit.accountId));
      after = page.next;
    } while (after !== undefined);
    expect(foundIds.toSorted()).toEqual(ids.slice(0, 20));
    expect(sizes.length).toBeGreaterThan(2);
    await engine.finalize();
    expect((await pages(engine, { status: "CONSUMED" }, 7)).map(({ credit }) => credit.accountId)).toEqual(foundIds);
  });
});
