/**
 * Stored documents with typed bodies: what the engine goes by of each kind, in the words of the book's own shapes. The
 * rest of a body stays as it was stored.
 *
 * A body that was given and is not checked yet stays plain JSON ({@link DocumentRecord}): the reader of books tells all
 * that is wrong with it.
 *
 * @module
 */
import * as z from "zod";

import type { Customer } from "../book/model/account.ts";
import type { AddOn, FeatureInput, Setting } from "../book/model/catalog-items.ts";
import type { Maybe } from "../book/model/common-types.ts";
import type { EventSchema, UsageMeter } from "../book/model/metering.ts";
import type { PricePlan } from "../book/model/price-plan.ts";
import { customer } from "../book/resources/account.ts";
import { addOn, feature, setting } from "../book/resources/catalog-items.ts";
import { eventSchema } from "../book/resources/event-schema.ts";
import { pricePlan } from "../book/resources/price-plan.ts";
import { usageMeter } from "../book/resources/usage-meter.ts";
import { invariant } from "../errors.ts";
import type { DocumentRecord } from "../ledger/decision.ts";
import { quoteText } from "../ledger/refusals.ts";
import type { Body, ConfiguredKind } from "./document-body.ts";

/** An item of a list that has a name, such as an attribute of a schema. */
export type NamedBody = Body & { readonly name: string };

/** By kind, the part of a stored body that the engine goes by. */
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
    /** How accounts of older versions are moved once this one is activated; whether it is a mode is checked then. */
    readonly mode?: Maybe<string>;
    readonly versionsToMigrate?: Maybe<string>;
    /** When it became ACTIVE, in milliseconds since 1970; absent where it did before versions kept it. */
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

/** By kind, what is read of a stored body. What older versions did not write has the default that it has in a book. */
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

/** A kind of document whose body is typed. */
export type TypedKind = keyof Bodies;
/** The body of a stored document of a kind. */
export type BodyOf<Kind extends TypedKind> = Body & Bodies[Kind];
/** A stored document of one kind, its body checked. */
export interface DocumentOf<Kind extends TypedKind> extends DocumentRecord {
  readonly kind: Kind;
  readonly body: BodyOf<Kind>;
}
/** The stored documents of each kind that is part of the compiled configuration, oldest first. */
export type DocumentLists = { readonly [Kind in ConfiguredKind]: readonly DocumentOf<Kind>[] };
/** A stored document of any kind that is part of the compiled configuration. */
export type ConfiguredDocument = DocumentLists[ConfiguredKind][number];

/**
 * A stored document with its body checked and typed: once, when it is read.
 *
 * @throws {InvariantError} when the body is none of its kind: only checked bodies are ever stored
 */
export function toTypedDocument<Kind extends TypedKind>(kind: Kind, record: DocumentRecord): DocumentOf<Kind> {
  const shape: z.ZodObject = SHAPES[kind];
  const read = z.looseObject(shape.shape).safeParse(record.body);
  invariant(
    read.success,
    `S16: the stored ${kind} ${quoteText(record.id)} is one: ${read.error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ") ?? ""}`,
  );
  return { ...record, kind, body: { ...record.body, ...read.data } as BodyOf<Kind> };
}

/** Whether a price plan, be it given or stored, is or becomes ACTIVE: only the engine sets that status. */
export function isActivePlan({ body: { status } }: DocumentRecord): boolean {
  return status === "ACTIVE";
}

/** The entity that a setting is given for, checked or not (S4.2). */
export function settingOwner({ body: { entityType, entityId } }: DocumentRecord): {
  readonly entityType: unknown;
  readonly entityId: string;
} {
  return { entityType, entityId: String(entityId) };
}
