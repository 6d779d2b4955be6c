/**
 * The state of the playground, all of which is in a link.
 *
 * @module
 */
import type { BookInput } from "../../book/resources/book.ts";
import { formatDate, toInstant } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import { add, type Decimal, type DecimalInput, parseDecimal, formatDecimal, ZERO } from "../../numbers/decimal.ts";
import { parseJson, stringifyJson } from "../../numbers/json.ts";
import { buildRecipeBook, buildRecipeEvents, type Recipe } from "./recipes.ts";

/** Usage of a meter on a day, or a license quantity from a day on. */
export interface DatedQuantity {
  /** The id or name of the meter or license. */
  readonly of: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** Decimal text as typed. */
  readonly quantity: string;
}

/** The whole state. */
export interface PlayState {
  /** The text of the book as typed. */
  readonly book: string;
  readonly usage: readonly DatedQuantity[];
  /** License quantities of the first account, which replace those in the book. */
  readonly seats: readonly DatedQuantity[];
  /** Events as JSON lines. */
  readonly events: string;
  /** Selects the cycles that overlap these days; the end is exclusive. */
  readonly from: string;
  readonly until: string;
}

/** An example to start from. */
export interface PlayExample {
  readonly title: string;
  readonly state: PlayState;
}

/** The state of a recipe. Usage without a feature is entered by day; usage with entitlements as events. */
export function createStateFromRecipe(recipe: Recipe, title: string): PlayState {
  const hasFeatures = (recipe.features ?? []).length > 0;
  const account: { readonly licenseUpdates?: readonly SeatInput[] } | undefined = recipe.account;
  return {
    ...createStateFromBook(stringifyJson(nameRecipePlans(removeSeats(buildRecipeBook(recipe)), title), 2)),
    usage: hasFeatures ? [] : recipe.events.map(([date, value]) => ({ of: "um.used", date, quantity: String(value) })),
    seats: listSeats(account?.licenseUpdates ?? []),
    events: hasFeatures
      ? buildRecipeEvents(recipe)
          .map((event) => JSON.stringify(event))
          .join("\n")
      : "",
    until: recipe.until ?? "2026-02-01",
  };
}

/** A state with a book and events only. @param day a day of the first month to show, `YYYY-MM-DD` */
export function createStateFromBook(book: string, events = "", day = "2026-01-01"): PlayState {
  const [year = 2026, month = 1] = day.split("-").map(Number);
  const next = month === 12 ? `${year + 1}-01` : `${year}-${String(month + 1).padStart(2, "0")}`;
  return { book, usage: [], seats: [], events, from: `${day.slice(0, 7)}-01`, until: `${next}-01` };
}

/** The first day on which an account of a book has a plan, `YYYY-MM-DD`; undefined without one. */
export function findFirstPlanDay({ accounts }: Pick<BookInput, "accounts">): string | undefined {
  const days = (accounts ?? []).flatMap(({ pricePlans }) =>
    (pricePlans ?? []).map(({ effectiveFrom }) => formatDate(toInstant(effectiveFrom))),
  );
  return days.toSorted()[0];
}

interface SeatInput {
  readonly licenseId: string;
  readonly updateType?: "ABSOLUTE" | "RELATIVE";
  readonly quantity: DecimalInput;
  readonly effectiveFrom: string;
}

/** The license quantity from each day on. Updates that add are summed with the previous quantity (S10.1). */
function listSeats(updates: readonly SeatInput[]): readonly DatedQuantity[] {
  const quantities = new Map<string, Decimal>();
  return updates.map(({ licenseId, updateType, quantity, effectiveFrom }) => {
    const before = updateType === "RELATIVE" ? (quantities.get(licenseId) ?? ZERO) : ZERO;
    const total = add(before, parseDecimal(quantity));
    quantities.set(licenseId, total);
    return { of: licenseId, date: effectiveFrom.slice(0, 10), quantity: formatDecimal(total) };
  });
}

/** A book whose plans have the recipe's title. */
function nameRecipePlans(book: object, title: string): unknown {
  const { pricePlans = [] } = book as { readonly pricePlans?: readonly object[] };
  return {
    ...book,
    pricePlans: pricePlans.map((plan, index) => ({ ...plan, name: index === 0 ? title : `${title}, then` })),
  };
}

function removeSeats(book: unknown): object {
  const { accounts = [], ...rest } = book as { readonly accounts?: readonly object[] };
  return { ...rest, accounts: accounts.map((account) => ({ ...account, licenseUpdates: undefined })) };
}

/** Parses the text of {@link serializeState}; undefined if invalid. */
export function parseState(text: string): PlayState | undefined {
  try {
    const { book, usage, seats, events, from, until } = parseJson(text) as Record<keyof PlayState, unknown>;
    if (![book, events, from, until].every((field) => typeof field === "string")) return undefined;
    if (![usage, seats].every((list) => Array.isArray(list) && list.every(isDatedQuantity))) return undefined;
    return { book, usage, seats, events, from, until } as PlayState;
  } catch (error) {
    if (hasCode(error, "ERR_JSON_INVALID") || error instanceof TypeError) return undefined;
    throw error;
  }
}

export function serializeState(state: PlayState): string {
  return JSON.stringify(state);
}

function isDatedQuantity(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return ["of", "date", "quantity"].every((key) => typeof Reflect.get(value, key) === "string");
}
