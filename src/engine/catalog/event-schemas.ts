/** Event schemas with their versions (S4.4), and usage meters (S5.4): lifecycles and changes. */
import * as z from "zod";

import type {
  EventSchemaPatch,
  EventSchemaRequest,
  EventSchema,
  UsageMeterPatch,
  UsageMeterRequest,
  UsageMeter,
} from "../../book/resources/event-schema.ts";
import { findAccountPlan } from "../../ledger/account/account-plan.ts";
import type { DocumentRecord } from "../../ledger/decision.ts";
import { invalidInputError, notFoundError, refusedError } from "../../ledger/refusals.ts";
import { quoteText, describeStatus } from "../../problem-table.ts";
import { readAllAccounts } from "../all-accounts.ts";
import {
  changeConfigured,
  type ConfigurationChange,
  type ConfigurationState,
  listAllConfigured,
  newDocument,
} from "../configured-resources.ts";
import {
  type Body,
  versionId,
  type DocumentOf,
  type NamedBody,
  withoutAbsent,
  withoutUndefined,
} from "../documents.ts";
import { ID, method, type Methods, PAGED, REQUEST, textFields, IDS, patchMethod } from "../methods.ts";
import { type PagedOptions, selectPage } from "../pages.ts";
import {
  isSameDependency,
  isSameField,
  changeLatest,
  changeStatus,
  checkName,
  getVersionMethod,
  patchDocument,
  requireUserFields,
  statusMethod,
  areSameComputations,
  createMethod,
  filterMethod,
  getMethod,
} from "./resource-methods.ts";

type SchemaDocument = DocumentOf<"eventSchema">;

export const eventSchemaMethods = {
  /** Creates a DRAFT; for an archived name, its next version. */
  create: method({ schema: REQUEST }, (context, schema: EventSchemaRequest) =>
    changeConfigured(context, "eventSchema", (state) => createSchema(schema, state)),
  ),
  /**
   * Changes a DRAFT, replacing lists, or adds to an ACTIVE schema, which creates a new version; then changes its
   * status to `status` if given.
   */
  update: method({ name: ID, patch: REQUEST }, (context, name: string, patch: EventSchemaPatch) =>
    changeLatest(context, "eventSchema", name, (latest, state) => updateSchema(latest, patch, state)),
  ),
  activate: statusMethod("eventSchema", "ACTIVE"),
  /** Rejected while an ACTIVE usage meter uses it. */
  deactivate: statusMethod("eventSchema", "INACTIVE", checkSchemaUnused),
  archive: statusMethod("eventSchema", "ARCHIVED"),
  /** Reads a version, or the latest one. */
  get: getVersionMethod("eventSchema"),
  /** The latest version of each schema, newest first. */
  list: filterMethod<EventSchemaFilter, "eventSchema">("eventSchema", textFields("status")),
  /** All versions of a schema, newest first. */
  versions: method({ name: ID, ...PAGED }, async (context, name: string, { page = {} }: PagedOptions = {}) => {
    const versions = await listAllConfigured(context, "eventSchema", ({ body }) => body.name === name);
    if (versions.length === 0) throw notFoundError("event schema", name, "name");
    return selectPage(versions, page, ({ createdAt, item }) => ({ createdAt, id: versionId(name, item.version) }));
  }),
};

interface EventSchemaFilter {
  readonly status?: EventSchema["status"] | undefined;
}

/** Event schemas of an engine, in the shape of a book's `eventSchemas`. */
export interface EventSchemas extends Methods<typeof eventSchemaMethods> {}

function createSchema(schema: object, { before, now }: ConfigurationState): ConfigurationChange {
  const input = requireUserFields(schema, ["status", "version"]);
  const { name } = input;
  const { eventSchema: documents } = before.documents;
  checkName(before, "eventSchema", input);
  const versions = documents.filter(({ body }) => body.name === name).map(({ body }) => body.version);
  const version = Math.max(0, ...versions) + 1;
  return { documents: [newDocument("eventSchema", { ...input, status: "DRAFT", version }, now)] };
}

function updateSchema(latest: SchemaDocument, patch: object, state: ConfigurationState): ConfigurationChange {
  const { status, ...changes } = requireUserFields(patch, ["name", "version"]);
  const editedDocuments = Object.keys(changes).length === 0 ? [latest] : editSchema(latest, changes, state);
  const current = editedDocuments.at(-1) ?? latest;
  if (status === undefined || status === null || status === latest.body.status) return { documents: editedDocuments };
  if (status !== "ACTIVE" && status !== "INACTIVE" && status !== "ARCHIVED") {
    throw invalidInputError("status", "NOT_SUPPORTED", "expected ACTIVE, INACTIVE or ARCHIVED");
  }
  changeStatus(latest, status, state.now);
  if (status === "INACTIVE") checkSchemaUnused(latest, state);
  return { documents: [...editedDocuments.slice(0, -1), patchDocument(current, { status }, state.now)] };
}

