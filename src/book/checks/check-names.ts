/**
 * Ids and names that must be one's own (book.md, S4.4, S16.4).
 *
 * @module
 */
import type { Book } from "../model/book.ts";
import { type Path, pathText, type Report } from "../problems.ts";
import { settingKey } from "../resources/catalog-items.ts";
import { anOrA } from "../sentences.ts";

/** Reports every id, name and version that another item of its kind has already. */
export function checkNames(book: Book, report: Report): void {
  for (const list of ["usageMeters", "features", "addOns", "customers", "accounts", "invoiceGroups"] as const) {
    unique<{ readonly id: string }>(book[list], { path: [list], field: "id" }, report, (item) => item.id);
  }
  const { settings, eventSchemas, pricePlans } = book;
  unique(settings, { path: ["settings"], field: "id", what: "id in its namespace and level" }, report, (setting) =>
    JSON.stringify([setting.entityType, setting.entityId, settingKey(setting)]),
  );
  unique(eventSchemas, { path: ["eventSchemas"], field: "version" }, report, (schema) =>
    JSON.stringify([schema.name, schema.version]),
  );
  unique(pricePlans, { path: ["pricePlans"], field: "version" }, report, (plan) =>
    JSON.stringify([plan.id, plan.version]),
  );
  // One version of an event schema is ACTIVE (S4.4).
  unique(
    eventSchemas,
    {
      path: ["eventSchemas"],
      field: "status",
      sentence: (before) => `expected one ACTIVE version of an event schema: ${before}, of the same name, is ACTIVE`,
    },
    report,
    (schema) => (schema.status === "ACTIVE" ? schema.name : undefined),
  );
  unique(book.features, { path: ["features"], field: "name" }, report, (feature) => feature.name);
  unique(book.usageMeters, { path: ["usageMeters"], field: "name" }, report, unarchivedName);
  unique(book.addOns, { path: ["addOns"], field: "name" }, report, unarchivedName);
  const ownerOf = new Map<string, string>();
  // The versions of a plan share its name.
  pricePlans.forEach((plan) => {
    if (plan.status !== "ARCHIVED" && !ownerOf.has(plan.name)) ownerOf.set(plan.name, plan.id);
  });
  pricePlans.forEach((plan, at) => {
    const owner = ownerOf.get(plan.name);
    if (plan.status === "ARCHIVED" || owner === undefined || owner === plan.id) return;
    report(["pricePlans", at, "name"], `expected a name of its own: the price plan ${owner} has the same`);
  });
}

/** Where a list is, and which part of its items must be each one's own. */
export interface OwnPart {
  readonly path: Path;
  /** The part's field; absent where the item is the part. */
  readonly field?: string;
  /** The name of the part in messages; default: the field. */
  readonly what?: string;
  /** The message for an item that repeats the part; default: that `what` should be unique. */
  readonly sentence?: (before: string) => string;
}

/** Reports every item of a list that has the same part as a former one. Items without one are left alone. */
export function unique<T>(
  list: readonly T[],
  { path, field, what = field ?? "value", sentence }: OwnPart,
  report: Report,
  partOf: (item: T) => string | number | undefined,
): void {
  const first = new Map<string | number, number>();
  list.forEach((item, at) => {
    const part = partOf(item);
    if (part === undefined) return;
    const before = first.get(part);
    if (before === undefined) {
      first.set(part, at);
      return;
    }
    const place = field === undefined ? [...path, at] : [...path, at, field];
    const other = pathText([...path, before]);
    report(place, sentence?.(other) ?? `expected ${anOrA(what)} of its own: ${other} has the same`);
  });
}

function unarchivedName(item: { readonly name: string; readonly status: string }): string | undefined {
  return item.status === "ARCHIVED" ? undefined : item.name;
}
