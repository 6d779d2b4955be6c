/** The items of a plan as cards of the playground, and changes of a book as a whole. */
import { type JsonObject, valueAt } from "../../book/short/fields.ts";
import { isJsonObject } from "../../numbers/decimal.ts";
import { type FormPath, listAt, readBillableNames, textAt, withValue } from "./book-edits.ts";
import { COMMITMENT_KEY, itemKey } from "./play-periods.ts";

/** An item of a plan: one of its cards, or its commitment. */
export interface PlanItem {
  /** As in the amounts of a period. */
  readonly key: string;
  readonly name: string;
  /** `usage, graduated`. */
  readonly kind: string;
  readonly path: FormPath;
  readonly form: "amount" | "slabs" | "table" | "none";
  /** The id of what it prices. */
  readonly id: string;
  /** What its quantity comes from. */
  readonly source: "usage" | "licenses" | "events" | "none";
}

/** The lists of cards: the field with the id of what they price, their kind, its name, and where quantities come from. */
const LISTS = [
  ["fixedFeeRateCards", "id", "FIXED_FEE", "fixed", "none"],
  ["licenseRateCards", "id", "LICENSE", "license", "licenses"],
  ["usageRateCards", "usageMeterId", "USAGE", "usage", "usage"],
  ["billingEntitlementRateCards", "featureId", "BILLING_ENTITLEMENT", "included units", "none"],
  ["entitlementOverageRateCards", "featureId", "ENTITLEMENT_OVERAGE", "overage", "events"],
  ["creditGrantRateCards", "id", "CREDIT_GRANT", "credit grant", "none"],
] as const;

/** The items of a plan in the order of its cards. @param plan the path of the plan in the long form of the book */
export function listItems(book: unknown, plan: FormPath): readonly PlanItem[] {
  const details = [...plan, "pricePlanDetails"];
  const names = readBillableNames(book);
  const meterIds = new Map(
    listAt(book, ["usageMeters"]).map((meter) => [textAt(meter, ["name"]), textAt(meter, ["id"])]),
  );
  const items = LISTS.flatMap(([list, idField, kind, kindName, source]) =>
    listAt(book, [...details, list]).map((card, index): PlanItem => {
      const written = textAt(card, [idField]);
      const id = names.has(written) ? written : (meterIds.get(written) ?? written);
      const hasTable = valueAt(card, ["rateTable"]) !== undefined;
      return {
        key: itemKey(kind, id),
        name: textAt(card, ["displayName"]) || (names.get(id) ?? id),
        kind: [kindName, ...describeCard(card)].join(", "),
        path: [...details, list, index],
        form: kind === "FIXED_FEE" ? "amount" : hasTable ? "table" : kind === "CREDIT_GRANT" ? "none" : "slabs",
        id,
        source,
      };
    }),
  );
  if (valueAt(book, [...details, "minimumCommitment"]) === undefined) return items;
  const path = [...details, "minimumCommitment"];
  const name = textAt(book, [...path, "displayName"]) || "Minimum commitment";
  return [
    ...items,
    { key: COMMITMENT_KEY, name, kind: "minimum of the whole plan", path, form: "amount", id: "", source: "none" },
  ];
}

/** What is special about a card, in words. */
function describeCard(card: unknown): readonly string[] {
  const slabs = listAt(card, ["ratePlan", "slabs"]);
  const tableRows = listAt(card, ["rateTable", "rows"]);
  const dimensions = new Set(tableRows.flatMap((row) => Object.keys(valueAt(row, ["when"]) ?? {})));
  const isVolume = valueAt(card, ["ratePlan", "pricingModel"]) === "VOLUME";
  return [
    ...(tableRows.length > 0
      ? [`price table${dimensions.size > 0 ? ` by ${[...dimensions].join(" and ")}` : ""}`]
      : []),
    ...(slabs.length > 1 ? [isVolume ? "volume" : "graduated"] : []),
    ...(valueAt(card, ["invoiceTiming"]) === "IN_ADVANCE" ? ["in advance"] : []),
    ...(valueAt(card, ["type"]) === "ONE_TIME" ? ["once"] : []),
    ...(valueAt(card, ["enableProration"]) === true ? ["prorated by day"] : []),
  ];
}

const CURRENCY_FIELDS: ReadonlySet<string> = new Set(["currency", "baseCurrency", "invoiceCurrency"]);

/** The currencies in which a book has prices or accounts. */
export function listCurrencies(value: unknown): readonly string[] {
  const currencies = new Set<string>();
  replaceCurrencies(value, (currency) => {
    currencies.add(currency);
    return currency;
  });
  return [...currencies];
}

