/** Every recipe results in the invoices that it shows. */
import { describe, expect, test } from "vitest";

import { type Invoice, type InvoiceLine, parseBook, preview } from "../../src/index.ts";
import { buildRecipeBook, buildRecipeEvents, type Recipe } from "../../src/pages/play-state.ts";
import { flattenLines } from "../support/invoice-lines.ts";
import { recipes } from "../support/recipes.ts";

function runRecipe(recipe: Recipe): readonly Invoice[] {
  const options = { from: "2026-01-01", until: recipe.until ?? "2026-02-01" };
  const { invoices, problems } = preview(parseBook(buildRecipeBook(recipe)), buildRecipeEvents(recipe), options);
  expect(problems).toEqual([]);
  return invoices;
}

/** An invoice in one line, as on the page. */
function describeInvoice(invoice: Invoice, showDue: boolean): string {
  const lines = flattenLines(invoice.revenueInfo).map(({ line }) => line);
  const amount = ({ value }: InvoiceLine): string => value.toFixed(2);
  const cards = lines.flatMap(({ type, lineItems }) => (type.endsWith("SUB_TOTAL_AMOUNT") ? (lineItems ?? []) : []));
  const trueUps = lines.filter(({ type, value }) => type.endsWith("TRUE_UP_AMOUNT") && !value.isZero());
  const credits = lines.filter(({ type, value }) => type.endsWith("TOTAL_CREDITS") && !value.isZero());
  const parts = [
    cards.map((card) => `${card.description ?? ""} ${amount(card)}`).join(", "),
    ...trueUps.map((line) => `true-up ${amount(line)}`),
    ...credits.map((line) => `credits ${amount(line)}`),
    `total ${amount(invoice.revenueInfo)} ${invoice.currency}`,
  ];
  const due = showDue ? ` due ${invoice.dueDate.slice(0, 10)}` : "";
  return `${invoice.invoiceDate.slice(0, 10)} ${invoice.invoiceType}${due}: ${parts.join("; ")}`;
}

describe("the recipes", () => {
  test("include common pricing models", () => {
    const titles = [
      "Flat fee | Per unit | Tiered | Volume | Package | Seats, with changes in the middle | Free tier",
      "Prepaid credits | Hybrid | Minimum commitment | Setup fee | Discount | Annual prepay | Ramp",
      "Percentage of revenue | Entitlement with overage | Invoice groups | Two currencies | Tokens by model",
      "Fee, seats and calls | Prepaid credits with overage | Yearly commitment with true-up",
      "Storage with a free part | Tokens by model and kind | Storage by region and class | Seats by role",
      "Monthly active users | Provisioned storage by the hour | Peak connections",
    ];
    expect(recipes.map(({ title }) => title)).toEqual(titles.flatMap((row) => row.split(" | ")));
  });

  test.each(recipes)("$title", (recipe) => {
    const invoices = runRecipe(recipe).map((invoice) => describeInvoice(invoice, recipe.showDue === true));
    expect(invoices).toEqual(recipe.invoices);
  });
});
