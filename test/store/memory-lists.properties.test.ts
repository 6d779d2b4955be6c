import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { CreditRecord } from "../../src/ledger/records.ts";
import { Decimal } from "../../src/numbers/decimal.ts";
import { compareNewest } from "../../src/store/adapter-rules.ts";
import { commit } from "../../src/store/conformance/case.ts";
import { credit } from "../../src/store/conformance/samples.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { createSortedList } from "../../src/store/memory/records.ts";

interface Item {
  readonly key: number;
}

/** Keys of up to several sorted parts: ascending, descending or mixed. */
const keys = fc
  .tuple(fc.nat(1_500), fc.nat(50_000), fc.constantFrom(1, -1, 7_919))
  .map(([count, start, step]) => Array.from({ length: count }, (_, index) => (start + step * index + 50_021) % 50_021));
const change = fc.record({
  added: keys,
  removed: keys,
  start: fc.nat(50_021),
  limit: fc.integer({ min: 1, max: 100 }),
});

function takeFirst<Value>(values: Iterable<Value>, limit: number): readonly Value[] {
  const first: Value[] = [];
  for (const value of values) {
    if (first.length === limit) break;
    first.push(value);
  }
  return first;
}

describe("sorted lists", () => {
  test("have the items of a sorted array after any additions and removals", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
        const list = createSortedList<Item>((a, b) => a.key - b.key);
        const items = new Map<number, Item>();
        for (const { added, removed, start, limit } of changes) {
          for (const key of added) {
            if (items.has(key)) continue;
            items.set(key, { key });
            list.add(items.get(key) ?? { key });
          }
          for (const key of removed) {
            const item = items.get(key);
            if (item !== undefined) list.remove(item);
            items.delete(key);
          }
          const sorted = [...items.values()].toSorted((a, b) => a.key - b.key);
          const page = takeFirst(
            list.from(({ key }) => key < start),
            limit,
          );
          expect(page).toEqual(sorted.filter((item) => item.key >= start).slice(0, limit));
          expect([...list.from()]).toEqual(sorted);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe("pages of a memory store", () => {
  test("contain each credit once, in the list of its current state", async () => {
    const putOfCredit = fc.record({
      id: fc.nat(400).map((id) => `c${id}`),
      createdAt: fc.nat(3),
      consumed: fc.constantFrom(0, 10),
      voided: fc.boolean(),
      ends: fc.option(fc.nat(3)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(putOfCredit, { maxLength: 1_500, size: "max" }), fc.nat(2), async (puts, endsBy) => {
        const store = memoryStore();
        const byId = new Map<string, CreditRecord>();
        for (const { id, createdAt, consumed, voided, ends } of puts) {
          const end = ends === null ? {} : { effectiveUntil: ends };
          byId.delete(id);
          byId.set(id, credit("a", id, { createdAt, consumedAmount: new Decimal(consumed), voided, ...end }));
          await commit(store, { credits: [...byId.values()].slice(-1) });
        }
        const sorted = [...byId.values()].toSorted(compareNewest);
        const isOpen = (each: CreditRecord): boolean => !each.voided && each.consumedAmount.isZero();
        const cases = [
          [{}, () => true],
          [{ state: "ACTIVE" }, isOpen],
          [{ state: "ACTIVE", endsBy }, (each) => isOpen(each) && (each.effectiveUntil ?? Infinity) <= endsBy],
          [{ state: "CONSUMED" }, (each) => !each.voided && !each.consumedAmount.isZero()],
          [{ state: "VOIDED" }, (each) => each.voided],
        ] as const satisfies readonly (readonly [object, (each: CreditRecord) => boolean])[];
        for (const [filter, isMatch] of cases) {
          const found: CreditRecord[] = [];
          for (;;) {
            const last = found.at(-1);
            const page = await store.read.creditList(filter, { limit: 50, ...(last && { after: last }) });
            found.push(...page);
            if (page.length < 50) break;
          }
          expect(found).toEqual(sorted.filter(isMatch));
        }
      }),
      { numRuns: 10 },
    );
  });
});
