/** Accounts in short and in long form: their plans, licenses and credits (book.md). */
import { isJsonObject } from "../../numbers/decimal.ts";
import { account, credit, licenseUpdate, planAssociation } from "../resources/account.ts";
import type { LongObject, Written, WrittenObject } from "./expansion.ts";
import { ASSOCIATION_FIELDS, CREDIT_FIELDS, DAYS, shortenFields } from "./fields.ts";
import { hasValue, type JsonObject, listObjects, omitFields, replaceField } from "./json-object.ts";
import { omitName, type Shortening } from "./metering.ts";
import { expandDetails } from "./plans.ts";
import { withoutDefaults } from "./same-part.ts";

/** The shortest name of an account. */
const NAME_MIN = 3;

/** @param currenciesOf the currencies of a plan, by id or name */
export function expandAccount(
  account: WrittenObject,
  long: LongObject,
  currenciesOf: (plan: unknown) => readonly string[],
): void {
  const id = account.field("id");
  const names = { name: account.field("name") ?? id, customerId: account.field("customerId") ?? id };
  long.copyFields(account.with(names), {}, ["plan", "from", "plans", "licenses", "credits"]);
  if (!account.has("name") && String(id?.value).length < NAME_MIN)
    account.report("name", "MISSING", { expected: "3 to 255 characters", reason: "because the id is shorter" });
  const isMixed = [
    account.rejectBoth(["plan"], ["plans", "pricePlans"]),
    account.rejectBoth(["plans"], ["pricePlans"]),
    account.rejectBoth(["licenses"], ["licenseUpdates"]),
  ].includes(true);
  if (isMixed) return;
  if (account.has("from") && !["plan", "licenses", "credits"].some((field) => account.has(field)))
    account.report("from", "UNEXPECTED_FIELD", { reason: "without a plan, licenses or credits" });
  expandPlans(account, long, currenciesOf);
  // A plan without a first day is reported already.
  const first = findFirstDay(account) ?? (account.has("plan") ? { value: undefined, path: account.path } : undefined);
  if (account.has("licenses")) expandLicenses(account, first, long);
  if (account.has("credits")) long.set(["credits"], [], account.pathOf("credits"));
  for (const [index, credit] of account.list("credits").entries()) {
    if (!credit.has("amount")) long.copy(["credits", index], credit);
    else expandCredit(credit, first, long.addObject(["credits", index], credit.path));
  }
}

function expandPlans(
  account: WrittenObject,
  long: LongObject,
  currenciesOf: (plan: unknown) => readonly string[],
): void {
  if (account.has("plan")) {
    if (!account.has("from"))
      account.report("from", "MISSING", { expected: "the first day of the plan, such as 2026-01-01" });
    long.addObject(["pricePlans", 0], account.path).copyListed(account, ASSOCIATION_FIELDS);
  }
  if (account.has("plans")) long.set(["pricePlans"], [], account.pathOf("plans"));
  for (const [index, association] of account.list("plans").entries()) {
    const made = long.addObject(["pricePlans", index], association.path);
    association.rejectBoth(["override"], ["pricePlanDetailsOverride"]);
    made.copyFields(association, ASSOCIATION_FIELDS, ["override"]);
    if (!association.has("override")) continue;
    const override = association.inner("override");
    const details = made.addObject(["pricePlanDetailsOverride"], override.path);
    expandDetails(override, details, currenciesOf(association.value["plan"]));
  }
}

/** The first day of an account: its own, or that of its first plan. */
function findFirstDay(account: WrittenObject): Written | undefined {
  return account.field("from") ?? account.list("plans")[0]?.field("from");
}

function expandLicenses(account: WrittenObject, first: Written | undefined, long: LongObject): void {
  const licenses = account.inner("licenses");
  let count = 0;
  long.set(["licenseUpdates"], [], licenses.path);
  for (const [licenseId, value] of Object.entries(licenses.value)) {
    const path = licenses.pathOf(licenseId);
    if (!Array.isArray(value) && first === undefined)
      licenses.report(licenseId, "MISSING", {
        expected: "a list of { from, quantity }",
        reason: "because the account has no from",
      });
    const changes = Array.isArray(value)
      ? licenses.list(licenseId)
      : [licenses.inner(licenseId).with({ from: first, quantity: { value, path } })];
    for (const change of changes) {
      const update = long.addObject(["licenseUpdates", count++], change.path);
      update.set(["licenseId"], licenseId, path);
      update.copyFields(change, DAYS);
    }
  }
}

function expandCredit(credit: WrittenObject, first: Written | undefined, long: LongObject): void {
  const from = credit.field("from") ?? first;
  long.copyFields(credit.with({ from }), CREDIT_FIELDS);
  if (from === undefined)
    credit.report("from", "MISSING", { expected: "the first day", reason: "because the account has no from" });
}

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
    shortenAssociations,
    (item) => shortenOverrides(item, shortenOverride),
    shortenLicenses,
    shortenCredits,
    omitName,
  ];
}

/** The plans of an account; the only one is `plan` and `from`, if it says no more. */
function shortenAssociations(item: JsonObject): JsonObject | undefined {
  if (!hasValue(item, "pricePlans")) return undefined;
  const plans = listObjects(item["pricePlans"]).map((association) =>
    shortenFields(withoutDefaults(planAssociation, association), ASSOCIATION_FIELDS),
  );
  const [only = {}, ...more] = plans;
  return replaceField(item, "pricePlans", more.length === 0 && Object.keys(only).length === 2 ? only : { plans });
}

function shortenOverrides(
  item: JsonObject,
  shortenOverride: (plan: unknown, override: JsonObject) => JsonObject,
): JsonObject {
  const plans = listObjects(item["plans"]).map((association) => {
    const override = association["pricePlanDetailsOverride"];
    if (!isJsonObject(override)) return association;
    const short = shortenOverride(association["plan"], override);
    return replaceField(association, "pricePlanDetailsOverride", { override: short });
  });
  return replaceField(item, "plans", { plans });
}

function firstDayOf({ from, plans }: JsonObject): unknown {
  return from ?? listObjects(plans)[0]?.["from"];
}

/** Quantities by license: a number where it begins with the account. */
function shortenLicenses(item: JsonObject): JsonObject | undefined {
  if (!hasValue(item, "licenseUpdates")) return undefined;
  const licenses = new Map<string, JsonObject[]>();
  for (const update of listObjects(item["licenseUpdates"])) {
    const { licenseId, effectiveFrom, quantity, ...others } = withoutDefaults(licenseUpdate, update);
    const changes = licenses.get(String(licenseId)) ?? [];
    licenses.set(String(licenseId), [...changes, { from: effectiveFrom, quantity, ...others }]);
  }
  const first = firstDayOf(item);
  const short = [...licenses].map(([id, changes]) => {
    const [only, ...more] = changes;
    return [id, more.length === 0 && only?.["from"] === first ? only?.["quantity"] : changes];
  });
  return replaceField(item, "licenseUpdates", { licenses: Object.fromEntries(short) });
}

/** Credits without a first day begin with the account. */
function shortenCredits(item: JsonObject): JsonObject | undefined {
  if (!hasValue(item, "credits")) return undefined;
  const first = firstDayOf(item);
  const credits = listObjects(item["credits"]).map((each) => {
    if (hasValue(each, "amount")) return each;
    const short = shortenFields(withoutDefaults(credit, each), CREDIT_FIELDS);
    return short["from"] === first ? omitFields(short, ["from"]) : short;
  });
  return { ...item, credits };
}
