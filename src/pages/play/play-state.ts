/**
 * What a person has put into the playground: all of it is in a link.
 *
 * @module
 */
import type { BookInput } from "../../book/model/book.ts";
import { formatDate, toInstant } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import { add, type Decimal, type DecimalInput, parseDecimal, formatDecimal, ZERO } from "../../numbers/decimal.ts";
import { parseJson, stringifyJson } from "../../numbers/json.ts";
import { buildRecipeBook, buildRecipeEvents, type Recipe } from "./recipes.ts";

/** Usage of a meter on a day, or a quantity of a license from a day on. */
export interface DatedQuantity {
  /** The id or the name of the meter or license. */
  readonly of: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** A decimal text as it was typed. */
  readonly quantity: string;
}

/** The whole state. */
export interface PlayState {
  /** The text of the book, as it was typed. */
  readonly book: string;
  readonly usage: readonly DatedQuantity[];
  /** What the first account holds of licenses, in place of what the book says. */
  readonly seats: readonly DatedQuantity[];
  /** Events, one JSON object a line. */
  readonly events: string;
  /** The cycles that are shown touch these days; the end is exclusive. */
  readonly from: string;
  readonly until: string;
}

/** Something to begin from. */
export interface PlayExample {
  readonly title: string;
  readonly state: PlayState;
}

/** The state of a recipe. What serves no feature is usage by day; entitlements take their events one by one. */
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

/** The state of a book alone: nothing is used. @param day a day of the month that is shown, `YYYY-MM-DD` */
export function createStateFromBook(book: string, events = "", day = "2026-01-01"): PlayState {
  const [year = 2026, month = 1] = day.split("-").map(Number);
  const next = month === 12 ? `${year + 1}-01` : `${year}-${String(month + 1).padStart(2, "0")}`;
  return { book, usage: [], seats: [], events, from: `${day.slice(0, 7)}-01`, until: `${next}-01` };
}

/** The first day on which an account of a book has a plan, `YYYY-MM-DD`; undefined where none has. */
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

/** What is held from each day on; an update that adds is what was held before and what it adds (S10.1). */
function listSeats(updates: readonly SeatInput[]): readonly DatedQuantity[] {
  const quantities = new Map<string, Decimal>();
  return updates.map(({ licenseId, updateType, quantity, effectiveFrom }) => {
    const before = updateType === "RELATIVE" ? (quantities.get(licenseId) ?? ZERO) : ZERO;
    const total = add(before, parseDecimal(quantity));
    quantities.set(licenseId, total);
    return { of: licenseId, date: effectiveFrom.slice(0, 10), quantity: formatDecimal(total) };
  });
}

/** A book whose plans are called as what is shown of them. */
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

/** The state in a text that {@link serializeState} made; undefined where it is none. */
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

/** The state as text. */
export function serializeState(state: PlayState): string {
  return JSON.stringify(state);
}

function isDatedQuantity(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return ["of", "date", "quantity"].every((key) => typeof Reflect.get(value, key) === "string");
}
