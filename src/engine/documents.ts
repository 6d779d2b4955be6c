/**
 * Stored documents with typed bodies: the fields that the engine uses, typed like the book. Other fields stay as
 * stored. A body that is not checked yet is plain JSON ({@link DocumentRecord}): the book reader reports its problems.
 */
import * as z from "zod";

import { customer } from "../book/resources/account.ts";
import type { Book } from "../book/resources/book.ts";
import { addOn, feature, setting, settingKey } from "../book/resources/catalog-items.ts";
import { eventSchema, usageMeter } from "../book/resources/event-schema.ts";
import { pricePlan } from "../book/resources/price-plan.ts";
import { invariant } from "../errors.ts";
import type { DocumentRecord, DocumentKind } from "../ledger/decision.ts";
import { isDecimalObject, formatDecimal } from "../numbers/decimal.ts";
import { stringifyJson } from "../numbers/json.ts";
import { quoteText } from "../problem-table.ts";

/** A named list item, such as an attribute of a schema. */
export type NamedBody = Body & { readonly name: string };

type Details = Body & { readonly supportedCurrencies?: readonly string[] | null };

const isObject = (value: unknown): value is Body => typeof value === "object" && value !== null;
const named = z.custom<NamedBody>((value) => isObject(value) && typeof value["name"] === "string");
const details = z.custom<Details>(isObject);

/**
 * By kind, the schema of the fields of a stored body that the engine uses. Fields that older versions did not write have
 * the book's defaults.
 */
const SHAPES = {
  setting: setting.pick({ id: true, namespace: true, entityType: true, entityId: true }),
  eventSchema: eventSchema.pick({ name: true, version: true, status: true }).extend({
    attributes: z.array(named).nullish(),
    dimensions: z.array(named).nullish(),
    enrichments: z.looseObject({ dependencies: z.array(named).nullish(), fields: z.array(named).nullish() }).nullish(),
  }),
  usageMeter: usageMeter.pick({ id: true, name: true, status: true, aggregation: true }),
  feature: feature.pick({ id: true, name: true, schemaAssociations: true }),
  addOn: addOn.pick({ id: true, name: true, type: true, status: true }),
  pricePlan: pricePlan.pick({ id: true, name: true, version: true, status: true }).extend({
    pricePlanDetails: details.nullish(),
    // How accounts of older versions migrate when this one is activated; checked then.
    mode: z.string().nullish(),
    versionsToMigrate: z.string().nullish(),
    // When it became ACTIVE, in milliseconds since 1970; absent if activated before this field existed.
    activatedAt: z.int().nullish(),
  }),
  invoiceGroup: z.object({ id: z.string() }),
  customer,
  alias: z.object({ accountId: z.string().nullish() }),
} as const satisfies Partial<Record<DocumentKind, z.ZodObject>>;

/** A kind of document with a typed body. */
export type TypedKind = keyof typeof SHAPES;
type BodyOf<Kind extends TypedKind> = Body & Readonly<z.output<(typeof SHAPES)[Kind]>>;
/** A stored document of one kind, its body checked. */
export interface DocumentOf<Kind extends TypedKind> extends DocumentRecord {
  readonly kind: Kind;
  readonly body: BodyOf<Kind>;
}
/** The stored documents of each configured kind, oldest first. */
export type DocumentLists = { readonly [Kind in ConfiguredKind]: readonly DocumentOf<Kind>[] };
/** A stored document of any configured kind. */
export type ConfiguredDocument = DocumentLists[ConfiguredKind][number];

/**
 * Checks and types the body of a stored document when it is read.
 *
 * @throws {InvariantError} if the body does not match its kind: only checked bodies are stored
 */
export function toTypedDocument<Kind extends TypedKind>(kind: Kind, record: DocumentRecord): DocumentOf<Kind> {
  const shape: z.ZodObject = SHAPES[kind];
  const parsing = z.looseObject(shape.shape).safeParse(record.body);
  invariant(
    parsing.success,
    `S16: the body of the stored ${kind} ${quoteText(record.id)} is valid: ${parsing.error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ") ?? ""}`,
  );
  return { ...record, kind, body: { ...record.body, ...parsing.data } as BodyOf<Kind> };
}

/** Whether a price plan, sent or stored, is or becomes ACTIVE: only the engine sets that status. */
export function isActivePlan({ body: { status } }: DocumentRecord): boolean {
  return status === "ACTIVE";
}

export type Body = Readonly<Record<string, unknown>>;

/** The list of a book for each configured kind. */
export const BOOK_LISTS = {
  setting: "settings",
  eventSchema: "eventSchemas",
  usageMeter: "usageMeters",
  feature: "features",
  addOn: "addOns",
  pricePlan: "pricePlans",
  invoiceGroup: "invoiceGroups",
} as const satisfies Partial<Record<DocumentKind, keyof Book>>;
/** A kind of document that is part of the compiled configuration. */
export type ConfiguredKind = keyof typeof BOOK_LISTS;
/** The type of a book's item for each kind of document. */
export type ConfiguredItem<Kind extends ConfiguredKind> = Book[(typeof BOOK_LISTS)[Kind]][number];

/** The kinds in the order of a book. */
export const CONFIGURED_KINDS = Object.keys(BOOK_LISTS) as readonly ConfiguredKind[];

/** Converts a value to plain JSON: decimals become texts, and undefined fields are omitted. */
export function toPlainJson(value: unknown): unknown {
  if (isDecimalObject(value)) return formatDecimal(value);
  if (Array.isArray(value)) return value.map(toPlainJson);
  if (typeof value !== "object" || value === null) return value;
  const plain: [string, unknown][] = [];
  for (const [name, part] of Object.entries(value)) if (part !== undefined) plain.push([name, toPlainJson(part)]);
  return Object.fromEntries(plain);
}

