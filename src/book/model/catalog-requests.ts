/**
 * Requests that configure resources one by one: those of a book without the fields that an engine sets itself, and their patches.
 *
 * @module
 */
import type { AddOnInput, FeatureInput, SettingInput } from "./catalog-items.ts";
import type { Maybe } from "./common-types.ts";
import type { EventSchemaInput, LifecycleStatus, UsageMeterInput } from "./metering.ts";
import type { PricePlanDetailsInput, PricePlanInput } from "./price-plan.ts";
import type { MigrationRequest } from "./requests.ts";

/** Fields of which some are given; what is left out stays, null clears. */
type Patch<Resource> = { readonly [Field in keyof Resource]?: Maybe<Resource[Field]> };

/** A setting to be made (S4.2). */
export type SettingRequest = SettingInput;
/** What changes of a setting. */
export type SettingPatch = Patch<Pick<SettingInput, "name" | "dataType" | "value">>;

/** An event schema to be made: a DRAFT (S4.4). */
export type EventSchemaRequest = Omit<EventSchemaInput, "version" | "status">;
/** What changes of an event schema, and where it is moved then (S4.4). */
export type EventSchemaPatch = Patch<Omit<EventSchemaInput, "name" | "version" | "status">> & {
  /** Where it is moved; a DRAFT cannot come back. Default: it stays what it is. */
  readonly status?: Maybe<LifecycleStatus>;
};

/** A usage meter to be made: a DRAFT, with an id of the engine's (S5.4). */
export type UsageMeterRequest = Omit<UsageMeterInput, "id" | "status">;
/** What changes of a usage meter: of one that is no DRAFT only name, billableName and description. */
export type UsageMeterPatch = Patch<UsageMeterRequest>;

/** A feature to be made, with an id of the engine's. */
export type FeatureRequest = Omit<FeatureInput, "id" | "createdAt" | "updatedAt">;
/** What changes of a feature; its associations are replaced. */
export type FeaturePatch = Patch<FeatureRequest>;

/** An add-on to be made, with an id of the engine's. */
export type AddOnRequest = Omit<AddOnInput, "id" | "status" | "createdAt">;
/** What changes of an add-on. */
export type AddOnPatch = Patch<Omit<AddOnRequest, "type">>;

/** Which accounts activating a version moves to it (S16.4). */
interface MigrationFields {
  /** How accounts of older versions are moved when the version is activated; default none is. */
  readonly mode?: Maybe<MigrationRequest["mode"]>;
  /** Those of the version before it, or of all; default LATEST_VERSION. */
  readonly versionsToMigrate?: Maybe<"LATEST_VERSION" | "ALL_VERSION">;
}
/** A price plan to be made: version 1, a DRAFT, with an id of the engine's (S16.4). */
export type PricePlanRequest = Omit<PricePlanInput, "id" | "status" | "version">;
/** What changes of a DRAFT; the fields of its details that are given replace, others stay. */
export interface PricePlanPatch extends Patch<Pick<PricePlanInput, "name" | "description">>, MigrationFields {
  /** The fields that are given replace those of the draft, others stay. */
  readonly pricePlanDetails?: Maybe<PricePlanDetailsInput>;
}
/** What is other in the next version of a plan: details are given whole. */
export interface PricePlanVersionRequest extends Patch<Pick<PricePlanInput, "description" | "type">>, MigrationFields {
  /** What the new version costs; default what the latest one costs. */
  readonly pricePlanDetails?: PricePlanDetailsInput | undefined;
}
