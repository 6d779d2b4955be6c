import fc from "fast-check";
import { expect, test } from "vitest";

import { compareCredits, isEffectiveIn } from "../../src/credits/monetary-credits.ts";
import { createCreditPool, type GrantedCredit } from "../../src/invoicing/granted-credits.ts";
import { Decimal, subtract, ZERO } from "../../src/numbers/decimal.ts";

const credit = fc
  .record({
    priority: fc.nat(1),
    from: fc.nat(40),
    length: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
    grantedAt: fc.nat(40),
    left: fc.nat(3),
  })
  .map(({ priority, from, length, grantedAt, left }): Omit<GrantedCredit, "id"> => ({
    kind: "MANUAL",
    purpose: "test",
    creditAmount: new Decimal(left),
    left: new Decimal(left),
    priority,
    effectiveFrom: from,
    ...(length === undefined ? {} : { effectiveUntil: from + length }),
    createdAt: 0,
    grantedAt,
  }));

/** A draft, the maximum that it takes of each credit, and a credit that it grants. */
const step = fc.record({
  start: fc.nat(50),
  length: fc.integer({ min: 1, max: 5 }),
  finalAt: fc.nat(60),
  take: fc.nat(3),
  grants: fc.option(credit, { nil: undefined }),
});

test("S12.1 S12.3 each draft gets all that it may take in order, whatever other drafts took or granted before", () => {
  fc.assert(
    fc.property(fc.array(credit, { maxLength: 150, size: "max" }), fc.array(step, { maxLength: 12 }), (list, steps) => {
      const creditList = list.map((each, index) => ({ ...each, id: `credit-${index}` }));
      const left = new Map<string, GrantedCredit>(creditList.map((each) => [each.id, each]));
      const drafts = steps.map(({ start, length, finalAt }) => ({ cycle: { start, end: start + length }, finalAt }));
      const pool = createCreditPool(creditList, drafts);
      steps.forEach(({ start, length, finalAt, take, grants }, place) => {
        const cycle = { start, end: start + length };
        const expected = [...left.values()]
          .filter((each) => each.left.gt(ZERO) && each.grantedAt <= finalAt && isEffectiveIn(each, cycle))
          .toSorted(compareCredits);
        const earliest = Math.min(...steps.slice(place).map((each) => each.start));
        const usable = [...pool.usableFor({ cycle, finalAt }, earliest)];
        expect(usable).toEqual(expected);
        for (const each of usable.slice(0, take)) {
          const amount = new Decimal(Math.min(take, each.left.toNumber()));
          expect(pool.take(each.id, amount)).toEqual(each);
          left.set(each.id, { ...each, left: subtract(each.left, amount) });
        }
        if (grants === undefined) return;
        const grantedCredit = { ...grants, id: `granted-${place}` };
        pool.add(grantedCredit);
        left.set(grantedCredit.id, grantedCredit);
      });
      expect(pool.take("nobody", ZERO)).toBeUndefined();
    }),
  );
});
