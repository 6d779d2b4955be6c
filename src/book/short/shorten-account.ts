/** An account in short form: its plans, licenses and credits (book.md). */
import { account, credit, licenseUpdate, planAssociation } from "../resources/account.ts";
import { ASSOCIATION_RULES, CREDIT_RULES, firstDay } from "./expand-account.ts";
import { withoutDefaults } from "./same-part.ts";
import type { FieldRules } from "./short-cards.ts";
import type { Shortening } from "./shorten-metering.ts";
import { replaceField } from "./shorten-plan.ts";
import { listObjects } from "./shorten-prices.ts";
import { hasValue, type JsonObject } from "./written-places.ts";

/**
 * @param baseCurrency the invoice currency of accounts that say none
 * @param shortenOverride shortens the changes of a plan for one account
 */
export function accountShortenings(
  baseCurrency: string,
  shortenOverride: (plan: unknown, override: JsonObject) => JsonObject,
): readonly Shortening[] {
  return [
    (item) => withoutDefaults(account, item),
    ({ invoiceCurrency, ...others }) => (invoiceCurrency === baseCurrency ? others : undefined),
    (item) => shortenAssociations(item, () => undefined),
    (item) => shortenAssociations(item, shortenOverride),
    shortenLicenses,
    shortenCredits,
    ({ name, ...others }) => (name === others["id"] ? others : undefined),
  ];
}

function shortenAssociations(
  item: JsonObject,
  shortenOverride: (plan: unknown, override: JsonObject) => JsonObject | undefined,
): JsonObject | undefined {
  const field = hasValue(item, "plans") ? "plans" : "pricePlans";
  if (!hasValue(item, field)) return undefined;
  const plans = listObjects(item[field]).map((association) => {
    const short =
      field === "plans" ? association : shortenObject(withoutDefaults(planAssociation, association), ASSOCIATION_RULES);
    const override = short["pricePlanDetailsOverride"];
    const shortOverride = override ? shortenOverride(short["plan"], override as JsonObject) : undefined;
    return shortOverride === undefined
      ? short
      : replaceField(short, "pricePlanDetailsOverride", { override: shortOverride });
  });
  const [only] = plans;
  const isSingle = field === "pricePlans" && plans.length === 1 && only && Object.keys(only).length === 2;
  return replaceField(item, field, isSingle === true ? only : { plans });
}

/** Quantities by license: a number where it begins with the account. */
function shortenLicenses(item: JsonObject): JsonObject | undefined {
  if (!hasValue(item, "licenseUpdates")) return undefined;
  const licenses = new Map<string, JsonObject[]>();
  for (const update of listObjects(item["licenseUpdates"])) {
    const { licenseId, effectiveFrom, quantity, ...others } = withoutDefaults(licenseUpdate, update);
    if (Object.keys(others).length > 0) return undefined;
    const changes = licenses.get(String(licenseId)) ?? [];
    licenses.set(String(licenseId), [...changes, { from: effectiveFrom, quantity }]);
  }
  const first = firstDay(item);
  const short = [...licenses].map(([id, changes]) => {
    const [only, ...more] = changes;
    return [id, more.length === 0 && only?.["from"] === first ? only?.["quantity"] : changes];
  });
  return replaceField(item, "licenseUpdates", { licenses: Object.fromEntries(short) });
}

function shortenCredits(item: JsonObject): JsonObject | undefined {
  if (!hasValue(item, "credits")) return undefined;
  const first = firstDay(item);
  const credits = listObjects(item["credits"]).map((each) => {
    if (hasValue(each, "amount")) return each;
    const { from, ...short } = shortenObject(withoutDefaults(credit, each), CREDIT_RULES);
    return from === first ? short : { ...short, from };
  });
  return { ...item, credits };
}

/** An object with the short names of its fields, in their order. */
function shortenObject(object: JsonObject, rules: FieldRules): JsonObject {
  const names = new Map(Object.entries(rules).map(([name, { to }]) => [String(to[0]), name]));
  return Object.fromEntries(Object.entries(object).map(([field, value]) => [names.get(field) ?? field, value]));
}
