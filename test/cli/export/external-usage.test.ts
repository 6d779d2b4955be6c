/**
 * Exports of databases with external usage: the files contain it, and without its source they contain the usage stored
 * with final invoices.
 */
import fc from "fast-check";
import { expect, test } from "vitest";

import { DAY_MS, toInstant } from "../../../src/calendar/instant.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import { stringifyJson } from "../../../src/numbers/json.ts";
import { eventRange } from "../../../src/testing/events-arbitrary.ts";
import { parseJson, verify } from "../../../src/verify.ts";
import { eventsSource } from "../../engine/external/events-source.ts";
import { cases, LAST_DAY, play } from "../../engine/external/scenario.ts";
import { runs } from "../../support/runs.ts";
import { exportParts } from "./read-export.ts";

test("S17.4 the files give all invoices with the source of the usage, and without it the final ones", async () => {
  const counts = { drafts: 0, finals: 0, cells: 0 };
  await fc.assert(
    fc.asyncProperty(cases, async (story) => {
      const [at = []] = story.runs;
      const { engine, store } = await play(
        story,
        at,
        eventsSource(() => story.events),
      );
      const now = (): number => toInstant(eventRange(story.book).from) + LAST_DAY * DAY_MS;
      const whole = await exportParts({ engine, now });
      const untold = createEngine({ store, clock: now });
      const withoutSource = await exportParts({ engine: untold, now }, false);
      // A license that changes on future days of an open cycle may change what credits pay.
      const isAhead = (story.book.accounts ?? []).some(({ licenseUpdates }) =>
        licenseUpdates?.some(({ effectiveFrom }) => toInstant(effectiveFrom) > now()),
      );
      for (const { differences } of [whole, withoutSource])
        expect(differences.filter((each) => !isAhead || !each.includes("only in credits"))).toEqual([]);
      for (const { invoices, usage, featureUsage } of [whole, withoutSource]) {
        const report = verify({
          invoices: parseJson(stringifyJson({ invoices })),
          usage: [...usage, ...featureUsage].map(({ quantity, ...row }) => ({ ...row, quantity: quantity.toFixed() })),
        });
        expect(report.differences).toEqual([]);
      }
      const finals = whole.invoices.filter(({ status }) => status !== "DRAFT");
      expect(withoutSource.invoices).toEqual(finals);
      counts.finals += finals.length;
      counts.drafts += whole.invoices.length - finals.length;
      counts.cells += withoutSource.usage.length;
    }),
    { numRuns: runs(25) },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
});
