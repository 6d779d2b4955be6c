/** Price plans: versions and lifecycle (S16.4). */
import * as z from "zod";

import type { PricePlan } from "../../book/resources/price-plan.ts";
import {
  MIGRATION_MODES,
  type PricePlanPatch,
  type PricePlanRequest,
  type PricePlanVersionRequest,
  VERSIONS_TO_MIGRATE,
} from "../../book/resources/requests.ts";
import type { Instant } from "../../calendar/instant.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import type { MigrateRequest } from "../../ledger/commands/migrate.ts";
import type { DocumentRecord } from "../../ledger/decision.ts";
import { invalidInputError, notFoundError, refusedError } from "../../ledger/refusals.ts";
import { quoteText, describeStatus } from "../../problem-table.ts";
import { accountsOnSource, decideMigrations } from "../accounts/plans.ts";
import {
  type ConfigurationChange,
  type ConfigurationState,
  listAllConfigured,
  newDocument,
  requireDocument,
  type StoredResource,
} from "../configured-resources.ts";
import type { Body, DocumentOf } from "../documents.ts";
import {
  type EngineContext,
  ID,
  idMethod,
  IDS,
  method,
  type Methods,
  patchMethod,
  REQUEST,
  textFields,
} from "../methods.ts";
import { addRateRows } from "./rate-rows.ts";
import {
  changeLatest,
  changeStatus,
  checkName,
  createMethod,
  filterMethod,
  getVersionMethod,
  patchDocument,
  requireUserFields,
} from "./resource-methods.ts";

type PlanDocument = DocumentOf<"pricePlan">;
const RULE = "S16.4";

/** A price plan version, and when it was the latest ACTIVE one: `[from, until)`. */
export interface PricePlanVersion extends StoredResource<PricePlan> {
  /** 1970 for the first version, which may be associated in the past; NO_END for a later one that was never ACTIVE. */
  readonly from: Instant;
  /** When the next version became ACTIVE; else NO_END. */
  readonly until: Instant;
}

export const pricePlanMethods = {
  /** Creates version 1, a DRAFT. */
  create: createMethod<"pricePlan", PricePlanRequest>("pricePlan", {
    idPrefix: "pp",
    engineFields: ["id", "status", "version", "mode", "versionsToMigrate", "activatedAt"],
    initialFields: { status: "DRAFT", version: 1 },
    complete: withRequestedCurrencies,
  }),
  /**
   * Changes the latest version, which must be a DRAFT; fields in its pricePlanDetails replace the stored ones. A `mode` is
   * stored for its activation.
   */
  update: patchMethod((context, id, patch: PricePlanPatch) =>
    changeLatest(context, "pricePlan", id, (latest, state) => updatePlan(latest, patch, state)),
  ),
  /** Creates the next version, a DRAFT copied from the latest one. */
  createVersion: method({ id: ID, changes: REQUEST }, (context, id: string, changes: PricePlanVersionRequest = {}) =>
    changeLatest(context, "pricePlan", id, (latest, { now }) => createNextVersion(latest, changes, now)),
  ),
  /** Makes the latest version ACTIVE in addition to older ones; a stored `mode` migrates the accounts of the previous one. */
  activate: method(
    { id: ID, options: z.looseObject({ currencies: IDS.optional() }).optional() },
    async (context, id: string, { currencies }: { readonly currencies?: readonly string[] | undefined } = {}) => {
      const accountIds = await accountsToMigrate(context, id);
      const decide = (latest: PlanDocument, state: ConfigurationState): ConfigurationChange =>
        activatePlan(context, latest, currencies, state);
      return changeLatest(context, "pricePlan", id, decide, accountIds);
    },
  ),
  /**
   * Adds rows to the price table of an ACTIVE version (S18.8), from today or later; rows with a new `when` also from days
   * that no closed cycle covers.
   */
  addRateRows: method({ id: ID, request: REQUEST }, addRateRows),
  /** Archives every ACTIVE or DRAFT version; accounts that have it keep it. */
  archive: idMethod((context, id) =>
    changeLatest(context, "pricePlan", id, (latest, { before, now }) => {
      const isUnarchived = ({ body }: PlanDocument): boolean => body.id === id && body.status !== "ARCHIVED";
      const unarchivedVersions = before.documents.pricePlan.filter(isUnarchived);
      const versions = unarchivedVersions.length === 0 ? [latest] : unarchivedVersions;
      return { documents: versions.map((version) => changeStatus(version, "ARCHIVED", now)) };
    }),
  ),
  /** Reads a version, or the latest one. */
  get: getVersionMethod("pricePlan"),
  /** All versions of a plan, the first one first, each with its period. */
  versions: idMethod(async (context, id) => {
    const versions = await listAllConfigured(context, "pricePlan", ({ body }) => body.id === id);
    if (versions.length === 0) throw notFoundError("price plan", id);
    return withPeriods(versions.toSorted((a, b) => a.item.version - b.item.version));
  }),
  /** The latest version of each plan, newest first. */
  list: filterMethod<PricePlanFilter, "pricePlan">("pricePlan", textFields("status")),
};

