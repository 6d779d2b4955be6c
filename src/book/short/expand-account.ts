/** A short account in the long form: its plans, licenses and credits (book.md). */
import type { Path } from "../problems.ts";
import { expandDetails, expandFields } from "./expand-plan.ts";
import { type PriceContext, reportConflict } from "./expand-prices.ts";
import type { FieldRules } from "./short-cards.ts";
import { hasValue, type JsonObject } from "./written-places.ts";

/** What accounts are read with. */
export interface AccountContext extends Omit<PriceContext, "currencies"> {
  /** The currencies of a plan, by id or name. */
  readonly currenciesOf: (plan: unknown) => readonly string[];
}

export const ASSOCIATION_RULES: FieldRules = {
  plan: { to: ["pricePlanId"] },
  from: { to: ["effectiveFrom"] },
  until: { to: ["effectiveUntil"] },
};
export const CREDIT_RULES: FieldRules = {
  amount: { to: ["creditAmount"] },
  from: { to: ["effectiveFrom"] },
  until: { to: ["effectiveUntil"] },
};
const EXPANDED: ReadonlySet<string> = new Set(["plan", "from", "plans", "licenses", "credits"]);

/** @param account of the right shape */
export function expandAccount(account: JsonObject, path: Path, context: AccountContext): object {
  const { places, report } = context;
  const { id } = account;
  const long = expandFields(account, {}, EXPANDED, path, places);
  if (!hasValue(account, "name")) places.setField(long, ["name"], id, [...path, "id"]);
  if (!hasValue(account, "name") && String(id).length < NAME_MIN)
    report([...path, "name"], "MISSING", { expected: "3 to 255 characters", reason: "because the id is shorter" });
  if (!hasValue(account, "customerId")) places.setField(long, ["customerId"], id, [...path, "id"]);
  const conflicts = [
    ["plan", "plans", "pricePlans"],
    ["licenses", "licenseUpdates"],
  ].map((fields) => reportConflict(account, fields, path, report));
  if (conflicts.includes(true)) return long;
  if (hasValue(account, "from") && !["plan", "licenses", "credits"].some((field) => hasValue(account, field)))
    report([...path, "from"], "UNEXPECTED_FIELD", { reason: "without a plan, licenses or credits" });
  expandPlans(account, long, path, context);
  expandLicenses(account, long, path, context);
  if (hasValue(account, "credits")) {
    const credits = (account["credits"] as readonly JsonObject[]).map((credit, index) => {
      const place: Path = [...path, "credits", index];
      if (!hasValue(credit, "amount")) return credit;
      const made = expandFields(credit, CREDIT_RULES, new Set(), place, places);
      const day = firstDay(account);
      if (!hasValue(credit, "from") && day !== undefined)
        places.setField(made, ["effectiveFrom"], day, firstDayPath(account, path));
      else if (!hasValue(credit, "from") && !hasValue(account, "plan"))
        report([...place, "from"], "MISSING", { expected: "the first day", reason: "because the account has no from" });
      return made;
    });
    places.setField(long, ["credits"], credits, [...path, "credits"]);
  }
  return long;
}

/** The shortest name of an account. */
const NAME_MIN = 3;

/** The first day of an account: its own, or that of its first plan. */
export function firstDay({ from, plans }: JsonObject): unknown {
  return from ?? (plans as readonly JsonObject[] | undefined)?.[0]?.["from"] ?? undefined;
}

/** Where the first day of an account was written. */
function firstDayPath(account: JsonObject, path: Path): Path {
  return hasValue(account, "from") ? [...path, "from"] : [...path, "plans", 0, "from"];
}

function expandPlans(account: JsonObject, long: object, path: Path, context: AccountContext): void {
  const { places, report } = context;
  if (hasValue(account, "plan")) {
    if (!hasValue(account, "from"))
      report([...path, "from"], "MISSING", { expected: "the first day of the plan, such as 2026-01-01" });
    const rules = { plan: ASSOCIATION_RULES["plan"], from: ASSOCIATION_RULES["from"] } as FieldRules;
    const association = { plan: account["plan"], from: account["from"] };
    places.setField(long, ["pricePlans"], [expandFields(association, rules, new Set(), path, places)], path);
  } else if (hasValue(account, "plans")) {
    const plans = (account["plans"] as readonly JsonObject[]).map((association, index) => {
      const place: Path = [...path, "plans", index];
      reportConflict(association, ["override", "pricePlanDetailsOverride"], place, report);
      const made = expandFields(association, ASSOCIATION_RULES, new Set(["override"]), place, places);
      if (hasValue(association, "override")) {
        const overridePath: Path = [...place, "override"];
        const currencies = context.currenciesOf(association["plan"]);
        const details = expandDetails(association["override"] as JsonObject, overridePath, { ...context, currencies });
        places.setField(made, ["pricePlanDetailsOverride"], details, overridePath);
      }
      return made;
    });
    places.setField(long, ["pricePlans"], plans, [...path, "plans"]);
  }
}

function expandLicenses(account: JsonObject, long: object, path: Path, { places, report }: AccountContext): void {
  if (!hasValue(account, "licenses")) return;
  const updates = Object.entries(account["licenses"] as JsonObject).flatMap(([licenseId, value]) => {
    const place: Path = [...path, "licenses", licenseId];
    if (Array.isArray(value)) {
      return (value as readonly JsonObject[]).map(({ from, quantity }, index) => {
        const fields = { licenseId: place, effectiveFrom: [...place, index, "from"] };
        return places.record({ licenseId, quantity, effectiveFrom: from }, [...place, index], fields);
      });
    }
    const effectiveFrom = firstDay(account);
    if (effectiveFrom === undefined && !hasValue(account, "plan"))
      report(place, "MISSING", { expected: "a list of { from, quantity }", reason: "because the account has no from" });
    const fields = { licenseId: place, quantity: place, effectiveFrom: firstDayPath(account, path) };
    return [places.record({ licenseId, quantity: value, effectiveFrom }, place, fields)];
  });
  places.setField(long, ["licenseUpdates"], updates, [...path, "licenses"]);
}
