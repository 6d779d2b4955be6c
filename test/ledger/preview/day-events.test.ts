/** The events of each day in a preview: their number, and those that added most. */
import { describe, expect, test } from "vitest";

import { createPreview, parseBook } from "../../../src/index.ts";
import { eventLine, SMALL_BOOK } from "../../cli/fake-io.ts";

const DAY = Date.parse("2024-06-20T00:00:00Z") / 86_400_000;

const unitEvent = (id: string, units: number | string, day = "2024-06-20") =>
  JSON.parse(eventLine(id, `${day}T00:00:0${id.length}Z`, units));

function previewUnits(units: readonly (number | string)[], sampleEvents?: number) {
  const run = createPreview(parseBook(SMALL_BOOK), { sampleEvents });
  for (const [index, each] of units.entries()) run.add(unitEvent(`e${index}`, each));
  return run;
}

describe("the events of a day", () => {
  test("are counted, and the largest are listed, the first of equal ones first", () => {
    const run = previewUnits([1, 7, "2.5", 7, -9, 0, 3], 4);
    run.add(unitEvent("other", 100, "2024-06-21"));
    const { count, largest = [] } = run.eventsOf("prod", "um.units", DAY) ?? {};
    // An event of 0 adds nothing.
    expect(count).toBe(6);
    expect(largest.map(({ id, quantity }) => `${id} ${quantity.toFixed()}`)).toEqual(["e4 -9", "e1 7", "e3 7", "e6 3"]);
    expect(run.eventsOf("prod", "um.units", DAY + 1)?.count).toBe(1);
  });

  test("exclude repeated and rejected events, other accounts, and are empty if not requested", () => {
    const run = previewUnits([1], 4);
    run.add(unitEvent("e0", 1));
    run.add({ ...unitEvent("e9", 1), accountId: "nobody" });
    expect(run.eventsOf("prod", "um.units", DAY)?.count).toBe(1);
    expect(run.eventsOf("nobody", "um.units", DAY)).toBeUndefined();
    expect(previewUnits([1]).eventsOf("prod", "um.units", DAY)).toBeUndefined();
  });

  test("do not change invoices", () => {
    expect(previewUnits([1, 7], 4).finish()).toEqual(previewUnits([1, 7]).finish());
  });
});
