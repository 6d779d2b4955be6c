/**
 * Turns the long form of a book into the short form (book.md). Each part is expanded again and compared with what it
 * was: a part that the short form cannot say stays as it is.
 */
import * as z from "zod";

import { isDecimalObject } from "../../numbers/decimal.ts";
import { collectProblems } from "../problems.ts";
import { RESOURCES } from "../resources/book.ts";
import { expandBook, findShortItems, listShortCards, readBaseCurrency } from "./expand-book.ts";
import { isSamePart, withoutDefaults } from "./same-part.ts";
import { accountShortenings } from "./shorten-account.ts";
import { METER_SHORTENINGS, SCHEMA_SHORTENINGS, type Shortening } from "./shorten-metering.ts";
import { type ExpandItem, shortenDetails, shortenPlan } from "./shorten-plan.ts";
import { listObjects } from "./shorten-prices.ts";
import { hasValue, isObject, type JsonObject } from "./written-places.ts";

/** Shortens a valid book. Parts in short form stay as they are. @returns a new book; the input is not modified */
export function shortenBook(book: JsonObject): JsonObject {
  const organization = book["organization"];
  const baseCurrency = readBaseCurrency(organization);
  const plans = listObjects(book["pricePlans"]);
  const expand: ExpandItem = (list, item) => {
    if (list !== "accounts") return expandAlone({ organization }, list, item);
    // The changes of a plan for one account are in the currencies of the plan.
    const changed = new Set(listObjects(item["plans"]).flatMap(({ plan, override }) => (override ? [plan] : [])));
    const pricePlans = changed.size > 0 ? plans.filter(({ id, name }) => changed.has(id) || changed.has(name)) : [];
    const long = expandAlone({ organization, pricePlans }, list, item);
    return long && { ...long, invoiceCurrency: long["invoiceCurrency"] ?? baseCurrency };
  };
  const apply = (list: keyof typeof RESOURCES, shortenings: readonly Shortening[]): JsonObject =>
    mapList(book, list, (item) => applyShortenings(item, list, shortenings, expand));
  const shortenOverride = (plan: unknown, override: JsonObject): JsonObject => {
    const found = plans.findLast(({ id, name }) => id === plan || name === plan);
    const details = (found && expand("pricePlans", found)?.["pricePlanDetails"]) as JsonObject | undefined;
    return shortenDetails(override, { expand, currencies: details?.["supportedCurrencies"] ?? [baseCurrency] });
  };
  const short = {
    ...book,
    ...apply("eventSchemas", SCHEMA_SHORTENINGS),
    ...apply("usageMeters", METER_SHORTENINGS),
    ...mapList(book, "pricePlans", (plan) => shortenPlan(plan, baseCurrency, expand)),
    ...apply("accounts", accountShortenings(baseCurrency, shortenOverride)),
  };
  return ["addOns", "features", "customers"].reduce(omitImplied, short);
}

function mapList(book: JsonObject, list: string, change: (item: JsonObject) => JsonObject): JsonObject {
  const items = book[list];
  if (!Array.isArray(items)) return {};
  return { [list]: items.map((item: unknown) => (isObject(item) ? change(item as JsonObject) : item)) };
}

/** The long form of an item in a book without others; undefined if it is wrong. */
function expandAlone(book: JsonObject, list: string, item: JsonObject): JsonObject | undefined {
  const problems = collectProblems();
  const alone = { ...book, [list]: [item] };
  const document = (expandBook(alone, problems)?.document ?? alone) as JsonObject;
  return problems.count() > 0 ? undefined : listObjects(document[list])[0];
}

/** Applies each shortening after which the item is still the same. */
function applyShortenings(
  item: JsonObject,
  list: keyof typeof RESOURCES,
  shortenings: readonly Shortening[],
  expand: ExpandItem,
): JsonObject {
  const long = expand(list, item);
  if (long === undefined) return item;
  return shortenings.reduce((short, shorten) => {
    const candidate = shorten(short);
    if (candidate === undefined || !isSamePart(RESOURCES[list], long, expand(list, candidate))) return short;
    return candidate;
  }, item);
}

/** A card or account that implies an item of a list. */
interface Implication {
  /** The position among all that are implied. */
  readonly position: number;
  readonly holder: JsonObject;
  /** The holder once the item with this name is omitted. */
  readonly withName: (name: unknown) => JsonObject;
}

/** Omits the last items of a list that cards or accounts imply, where they imply the same in the same order. */
function omitImplied(book: JsonObject, list: string): JsonObject {
  const items = listObjects(book[list]);
  const implications = list === "customers" ? findAccounts(book, items) : findCards(book, list);
  let next = Infinity;
  const changes = new Map<unknown, JsonObject>();
  for (const item of items.toReversed()) {
    const { id, name, type: _, ...others } = withoutDefaults(RESOURCES[list as keyof typeof RESOURCES], item);
    const implication = implications.get(id);
    if (implication === undefined || implication.position >= next || Object.keys(others).length > 0) break;
    next = implication.position;
    changes.set(implication.holder, implication.withName(name));
  }
  if (changes.size === 0) return book;
  const { [list]: _, ...rest } = book;
  const shorter = changes.size === items.length ? rest : { ...book, [list]: items.slice(0, -changes.size) };
  const { pricePlans, accounts } = book;
  const short = { ...shorter, ...(replaceObjects({ pricePlans, accounts }, changes) as JsonObject) };
  return isSameList(list as keyof typeof RESOURCES, book, short) ? short : book;
}

/** The first card of each add-on or feature. */
function findCards(book: JsonObject, target: string): ReadonlyMap<unknown, Implication> {
  const implications = new Map<unknown, Implication>();
  const source = findShortItems(book);
  for (const [position, { card, list }] of (source === undefined ? [] : listShortCards(source)).entries()) {
    const { [list.item]: id, ...others } = card;
    if (list.item !== (target === "addOns" ? "id" : "feature") || implications.has(id)) continue;
    const withName = (name: unknown): JsonObject => (name === id ? card : { [list.item]: id, name, ...others });
    implications.set(id, { position, holder: card, withName });
  }
  return implications;
}

/** The first account of each customer with the same id and name. */
function findAccounts(book: JsonObject, customers: readonly JsonObject[]): ReadonlyMap<unknown, Implication> {
  const names = new Map(customers.map(({ id, name }) => [id, name]));
  const implications = new Map<unknown, Implication>();
  for (const [position, account] of listObjects(book["accounts"]).entries()) {
    const { customerId, ...others } = account;
    const { id, name = id } = account;
    const isImplied = hasValue(account, "customerId") ? customerId === id && names.get(id) === name : true;
    if (isImplied && !implications.has(id)) implications.set(id, { position, holder: account, withName: () => others });
  }
  return implications;
}

/** A value in which some objects are replaced. */
function replaceObjects(value: unknown, changes: ReadonlyMap<unknown, JsonObject>): unknown {
  const change = changes.get(value);
  if (change !== undefined) return change;
  if (Array.isArray(value)) return value.map((item) => replaceObjects(item, changes));
  if (!isObject(value) || isDecimalObject(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([key, field]) => [key, replaceObjects(field, changes)]));
}

/** Whether a list has the same items in the long form of two books. */
function isSameList(list: keyof typeof RESOURCES, before: JsonObject, after: JsonObject): boolean {
  const problems = collectProblems();
  const [one, other] = [before, after].map(
    (book) => ((expandBook(book, problems)?.document ?? book) as JsonObject)[list],
  );
  return problems.count() === 0 && isSamePart(z.array(RESOURCES[list]), one, other);
}
