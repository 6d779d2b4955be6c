/**
 * Turns the short form of a book into the long form, before anything else reads it (book.md). Parts in long form stay
 * the same objects; every object that is made remembers where it was written.
 */
import type * as z from "zod";

import { formatPath, type Path, type Problems, quoteValue, type Report } from "../problems.ts";
import type { Book } from "../resources/book.ts";
import { billableOf, CARD_LIST_NAMES } from "../resources/override.ts";
import { shortAccount, shortEventSchema, shortMeter } from "../resources/short-items.ts";
import { shortPlan } from "../resources/short-plan.ts";
import { expandAccount } from "./expand-account.ts";
import { expandEventSchema, expandMeter } from "./expand-metering.ts";
import { expandPlan } from "./expand-plan.ts";
import { reportConflict } from "./expand-prices.ts";
import { type ExpandedDocument, type Expansion, startExpansion } from "./expansion.ts";
import { SHORT_CARD_LISTS, type ShortCardList } from "./short-cards.ts";
import { hasValue, isObject, type JsonObject } from "./written-places.ts";

/** A list with a short form. */
interface ShortList {
  readonly isShort: (item: JsonObject) => boolean;
  /** The shape of a short item. */
  readonly schema: z.ZodType;
  /** The field of the long form that a short item cannot have. */
  readonly longField?: string;
  /** An item in place of one with a wrong shape, to which others can still refer. */
  readonly standIn?: object;
}

const SHORT_LISTS: Readonly<Record<string, ShortList>> = {
  // A list that cannot be read is not searched for fields.
  eventSchemas: {
    isShort: isShortEventSchema,
    schema: shortEventSchema,
    standIn: { attributes: [null], dimensions: [null] },
  },
  usageMeters: { isShort: createFieldTest("schema", "count", "sum", "where"), schema: shortMeter },
  pricePlans: { isShort: isShortPlan, schema: shortPlan, longField: "pricePlanDetails" },
  accounts: { isShort: isShortAccount, schema: shortAccount },
};

function createFieldTest(...fields: readonly string[]): (item: JsonObject) => boolean {
  return (item) => fields.some((field) => Object.hasOwn(item, field));
}

function isShortEventSchema(schema: JsonObject): boolean {
  if (createFieldTest("computed", "computedDimensions")(schema)) return true;
  const has = (list: unknown, isShort: (field: unknown) => boolean): boolean =>
    Array.isArray(list) && list.some(isShort);
  const isText = (field: unknown): boolean => typeof field === "string";
  const hasUnit = (field: unknown): boolean => isObject(field) && Object.hasOwn(field, "unit");
  return has(schema["attributes"], (field) => isText(field) || hasUnit(field)) || has(schema["dimensions"], isText);
}

const hasShortPlanField = createFieldTest("cycle", "currencies", "commitment", ...Object.keys(SHORT_CARD_LISTS));

/** Whether a plan is in short form. */
export function isShortPlan(plan: JsonObject): boolean {
  return !hasValue(plan, "pricePlanDetails") || hasShortPlanField(plan);
}

function isShortAccount(account: JsonObject): boolean {
  if (!hasValue(account, "customerId") || createFieldTest("plan", "from", "plans", "licenses")(account)) return true;
  const { credits } = account;
  return Array.isArray(credits) && credits.some((credit) => isObject(credit) && Object.hasOwn(credit, "amount"));
}

/**
 * Expands a book.
 *
 * @returns undefined if nothing is in short form
 */
export function expandBook(raw: unknown, problems: Problems): ExpandedDocument | undefined {
  if (!isObject(raw) || Array.isArray(raw)) return undefined;
  const book = raw as JsonObject;
  const source = findShortItems(book);
  if (source === undefined) return undefined;
  const expansion = startExpansion(problems);
  const { places, report } = expansion;
  const expandList = (list: string, expand: (item: JsonObject, path: Path) => object): readonly unknown[] =>
    source.list(list).map((item, index) => {
      if (!source.isShort(list, item)) return item;
      return expandItem(item as JsonObject, [list, index], expand, expansion);
    });
  const baseCurrency = readBaseCurrency(book["organization"]);
  const pricePlans = expandList("pricePlans", (plan, path) => expandPlan(plan, path, { places, report }, baseCurrency));
  const currenciesByPlan = indexCurrencies(pricePlans);
  const currenciesOf = (reference: unknown): readonly string[] => currenciesByPlan.get(reference) ?? [baseCurrency];
  const implied = collectImplied(source, expansion);
  const lists = {
    eventSchemas: expandList("eventSchemas", (schema, path) => expandEventSchema(schema, path, expansion)),
    usageMeters: expandList("usageMeters", (meter, path) => expandMeter(meter, path, expansion)),
    features: [...source.list("features"), ...implied.features],
    addOns: [...source.list("addOns"), ...implied.addOns],
    pricePlans,
    customers: [...source.list("customers"), ...implied.customers],
    accounts: expandList("accounts", (account, path) => expandAccount(account, path, { places, report, currenciesOf })),
  };
  // A list that is absent or of the wrong kind stays so.
  const changed = Object.entries(lists).filter(([key, list]) => list.length > 0 || Array.isArray(book[key]));
  return expansion.finish(raw, { ...book, ...Object.fromEntries(changed) });
}

