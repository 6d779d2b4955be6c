import { describe, expect, test } from "vitest";

import { isBehind } from "../../src/ledger/account/catch-up.ts";
import { createCatalog } from "../../src/ledger/catalog.ts";
import { isSeatBehind, latestOf, periodIn, seatOf } from "../../src/ledger/events/seats.ts";
import { accountOf, bookOf, MARCH, onPlan } from "./event-harness.ts";

const DAY = 86_400_000;

describe("the seat of an account", () => {
  test("is made again for another record, and keeps its settings while the customer stays", () => {
    const catalog = createCatalog(bookOf());
    const record = onPlan("a");
    const seat = seatOf(catalog, record);
    expect(seatOf(catalog, record)).toBe(seat);
    expect(seat.account).toEqual({ id: "a", customerId: "ann" });
    const renamed = seatOf(catalog, { ...record, name: "other", caughtUpTo: MARCH + 5, status: "ARCHIVED" });
    expect(renamed).not.toBe(seat);
    expect([renamed.owner, renamed.isArchived, latestOf(renamed, 0)]).toEqual([seat.owner, true, MARCH + 5]);
    const moved = seatOf(catalog, { ...record, customerId: "bob" });
    expect([moved.owner.customerId, moved.account.customerId]).toEqual(["bob", "bob"]);
  });

  test.each([
    ["nothing was decided", accountOf("a", { nextDueAt: MARCH + DAY })],
    ["something falls due after the decision", { ...onPlan("a"), nextDueAt: MARCH + DAY }],
    ["something falls due at the decision", onPlan("a")],
    ["something falls due before the decision", { ...onPlan("a"), nextDueAt: MARCH - DAY }],
  ])("S2.4 is behind when its account is: %s", (_, record) => {
    const seat = seatOf(createCatalog(bookOf()), record);
    for (const at of [-2 * DAY, -DAY - 1, -DAY, -1, 0, 1, DAY - 1, DAY, 2 * DAY].map((ms) => MARCH + ms)) {
      expect(isSeatBehind(seat, at)).toBe(isBehind(record, at));
    }
  });

  test("S6.5 knows the period of an instant, which accounts share", () => {
    const catalog = createCatalog(bookOf({}, 3));
    const [a, b] = [seatOf(catalog, onPlan("a")), seatOf(catalog, onPlan("b"))];
    const april = Date.parse("2024-04-01T00:00:00Z");
    const march = { start: MARCH, end: april, openUntil: april + 3 * DAY };
    expect(periodIn(catalog, a, MARCH)).toEqual(march);
    expect(periodIn(catalog, b, april - 1)).toBe(periodIn(catalog, a, MARCH + DAY));
    expect(periodIn(catalog, a, april).start).toBe(april);
    expect(periodIn(catalog, a, MARCH - 1)).toEqual({ start: -Infinity, end: MARCH });
  });

  test("goes on as it is when more accounts came than are remembered", () => {
    const catalog = createCatalog(bookOf());
    const seats = Array.from({ length: 10_001 }, (_, index) =>
      seatOf(catalog, accountOf(`a${index}`, { nextDueAt: index, caughtUpTo: -index })),
    );
    for (const index of [0, 1, 9_999, 10_000]) {
      const seat = seats[index];
      if (seat === undefined) throw new Error("no seat");
      expect([isSeatBehind(seat, index - 1), isSeatBehind(seat, index), latestOf(seat, -Infinity)]).toEqual([
        false,
        true,
        -index,
      ]);
    }
  });
});
