/** Cursors: their contents, and that they are short even with long ids. */
import { describe, expect, test } from "vitest";

import { createPaging, LONG_PAGE_SIZES } from "../../../src/server/http/pagination.ts";

const paging = createPaging(() => Buffer.alloc(32, 7));
const [DAY, LATER] = [1_704_067_200_000, 1_735_689_600_000];

/** An id of 50 characters that can't be compressed below two bytes per character. */
function longId(seed: number): string {
  return Array.from({ length: 50 }, (_, at) => String.fromCodePoint(0x4e_00 + (((at + seed) * 7919) % 20_000))).join(
    "",
  );
}

describe("a cursor", () => {
  const [account, other] = [longId(1), longId(1000)];
  const dates = "2024-06-01T00:00:00.000Z|2024-06-15T12:00:00.000Z";

  test.each([
    [
      "invoices",
      { account_id: account, customer_id: other, owner_id: account, status: "DRAFT", start_time: DAY, end_time: LATER },
      `inv|${account}|STANDARD_ADVANCED|2024-06-01T00:00:00.000Z|${dates}`,
    ],
    [
      `entries:${account}/${other}`,
      {},
      `entry|${account}|pp.UFlcovA0005.vjOcF|BILLING_ENTITLEMENT|${other}|2024-06-01T00:00:00.000Z|0`,
    ],
    [
      "credits",
      { account_id: account },
      `credit|${account}|refund|pp.UFlcovA0005.vjOcF|LICENSE|${other}|${dates}|2024-06-26T00:00:00.000Z|${dates}`,
    ],
    ["events", { account_id: account, schema_name: other, status: "INGESTION_FAILED" }, "ev.UFlcovA000E.ExE7J"],
    ["customers", {}, "acme"],
    ["accounts", { customer_id: account, status: "ACTIVE" }, other],
  ])("of %s has at most 500 characters, and contains size, filters and position", async (list, filters, id) => {
    const first = await paging.readRequest({ list, sizes: LONG_PAGE_SIZES, query: { ...filters, pageSize: 7 } });
    const nextToken = first.nextToken({ items: [], next: { createdAt: DAY, id } });
    expect(nextToken?.length).toBeLessThanOrEqual(500);
    const next = await paging.readRequest({ list, sizes: LONG_PAGE_SIZES, query: { nextToken } });
    expect([next.filters, next.page]).toEqual([filters, { limit: 7, after: { createdAt: DAY, id } }]);
    // Its signature is checked completely.
    const changed = `${String(nextToken).slice(0, -1)}${String(nextToken).endsWith("A") ? "Q" : "A"}`;
    for (const forged of [changed, `x${nextToken}`, String(nextToken).slice(0, -1)]) {
      const request = paging.readRequest({ list, sizes: LONG_PAGE_SIZES, query: { nextToken: forged } });
      await expect(request).rejects.toThrow("nextToken: this is not a token from this API");
    }
  });
});
