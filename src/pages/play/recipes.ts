/**
 * Recipes: examples of pricing, as changes to a small book. The playground offers them and tests run them.
 *
 * @module
 */

import type { EventInput } from "../../metering/event-envelope.ts";

/** The changes of a recipe to the small book. */
export interface Recipe {
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
  readonly events: readonly (readonly [day: string, value: number | string])[];
  readonly until?: string;
  readonly showDue?: boolean;
}

/** The small book with a recipe's changes. */
export function buildRecipeBook(recipe: Recipe): unknown {
  const { currencies = ["USD"], interval = "MONTHLY" } = recipe;
  const startOffset = { dayOffset: "1", ...(interval === "ANNUALLY" ? { monthOffset: "1" } : {}) };
  const createPlan = (id: string, details: object): object => ({
    id,
    name: id,
    status: "ACTIVE",
    pricePlanDetails: { supportedCurrencies: currencies, pricingCycleConfig: { interval, startOffset }, ...details },
  });
  const { nextPlan, nextPlanFrom } = recipe;
  const nextPlans = nextPlan === undefined ? [] : [createPlan("pp.next", nextPlan)];
  const nextAssociations = nextPlan === undefined ? [] : [{ pricePlanId: "pp.next", effectiveFrom: nextPlanFrom }];
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
    pricePlans: [createPlan("pp.recipe", recipe.plan), ...nextPlans],
    customers: [{ id: "contoso", name: "Contoso" }],
    accounts: [
      {
        id: "contoso-prod",
        name: "Contoso production",
        customerId: "contoso",
        pricePlans: [
          { pricePlanId: "pp.recipe", effectiveFrom: "2026-01-01", ...recipe.association },
          ...nextAssociations,
        ],
        ...recipe.account,
      },
    ],
    invoiceGroups: recipe.invoiceGroups,
  };
}

export function buildRecipeEvents({ events }: Recipe): readonly EventInput[] {
  return events.map(([day, value], index) => ({
    schemaName: "usage",
    id: `e-${index + 1}`,
    accountId: "contoso-prod",
    timestamp: `${day}T12:00:00Z`,
    attributes: [{ name: "quantity", value }],
    dimensions: {},
  }));
}

/** A recipe of `docs/examples/recipes.json`. */
export interface NamedRecipe {
  readonly title: string;
  readonly description: string;
  readonly recipe: Recipe;
  /** Its invoices, one per line. */
  readonly invoices: readonly string[];
  /** How the amounts are calculated by hand. */
  readonly calculation: string;
}

/** The recipes in the text of `docs/examples/recipes.json`. */
export function parseRecipes(text: string): readonly NamedRecipe[] {
  return (JSON.parse(text) as { readonly recipes: readonly NamedRecipe[] }).recipes;
}
