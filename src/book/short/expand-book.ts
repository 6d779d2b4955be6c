/**
 * Turns the short form of a book into the long form, before anything else reads it (book.md). Parts in long form stay
 * the same objects; every object that is made remembers where it was written.
 */
import type * as z from "zod";

import type { Path, Problems, Report } from "../problems.ts";
import { reportShape } from "../reading/read-document.ts";
import { shortAccount, shortEventSchema, shortMeter, shortPlan } from "../resources/short-form.ts";
import { expandAccount } from "./expand-account.ts";
import { expandEventSchema, expandMeter } from "./expand-metering.ts";
import { expandPlan, hasValue } from "./expand-plan.ts";
import { SHORT_CARD_LISTS, SHORT_NAMES } from "./short-cards.ts";
import { isObject, type JsonObject, WrittenPlaces } from "./written-places.ts";

/** A document in long form. */
export interface ExpandedDocument {
  readonly document: unknown;
  /** The path in the document as written. */
  toWritten(path: Path): Path;
  /** The problems, with the paths as written; further problems of an item with a wrong shape are left out. */
  readonly problems: Problems;
}

/** The lists with a short form: how an item in short form is recognized, and its shape. */
const SHORT_LISTS: Readonly<
  Record<string, { readonly isShort: (item: JsonObject) => boolean; readonly schema: z.ZodType }>
> = {
  eventSchemas: { isShort: isShortEventSchema, schema: shortEventSchema },
  usageMeters: { isShort: isShortMeter, schema: shortMeter },
  pricePlans: { isShort: isShortPlan, schema: shortPlan },
  accounts: { isShort: isShortAccount, schema: shortAccount },
};

function isShortEventSchema(schema: JsonObject): boolean {
  if (Object.hasOwn(schema, "computed") || Object.hasOwn(schema, "computedDimensions")) return true;
  return [schema["attributes"], schema["dimensions"]].some(
    (list) =>
      Array.isArray(list) &&
      list.some((field) => typeof field === "string" || (isObject(field) && Object.hasOwn(field, "unit"))),
  );
}

function isShortMeter(meter: JsonObject): boolean {
  return ["schema", "count", "sum", "where"].some((field) => Object.hasOwn(meter, field));
}

/** Whether a plan is in short form. */
export function isShortPlan(plan: JsonObject): boolean {
  return !Object.hasOwn(plan, "pricePlanDetails");
}

function isShortAccount(account: JsonObject): boolean {
  if (!Object.hasOwn(account, "customerId")) return true;
  if (["plan", "from", "plans", "licenses"].some((field) => Object.hasOwn(account, field))) return true;
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
  const listOf = (name: string): readonly unknown[] => (Array.isArray(book[name]) ? (book[name] as unknown[]) : []);
  const shortItems = Object.entries(SHORT_LISTS).map(([list, { isShort }]) => {
    const isShortItem = (item: unknown): boolean =>
      isObject(item) && !Array.isArray(item) && isShort(item as JsonObject);
    return [list, new Set(listOf(list).filter(isShortItem))] as const;
  });
  if (shortItems.every(([, items]) => items.size === 0)) return undefined;
  const short = Object.fromEntries(shortItems);
  const expansion = startExpansion(problems);
  const { places, report } = expansion;
  const expandList = (list: string, expand: (item: JsonObject, path: Path) => object): readonly unknown[] =>
    listOf(list).map((item, index) => {
      if (short[list]?.has(item) !== true) return item;
      const path: Path = [list, index];
      return expansion.expandItem(item as JsonObject, path, SHORT_LISTS[list]?.schema, expand);
    });
  const baseCurrency = readBaseCurrency(book["organization"]);
  const pricePlans = expandList("pricePlans", (plan, path) => expandPlan(plan, path, { places, report }, baseCurrency));
  const currenciesOf = (reference: unknown): readonly string[] =>
    findCurrencies(pricePlans, reference) ?? [baseCurrency];
  const made = collectImplied(book, short, listOf, expansion);
  const document = {
    ...book,
    eventSchemas: expandList("eventSchemas", (schema, path) => expandEventSchema(schema, path, expansion)),
    usageMeters: expandList("usageMeters", (meter, path) => expandMeter(meter, path, expansion)),
    features: [...listOf("features"), ...made.features],
    addOns: [...listOf("addOns"), ...made.addOns],
    pricePlans,
    customers: [...listOf("customers"), ...made.customers],
    accounts: expandList("accounts", (account, path) => expandAccount(account, path, { places, report, currenciesOf })),
  };
  return expansion.finish(raw, keepOthers(book, document));
}

