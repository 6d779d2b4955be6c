/**
 * Requests that configure single resources: the book's input without the fields that an engine sets, and patches.
 *
 * @module
 */
import type { AddOnInput, FeatureInput, SettingInput } from "./catalog-items.ts";
import type { Maybe, Patch } from "./common-types.ts";
import type { EventSchemaInput, LifecycleStatus } from "./metering.ts";
import type { PricePlanDetailsInput, PricePlanInput } from "./price-plan.ts";
import type { MigrationRequest } from "./requests.ts";

/** A new setting (S4.2). */
export type SettingRequest = SettingInput;
/** Changes of a setting. */
export type SettingPatch = Patch<Pick<SettingInput, "name" | "dataType" | "value">>;

/** A new event schema: a DRAFT (S4.4). */
export type EventSchemaRequest = Omit<EventSchemaInput, "version" | "status">;
/** Changes of an event schema, and its new status (S4.4). */
export type EventSchemaPatch = Patch<Omit<EventSchemaInput, "name" | "version" | "status">> & {
  /** The new status; not DRAFT. Default: unchanged. */
  readonly status?: Maybe<LifecycleStatus>;
};

/** A new feature, with a generated id. */
export type FeatureRequest = Omit<FeatureInput, "id" | "createdAt" | "updatedAt">;
/** Changes of a feature; its associations are replaced. */
export type FeaturePatch = Patch<FeatureRequest>;

/** A new add-on, with a generated id. */
export type AddOnRequest = Omit<AddOnInput, "id" | "status" | "createdAt">;
/** Changes of an add-on. */
export type AddOnPatch = Patch<Omit<AddOnRequest, "type">>;

/** The accounts that migrate when a version is activated (S16.4). */
interface MigrationFields {
  /** How accounts of older versions migrate when the version is activated; default: they do not. */
  readonly mode?: Maybe<MigrationRequest["mode"]>;
  /** Accounts of the previous version, or of all; default LATEST_VERSION. */
  readonly versionsToMigrate?: Maybe<"LATEST_VERSION" | "ALL_VERSION">;
}
/** A new price plan: version 1, a DRAFT, with a generated id (S16.4). */
export type PricePlanRequest = Omit<PricePlanInput, "id" | "status" | "version">;
/** Changes of a DRAFT. */
export interface PricePlanPatch extends Patch<Pick<PricePlanInput, "name" | "description">>, MigrationFields {
  /** Replaces the given fields of the draft; others stay. */
  readonly pricePlanDetails?: Maybe<PricePlanDetailsInput>;
}
/** Changes in the next version of a plan; details are given completely. */
export interface PricePlanVersionRequest extends Patch<Pick<PricePlanInput, "description" | "type">>, MigrationFields {
  /** The prices of the new version; default those of the latest one. */
  readonly pricePlanDetails?: PricePlanDetailsInput | undefined;
}
