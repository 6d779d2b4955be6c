/**
 * Turns the short form of a book into the long form, before anything else reads it (book.md), and back. Parts in long
 * form stay the same objects; every object that is made remembers where it was written. A part that the short form cannot
 * say stays as it is.
 */
import type * as z from "zod";

import { isJsonObject } from "../../numbers/decimal.ts";
import { formatPath, type Path, type Problems, quoteValue, type Report, collectProblems } from "../problems.ts";
import { type Book, RESOURCES, type ResourceList } from "../resources/book.ts";
import { readBillable, CARD_LIST_NAMES } from "../resources/price-plan.ts";
import { shortAccount, shortEventSchema, shortMeter } from "../resources/short-items.ts";
import { shortPlan } from "../resources/short-plan.ts";
import { type ExpandedDocument, Expansion, type LongObject, type Written, type WrittenObject } from "./expansion.ts";
import {
  SHORT_CARD_LISTS,
  hasValue,
  type JsonObject,
  listObjects,
  valueAt,
  omitFields,
  replaceAt,
  isSamePart,
  withoutDefaults,
} from "./fields.ts";
import {
  expandAccount,
  expandEventSchema,
  expandMeter,
  METER_MEASURES,
  accountShortenings,
  METER_SHORTENINGS,
  SCHEMA_SHORTENINGS,
  type Shortening,
} from "./items.ts";
import { expandPlan, type ExpandItem, shortenDetails, shortenPlan } from "./plans.ts";

/** A list whose items can be in short form. */
interface ShortList {
  readonly isShort: (item: JsonObject) => boolean;
  readonly schema: z.ZodType;
  /** Further fields of the item that stands for one with a wrong shape, to which others can refer. */
  readonly standIn?: object;
}

const SHORT_PLAN_FIELDS = ["cycle", "currencies", "commitment", ...Object.keys(SHORT_CARD_LISTS)];
const SHORT_LISTS: Readonly<Record<string, ShortList>> = {
  eventSchemas: {
    isShort: isShortEventSchema,
    schema: shortEventSchema,
    // Lists that cannot be read are not searched for fields.
    standIn: { attributes: [null], dimensions: [null] },
  },
  usageMeters: {
    isShort: (meter) =>
      hasField(meter, ["schema", "where", ...METER_MEASURES]) ||
      !hasField(meter, ["eventSchemaName", "aggregation", "computations"]),
    schema: shortMeter,
  },
  pricePlans: {
    isShort: (plan) => !hasValue(plan, "pricePlanDetails") || hasField(plan, SHORT_PLAN_FIELDS),
    schema: shortPlan,
  },
  accounts: {
    isShort: (account) =>
      !hasValue(account, "customerId") ||
      !hasValue(account, "name") ||
      hasField(account, ["plan", "from", "plans", "licenses"]) ||
      listObjects(account["credits"]).some((credit) => hasField(credit, ["amount"])),
    schema: shortAccount,
  },
};

function hasField(object: JsonObject, fields: readonly string[]): boolean {
  return fields.some((field) => Object.hasOwn(object, field));
}

function isShortEventSchema({ attributes, dimensions, ...others }: JsonObject): boolean {
  return (
    hasField(others, ["computed", "computedDimensions"]) ||
    [...listOrNone(attributes), ...listOrNone(dimensions)].some((field) => typeof field === "string") ||
    listObjects(attributes).some((field) => hasField(field, ["unit"]))
  );
}

/** Whether a book has items in short form. */
function hasShortItems(book: JsonObject): boolean {
  return Object.entries(SHORT_LISTS).some(([list, { isShort }]) => listObjects(book[list]).some(isShort));
}

/**
 * Expands a book.
 *
 * @returns undefined if nothing is in short form
 */
export function expandBook(raw: unknown, problems: Problems): ExpandedDocument | undefined {
  if (!isJsonObject(raw) || !hasShortItems(raw)) return undefined;
  const expansion = new Expansion(problems);
  const baseCurrency = readBaseCurrency(raw);
  const implied = collectImplied(raw, expansion);
  const expand = (list: string, expandItem: ItemExpansion): unknown => {
    const items = raw[list];
    if (!Array.isArray(items)) return items;
    return items.map((item: unknown, index) => expandListItem(item, [list, index], expandItem, expansion));
  };
  const pricePlans = expand("pricePlans", (plan, long) => expandPlan(plan, long, baseCurrency));
  const currenciesByPlan = indexCurrencies(raw, baseCurrency);
  const currenciesOf = (plan: unknown): readonly string[] => currenciesByPlan.get(plan) ?? [baseCurrency];
  const lists = {
    eventSchemas: expand("eventSchemas", expandEventSchema),
    usageMeters: expand("usageMeters", expandMeter),
    pricePlans,
    accounts: expand("accounts", (account, long) => expandAccount(account, long, currenciesOf)),
    ...implied,
  };
  const present = Object.entries(lists).filter(([, list]) => list !== undefined);
  return expansion.finish(raw, { ...raw, ...Object.fromEntries(present) });
}

