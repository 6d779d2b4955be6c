/** Pages collected item by item, compared with a list that is sorted as a whole. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { collectPage, type Page, selectPage } from "../../src/engine/pages.ts";
import type { PageKey } from "../../src/ledger/view.ts";

const items = fc.uniqueArray(fc.record({ createdAt: fc.nat(8), id: fc.string({ maxLength: 2 }) }), {
  maxLength: 60,
  selector: ({ createdAt, id }) => JSON.stringify([createdAt, id]),
});
const sameKey = (key: PageKey): PageKey => key;

describe("a collected page", () => {
  test("equals the page of the complete list, whatever the order and repetition of its items", () => {
    fc.assert(
      fc.property(items, fc.integer({ min: 1, max: 9 }), fc.infiniteStream(fc.nat()), (all, limit, stream) => {
        const pages: Page<PageKey>[] = [];
        for (let after: PageKey | undefined; ;) {
          const page = collectPage({ limit, after }, sameKey);
          const candidates = all.flatMap((item) => ((stream.next().value ?? 0) % 4 === 0 ? [item, item] : [item]));
          for (const item of candidates) page.offer(item);
          const foundPage = page.page();
          pages.push(foundPage);
          expect(foundPage.items.length).toBeLessThanOrEqual(limit);
          after = foundPage.next;
          if (after === undefined) break;
        }
        // Newest first, then by id: short ASCII texts sort by their character codes.
        const expected = all.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : Number(a.id > b.id)));
        expect(pages.flatMap((page) => page.items)).toEqual(expected);
        expect(pages.slice(0, -1).every((page) => page.items.length === limit)).toBe(true);
      }),
    );
  });

  test("is rejected for a limit out of bounds", () => {
    for (const limit of [0, 1001, 1.5, Number.NaN]) {
      expect(() => selectPage([], { limit }, sameKey)).toThrow("limit: expected a whole number from 1 to 1000");
    }
  });
});