/**
 * A book in long form with another currency and the same figures. Its base currency is written, so that prices stay in
 * short form.
 */
export function changeCurrency(value: unknown, currency: string): unknown {
  const book = replaceCurrencies(value, () => currency) as JsonObject;
  return { ...book, organization: { ...(book["organization"] as JsonObject), baseCurrency: currency } };
}

function replaceCurrencies(value: unknown, replace: (currency: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => replaceCurrencies(item, replace));
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).map(([key, field]) => {
    if (CURRENCY_FIELDS.has(key) && typeof field === "string") return [key, replace(field)] as const;
    if (key !== "supportedCurrencies" || !Array.isArray(field))
      return [key, replaceCurrencies(field, replace)] as const;
    return [key, field.map((each: unknown) => (typeof each === "string" ? replace(each) : each))] as const;
  });
  return Object.fromEntries(fields);
}

/** The kinds of items that can be added. */
export const NEW_ITEMS = ["Fee", "License", "Usage"] as const;

/** A book in long form with a new item at the end of a plan. */
export function addItem(value: unknown, plan: FormPath, kind: (typeof NEW_ITEMS)[number]): unknown {
  const currencies = listAt(value, [...plan, "pricePlanDetails", "supportedCurrencies"]).map(String);
  const name = uniqueName(value, kind === "License" ? "Seats" : kind === "Fee" ? "New fee" : "New usage");
  const id = name.toLowerCase().replaceAll(" ", "_");
  const slabs = {
    ratePlan: { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: "0", priceType: "PER_UNIT" }] },
    rateValues: currencies.map((currency) => ({
      currency,
      slabRates: [{ order: 1, rate: kind === "Usage" ? "0.01" : "10" }],
    })),
  };
  const fee = { id, rateValues: currencies.map((currency) => ({ currency, rate: "10" })) };
  const additions: Readonly<Record<(typeof NEW_ITEMS)[number], readonly (readonly [FormPath, JsonObject])[]>> = {
    Fee: [
      [["addOns"], { id, name, type: "FIXED_FEE" }],
      [[...plan, "pricePlanDetails", "fixedFeeRateCards"], fee],
    ],
    License: [
      [["addOns"], { id, name, type: "LICENSE" }],
      [[...plan, "pricePlanDetails", "licenseRateCards"], { id, ...slabs }],
    ],
    Usage: [
      [["eventSchemas"], { name: id, attributes: [{ name: "quantity" }] }],
      [["usageMeters"], { id: id.slice(0, 20), name, schema: id, sum: "quantity" }],
      [[...plan, "pricePlanDetails", "usageRateCards"], { usageMeterId: id.slice(0, 20), ...slabs }],
    ],
  };
  return additions[kind].reduce((next, [path, item]) => withValue(next, path, [...listAt(next, path), item]), value);
}

/** A book in long form without an item of a plan, and without the quantities of a license that no plan has any more. */
export function removeItem(value: unknown, { path, id, source }: PlanItem): unknown {
  const [list, index] = [path.slice(0, -1), path.at(-1)];
  const isListed = typeof index === "number";
  const next = isListed
    ? withValue(value, list, listAt(value, list).toSpliced(index, 1))
    : withValue(value, path, undefined);
  const cards = listAt(next, ["pricePlans"]).flatMap((plan) => listAt(plan, ["pricePlanDetails", "licenseRateCards"]));
  if (source !== "licenses" || cards.some((card) => valueAt(card, ["id"]) === id)) return next;
  return listAt(next, ["accounts"]).reduce((book: unknown, account, at) => {
    const updates = listAt(account, ["licenseUpdates"]);
    const others = updates.filter((update) => valueAt(update, ["licenseId"]) !== id);
    return others.length === updates.length ? book : withValue(book, ["accounts", at, "licenseUpdates"], others);
  }, next);
}

/** A name that no meter, add-on, feature or schema has. */
function uniqueName(book: unknown, name: string): string {
  const lists = ["usageMeters", "addOns", "features", "eventSchemas"];
  const items = lists.flatMap((list) => listAt(book, [list]));
  const isTaken = (candidate: string): boolean =>
    items.some((item) =>
      [valueAt(item, ["id"]), valueAt(item, ["name"])].some(
        (text) => text === candidate || text === candidate.toLowerCase().replaceAll(" ", "_"),
      ),
    );
  let candidate = name;
  for (let count = 2; isTaken(candidate); count++) candidate = `${name} ${count}`;
  return candidate;
}