interface PricePlanFilter {
  readonly status?: PricePlan["status"] | undefined;
}

/** Price plans of an engine, in the shape of a book's `pricePlans`. */
export interface PricePlans extends Methods<typeof pricePlanMethods> {}

/** @param versions of one plan, the first one first */
function withPeriods(versions: readonly StoredResource<PricePlan>[]): readonly PricePlanVersion[] {
  const starts = versions.map(({ item, input, updatedAt }, place) => {
    const { activatedAt } = input;
    if (place === 0) return 0;
    if (typeof activatedAt === "number") return activatedAt;
    // A version that became ACTIVE before this field existed has not changed since.
    return item.status === "ACTIVE" ? updatedAt : NO_END;
  });
  return versions.map((version, place) => ({
    ...version,
    from: starts[place] ?? NO_END,
    until: starts[place + 1] ?? NO_END,
  }));
}

/** Creates a DRAFT of the version after the latest one, which must not be a DRAFT. */
function createNextVersion(latest: PlanDocument, changes: object, now: Instant): ConfigurationChange {
  const { mode: _mode, versionsToMigrate: _versions, activatedAt: _at, ...body } = latest.body;
  const { id, version, status } = latest.body;
  if (status === "DRAFT") throw refusedError(RULE, `version ${version} of ${quoteText(id)} is a draft; edit it`);
  if (status === "ARCHIVED")
    throw refusedError(RULE, `the price plan ${quoteText(id)} is archived; it cannot have new versions`);
  const input = requireUserFields(changes, ["id", "name", "status", "version", "activatedAt"]);
  checkMigrationFields(input);
  const next = { ...body, ...input, status: "DRAFT", version: version + 1 };
  const document = newDocument("pricePlan", next, now);
  const isRequested = input["pricePlanDetails"] !== undefined && input["pricePlanDetails"] !== null;
  return { documents: [isRequested ? withRequestedCurrencies(document) : withCurrencies(document, undefined)] };
}

function updatePlan(latest: PlanDocument, patch: object, { before, now }: ConfigurationState): ConfigurationChange {
  const engineFields = ["id", "type", "status", "version", "activatedAt"];
  const { pricePlanDetails, mode, versionsToMigrate, ...input } = requireUserFields(patch, engineFields);
  const { id, version, status } = latest.body;
  if (status !== "DRAFT") {
    const subject = `version ${version} of ${quoteText(id)} is ${describeStatus(status)}`;
    throw refusedError(RULE, `${subject}; only a draft can be updated`);
  }
  checkMigrationFields({ mode, versionsToMigrate });
  const next = patchDocument(latest, { ...input, mode, versionsToMigrate }, now);
  checkName(before, "pricePlan", next.body, id);
  if (pricePlanDetails === undefined || pricePlanDetails === null) return { documents: [next] };
  const details = { ...latest, body: latest.body.pricePlanDetails ?? {} };
  const nextDetails = patchDocument(details, requireUserFields(pricePlanDetails, []), now).body;
  return { documents: [withRequestedCurrencies(patchDocument(next, { pricePlanDetails: nextDetails }, now))] };
}

/** @throws {RatebookError} ERR_INPUT_INVALID for an invalid mode or range of migration */
function checkMigrationFields({ mode, versionsToMigrate }: Body): void {
  checkAllowedValue("mode", mode, MIGRATION_MODES);
  checkAllowedValue("versionsToMigrate", versionsToMigrate, VERSIONS_TO_MIGRATE);
}

