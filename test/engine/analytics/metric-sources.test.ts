import { expect, test } from "vitest";

import { readEvents } from "../../../src/engine/metrics/metric-counts.ts";
import type { LedgerView } from "../../../src/ledger/view.ts";

test.each([
  [1, 2_000],
  [10, 2_000],
  [300, 66],
  [30_000, 1],
])("for events that %i meters measure, %i are read at a time: at most 20,000 units", async (unitsMax, limit) => {
  const limits: number[] = [];
  const readNoEvents: LedgerView["events"] = async (_, page) => {
    limits.push(page.limit);
    return [];
  };
  const scan = { start: 0, end: 86_400_000, filter: {}, futureMs: 0, unitsMax };
  for (const accountIds of [undefined, new Set(["prod"])]) {
    const pages = readEvents({ events: readNoEvents } as LedgerView, { ...scan, accountIds });
    expect((await pages.next()).done).toBe(true);
  }
  expect(limits).toEqual([limit, limit]);
});
