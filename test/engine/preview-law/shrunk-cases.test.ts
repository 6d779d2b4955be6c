/** Cases that once violated the law of S13.5, shrunk to what they need. */
import { describe, expect, test } from "vitest";

import { readBook } from "../../../src/book/book.ts";
import type { ShortBookInput } from "../../../src/book/resources/book.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { LONG } from "./books.ts";
import { compareEvents, compareInvoices } from "./law.ts";

describe("S1.4 S13.5 an event whose overage is too long to bill", () => {
  const n = { var: "attribute.n" };
  // The square of 40 digits has 79; times a rate of 40 digits it has more than 100.
  const plan = { plan: "p", from: "2024-05-01" };
  const book: ShortBookInput = {
    eventSchemas: [{ name: "squaring", attributes: ["n"], computed: { square: { "*": [n, n] } } }, { name: "ping" }],
    features: [
      { id: "f.square", name: "Square", schemaAssociations: [{ schemaName: "squaring", attributeName: "square" }] },
    ],
    pricePlans: [
      { id: "p", cycle: "MONTHLY", fees: [{ id: "fee", rate: 3 }], overages: [{ feature: "f.square", rate: LONG }] },
    ],
    accounts: [
      { id: "a", name: "Account a", ...plan },
      { id: "b", name: "Account b", ...plan },
    ],
  };
  // Its month has not ended, but the one before it has.
  const long = {
    schemaName: "squaring",
    id: "long",
    accountId: "a",
    timestamp: "2024-06-10T00:00:00Z",
    attributes: [{ name: "n", value: LONG }],
  };

  test("is accepted, and the account accepts no more events once its month is billed", async ({ expect }) => {
    await compareEvents(book, [long], memoryStore());
    const late = { schemaName: "ping", id: "late", accountId: "a", timestamp: "2024-07-01T00:00:00Z", attributes: [] };
    const { problems, skipped } = preview(readBook(book), [long, late]);
    expect(problems.map(({ event, status }) => [event, status])).toEqual([[2, "INGESTION_FAILED"]]);
    expect(skipped?.map(({ accountId }) => accountId)).toEqual(["a"]);
  });

  test("leaves its account without invoices, in both", async () => {
    await compareInvoices(book, [long], memoryStore());
  });
});

describe("S9.2 S11.3 S11.5 a plan that is decided after an event of its first day", () => {
  const migrationBook = (max: number | null): object => ({
    eventSchemas: [{ name: "use", attributes: ["n"] }],
    features: [{ id: "f", name: "F", schemaAssociations: [{ schemaName: "use", attributeName: "n" }] }],
    pricePlans: [
      ["one", 1, null],
      ["two", 4, max],
    ].map(([id, quantity, maximum]) => ({
      id,
      cycle: "MONTHLY",
      entitlements: [{ feature: "f", quantity, for: "P1M", rate: 0 }],
      overages: [{ feature: "f", max: maximum, rate: 2 }],
    })),
    accounts: [
      {
        id: "a",
        name: "Account a",
        plans: [
          { plan: "one", from: "2024-05-01", decidedAt: "2024-05-01T00:00:00Z" },
          { plan: "two", from: "2024-06-10", decidedAt: "2024-06-10T12:00:00Z" },
        ],
      },
    ],
  });
  const useEvent = (time: string) => ({
    schemaName: "use",
    id: time,
    accountId: "a",
    timestamp: `2024-06-10T${time}Z`,
    attributes: [{ name: "n", value: 10 }],
  });
  const cases = [
    ["the grant covers overage although no event follows", null, ["06:00:00"]],
    ["its limit of overage counts from its decision on", 0, ["06:00:00"]],
    ["and refuses an event after that", 5, ["06:00:00", "13:00:00"]],
  ] as const;

  // 10 are used: 1 from the grant of plan one, then 4 from that of plan two, and 5 stay overage.
  test.each(cases)("%s", async (_, maxQuantity, times) => {
    const book = migrationBook(maxQuantity);
    await compareEvents(book, times.map(useEvent), memoryStore());
    await compareInvoices(book, times.map(useEvent), memoryStore());
    const { invoices, problems } = preview(readBook(book), times.map(useEvent), {
      from: "2024-06-01",
      until: "2024-07-01",
    });
    expect(problems).toHaveLength(times.length - 1);
    const overage = invoices.flatMap((invoice) => linesOfType(invoice, "ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT"));
    expect(overage.map(({ quantity, value }) => [String(quantity), String(value)])).toEqual([["5", "10"]]);
  });
});
