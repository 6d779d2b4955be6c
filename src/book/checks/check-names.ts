/**
 * Checks that ids and names are unique (book.md, S4.4, S16.4).
 *
 * @module
 */
import { type Path, formatPath, type Report } from "../problems.ts";
import type { Book } from "../resources/book.ts";
import { settingKey } from "../resources/catalog-items.ts";
import { quoteValue } from "../wording.ts";

/** Reports every id, name and version that another item of its kind has. */
export function checkNames(book: Book, report: Report): void {
  for (const list of ["usageMeters", "features", "addOns", "customers", "accounts", "invoiceGroups"] as const) {
    checkUnique<{ readonly id: string }>(book[list], { path: [list], field: "id" }, report, (item) => item.id);
  }
  const { settings, eventSchemas, pricePlans } = book;
  checkUnique(
    settings,
    { path: ["settings"], field: "id", what: "id in this namespace and level" },
    report,
    (setting) => JSON.stringify([setting.entityType, setting.entityId, settingKey(setting)]),
  );
  checkUnique(eventSchemas, { path: ["eventSchemas"], field: "version" }, report, (schema) =>
    JSON.stringify([schema.name, schema.version]),
  );
  checkUnique(pricePlans, { path: ["pricePlans"], field: "version" }, report, (plan) =>
    JSON.stringify([plan.id, plan.version]),
  );
  // At most one version of an event schema is ACTIVE (S4.4).
  checkUnique(
    eventSchemas,
    { path: ["eventSchemas"], field: "status", code: "SECOND_ACTIVE_VERSION" },
    report,
    (schema) => (schema.status === "ACTIVE" ? schema.name : undefined),
  );
  checkUnique(book.features, { path: ["features"], field: "name" }, report, (feature) => feature.name);
  checkUnique(book.usageMeters, { path: ["usageMeters"], field: "name" }, report, nameUnlessArchived);
  checkUnique(book.addOns, { path: ["addOns"], field: "name" }, report, nameUnlessArchived);
  const planIdsByName = new Map<string, string>();
  // The versions of a plan share its name.
  pricePlans.forEach((plan) => {
    if (plan.status !== "ARCHIVED" && !planIdsByName.has(plan.name)) planIdsByName.set(plan.name, plan.id);
  });
  pricePlans.forEach((plan, index) => {
    const otherPlanId = planIdsByName.get(plan.name);
    if (plan.status === "ARCHIVED" || otherPlanId === undefined || otherPlanId === plan.id) return;
    report(["pricePlans", index, "name"], "NOT_UNIQUE", {
      what: "name",
      other: `the price plan ${quoteValue(otherPlanId)}`,
    });
  });
}

/** A list, and the part of its items that must be unique. */
export interface UniquePart {
  readonly path: Path;
  /** The part's field; absent if the item itself is the part. */
  readonly field?: string;
  /** The name of the part in messages; default: the field. */
  readonly what?: string;
  /** The code of the problem. */
  readonly code?: "NOT_UNIQUE" | "SECOND_ACTIVE_VERSION";
}

/** Reports every item of a list whose part equals that of an earlier item. Items without the part are skipped. */
export function checkUnique<T>(
  list: readonly T[],
  { path, field, what = field ?? "value", code = "NOT_UNIQUE" }: UniquePart,
  report: Report,
  toPart: (item: T) => string | number | undefined,
): void {
  const firstIndexes = new Map<string | number, number>();
  list.forEach((item, index) => {
    const part = toPart(item);
    if (part === undefined) return;
    const firstIndex = firstIndexes.get(part);
    if (firstIndex === undefined) {
      firstIndexes.set(part, index);
      return;
    }
    const place = field === undefined ? [...path, index] : [...path, index, field];
    const other = formatPath([...path, firstIndex]);
    report(place, code, { what, other });
  });
}

function nameUnlessArchived(item: { readonly name: string; readonly status: string }): string | undefined {
  return item.status === "ARCHIVED" ? undefined : item.name;
}