/** The expanded lists; a list that is absent or has the wrong kind stays, if nothing was added. */
function keepOthers(book: JsonObject, document: JsonObject): JsonObject {
  const entries = Object.entries(document).filter(
    ([key, value]) =>
      !Array.isArray(value) || value.length > 0 || (Object.hasOwn(book, key) && Array.isArray(book[key])),
  );
  return { ...book, ...Object.fromEntries(entries) };
}

/** Everything that the expansion of one document collects. */
interface Expansion {
  readonly places: WrittenPlaces;
  readonly report: Report;
  expandItem(
    item: JsonObject,
    path: Path,
    schema: z.ZodType | undefined,
    expand: (item: JsonObject, path: Path) => object,
  ): object;
  finish(raw: unknown, document: unknown): ExpandedDocument;
}

function startExpansion(problems: Problems): Expansion {
  const places = new WrittenPlaces();
  const brokenItems = new Set<string>();
  const toItem = (path: Path): string => JSON.stringify(path.slice(0, 2));
  const report: Report = (path, code, params) => {
    brokenItems.add(toItem(path));
    problems.report(path, code, params);
  };
  return {
    places,
    report,
    expandItem(item, path, schema, expand) {
      const before = problems.count();
      if (schema !== undefined)
        reportShape(schema, item, path, { ...problems, report: withShortNames(problems.report) });
      if (problems.count() === before) return expand(item, path);
      brokenItems.add(toItem(path));
      // Other items can still refer to it.
      return places.record({ id: item["id"], name: item["name"] }, path);
    },
    finish(raw, document) {
      const toWritten = (path: Path): Path => places.toWritten(raw, document, path);
      const translate =
        (target: Report): Report =>
        (path, code, params) => {
          const written = toWritten(path);
          if (!brokenItems.has(toItem(written))) target(written, code, params);
        };
      return {
        document,
        toWritten,
        problems: {
          ...problems,
          report: translate(problems.report),
          semanticReport: () => translate(problems.semanticReport()),
          error: (name) => problems.error(name, raw),
          sorted: () => problems.sorted(raw),
        },
      };
    },
  };
}

/** Suggests the short name of a long field. */
function withShortNames(report: Report): Report {
  return (path, code, params) => {
    const field = code === "UNKNOWN_FIELD" ? SHORT_NAMES.get(String(path.at(-1))) : undefined;
    if (field === undefined) report(path, code, params);
    else report(path, "UNKNOWN_FIELD", { field: String(path.at(-1)), guess: field });
  };
}

function readBaseCurrency(organization: unknown): string {
  const currency = isObject(organization) ? (organization as JsonObject)["baseCurrency"] : undefined;
  return typeof currency === "string" ? currency : "USD";
}

function findCurrencies(pricePlans: readonly unknown[], reference: unknown): readonly string[] | undefined {
  const plan = pricePlans.findLast((each) => {
    const { id, name } = isObject(each) ? (each as JsonObject) : {};
    return id === reference || name === reference;
  });
  const details = isObject(plan) ? (plan as JsonObject)["pricePlanDetails"] : undefined;
  const currencies = isObject(details) ? (details as JsonObject)["supportedCurrencies"] : undefined;
  return Array.isArray(currencies) ? (currencies as string[]) : undefined;
}

/** Items that are made because a short form implies them. */
interface ImpliedItems {
  readonly features: readonly object[];
  readonly addOns: readonly object[];
  readonly customers: readonly object[];
}