/** A price plan in long form, and the add-ons and features that it may refer to. */
interface ExpandedPlan extends Omit<ExpandedDocument, "toWritten"> {
  readonly lists: { readonly addOns: readonly unknown[]; readonly features: readonly unknown[] };
}

/**
 * Expands a plan for a book. Add-ons and features that only the plan has get the names of their cards.
 *
 * @param plan unchanged if it is in long form
 */
export function expandPlanDocument(
  plan: unknown,
  { organization, addOns, features }: Pick<Book, "organization" | "addOns" | "features">,
  problems: Problems,
): ExpandedPlan {
  const place: Path = ["pricePlans", 0];
  const below =
    (report: Report): Report =>
    (path, code, params) =>
      report(path.slice(place.length), code, {
        ...params,
        // The fields of a conflict have their paths in the message.
        ...("fields" in params && { fields: params.fields.map((field) => field.replace(formatPath(place), "$")) }),
      });
  const book = { organization, addOns, features, pricePlans: [plan] };
  const expanded = expandBook(book, {
    ...problems,
    report: below(problems.report),
    semanticReport: () => below(problems.semanticReport()),
  });
  if (expanded === undefined) return { document: plan, problems, lists: { addOns, features } };
  const within =
    (report: Report): Report =>
    (path, code, params) =>
      report([...place, ...path], code, params);
  const lists = expanded.document as typeof book;
  return {
    document: withNames(lists.pricePlans[0], [
      ...lists.addOns.slice(addOns.length),
      ...lists.features.slice(features.length),
    ]),
    lists,
    problems: {
      ...problems,
      report: within(expanded.problems.report),
      semanticReport: () => within(expanded.problems.semanticReport()),
    },
  };
}

/** Gives the cards of new add-ons and features their names. */
function withNames(plan: unknown, items: readonly unknown[]): unknown {
  const names = new Map(items.map((item) => [(item as JsonObject)["id"], (item as JsonObject)["name"]]));
  const details = isObject(plan) ? (plan as JsonObject)["pricePlanDetails"] : undefined;
  if (!isObject(details)) return plan;
  for (const list of CARD_LIST_NAMES) {
    for (const { item: card } of listItems((details as JsonObject)[list], [])) {
      const name = names.get(billableOf(list, card));
      if (name !== undefined && !hasValue(card, "displayName")) Object.assign(card, { displayName: name });
    }
  }
  return plan;
}

/** Expands an item of the right shape. */
function expandItem(
  item: JsonObject,
  path: Path,
  expand: (item: JsonObject, path: Path) => object,
  expansion: Expansion,
): object {
  const { schema, longField, standIn } = SHORT_LISTS[String(path[0])] ?? {};
  const other = Object.keys(item).find((field) => !["id", "name", longField].includes(field)) ?? "";
  const isMixed = longField !== undefined && reportConflict(item, [other, longField], path, expansion.report);
  if (!isMixed && schema !== undefined && expansion.checkShape(schema, item, path)) {
    const long = expand(item, path);
    if (!expansion.isBroken(path)) return long;
  }
  return expansion.places.record(
    { ...(item["id"] === undefined ? {} : { id: item["id"] }), name: item["name"], ...standIn },
    path,
  );
}

/** The items of a book that are in short form. */
interface ShortBook {
  /** The items of a list; empty for anything but a list. */
  list(name: string): readonly unknown[];
  isShort(list: string, item: unknown): boolean;
  shortItems(list: string): readonly { readonly item: JsonObject; readonly path: Path }[];
  /** The items of a list by id and name. */
  index(list: string): ReadonlyMap<unknown, JsonObject>;
}

/** @returns undefined if there are none */
export function findShortItems(book: JsonObject): ShortBook | undefined {
  const list = (name: string): readonly unknown[] =>
    Array.isArray(book[name]) ? (book[name] as readonly unknown[]) : [];
  const short = new Map(
    Object.entries(SHORT_LISTS).map(([name, { isShort }]) => [
      name,
      new Set<unknown>(
        list(name).filter((item) => isObject(item) && !Array.isArray(item) && isShort(item as JsonObject)),
      ),
    ]),
  );
  if ([...short.values()].every(({ size }) => size === 0)) return undefined;
  const isShort = (name: string, item: unknown): boolean => short.get(name)?.has(item) === true;
  return {
    list,
    isShort,
    shortItems: (name) => listItems(book[name], [name]).filter(({ item }) => isShort(name, item)),
    index: (name) => {
      const items = listItems(book[name], [name]).map(({ item }) => item);
      return new Map([
        ...items.map((item) => [item["name"], item] as const),
        ...items.map((item) => [item["id"], item] as const),
      ]);
    },
  };
}

