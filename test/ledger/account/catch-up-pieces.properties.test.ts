/** Processing an account's due work in several commits gives the same result as in one (S2.4). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { Instant } from "../../../src/calendar/instant.ts";
import { catchUp, catchUpPiece } from "../../../src/ledger/account/catch-up.ts";
import { runs } from "../../support/runs.ts";
import type { Ledger } from "../plan-ledger.ts";
import { doAccountStep, HOUR_MS, openAccount, START, steps, toSortedState } from "./account-steps.ts";

/** Does the next part of the work: its changes, and whether all is done. */
const runPiece = (ledger: Ledger, upTo: Instant, most: number) =>
  ledger.decide((catalog, account) => {
    const piece = catchUpPiece(catalog, account, upTo, most);
    let step = piece.next();
    while (step.done !== true) step = piece.next();
    return step.value;
  });

/** What a reader sees while the work is incomplete; nothing of it is stored. */
async function readInvoices(ledger: Ledger, upTo: Instant): Promise<unknown> {
  const { result } = await ledger.decide((catalog, account) => {
    catchUp(catalog, account, upTo);
    return account.invoices();
  });
  return byId(result);
}

const byId = <Item extends { readonly id: string }>(items: readonly Item[]): readonly Item[] =>
  items.toSorted((a, b) => (a.id < b.id ? -1 : 1));

describe.each(["with a random history", "with two years before it"])("an account %s", (kind) => {
  test("S2.4 is the same in parts of any size, of which some are lost, and reads as if the work was complete", async () => {
    const [small, few] = [fc.integer({ min: 2, max: 30 }), fc.integer({ min: 2, max: 6 })];
    let parts = 0;
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom("p", "q", "r"), small, few, async (sequence, planId, most, share) => {
        const [whole, inPieces] = [await openAccount(), await openAccount()];
        const catchUpBy = async (upTo: Instant): Promise<void> => {
          const { changes: allChanges } = await whole.decide((catalog, account) => catchUp(catalog, account, upTo));
          await whole.put(allChanges);
          for (let tries = 1; ; tries++) {
            const { result: isDone, changes } = await runPiece(inPieces, upTo, most);
            // A part that is killed before its commit is repeated.
            if (tries % share === 0) continue;
            await inPieces.put(changes);
            if (!isDone) parts += 1;
            if (tries % 4 === 0)
              expect(await readInvoices(inPieces, upTo)).toEqual(byId((await whole.stored()).invoices));
            if (isDone) break;
          }
        };
        if (kind !== "with a random history")
          for (const ledger of [whole, inPieces]) await ledger.associate(planId, "2022-01-01", "2024-01-01");
        let now = START;
        for (const one of sequence) {
          now += one.after * HOUR_MS;
          await catchUpBy(now);
          for (const ledger of [whole, inPieces]) await doAccountStep(ledger, one, now);
        }
        await catchUpBy(now + 300 * 24 * HOUR_MS);
        expect(await toSortedState(inPieces)).toEqual(await toSortedState(whole));
      }),
      { numRuns: runs(25) },
    );
    expect(parts).toBeGreaterThan(3);
  });
});
