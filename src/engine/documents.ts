/**
 * Stored documents with typed bodies: the fields that the engine uses, typed like the book. Other fields stay as
 * stored. A body that is not checked yet is plain JSON ({@link DocumentRecord}): the book reader reports its problems.
 *
 * @module
 */
import * as z from "zod";

import { type Customer, customer } from "../book/resources/account.ts";
import {
  type AddOn,
  type FeatureInput,
  type Setting,
  addOn,
  feature,
  setting,
} from "../book/resources/catalog-items.ts";
import { type EventSchema, eventSchema, type UsageMeter, usageMeter } from "../book/resources/event-schema.ts";
import type { Maybe } from "../book/resources/fields.ts";
import { type PricePlan, pricePlan } from "../book/resources/price-plan.ts";
import { invariant } from "../errors.ts";
import type { DocumentRecord } from "../ledger/decision.ts";
import { quoteText } from "../ledger/refusals.ts";
import type { Body, ConfiguredKind } from "./document-body.ts";

/** A named list item, such as an attribute of a schema. */
export type NamedBody = Body & { readonly name: string };

/** By kind, the fields of a stored body that the engine uses. */
interface Bodies {
  readonly setting: Pick<Setting, "id" | "namespace" | "entityType"> & { readonly entityId?: Maybe<string> };
  readonly eventSchema: Pick<EventSchema, "name" | "version" | "status"> & {
    readonly attributes?: Maybe<readonly NamedBody[]>;
    readonly dimensions?: Maybe<readonly NamedBody[]>;
    readonly enrichments?: Maybe<
      Body & { readonly dependencies?: Maybe<readonly NamedBody[]>; readonly fields?: Maybe<readonly NamedBody[]> }
    >;
  };
  readonly usageMeter: Pick<UsageMeter, "id" | "name" | "status" | "aggregation">;
  readonly feature: Pick<FeatureInput, "id" | "name" | "schemaAssociations"> & { readonly status?: undefined };
  readonly addOn: Pick<AddOn, "id" | "name" | "type" | "status">;
  readonly pricePlan: Pick<PricePlan, "id" | "name" | "version" | "status"> & {
    readonly pricePlanDetails?: Maybe<Details>;
    /** How accounts of older versions migrate when this one is activated; checked then. */
    readonly mode?: Maybe<string>;
    readonly versionsToMigrate?: Maybe<string>;
    /** When it became ACTIVE, in milliseconds since 1970; absent if activated before this field existed. */
    readonly activatedAt?: Maybe<number>;
  };
  readonly invoiceGroup: { readonly id: string };
  readonly customer: Customer;
  readonly alias: { readonly accountId?: Maybe<string> };
}
type Details = Body & { readonly supportedCurrencies?: readonly string[] | null };

const isObject = (value: unknown): value is Body => typeof value === "object" && value !== null;
const named = z.custom<NamedBody>((value) => isObject(value) && typeof value["name"] === "string");
const details = z.custom<Details>(isObject);

/** By kind, the schema of a stored body. Fields that older versions did not write have the book's defaults. */
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
    mode: z.string().nullish(),
    versionsToMigrate: z.string().nullish(),
    activatedAt: z.int().nullish(),
  }),
  invoiceGroup: z.object({ id: z.string() }),
  customer,
  alias: z.object({ accountId: z.string().nullish() }),
} as const satisfies { readonly [Kind in keyof Bodies]: z.ZodObject & z.ZodType<Bodies[Kind]> };

/** A kind of document with a typed body. */
export type TypedKind = keyof Bodies;
export type BodyOf<Kind extends TypedKind> = Body & Bodies[Kind];
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

/** The entity of a setting, checked or not (S4.2). */
export function settingOwner({ body: { entityType, entityId } }: DocumentRecord): {
  readonly entityType: unknown;
  readonly entityId: string;
} {
  return { entityType, entityId: String(entityId) };
}
