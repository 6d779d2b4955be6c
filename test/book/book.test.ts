import { describe, expect, test } from "vitest";

import { readBook } from "../../src/book/book.ts";
import { sampleBook } from "./sample-book.ts";

describe("readBook", () => {
  test("resolves references, rules, ids and names", () => {
    const book = readBook(sampleBook());
    expect(book.accounts[1]).toMatchObject({ customerId: "contoso", invoiceCurrency: "USD" });
    expect(book.accounts[0]?.pricePlans[0]).toMatchObject({ version: 1, effectiveFrom: Date.UTC(2023, 10, 1) });
  });
});