/** Finds the add-ons and features that cards name without listing them, and the customers of accounts without one. */
function collectImplied(
  book: JsonObject,
  short: Readonly<Record<string, ReadonlySet<unknown>>>,
  listOf: (name: string) => readonly unknown[],
  { places, report }: Expansion,
): ImpliedItems {
  const made = { features: new Map<unknown, object>(), addOns: new Map<unknown, object>() };
  const listed = (list: string, key: string): ReadonlyMap<unknown, unknown> =>
    new Map(listOf(list).flatMap((item) => (isObject(item) ? [[(item as JsonObject)[key], item]] : [])));
  const known = {
    features: { ids: listed("features", "id"), names: listed("features", "name") },
    addOns: { ids: listed("addOns", "id"), names: listed("addOns", "name") },
  };
  for (const { card, path, list } of listShortCards(book, short)) {
    if (list.item === "meter") continue;
    const target = list.item === "id" ? "addOns" : "features";
    const id = card[list.item];
    const name = card["name"] ?? undefined;
    if (typeof id !== "string" || (name !== undefined && typeof name !== "string")) continue;
    const other = (known[target].ids.get(id) ?? known[target].names.get(id) ?? made[target].get(id)) as
      | JsonObject
      | undefined;
    if (other !== undefined) {
      const isDefault = places.fieldsOf(other)["name"]?.at(-1) === list.item;
      if (name !== undefined && isDefault) Object.assign(other, { name });
      else if (name !== undefined && other["name"] !== name) {
        const reason = `${target === "addOns" ? "the add-on" : "the feature"} ${JSON.stringify(id)} already has the name ${JSON.stringify(other["name"])}`;
        report([...path, "name"], "NOT_ACCEPTED", { reason });
      }
      continue;
    }
    const item = { id, name: name ?? id, ...(list.addOnType && { type: list.addOnType }) };
    const idPath: Path = [...path, list.item];
    made[target].set(
      id,
      places.record(item, path, { id: idPath, name: name === undefined ? idPath : [...path, "name"] }),
    );
  }
  const customerIds = listed("customers", "id");
  const customers = listOf("accounts").flatMap((item, index) => {
    if (short["accounts"]?.has(item) !== true || hasValue(item as JsonObject, "customerId")) return [];
    const { id, name } = item as JsonObject;
    if (typeof id !== "string") return [];
    const path: Path = ["accounts", index];
    if (customerIds.has(id)) {
      const reason = `because a customer ${JSON.stringify(id)} is listed`;
      report([...path, "customerId"], "MISSING", { expected: "the id of the account's customer", reason });
      return [];
    }
    return [
      places.record({ id, name: name ?? id }, path, {
        id: [...path, "id"],
        name: [...path, hasValue(item as JsonObject, "name") ? "name" : "id"],
      }),
    ];
  });
  return { features: [...made.features.values()], addOns: [...made.addOns.values()], customers };
}

/** The cards of short plans and of the short overrides of accounts, with their paths. */
function* listShortCards(
  book: JsonObject,
  short: Readonly<Record<string, ReadonlySet<unknown>>>,
): Generator<{ readonly card: JsonObject; readonly path: Path; readonly list: (typeof SHORT_CARD_LISTS)[string] }> {
  const owners = [
    ...itemsOf(book["pricePlans"], ["pricePlans"]).filter(({ item }) => short["pricePlans"]?.has(item)),
    ...itemsOf(book["accounts"], ["accounts"]).flatMap(({ item, path }) =>
      itemsOf(item["plans"], [...path, "plans"]).flatMap((association) => {
        const { override } = association.item;
        return isObject(override) ? [{ item: override as JsonObject, path: [...association.path, "override"] }] : [];
      }),
    ),
  ];
  for (const { item: owner, path } of owners)
    for (const [key, list] of Object.entries(SHORT_CARD_LISTS))
      for (const card of itemsOf(owner[key], [...path, key])) yield { card: card.item, path: card.path, list };
}

/** The objects of a list with their paths. */
function itemsOf(list: unknown, path: Path): readonly { readonly item: JsonObject; readonly path: Path }[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item, index) => (isObject(item) ? [{ item: item as JsonObject, path: [...path, index] }] : []));
}
