/** Processing an account's due work in several commits gives the same result as in one (S2.4). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { DAY_MS, type Instant } from "../../../src/calendar/instant.ts";
import { createWorkspace } from "../../../src/ledger/account-state.ts";
import { catchUp, catchUpPiece } from "../../../src/ledger/account/catch-up.ts";
import { runs } from "../../support/runs.ts";
import { toTime, type Ledger, openLedger, START } from "../account-harness.ts";
import { book, HOUR_MS, toSortedState, steps, doAccountStep } from "./account-steps.ts";

/**
 * Does the next part of the work.
 *
 * @returns its changes, and whether all is done
 */
function runPiece(ledger: Ledger, upTo: Instant, most: number) {
  const workspace = createWorkspace(ledger.catalog, [ledger.parts()]);
  const piece = catchUpPiece(ledger.catalog, workspace.account("a"), upTo, most);
  let step = piece.next();
  while (step.done !== true) step = piece.next();
  return { isDone: step.value, changes: workspace.changes() };
}

/** What a reader sees while the work is incomplete; nothing of it is stored. */
function readInvoices(ledger: Ledger, upTo: Instant): unknown {
  const workspace = createWorkspace(ledger.catalog, [ledger.parts()]);
  const work = workspace.account("a");
  catchUp(ledger.catalog, work, upTo);
  return work.invoices();
}

const byId = (items: unknown): unknown =>
  (items as readonly { readonly id: string }[]).toSorted((a, b) => (a.id < b.id ? -1 : 1));

describe.each(["with a random history", "with two years before it"])("an account %s", (kind) => {
  test("S2.4 is the same in parts of any size, of which some are lost, and reads as if the work was complete", () => {
    const [small, few] = [fc.integer({ min: 2, max: 30 }), fc.integer({ min: 2, max: 6 })];
    let parts = 0;
    fc.assert(
      fc.property(steps, fc.constantFrom("p", "q", "r"), small, few, (sequence, planId, most, share) => {
        const [whole, inPieces] = [openLedger(book), openLedger(book)];
        const catchUpBy = (upTo: Instant): void => {
          whole.until(upTo);
          for (let tries = 1; ; tries++) {
            const { isDone, changes } = runPiece(inPieces, upTo, most);
            // A part that is killed before its commit is repeated.
            if (tries % share === 0) continue;
            inPieces.apply(changes);
            if (!isDone) parts += 1;
            if (tries % 4 === 0) expect(byId(readInvoices(inPieces, upTo))).toEqual(byId(whole.parts().invoices));
            if (isDone) break;
          }
        };
        for (const ledger of [whole, inPieces]) {
          if (kind === "with a random history") continue;
          ledger.associate(planId, toTime(START) - 730 * DAY_MS, START);
        }
        let now = toTime(START);
        for (const one of sequence) {
          now += one.after * HOUR_MS;
          catchUpBy(now);
          for (const ledger of [whole, inPieces]) doAccountStep(ledger, one, now);
        }
        catchUpBy(now + 300 * 24 * HOUR_MS);
        expect(toSortedState(inPieces.parts())).toEqual(toSortedState(whole.parts()));
      }),
      { numRuns: runs(25) },
    );
    expect(parts).toBeGreaterThan(3);
  });
});
