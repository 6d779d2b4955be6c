/** The checks of a book, a preview and an engine apply associations in the same order. */
import { describe, expect, test } from "vitest";

import { readBook } from "../../../src/book/book.ts";
import { sortByDecision } from "../../../src/book/resources/account.ts";
import type { Book } from "../../../src/book/resources/book.ts";
import { formatInstant, parseDate } from "../../../src/calendar/instant.ts";
import { createAssociations } from "../../../src/ledger/account/book-account.ts";
import { createCatalog } from "../../../src/ledger/catalog.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import { headOf } from "../../support/invoice-lines.ts";
import { listProblems } from "../break-book.ts";

const seatPlan = (id: string, max: number, rate: number) => ({
  id,
  cycle: "MONTHLY",
  licenses: [{ id: "seats", rate, max }],
});

function seatDocument(pricePlans: readonly object[], quantity: number): object {
  const licenseUpdates = [{ licenseId: "seats", effectiveFrom: "2024-07-01", quantity }];
  return {
    pricePlans: [seatPlan("old", 10, 1), seatPlan("new", 5, 100)],
    accounts: [{ id: "acc", pricePlans, licenseUpdates }],
  };
}

const OLD = { pricePlanId: "old", effectiveFrom: "2024-01-01" };
const NEW = { pricePlanId: "new", effectiveFrom: "2024-06-01" };

function planIds(book: Book): readonly string[] {
  return sortByDecision(book.accounts[0]?.pricePlans ?? []).map(({ association }) => association.pricePlanId);
}

describe.each([
  ["in the order of their dates", [OLD, NEW]],
  ["out of the order of their dates", [NEW, OLD]],
])("S9.2 associations without decidedAt, listed %s", (_, list) => {
  const book = readBook(seatDocument(list, 4));

  test("S16.1 are decided in the order of their dates", () => {
    expect(planIds(book)).toEqual(["old", "new"]);
  });

  test("S16.1 are priced in that order", () => {
    const { invoices } = preview(book, [], { from: "2024-07-01", until: "2024-08-01" });
    // Four seats at 100.
    expect(invoices.map((invoice) => `${headOf(invoice)} ${invoice.revenueInfo.value.toFixed()}`)).toEqual([
      "STANDARD 2024-07-01/2024-08-01 on 2024-08-01 400",
    ]);
  });

  test("S10.1 limit licenses in that order", () => {
    expect(listProblems(() => readBook(seatDocument(list, 8)))).toEqual([
      "$.accounts[0].licenseUpdates[0].quantity: expected 0 to 5 licenses, got 8",
    ]);
  });

  test("S16.5 retain the offsets of the one before", () => {
    const retaining = list.map((one) => (one === NEW ? { ...NEW, retainStartOffsets: true } : one));
    expect(listProblems(() => readBook(seatDocument(retaining, 4)))).toEqual([]);
  });

  test("S16.1 are loaded into an engine in that order, each with its own override", () => {
    const override = { minimumCommitment: { rateValues: [{ currency: "USD", rate: 7 }] } };
    const overriding = list.map((one) => (one === NEW ? { ...NEW, pricePlanDetailsOverride: override } : one));
    const read = readBook(seatDocument(overriding, 4));
    const [account] = read.accounts;
    if (account === undefined) throw new Error("the book has one account");
    const associations = createAssociations(createCatalog(read), account, parseDate("2024-08-01"), () => "id");
    expect(associations.map(({ plan }) => [plan?.planId, plan?.override !== undefined])).toEqual([
      ["old", false],
      ["new", true],
    ]);
  });
});

describe("S9.2 associations of a book", () => {
  test("with the same date are decided in the order of the list", () => {
    expect(planIds(readBook(seatDocument([NEW, { ...OLD, effectiveFrom: NEW.effectiveFrom }], 4)))).toEqual([
      "new",
      "old",
    ]);
  });

  test("without decidedAt are decided at their date, or with the next listed one that has it", () => {
    const list = [OLD, { ...NEW, decidedAt: "2023-12-01T12:00:00Z" }, { ...OLD, effectiveFrom: "2024-09-01" }];
    const [account] = readBook(seatDocument(list, 4)).accounts;
    const decisions = sortByDecision(account?.pricePlans ?? []).map(({ index, decidedAt }) => [
      index,
      formatInstant(decidedAt),
    ]);
    expect(decisions).toEqual([
      [0, "2023-12-01T12:00:00.000Z"],
      [1, "2023-12-01T12:00:00.000Z"],
      [2, "2024-09-01T00:00:00.000Z"],
    ]);
  });

  test("take precedence over those whose decidedAt is earlier", () => {
    // The one of January replaces everything from January on, because its decidedAt is after that of June.
    const decisions = [
      { ...NEW, decidedAt: "2023-12-01" },
      { ...OLD, decidedAt: "2023-12-02" },
    ];
    expect(planIds(readBook(seatDocument(decisions, 8)))).toEqual(["new", "old"]);
  });

  test("S16.1 may start in the past only if decided first, wherever they are listed", () => {
    const document = seatDocument([{ ...NEW, decidedAt: "2024-06-10" }, OLD], 4);
    expect(listProblems(() => readBook(document))).toEqual([
      "$.accounts[0].pricePlans[0].effectiveFrom: expected the decidedAt, 2024-06-10, or later, got 2024-06-01; only the first association can be backdated",
    ]);
  });
});