export function readBaseCurrency(organization: unknown): string {
  const currency = isObject(organization) ? (organization as JsonObject)["baseCurrency"] : undefined;
  return typeof currency === "string" ? currency : "USD";
}

/** The currencies of plans in long form, by id and name; of several versions those of the last. */
function indexCurrencies(pricePlans: readonly unknown[]): ReadonlyMap<unknown, readonly string[]> {
  return new Map(
    pricePlans.flatMap((plan) => {
      const { id, name, pricePlanDetails: details } = isObject(plan) ? (plan as JsonObject) : {};
      const currencies = isObject(details) ? (details as JsonObject)["supportedCurrencies"] : undefined;
      return Array.isArray(currencies) ? [id, name].map((each) => [each, currencies as string[]] as const) : [];
    }),
  );
}

/** Items that are made because a short form implies them. */
interface ImpliedItems {
  readonly features: readonly object[];
  readonly addOns: readonly object[];
  readonly customers: readonly object[];
}

/** Finds the add-ons and features that cards name without listing them, and the customers of accounts without one. */
function collectImplied(source: ShortBook, expansion: Expansion): ImpliedItems {
  const made = { features: new Map<string, JsonObject>(), addOns: new Map<string, JsonObject>() };
  const listed = { features: source.index("features"), addOns: source.index("addOns") };
  for (const { card, path, list } of listShortCards(source)) {
    if (list.item === "meter") continue;
    const target = list.item === "id" ? "addOns" : "features";
    const id = card[list.item];
    if (typeof id !== "string") continue;
    const existing = listed[target].get(id) ?? made[target].get(id);
    if (existing !== undefined) checkName(card, existing, [...path, "name"], expansion);
    else
      made[target].set(id, createImplied({ id, name: card["name"], type: list.addOnType }, path, list.item, expansion));
  }
  return {
    features: [...made.features.values()],
    addOns: [...made.addOns.values()],
    customers: createCustomers(source, expansion),
  };
}

/** An item with an id and a name, which is the id by default. */
function createImplied(
  { id, name, type }: { readonly id: string; readonly name: unknown; readonly type?: string | undefined },
  path: Path,
  idField: string,
  { places }: Expansion,
): JsonObject {
  const item = { id, name: name ?? id, ...(type !== undefined && { type }) };
  return places.record(item, path, {
    id: [...path, idField],
    name: [...path, name === undefined || name === null ? idField : "name"],
  });
}

/** A card's item has one name: that of the first card with a name, or of the listed item. */
function checkName(card: JsonObject, item: JsonObject, path: Path, { places, report }: Expansion): void {
  const name = card["name"] ?? undefined;
  if (name === undefined || item["name"] === name) return;
  const namePath = places.fieldsOf(item)["name"];
  if (namePath !== undefined && namePath.at(-1) !== "name") Object.assign(item, { name });
  else
    report(path, "NOT_ACCEPTED", {
      reason: `${quoteValue(item["id"])} already has the name ${quoteValue(item["name"])}`,
    });
}

/** A customer for each short account without one, with its id and name. */
function createCustomers(source: ShortBook, expansion: Expansion): readonly object[] {
  const listed = source.index("customers");
  return source.shortItems("accounts").flatMap(({ item, path }) => {
    const { id, name } = item;
    if (hasValue(item, "customerId") || typeof id !== "string") return [];
    if (!listed.has(id)) return [createImplied({ id, name }, path, "id", expansion)];
    const reason = `because a customer ${quoteValue(id)} is listed`;
    expansion.report([...path, "customerId"], "MISSING", { expected: "the id of the account's customer", reason });
    return [];
  });
}

/** The cards of short plans and of the short overrides of accounts, with their paths. */
export function listShortCards(
  source: ShortBook,
): readonly { readonly card: JsonObject; readonly path: Path; readonly list: ShortCardList }[] {
  const overrides = source.shortItems("accounts").flatMap(({ item, path }) =>
    listItems(item["plans"], [...path, "plans"]).flatMap((association) => {
      const { override } = association.item;
      return isObject(override) ? [{ item: override as JsonObject, path: [...association.path, "override"] }] : [];
    }),
  );
  return [...source.shortItems("pricePlans"), ...overrides].flatMap(({ item, path }) =>
    Object.entries(SHORT_CARD_LISTS).flatMap(([key, list]) =>
      listItems(item[key], [...path, key]).map((card) => ({ card: card.item, path: card.path, list })),
    ),
  );
}

/** The objects of a list with their paths. */
function listItems(list: unknown, path: Path): readonly { readonly item: JsonObject; readonly path: Path }[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item, index) => (isObject(item) ? [{ item: item as JsonObject, path: [...path, index] }] : []));
}
