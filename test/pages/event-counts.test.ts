/** Every outcome of an event has words for people, without a constant. */
import { expect, test } from "vitest";

import { INGEST_STATUSES } from "../../src/ledger/outcome.ts";
import { describeEventCount } from "../../src/pages/not-billed.ts";

test("S14.1 every outcome is described in words", () => {
  for (const status of ["BAD_LINE", ...INGEST_STATUSES]) {
    for (const count of [1, 2]) expect(describeEventCount(status, count)).toMatch(/^[12] [a-z][a-z' ]+$/);
  }
});

test.each([
  ["INGESTION_COMPLETED_EVENT_NOT_METERED", 613, "613 matched no meter"],
  ["INGESTION_FAILED_DUPLICATE_EVENT", 1, "1 duplicate"],
  ["INGESTION_FAILED_DUPLICATE_EVENT", 2, "2 duplicates"],
])("%s, %d times", (status, count, words) => {
  expect(describeEventCount(status, count)).toBe(words);
});
