/** Exports of databases whose usage lives elsewhere: the files hold it, and that which is kept beside final invoices without its source, too. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { DAY_MS, instantOf } from "../../../src/calendar/instant.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import { stringifyJson } from "../../../src/numbers/json.ts";
import { daysOf } from "../../../src/testing/events-arbitrary.ts";
import { parseJson, verify } from "../../../src/verify.ts";
import { eventsSource } from "../../engine/elsewhere/events-source.ts";
import { cases, LAST_DAY, plainSchemas, play } from "../../engine/elsewhere/played.ts";
import { runs } from "../../support/runs.ts";
import { exportedOf } from "./exported.ts";

/** What was left of a credit beside what a draft held of it: `verify` cannot tell (docs/verify.md). */
const BESIDE_A_DRAFT = /: SUB_CREDITS \S+, left$/;

test("S17.4 files lead to all invoices with the source of the usage, and without it to those that are final", async () => {
  const tried = { drafts: 0, finals: 0, cells: 0 };
  await fc.assert(
    fc.asyncProperty(cases, async (given) => {
      const [at = []] = given.runs;
      const { engine, store } = await play(
        given,
        at,
        eventsSource(() => given.events),
      );
      const now = (): number => instantOf(daysOf(given.book).from) + LAST_DAY * DAY_MS;
      const whole = await exportedOf({ engine, now });
      const untold = createEngine({ store, clock: now });
      const kept = await exportedOf({ engine: untold, now }, false);
      // A license that changes in days to come of an open cycle may change what credits pay.
      const isAhead = (given.book.accounts ?? []).some(({ licenseUpdates }) =>
        licenseUpdates?.some(({ effectiveFrom }) => instantOf(effectiveFrom) > now()),
      );
      for (const { differences } of [whole, kept])
        expect(differences.filter((each) => !isAhead || !each.includes("in what credits pay alone"))).toEqual([]);
      // What takes of a feature has no cells: `verify` meters its events.
      const plain = plainSchemas(given.book);
      const uncelled = (given.book.usageMeters ?? []).flatMap(({ id, eventSchemaName }) =>
        plain.includes(eventSchemaName) ? [] : [id],
      );
      for (const { invoices, usage } of [whole, kept]) {
        const found = verify({
          invoices: parseJson(stringifyJson({ invoices })),
          usage: usage.map(({ quantity, ...row }) => ({ ...row, quantity: quantity.toFixed() })),
        });
        const isKnown = ({ where }: { readonly where: string }): boolean =>
          uncelled.some((id) => where.endsWith(`usage of ${id}`)) || BESIDE_A_DRAFT.test(where);
        expect(found.differences.filter((each) => !isKnown(each))).toEqual([]);
      }
      const finals = whole.invoices.filter(({ status }) => status !== "DRAFT");
      expect(kept.invoices).toEqual(finals);
      tried.finals += finals.length;
      tried.drafts += whole.invoices.length - finals.length;
      tried.cells += kept.usage.length;
    }),
    { numRuns: runs(25) },
  );
  expect(Math.min(...Object.values(tried))).toBeGreaterThan(0);
});
