import fc from "fast-check";
import { expect, test } from "vitest";

import type { FeatureEntry, OverageEvent, OverageAllowance } from "../../src/credits/feature-credits.ts";
import { consume, restoreAllocations, sortForSpending, moveOverage } from "../../src/credits/feature-credits.ts";
import type { Exact } from "../../src/numbers/exact.ts";
import { addExact, compareExact, exactOfText, subtractExact, formatExact } from "../../src/numbers/exact.ts";

/** Units with up to two decimals; shrinks towards 0. */
const units = fc.nat(3000).map((cents) => exactOfText(`${cents}e-2`) ?? 0);

const entries = fc
  .array(
    fc.record({ granted: units, from: fc.nat(20), length: fc.integer({ min: 1, max: 30 }), voided: fc.boolean() }),
    {
      maxLength: 5,
    },
  )
  .map((list) =>
    sortForSpending(
      list.map(({ granted, from, length, voided }, index): FeatureEntry => ({
        id: `entry-${index}`,
        featureId: "tokens",
        granted,
        balance: granted,
        effectiveFrom: from,
        effectiveUntil: from + length,
        createdAt: index,
        voided,
      })),
    ),
  );

type Step =
  | { readonly consume: Exact; readonly at: number; readonly room: OverageAllowance }
  | { readonly undo: number };
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        consume: units,
        at: fc.nat(45),
        room: fc.oneof(units, fc.constant("UNLIMITED" as const)),
      }),
    },
    { weight: 1, arbitrary: fc.record({ undo: fc.nat(20) }) },
  ),
  { maxLength: 25 },
);

/** An account's feature, changed in steps like a ledger. */
interface EntriesAndEvents {
  entries: readonly FeatureEntry[];
  events: readonly OverageEvent[];
}

function doCreditStep(state: EntriesAndEvents, step: Step, eventId: string): void {
  if ("undo" in step) {
    const undone = state.events[step.undo % Math.max(state.events.length, 1)];
    if (undone === undefined) return;
    const freedEntries = restoreAllocations(state.entries, undone.allocations);
    Object.assign(
      state,
      moveOverage(
        freedEntries,
        state.events.filter((event) => event !== undone),
      ),
    );
    return;
  }
  const result = consume(state.entries, step.consume, step.at, step.room);
  if (result.kind === "INSUFFICIENT") return;
  const { allocations, overage } = result;
  state.entries = result.entries;
  state.events = [...state.events, { eventId, at: step.at, allocations, overage }];
}

const addAll = (values: readonly Exact[]): Exact => values.reduce((sum: Exact, value) => addExact(sum, value), 0);
const spentOf = (list: readonly FeatureEntry[]): Exact =>
  addAll(list.map(({ granted, balance }) => subtractExact(granted, balance)));
const consumedBy = ({ allocations, overage }: OverageEvent): Exact =>
  addAll([...allocations.map(({ quantity }) => quantity), overage]);

test("S11.6 granted − balance + overage equals the consumption of accepted events, after any steps", () => {
  fc.assert(
    fc.property(entries, steps, (list, sequence) => {
      const state: EntriesAndEvents = { entries: list, events: [] };
      for (const [index, step] of sequence.entries()) {
        doCreditStep(state, step, `event-${index}`);
        const overage = addAll(state.events.map((event) => event.overage));
        const stands = addAll(state.events.map(consumedBy));
        expect(formatExact(addExact(spentOf(state.entries), overage))).toBe(formatExact(stands));
        for (const { granted, balance } of state.entries) {
          expect(compareExact(balance, 0)).toBeGreaterThanOrEqual(0);
          expect(compareExact(balance, granted)).toBeLessThanOrEqual(0);
        }
      }
    }),
  );
});

test("S11.5 after an undo, no overage remains that a balance covers", () => {
  fc.assert(
    fc.property(entries, steps, (list, sequence) => {
      const state: EntriesAndEvents = { entries: list, events: [] };
      for (const [index, step] of sequence.entries()) doCreditStep(state, step, `event-${index}`);
      const movement = moveOverage(state.entries, state.events);
      expect(movement.events).toEqual(state.events);
    }),
  );
});

test("S15.4 ingest followed by undo leaves every balance unchanged", () => {
  fc.assert(
    fc.property(entries, units, fc.nat(45), (list, quantity, at) => {
      const result = consume(list, quantity, at, "UNLIMITED");
      const balanceTexts = (entries: readonly FeatureEntry[]): readonly string[] =>
        entries.map(({ balance }) => formatExact(balance));
      expect(result.kind).toBe("CONSUMED");
      if (result.kind === "CONSUMED")
        expect(balanceTexts(restoreAllocations(result.entries, result.allocations))).toEqual(balanceTexts(list));
    }),
  );
});

test("S11.5 ingesting A and B and undoing A has the same total balance and overage as ingesting B", () => {
  const event = fc.record({ consume: units, at: fc.nat(45), room: fc.constant("UNLIMITED" as const) });
  fc.assert(
    fc.property(entries, event, event, (list, a, b) => {
      const both: EntriesAndEvents = { entries: list, events: [] };
      doCreditStep(both, a, "a");
      doCreditStep(both, b, "b");
      doCreditStep(both, { undo: 0 }, "undo");
      const alone: EntriesAndEvents = { entries: list, events: [] };
      doCreditStep(alone, b, "b");
      const sums = (state: EntriesAndEvents): readonly string[] =>
        [spentOf(state.entries), addAll(state.events.map(({ overage }) => overage))].map(formatExact);
      expect(sums(both)).toEqual(sums(alone));
    }),
  );
});
