/** The state of the playground, all of which is in a link, and the recipes from which it starts; tests run them too. */
import type { BookInput, ShortBookInput } from "../book/resources/book.ts";
import { formatDate, toInstant } from "../calendar/instant.ts";
import { hasCode } from "../errors.ts";
import type { EventInput } from "../metering/event-envelope.ts";
import { isJsonObject } from "../numbers/decimal.ts";
import { parseJson, stringifyJson } from "../numbers/json.ts";

/** Usage of a meter on a day. */
export interface DatedQuantity {
  /** The id or name of the meter. */
  readonly of: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** Decimal text as typed. */
  readonly quantity: string;
  /** The texts of its group by dimension, for a meter with groups. */
  readonly group?: Readonly<Record<string, string>>;
}

/** The whole state. */
export interface PlayState {
  /** The text of the book as typed. */
  readonly book: string;
  readonly usage: readonly DatedQuantity[];
  /** Events as JSON lines. */
  readonly events: string;
  /** Selects the cycles that overlap these days; the end is exclusive. */
  readonly from: string;
  readonly until: string;
  /** The first day of the billing period whose invoices are shown; default the first period. */
  readonly shown?: string;
}

/** An example to start from. */
export interface PlayExample {
  readonly title: string;
  readonly state: PlayState;
}

/** The state of a recipe. If the recipe has features or event schemas, usage is entered as events; otherwise by day. */
export function createStateFromRecipe(recipe: Recipe): PlayState {
  const needsEvents = recipe.book.features !== undefined || recipe.book.eventSchemas !== undefined;
  const events = buildRecipeEvents(recipe).map((event) => JSON.stringify(event));
  return {
    ...createStateFromBook(stringifyJson(buildRecipeBook(recipe), 2), needsEvents ? events.join("\n") : ""),
    usage: needsEvents ? [] : recipe.events.map(([date, value]) => ({ of: "um.used", date, quantity: String(value) })),
    until: recipe.until ?? "2026-02-01",
  };
}

/** A state with a book and events only. @param day a day of the first month to show, `YYYY-MM-DD` */
export function createStateFromBook(book: string, events = "", day = "2026-01-01"): PlayState {
  const [year = 2026, month = 1] = day.split("-").map(Number);
  const next = month === 12 ? `${year + 1}-01` : `${year}-${String(month + 1).padStart(2, "0")}`;
  return { book, usage: [], events, from: `${day.slice(0, 7)}-01`, until: `${next}-01` };
}

/** The first day on which an account of a book has a plan, `YYYY-MM-DD`; undefined without one. */
export function findFirstPlanDay({ accounts }: Pick<BookInput, "accounts">): string | undefined {
  const days = (accounts ?? []).flatMap(({ pricePlans }) =>
    (pricePlans ?? []).map(({ effectiveFrom }) => formatDate(toInstant(effectiveFrom))),
  );
  return days.toSorted()[0];
}

/** Parses a state as JSON; undefined if invalid. */
export function parseState(text: string): PlayState | undefined {
  try {
    const { book, usage, events, from, until, shown } = parseJson(text) as Record<keyof PlayState, unknown>;
    if (![book, events, from, until, shown ?? ""].every((field) => typeof field === "string")) return undefined;
    if (!Array.isArray(usage) || !usage.every(isDatedQuantity)) return undefined;
    return { book, usage, events, from, until, ...(typeof shown === "string" ? { shown } : {}) } as PlayState;
  } catch (error) {
    if (hasCode(error, "ERR_JSON_INVALID") || error instanceof TypeError) return undefined;
    throw error;
  }
}

function isDatedQuantity(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { of, date, quantity, group = {} } = value as Readonly<Record<string, unknown>>;
  const texts = [of, date, quantity, ...(isJsonObject(group) ? Object.values(group) : [group])];
  return texts.every((text) => typeof text === "string");
}

/** A recipe of `docs/examples/recipes.json`. */
export interface Recipe {
  readonly title: string;
  readonly description: string;
  /** The lists in which its book differs from the small one. */
  readonly book: ShortBookInput;
  readonly events: readonly (readonly [day: string, value: number | string, dimensions?: EventInput["dimensions"]])[];
  readonly until?: string;
  readonly showDue?: boolean;
  /** Its invoices, one per line. */
  readonly invoices: readonly string[];
  /** How the amounts are calculated by hand. */
  readonly calculation: string;
}

/** The book of a recipe: the small one with other lists, in short form. */
export function buildRecipeBook({ book }: Recipe): ShortBookInput {
  const plans = [{ plan: "pp.recipe", from: "2026-01-01" }];
  return {
    organization: { id: "acme" },
    eventSchemas: [{ name: "usage", attributes: ["quantity"] }],
    usageMeters: [{ id: "um.used", name: "Usage", schema: "usage", sum: "quantity" }],
    pricePlans: [],
    customers: [{ id: "contoso", name: "Contoso" }],
    accounts: [{ id: "contoso-prod", name: "Contoso production", customerId: "contoso", plans }],
    ...book,
  };
}

export function buildRecipeEvents({ events }: Recipe): readonly EventInput[] {
  return events.map(([day, value, dimensions = {}], index) => ({
    schemaName: "usage",
    id: `e-${index + 1}`,
    accountId: "contoso-prod",
    timestamp: `${day}T12:00:00Z`,
    attributes: { quantity: value },
    dimensions,
  }));
}

/** The recipes in the text of `docs/examples/recipes.json`. */
export function parseRecipes(text: string): readonly Recipe[] {
  return (JSON.parse(text) as { readonly recipes: readonly Recipe[] }).recipes;
}