/** Whether two values are the same JSON, in any order of fields; undefined fields are absent. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, at) => isSameJson(item, b[at]))
    );
  }
  const [one, other] = [a as Body, b as Body];
  return (
    Object.keys(one).every((name) => isSameJson(one[name], Object.hasOwn(other, name) ? other[name] : undefined)) &&
    Object.keys(other).every((name) => other[name] === undefined || Object.hasOwn(one, name))
  );
}

/**
 * The stored body of an item: as sent if only that is complete (the text of a rule), else as parsed, with references as
 * ids that do not depend on names.
 *
 * @param input as sent
 * @param item as parsed in the book
 */
export function toBody<Kind extends ConfiguredKind>(kind: Kind, input: Body, item: ConfiguredItem<Kind>): Body {
  const parsedBody = toPlainJson(item) as Body & {
    readonly featureDetails?: unknown;
    readonly pricePlanDetails?: unknown;
  };
  const { displayName, featureDetails, pricePlanDetails, mode, versionsToMigrate, activatedAt } = input;
  switch (kind) {
    case "eventSchema":
      return withoutAbsent({
        ...parsedBody,
        enrichments: keepEnrichments(input, parsedBody),
        // The feature's association with the schema is stored with the feature.
        featureDetails: featureDetails ? parsedBody.featureDetails : undefined,
      });
    case "usageMeter":
      return withoutAbsent({ ...parsedBody, displayName, computations: keepComputations(input, parsedBody) });
    case "feature":
    case "addOn":
      return withoutAbsent({ ...parsedBody, displayName });
    case "invoiceGroup":
      return withoutAbsent({ ...parsedBody, accountIds: undefined });
    case "pricePlan":
      return withoutAbsent({
        ...parsedBody,
        pricePlanDetails: withReferencedIds(parsedBody.pricePlanDetails, toPlainInput(pricePlanDetails)),
        mode,
        versionsToMigrate,
        activatedAt,
      });
    case "setting":
      return withoutAbsent(parsedBody);
  }
}

/** Rules as sent; settings by their full keys, which no other setting makes ambiguous. */
function keepEnrichments({ enrichments: input }: Body, { enrichments: read }: Body): unknown {
  if (input === undefined || input === null) return undefined;
  const { dependencies } = read as Body;
  return { ...(toPlainInput(input) as Body), dependencies };
}

/** The fields in price plan details that refer to meters, add-ons and features. */
const REFERENCES: ReadonlySet<string> = new Set(["usageMeterId", "id", "featureId", "applicableEntityIds"]);

/** Price plan details as sent, with references replaced by ids. */
function withReferencedIds(read: unknown, input: unknown): unknown {
  if (Array.isArray(input))
    return input.map((item, at) => withReferencedIds(Array.isArray(read) ? read[at] : undefined, item));
  if (typeof input !== "object" || input === null) return input;
  const readBody = (read ?? {}) as Body;
  return Object.fromEntries(
    Object.entries(input).map(([name, part]) => [
      name,
      REFERENCES.has(name) ? (readBody[name] ?? part) : withReferencedIds(readBody[name], part),
    ]),
  );
}

/** The steps of a meter, with their rules as sent. */
function keepComputations({ computations: input }: Body, { computations: read }: Body): unknown {
  return input === undefined || input === null ? read : toPlainInput(input);
}

const RULES: ReadonlySet<string> = new Set(["matcher", "computation", "value"]);

/** Like {@link toPlainJson}, but numbers in rules are kept exactly, as text if necessary. */
export function toPlainInput(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlainInput);
  if (typeof value !== "object" || value === null || isDecimalObject(value)) return toPlainJson(value);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== undefined)
      .map(([name, part]) => [name, RULES.has(name) ? keepRule(part) : toPlainInput(part)]),
  );
}

function keepRule(rule: unknown): unknown {
  if (typeof rule !== "object" || rule === null || isDecimalObject(rule)) return toPlainJson(rule);
  const text = stringifyJson(rule);
  const plain: unknown = JSON.parse(text);
  return stringifyJson(plain) === text ? plain : text;
}

/** Omits undefined fields; null, which clears a field, stays. */
export function withoutUndefined(patch: object): Body {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
}

/** Omits null and undefined fields: both mean absent. */
export function withoutAbsent(body: object): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined && value !== null));
}

/** The id of a document: includes the version, and for a setting its entity. */
export function configuredDocumentId(kind: ConfiguredKind, body: Body): string {
  const { id, name, version = 1 } = body;
  switch (kind) {
    case "setting":
      return settingDocumentId(body);
    case "eventSchema":
      return versionId(String(name), Number(version));
    case "pricePlan":
      return versionId(String(id), Number(version));
    case "usageMeter":
    case "feature":
    case "addOn":
    case "invoiceGroup":
      return String(id);
  }
}

/** The id of one version. */
export function versionId(id: string, version: number): string {
  return `${id}@${version}`;
}

/** `setting.<namespace>.<id>` in lower case, and `.<entityType>.<entityId>` for customers and accounts. */
function settingDocumentId({ namespace, id, entityType, entityId }: Body): string {
  const key = settingKey({ namespace: String(namespace), id: String(id) });
  return entityType === "ORGANIZATION" ? key : `${key}.${String(entityType)}.${String(entityId)}`;
}

/**
 * The revision of a changed configuration. It grows by a random step, so that a database that was restored and then
 * changed differently gets other revisions than those that a running process has cached.
 */
export function revisionAfter(revision: number): number {
  return revision + 1 + Math.floor(Math.random() * REVISION_STEP_MAX);
}

const REVISION_STEP_MAX = 2 ** 24;