/** @returns the version that the edit archives, if any, and the new current version */
function editSchema(latest: SchemaDocument, changes: Body, { now }: ConfigurationState): readonly DocumentRecord[] {
  switch (latest.body.status) {
    case "DRAFT":
      return [patchDocument(latest, changes, now)];
    case "ACTIVE": {
      const next = patchDocument(latest, addToActiveSchema(latest.body, changes), now);
      if (JSON.stringify(next.body) === JSON.stringify(latest.body)) return [latest];
      const version = latest.body.version + 1;
      return [
        patchDocument(latest, { status: "ARCHIVED" }, now),
        newDocument("eventSchema", { ...next.body, version }, now),
      ];
    }
    default: {
      const subject = `the event schema ${quoteText(latest.body.name)} is ${describeStatus(latest.body.status)}`;
      throw refusedError("S4.4", `${subject} and cannot be changed`);
    }
  }
}

/** Edits an ACTIVE schema: lists can only be extended, and enrichment fields replaced (S4.4). */
function addToActiveSchema(body: SchemaDocument["body"], changes: Body): Body {
  const { description, allowUnmetered, attributes, dimensions, enrichments, ...otherFields } = changes;
  const [other] = Object.keys(otherFields);
  if (other !== undefined) {
    const changeable = "description, allowUnmetered, attributes, dimensions and enrichments";
    throw refusedError("S4.4", `${other}: in an active event schema only ${changeable} can change`);
  }
  const additions: Record<string, unknown> = withoutUndefined({ description, allowUnmetered });
  for (const [list, newItems] of Object.entries(withoutAbsent({ attributes, dimensions })))
    additions[list] = withAdded(body[list as "attributes" | "dimensions"] ?? [], newItems, list);
  if (enrichments === null && body.enrichments !== undefined) {
    const reason = "in an active event schema, enrichments can be added or replaced but not removed";
    throw refusedError("S4.4", `enrichments: ${reason}`);
  }
  if (enrichments !== undefined && enrichments !== null) {
    const next = addEnrichments(body.enrichments ?? {}, requireUserFields(enrichments, []));
    if (next !== undefined) additions["enrichments"] = next;
  }
  return additions;
}

/** Adds enrichments; undefined if all of them already exist. */
function addEnrichments(
  existing: NonNullable<SchemaDocument["body"]["enrichments"]>,
  { dependencies, fields, ...otherFields }: Body,
): Body | undefined {
  const before = { dependencies: existing.dependencies ?? [], fields: existing.fields ?? [] };
  const next = {
    ...otherFields,
    dependencies: withAdded(before.dependencies, dependencies ?? [], "enrichments.dependencies", isSameDependency),
    fields: withReplaced(before.fields, requireList(fields ?? [], "enrichments.fields")),
  };
  return JSON.stringify(next) === JSON.stringify(before) ? undefined : next;
}

function withAdded(
  existing: readonly NamedBody[],
  newItems: unknown,
  path: string,
  isEqual: (existing: Body, item: Body) => boolean = isSame,
): readonly Body[] {
  const list: (Body & { readonly name?: unknown })[] = [...existing];
  for (const item of requireList(newItems, path)) {
    const { name } = item;
    const existingItem = list.find((each) => each.name === name);
    if (existingItem === undefined) list.push(item);
    else if (!isEqual(existingItem, item)) {
      throw refusedError("S4.4", `${path}: ${quoteText(String(name))} exists and cannot be changed`);
    }
  }
  return list;
}

function withReplaced(
  existing: readonly NamedBody[],
  newItems: readonly (Body & { readonly name?: unknown })[],
): readonly Body[] {
  const replacements = new Map(newItems.map((field) => [field.name, field]));
  const existingNames = new Set<unknown>(existing.map(({ name }) => name));
  return [
    ...existing.map((field) => {
      const next = replacements.get(field.name);
      return next === undefined || isSameField(field, next) ? field : next;
    }),
    ...newItems.filter((field) => !existingNames.has(field.name)),
  ];
}

/** Whether an item equals an existing one. Omitted fields keep their values. */
function isSame(existing: Body, item: Body): boolean {
  return Object.entries(item).every(
    ([name, value]) =>
      value === undefined || value === null || JSON.stringify(existing[name]) === JSON.stringify(value),
  );
}

function requireList(value: unknown, path: string): readonly Body[] {
  if (Array.isArray(value) && value.every((item) => typeof item === "object" && item !== null)) return value;
  throw invalidInputError(path, "NOT_ACCEPTED", "expected a list of objects");
}

