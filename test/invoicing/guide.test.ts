/** The listing in docs/reference/invoices.md is a golden case, unchanged. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { goldenCases } from "../support/golden.ts";

const guide = readFileSync(join(import.meta.dirname, "../../docs/reference/invoices.md"), "utf8");
const listings = [...guide.matchAll(/```text\n(S[^]*?)\n```\n\n([^\n]+)/g)].map(([, listing = "", because = ""]) => ({
  title: listing.split("\n")[0] ?? "",
  listing,
  // The guide links to the rules that it cites.
  because: because.replaceAll(/\[(S[\d.]+)\]\(semantics\.md#s[\d.]+\)/g, "$1"),
}));

describe("docs/reference/invoices.md", () => {
  test("shows a worked case", () => {
    expect(listings).toHaveLength(1);
  });

  test.each(listings)("shows the golden case: $title", ({ title, listing, because }) => {
    const golden = goldenCases().find(({ it }) => it === title);
    const invoiceTexts = (golden?.invoices ?? []).map(({ invoice, lines }) =>
      [invoice, ...lines.map((line) => `  ${line}`)].join("\n"),
    );
    expect(listing).toBe([title, "", invoiceTexts.join("\n\n")].join("\n"));
    expect(because).toBe(golden?.because);
  });
});