/** The place of a plan that is read alone. */
export const PLAN_PLACE: Path = ["pricePlans", 0];

/** A price plan in long form, as the plan of a book, and the add-ons and features that it may refer to. */
interface ExpandedPlan extends Omit<ExpandedDocument, "toWritten"> {
  readonly lists: { readonly addOns: readonly unknown[]; readonly features: readonly unknown[] };
}

/**
 * Expands a plan for a book. Add-ons and features that only the plan has get the names of their cards.
 *
 * @param plan unchanged if it is in long form
 * @returns problems that take paths below {@link PLAN_PLACE}
 */
export function expandPlanDocument(
  plan: unknown,
  { organization, addOns, features }: Pick<Book, "organization" | "addOns" | "features">,
  planProblems: Problems,
): ExpandedPlan {
  const inPlan =
    (report: Report): Report =>
    (path, code, params) => {
      const fields = "fields" in params && {
        fields: params.fields.map((field) => field.replace(formatPath(PLAN_PLACE), "$")),
      };
      report(path.slice(PLAN_PLACE.length), code, { ...params, ...fields });
    };
  const problems: Problems = {
    ...planProblems,
    report: inPlan(planProblems.report),
    semanticReport: () => inPlan(planProblems.semanticReport()),
  };
  const book = { organization, addOns, features, pricePlans: [plan] };
  const expanded = expandBook(book, problems);
  if (expanded === undefined) return { document: plan, problems, lists: book };
  const lists = expanded.document as typeof book;
  const made = [...lists.addOns.slice(addOns.length), ...lists.features.slice(features.length)];
  const names = new Map(made.map(({ id, name }) => [id, name]));
  const details = valueAt(lists.pricePlans[0], ["pricePlanDetails"]);
  for (const list of CARD_LIST_NAMES) {
    for (const card of listObjects(valueAt(details, [list]))) {
      const name = names.get(readBillable(list, card));
      if (name !== undefined && !hasValue(card, "displayName")) Object.assign(card, { displayName: name });
    }
  }
  return { document: lists.pricePlans[0], lists, problems: expanded.problems };
}

/** Expands an item into an object of the long form. */
type ItemExpansion = (item: WrittenObject, long: LongObject) => void;

function expandListItem(item: unknown, path: Path, expand: ItemExpansion, expansion: Expansion): unknown {
  const { isShort, schema, standIn } = SHORT_LISTS[String(path[0])] ?? {};
  if (!isJsonObject(item) || schema === undefined || isShort?.(item) !== true) return item;
  const written = expansion.read(item, path);
  const isMixed = written.rejectBoth(SHORT_PLAN_FIELDS, ["pricePlanDetails"]);
  if (!isMixed && expansion.checkShape(schema, item, path)) {
    const long = expansion.createObject(path);
    expand(written, long);
    if (!expansion.isBroken(path)) return long.value;
  }
  return { ...(item["id"] === undefined ? {} : { id: item["id"] }), name: item["name"], ...standIn };
}

export function readBaseCurrency(book: JsonObject): string {
  const currency = valueAt(book, ["organization", "baseCurrency"]);
  return typeof currency === "string" ? currency : "USD";
}

/** The currencies of plans as written, by id and name; of several versions those of the last. */
function indexCurrencies({ pricePlans }: JsonObject, baseCurrency: string): ReadonlyMap<unknown, readonly string[]> {
  const currencies = new Map<unknown, readonly string[]>();
  for (const plan of listObjects(pricePlans)) {
    const written = plan["currencies"] ?? valueAt(plan, ["pricePlanDetails", "supportedCurrencies"]);
    for (const key of [plan["id"], plan["name"]])
      currencies.set(key, Array.isArray(written) ? (written as readonly string[]) : [baseCurrency]);
  }
  return currencies;
}