/** @throws {RatebookError} ERR_REFUSED while an ACTIVE usage meter uses the schema */
function checkSchemaUnused({ body: { name } }: SchemaDocument, { before }: ConfigurationState): void {
  const activeMeter = before.catalog.book.usageMeters.find(
    (meter) => meter.eventSchemaName === name && meter.status === "ACTIVE",
  );
  if (activeMeter === undefined) return;
  const user = `the active usage meter ${quoteText(activeMeter.id)}`;
  throw refusedError("S4.4", `the event schema ${quoteText(name)} is used by ${user}`);
}

type MeterDocument = DocumentOf<"usageMeter">;
/** The fields that can change after the DRAFT status. */
const NAMES: ReadonlySet<string> = new Set(["name", "billableName", "description"]);
/** The fields that decide how usage is kept, and what its quantity is. */
const USAGE_FIELDS: ReadonlySet<string> = new Set(["aggregation", "daily", "carryOver", "mode", "groupBy"]);

export const usageMeterMethods = {
  /** Creates a DRAFT. */
  create: createMethod<"usageMeter", UsageMeterRequest>("usageMeter", {
    idPrefix: "um",
    engineFields: ["id", "status"],
    initialFields: { status: "DRAFT" },
  }),
  /** After the DRAFT status only name, billableName and description can change; other fields must be unchanged. */
  update: patchMethod((context, id, patch: UsageMeterPatch) =>
    changeLatest(context, "usageMeter", id, (document, state) => ({
      documents: [updateMeter(document, patch, state)],
    })),
  ),
  activate: statusMethod("usageMeter", "ACTIVE"),
  /** Rejected while a current or future plan of an account uses it. */
  deactivate: statusMethod("usageMeter", "INACTIVE", checkMeterUnused),
  archive: statusMethod("usageMeter", "ARCHIVED"),
  get: getMethod("usageMeter"),
  /** Newest first. */
  list: filterMethod<UsageMeterFilter, "usageMeter">("usageMeter", {
    ...textFields("status"),
    aggregation: z.union([ID, IDS]).optional(),
  }),
};

/** Usage meters of an engine, in the shape of a book's `usageMeters`. */
export interface UsageMeters extends Methods<typeof usageMeterMethods> {}

interface UsageMeterFilter {
  readonly status?: UsageMeter["status"] | undefined;
  /** One, or several. */
  readonly aggregation?: UsageMeter["aggregation"] | readonly UsageMeter["aggregation"][] | undefined;
}

function updateMeter(document: MeterDocument, patch: object, { before, now }: ConfigurationState): DocumentRecord {
  const input = requireUserFields(patch, ["id", "status"]);
  const next = patchDocument(document, input, now);
  checkName(before, "usageMeter", next.body, document.id);
  const { status } = document.body;
  if (status === "DRAFT") return next;
  const name = quoteText(document.body.name);
  if (status === "ARCHIVED") throw refusedError("S5.4", `the usage meter ${name} is archived and cannot be changed`);
  const fixedField = Object.keys(input).find(
    (field) => !NAMES.has(field) && !isFieldUnchanged(document.body, next.body, field),
  );
  if (fixedField === undefined) {
    // The other fields are equal to the stored ones, which keep their original form.
    const names = Object.entries(input).filter(([field]) => NAMES.has(field));
    return patchDocument(document, Object.fromEntries(names), now);
  }
  const meter = `the ${status.toLowerCase()} usage meter ${name}`;
  if (USAGE_FIELDS.has(fixedField)) {
    const [how, verb] = fixedField === "groupBy" ? ["by its groups", "group"] : ["for its aggregation", "aggregate"];
    const reason = `the usage of ${meter} is kept ${how}; create a new usage meter to ${verb} it differently`;
    throw refusedError("S5.4", `${fixedField}: ${reason}`);
  }
  throw refusedError("S5.4", `${fixedField}: in ${meter} only name, billableName and description can change`);
}

function isFieldUnchanged(before: Body, after: Body, field: string): boolean {
  if (field === "computations") return areSameComputations(before[field], after[field]);
  // False is the default of a field that is absent.
  return JSON.stringify(before[field] || null) === JSON.stringify(after[field] || null);
}

/** A meter in a current or future plan of an account must stay ACTIVE: otherwise its usage would not be counted. */
async function checkMeterUnused(
  { id: meterId }: MeterDocument,
  { before, view, now }: ConfigurationState,
): Promise<void> {
  for await (const record of readAllAccounts(view)) {
    const { timeline } = findAccountPlan(before.catalog, record);
    const term = timeline.find(
      ({ until, plan }) => until > now && plan.details.usageRateCards.some((card) => card.usageMeterId === meterId),
    );
    if (term === undefined) continue;
    const plan = term.from > now ? "a future price plan" : "the current price plan";
    const owner = `the account ${quoteText(record.id)}`;
    throw refusedError("S5.4", `the usage meter ${quoteText(meterId)} is in ${plan} of ${owner}`);
  }
}
