import { expect, test } from "vitest";

import { readBook } from "../../../src/book/book.ts";
import { readEvents } from "../../../src/engine/metrics/metric-counts.ts";
import { createCatalog } from "../../../src/ledger/catalog.ts";
import { createPeriods } from "../../../src/ledger/metrics/metric-series.ts";
import type { LedgerView } from "../../../src/ledger/view.ts";
import { teamBook } from "../team-book.ts";

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
  const metric = {
    view: { events: readNoEvents } as LedgerView,
    catalog: createCatalog(readBook(teamBook())),
    schemaOf: new Map(Array.from({ length: unitsMax }, (_, index) => [`um.${index}`, "call"])),
    periods: createPeriods("DAY", 0, 86_400_000),
  };
  for (const selection of [{}, { ACCOUNT_ID: new Set(["prod"]) }]) {
    const pages = readEvents({ ...metric, selection }, {});
    expect((await pages.next()).done).toBe(true);
  }
  expect(limits).toEqual([limit, limit]);
});