/** The lists with the items that cards and accounts imply; short items imply them even if they have a problem. */
function collectImplied(raw: JsonObject, expansion: Expansion): JsonObject {
  const book = expansion.read(raw, []);
  const addOns = new ImpliedItems("addOns", book, expansion);
  const features = new ImpliedItems("features", book, expansion);
  const customers = new ImpliedItems("customers", book, expansion);
  const listShort = (list: string): readonly WrittenObject[] =>
    book.list(list).filter(({ value }) => SHORT_LISTS[list]?.isShort(value));
  const [plans, accounts] = [listShort("pricePlans"), listShort("accounts")];
  const overrides = accounts.flatMap((account) => account.list("plans").map((plan) => plan.inner("override")));
  for (const details of [...plans, ...overrides]) {
    for (const [field, { item, addOnType }] of Object.entries(SHORT_CARD_LISTS)) {
      const implied = { meter: undefined, id: addOns, feature: features }[item];
      for (const card of details.list(field)) implied?.addOfCard(card, item, addOnType);
    }
  }
  for (const account of accounts) customers.addOfAccount(account);
  return { addOns: addOns.all(), features: features.all(), customers: customers.all() };
}

/** The items of a list that cards or accounts imply without listing them. */
class ImpliedItems {
  private readonly items: unknown;
  private readonly expansion: Expansion;
  private readonly listed: ReadonlyMap<unknown, JsonObject>;
  private readonly made = new Map<unknown, LongObject>();
  private readonly unnamed = new Set<unknown>();

  constructor(list: string, { value: book }: WrittenObject, expansion: Expansion) {
    this.items = book[list];
    this.expansion = expansion;
    const items = listObjects(book[list]);
    this.listed = new Map(["name", "id"].flatMap((field) => items.map((item) => [item[field], item] as const)));
  }

  /** All items of the list; undefined if there is no list. */
  all(): unknown {
    const made = [...this.made.values()].map(({ value }) => value);
    return made.length === 0 ? this.items : [...listOrNone(this.items), ...made];
  }

  private add(owner: WrittenObject, id: Written, name: Written | undefined, type?: string): void {
    const made = this.expansion.createObject(owner.path);
    made.copy(["id"], id);
    made.copy(["name"], name ?? id);
    if (type !== undefined) made.set(["type"], type, owner.path);
    this.made.set(id.value, made);
    if (name === undefined) this.unnamed.add(id.value);
  }

  /** The item of a card has one name: that of the first card with a name, or of the listed item. */
  addOfCard(card: WrittenObject, idField: string, type?: string): void {
    const [id, ownName] = [card.field(idField), card.field("name")];
    // Names of a wrong kind are reported with the shape of the plan.
    const name = typeof ownName?.value === "string" ? ownName : undefined;
    if (typeof id?.value !== "string") return;
    const existing = this.listed.get(id.value) ?? this.made.get(id.value)?.value;
    if (existing === undefined) this.add(card, id, name, type);
    else if (name === undefined || name.value === existing["name"]) return;
    else if (this.unnamed.delete(id.value)) this.made.get(id.value)?.copy(["name"], name);
    else {
      const reason = `${quoteValue(id.value)} already has the name ${quoteValue(existing["name"])}`;
      card.report("name", "NOT_ACCEPTED", { reason });
    }
  }

  /** The customer of an account is listed, or has the account's id and name. */
  addOfAccount(account: WrittenObject): void {
    const id = account.field("id");
    if (account.has("customerId") || typeof id?.value !== "string" || this.made.has(id.value)) return;
    const reason = `because a customer ${quoteValue(id.value)} is listed`;
    if (this.listed.has(id.value))
      account.report("customerId", "MISSING", { expected: "the id of the account's customer", reason });
    else this.add(account, id, account.field("name"));
  }
}

function listOrNone(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}

