/**
 * Turns the long form of a book into the short form (book.md). Each part is expanded again and compared with what it
 * was: a part that the short form cannot say stays as it is.
 */
import { isJsonObject } from "../../numbers/decimal.ts";
import { collectProblems } from "../problems.ts";
import { RESOURCES, type ResourceList } from "../resources/book.ts";
import { accountShortenings } from "./accounts.ts";
import { expandBook, readBaseCurrency } from "./expand-book.ts";
import { type JsonObject, listObjects, omitFields, replaceAt, valueAt } from "./json-object.ts";
import { METER_SHORTENINGS, SCHEMA_SHORTENINGS, type Shortening } from "./metering.ts";
import { type ExpandItem, shortenDetails, shortenPlan } from "./plans.ts";
import { isSamePart, withoutDefaults } from "./same-part.ts";

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
