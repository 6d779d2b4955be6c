/** Every recipe of the cookbook is run as it is printed, and comes to the invoices that it shows. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { type Invoice, type InvoiceLine, parseBook, preview } from "../../src/index.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/cookbook.md"), "utf8");

/** What a recipe changes of the small book. */
interface Recipe {
  readonly plan: object;
  readonly nextPlan?: object;
  readonly nextPlanFrom?: string;
  readonly interval?: string;
  readonly currencies?: readonly string[];
  readonly addOns?: readonly object[];
  readonly features?: readonly object[];
  readonly invoiceGroups?: readonly object[];
  readonly account?: object;
  readonly association?: object;
  readonly events: readonly (readonly [string, number | string])[];
  readonly until?: string;
  readonly showDue?: boolean;
}

function bookOf(recipe: Recipe): unknown {
  const { currencies = ["USD"], interval = "MONTHLY" } = recipe;
  const startOffset = { dayOffset: "1", ...(interval === "ANNUALLY" ? { monthOffset: "1" } : {}) };
  const plan = (id: string, details: object): object => ({
    id,
    name: id,
    status: "ACTIVE",
    pricePlanDetails: { supportedCurrencies: currencies, pricingCycleConfig: { interval, startOffset }, ...details },
  });
  const { nextPlan, nextPlanFrom } = recipe;
  const next = nextPlan === undefined ? [] : [plan("pp.next", nextPlan)];
  const later = nextPlan === undefined ? [] : [{ pricePlanId: "pp.next", effectiveFrom: nextPlanFrom }];
  return {
    organization: { id: "acme" },
    eventSchemas: [{ name: "usage", attributes: [{ name: "quantity" }] }],
    usageMeters: [
      {
        id: "um.used",
        name: "Usage",
        aggregation: "SUM",
        eventSchemaName: "usage",
        computations: [{ order: 1, computation: { var: "attribute.quantity" } }],
      },
    ],
    features: recipe.features,
    addOns: recipe.addOns,
    pricePlans: [plan("pp.recipe", recipe.plan), ...next],
    customers: [{ id: "contoso", name: "Contoso" }],
    accounts: [
      {
        id: "contoso-prod",
        name: "Contoso production",
        customerId: "contoso",
        pricePlans: [{ pricePlanId: "pp.recipe", effectiveFrom: "2026-01-01", ...recipe.association }, ...later],
        ...recipe.account,
      },
    ],
    invoiceGroups: recipe.invoiceGroups,
  };
}

function run(recipe: Recipe): readonly Invoice[] {
  const events = recipe.events.map(([day, value], index) => ({
    schemaName: "usage",
    id: `e-${index + 1}`,
    accountId: "contoso-prod",
    timestamp: `${day}T12:00:00Z`,
    attributes: [{ name: "quantity", value }],
    dimensions: {},
  }));
  const options = { from: "2026-01-01", until: recipe.until ?? "2026-02-01" };
  const { invoices, problems } = preview(parseBook(bookOf(recipe)), events, options);
  expect(problems).toEqual([]);
  return invoices;
}

function linesOf(line: InvoiceLine): readonly InvoiceLine[] {
  return [line, ...(line.lineItems ?? []).flatMap(linesOf)];
}

/** An invoice in one line, as the page shows it. */
function shown(invoice: Invoice, showDue: boolean): string {
  const lines = linesOf(invoice.revenueInfo);
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

const recipes = [...page.matchAll(/^## (.+)$[^]*?^```json recipe\n([^]*?)\n```\n\n```text\n([^]*?)\n```$/gm)].map(
  ([, title = "", recipe = "", invoices = ""]) => ({ title, recipe, invoices }),
);

describe("the cookbook", () => {
  test("has the recipes that people look for", () => {
    expect(recipes).toHaveLength(18);
    expect(page.match(/^## /gm)).toHaveLength(18);
  });

  test.each(recipes)("$title", ({ recipe, invoices }) => {
    const read = JSON.parse(recipe) as Recipe;
    expect(run(read).map((invoice) => shown(invoice, read.showDue === true))).toEqual(invoices.split("\n"));
  });
});