/** Shortens a valid book. Parts in short form stay as they are. @returns a new book; the input is not modified */
export function shortenBook(book: JsonObject): JsonObject {
  const { organization } = book;
  const baseCurrency = readBaseCurrency(book);
  const plans = listObjects(book["pricePlans"]);
  const expand: ExpandItem = (list, item) => {
    if (list !== "accounts") return expandAlone({ organization }, list, item);
    // The changes of a plan for one account are in the currencies of the plan.
    const changed = new Set(listObjects(item["plans"]).flatMap(({ plan, override }) => (override ? [plan] : [])));
    const pricePlans = changed.size > 0 ? plans.filter(({ id, name }) => changed.has(id) || changed.has(name)) : [];
    const long = expandAlone({ organization, pricePlans }, list, item);
    return long && { ...long, invoiceCurrency: long["invoiceCurrency"] ?? baseCurrency };
  };
  const shortenOverride = (plan: unknown, override: JsonObject): JsonObject => {
    const found = plans.findLast(({ id, name }) => id === plan || name === plan);
    const long = found && expand("pricePlans", found);
    const currencies = valueAt(long, ["pricePlanDetails", "supportedCurrencies"]) ?? [baseCurrency];
    return shortenDetails(override, { expand, currencies });
  };
  const shorten = (list: ResourceList, shortenings: readonly Shortening[]): JsonObject =>
    mapList(book, list, (item) => applyShortenings(item, list, shortenings, expand));
  const short = {
    ...book,
    ...shorten("eventSchemas", SCHEMA_SHORTENINGS),
    ...shorten("usageMeters", METER_SHORTENINGS),
    ...mapList(book, "pricePlans", (plan) => shortenPlan(plan, baseCurrency, expand)),
    ...shorten("accounts", accountShortenings(baseCurrency, shortenOverride)),
  };
  return IMPLIED_LISTS.reduce(omitImplied, short);
}

/** The lists with items that need not be listed. */
const IMPLIED_LISTS = ["addOns", "features", "customers"] as const;

function mapList(book: JsonObject, list: string, change: (item: JsonObject) => JsonObject): JsonObject {
  const items = book[list];
  if (!Array.isArray(items)) return {};
  return { [list]: items.map((item: unknown) => (isJsonObject(item) ? change(item) : item)) };
}

/** The long form of an item in a book without others; undefined if it is wrong. */
function expandAlone(book: JsonObject, list: string, item: JsonObject): JsonObject | undefined {
  const problems = collectProblems();
  const alone = { ...book, [list]: [item] };
  const document = expandBook(alone, problems)?.document ?? alone;
  return problems.count() > 0 ? undefined : listObjects(valueAt(document, [list]))[0];
}

/** Applies each shortening after which the item is still the same. */
function applyShortenings(
  item: JsonObject,
  list: ResourceList,
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

/** Omits the last items of a list that cards or accounts imply, where these imply the same in the same order. */
function omitImplied(book: JsonObject, list: (typeof IMPLIED_LISTS)[number]): JsonObject {
  const items = listObjects(book[list]);
  const isPlain = (item: JsonObject): boolean =>
    Object.keys(omitFields(withoutDefaults(RESOURCES[list], item), ["id", "name", "type"])).length === 0;
  const omitIds = list === "customers" ? omitCustomerIds : (same: JsonObject) => same;
  const expanded = expandBook(omitFields(omitIds(book, items.filter(isPlain)), [list]), collectProblems());
  const implied = listObjects(valueAt(expanded?.document, [list]));
  const positions = new Map(implied.map(({ id }, index) => [id, index]));
  const listed = new Set(items.map(({ id }) => id));
  let next = implied.findIndex(({ id }) => !listed.has(id));
  if (next < 0) next = implied.length;
  const omitted: { readonly item: JsonObject; readonly position: number }[] = [];
  for (const item of items.toReversed()) {
    const position = positions.get(item["id"]) ?? implied.length;
    if (position >= next || !isPlain(item) || item["type"] !== implied[position]?.["type"]) break;
    next = position;
    omitted.push({ item, position });
  }
  if (expanded === undefined || omitted.length === 0) return book;
  const others = items.slice(0, -omitted.length);
  const short = omitIds(
    book,
    omitted.map(({ item }) => item),
  );
  return omitted
    .filter(({ item, position }) => item["name"] !== implied[position]?.["name"])
    .reduce<JsonObject>(
      (named, { item, position }) =>
        replaceAt(named, expanded.toWritten([list, position]), (card) => {
          const [first = ["id", item["id"]], ...fields] = Object.entries(omitFields(card, ["name"]));
          return Object.fromEntries([first, ["name", item["name"]], ...fields]);
        }) as JsonObject,
      others.length === 0 ? omitFields(short, [list]) : { ...short, [list]: others },
    );
}

/** Omits the customers of accounts that have the id and the name of one of these customers. */
function omitCustomerIds(book: JsonObject, customers: readonly JsonObject[]): JsonObject {
  const names = new Map(customers.map(({ id, name }) => [id, name]));
  const isImplied = ({ id, name = id, customerId }: JsonObject): boolean =>
    customerId === id && names.has(id) && names.get(id) === name;
  const accounts = mapList(book, "accounts", (account) =>
    isImplied(account) ? omitFields(account, ["customerId"]) : account,
  );
  return { ...book, ...accounts };
}
