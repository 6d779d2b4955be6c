import type { PricePlanDetailsInput, PricePlanInput } from "../resources/price-plan.ts";
/**
 * Requests that configure single resources: the book's input without the fields that an engine sets, and patches.
 *
 * @module
 */
import type { Maybe, Patch } from "./common-types.ts";
import type { MigrationRequest } from "./requests.ts";

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