function checkAllowedValue(field: string, value: unknown, allowedValues: readonly string[]): void {
  if (value === undefined || value === null || allowedValues.some((each) => each === value)) return;
  throw invalidInputError(field, "NOT_SUPPORTED", `expected ${allowedValues.join(", ")}`);
}

function activatePlan(
  context: EngineContext,
  latest: PlanDocument,
  currencies: readonly string[] | undefined,
  { view, now }: ConfigurationState,
): ConfigurationChange {
  const activeVersion = patchDocument(changeStatus(latest, "ACTIVE", now), { activatedAt: now }, now);
  if (currencies !== undefined)
    checkSupported("currencies", currencies, latest.body.pricePlanDetails?.supportedCurrencies);
  const document = currencies === undefined ? activeVersion : withCurrencies(activeVersion, currencies);
  const requests = migrationsOnActivation(latest);
  if (requests.length === 0) return { documents: [document] };
  return {
    documents: [document],
    findAccounts: ({ catalog }) => accountsOnSource({ catalog, view, now }, requests),
    computeFurtherChanges: async ({ catalog }, { workspace }, accountIds) => {
      const { documents } = await decideMigrations(context, { catalog, workspace, now }, accountIds, requests);
      return { documents };
    },
  };
}

/** @throws {RatebookError} ERR_INPUT_INVALID for the first currency that is not supported */
function checkSupported(path: string, currencies: readonly unknown[], supported: unknown): void {
  const supportedCurrencies: readonly unknown[] = Array.isArray(supported) ? supported : [];
  // Any other value is rejected by the checks of the whole plan.
  const isUnknown = (each: unknown): each is string => typeof each === "string" && !supportedCurrencies.includes(each);
  const unknown = currencies.find(isUnknown);
  if (unknown === undefined) return;
  const expected = `expected currencies that the price plan supports, got ${quoteText(unknown)}`;
  throw invalidInputError(path, "NOT_SUPPORTED", expected);
}

/**
 * Sets the activeCurrencies of a DRAFT; an empty list has no effect.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for one that the plan does not support
 */
function withRequestedCurrencies(document: DocumentRecord): DocumentRecord {
  const { pricePlanDetails: details } = document.body;
  const { activeCurrencies: active, supportedCurrencies: supported } = (details ?? {}) as Body;
  // Any other value is rejected by the checks of the whole plan.
  if (!Array.isArray(active)) return document;
  if (active.length === 0) return withCurrencies(document, undefined);
  checkSupported("pricePlanDetails.activeCurrencies", active, supported);
  return document;
}

/** A version with these active currencies; a new one has none until it is activated. */
function withCurrencies(document: DocumentRecord, activeCurrencies: readonly string[] | undefined): DocumentRecord {
  const { pricePlanDetails: details } = document.body;
  // Any other value is rejected by the checks of the whole plan.
  if (typeof details !== "object" || details === null) return document;
  const { activeCurrencies: _, ...otherDetails } = details as Body;
  const pricePlanDetails = activeCurrencies === undefined ? otherDetails : { ...otherDetails, activeCurrencies };
  return { ...document, body: { ...document.body, pricePlanDetails } };
}

/** The migrations on activating a version: from the version before it, or from all of them (S16.4). */
function migrationsOnActivation({
  body: { id, version, mode: migrationMode, versionsToMigrate },
}: PlanDocument): readonly MigrateRequest[] {
  if (migrationMode === undefined || migrationMode === null || version < 2) return [];
  const mode = MIGRATION_MODES.find((each) => each === migrationMode);
  if (mode === undefined) throw invalidInputError("mode", "NOT_SUPPORTED", `expected ${MIGRATION_MODES.join(", ")}`);
  const first = versionsToMigrate === "ALL_VERSION" ? 1 : version - 1;
  return Array.from({ length: version - first }, (_, index) => ({
    sourceId: id,
    sourceVersion: first + index,
    targetId: id,
    targetVersion: version,
    mode,
  }));
}

/** The accounts that migrate when a plan's latest version is activated. */
async function accountsToMigrate(
  { configuration, store, clock }: EngineContext,
  id: string,
): Promise<readonly string[]> {
  const current = await configuration(store.read);
  const requests = migrationsOnActivation(requireDocument(current, "pricePlan", id));
  if (requests.length === 0) return [];
  return accountsOnSource({ catalog: current.catalog, view: store.read, now: clock() }, requests);
}
