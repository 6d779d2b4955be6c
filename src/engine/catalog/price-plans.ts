/**
 * Price plans: their versions and their lifecycle (S16.4).
 *
 * @module
 */
import type { PricePlanPatch, PricePlanRequest, PricePlanVersionRequest } from "../../book/model/catalog-requests.ts";
import type { PricePlan } from "../../book/model/price-plan.ts";
import { MIGRATION_MODES, VERSIONS_TO_MIGRATE } from "../../book/requests/requests.ts";
import type { Instant } from "../../calendar/instant.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import { isOnSource, type MigrateRequest } from "../../ledger/commands/migrate.ts";
import type { DocumentRecord } from "../../ledger/decision.ts";
import { invalidInput, notFound, quoted, refused } from "../../ledger/refusals.ts";
import { accountIdsWhere } from "../account-lists.ts";
import { migrateIn } from "../accounts/plans.ts";
import {
  allConfigured,
  changeConfigured,
  checkGiven,
  checkName,
  type ConfigurationChange,
  type Configuring,
  getConfigured,
  listConfigured,
  moved,
  addedDocument,
  newDocument,
  patched,
  type Stored,
} from "../configured.ts";
import type { EngineContext } from "../context.ts";
import type { Body } from "../document-body.ts";
import type { DocumentOf } from "../documents.ts";
import type { ListOptions, Page } from "../pages.ts";
import { firstVersions, latestOf, latestVersions, versionNamed } from "./versions.ts";

type PlanDocument = DocumentOf<"pricePlan">;
const WORDS = { nameOf: ({ body }: PlanDocument) => body.id, what: "price plan", rule: "S16.4" } as const;

/** A version of a price plan, and when it was the latest ACTIVE one: `[from, until)`. */
export interface PricePlanVersion extends Stored<PricePlan> {
  /** 1970 for the first version, which an association in the past may have; no end for a later one that was never ACTIVE. */
  readonly from: Instant;
  /** When the next version became ACTIVE; else no end. */
  readonly until: Instant;
}

/** Price plans of an engine. What is given has the shape of a book's `pricePlans`. */
export interface PricePlans {
  /** Version 1, a DRAFT. */
  create(plan: PricePlanRequest): Promise<Stored<PricePlan>>;
  /**
   * Changes the latest version, which must be a DRAFT; keys given in pricePlanDetails replace, others stay. A `mode` is
   * kept for when the version is activated.
   */
  update(id: string, patch: PricePlanPatch): Promise<Stored<PricePlan>>;
  /** The next version, a DRAFT made of the latest one. */
  createVersion(id: string, changes?: PricePlanVersionRequest): Promise<Stored<PricePlan>>;
  /** The latest version becomes ACTIVE beside the older ones; a kept `mode` moves the accounts of the previous one. */
  activate(id: string, options?: { readonly currencies?: readonly string[] | undefined }): Promise<Stored<PricePlan>>;
  /** Every version that is ACTIVE or a DRAFT; accounts that have it keep it. */
  archive(id: string): Promise<Stored<PricePlan>>;
  /** A version, or the latest one. */
  get(id: string, version?: number): Promise<Stored<PricePlan>>;
  /** All versions of one, the first one first, each with its period. */
  versions(id: string): Promise<readonly PricePlanVersion[]>;
  /** The latest version of each, newest first. */
  list(options?: ListOptions<{ readonly status?: PricePlan["status"] | undefined }>): Promise<Page<Stored<PricePlan>>>;
}

/** Makes the price plans of an engine. */
export function pricePlansOf(context: EngineContext): PricePlans {
  const change = (
    id: string,
    decide: (latest: PlanDocument, configuring: Configuring) => ConfigurationChange,
    accountIds: readonly string[] = [],
  ): Promise<Stored<PricePlan>> =>
    changeConfigured(
      context,
      "pricePlan",
      (configuring) => decide(latestOf(configuring.before.documents.pricePlan, id, WORDS), configuring),
      accountIds,
    );
  return {
    create: (plan) =>
      changeConfigured(context, "pricePlan", ({ before, now }) => {
        const given = checkGiven(plan, ["id", "status", "version", "mode", "versionsToMigrate", "activatedAt"]);
        checkName(before.documents.pricePlan, WORDS, given);
        const own = { id: context.ids("pp"), status: "DRAFT", version: 1 };
        return { documents: [withAskedCurrencies(addedDocument(before, "pricePlan", { ...given, ...own }, now))] };
      }),
    update: (id, patch) => change(id, (latest, configuring) => updatedIn(latest, patch, configuring)),
    createVersion: (id, changes = {}) => change(id, (latest, { now }) => nextVersionOf(latest, changes, now)),
    activate: async (id, { currencies } = {}) => {
      const locks = await toMigrate(context, id);
      return change(id, (latest, configuring) => activatedIn(context, latest, currencies, configuring), locks);
    },
    archive: (id) =>
      change(id, (latest, { before, now }) => {
        const versions = before.documents.pricePlan.filter(({ body }) => body.id === id);
        const left = versions.filter(({ body }) => body.status !== "ARCHIVED");
        if (left.length === 0) moved(latest, WORDS, ARCHIVING, "ARCHIVED", now);
        return { documents: left.map((version) => moved(version, WORDS, ARCHIVING, "ARCHIVED", now)) };
      }),
    get: (id, version) =>
      getConfigured(context, "pricePlan", (documents) =>
        version === undefined ? latestOf(documents, id, WORDS) : versionNamed(documents, id, version, WORDS),
      ),
    versions: async (id) => {
      const stored = await allConfigured(context, "pricePlan", ({ body }) => body.id === id);
      if (stored.length === 0) throw notFound(WORDS.what, id);
      return withPeriods(stored.toSorted((a, b) => a.item.version - b.item.version));
    },
    list: ({ filter: { status } = {}, page = {} } = {}) =>
      listConfigured(
        context,
        "pricePlan",
        (documents) =>
          latestVersions(documents, WORDS).filter(({ body }) => status === undefined || body.status === status),
        page,
        firstVersions(WORDS),
      ),
  };
}

/** @param versions of one plan, the first one first */
function withPeriods(versions: readonly Stored<PricePlan>[]): readonly PricePlanVersion[] {
  const starts = versions.map(({ item, given, updatedAt }, place) => {
    const { activatedAt } = given;
    if (place === 0) return 0;
    if (typeof activatedAt === "number") return activatedAt;
    // A version that became ACTIVE before this was kept has not changed since.
    return item.status === "ACTIVE" ? updatedAt : NO_END;
  });
  return versions.map((version, place) => ({
    ...version,
    from: starts[place] ?? NO_END,
    until: starts[place + 1] ?? NO_END,
  }));
}

/** A DRAFT of the version after the latest one, which must be in use. */
function nextVersionOf(latest: PlanDocument, changes: object, now: Instant): ConfigurationChange {
  const { mode: _mode, versionsToMigrate: _versions, activatedAt: _at, ...body } = latest.body;
  const { id, version, status } = latest.body;
  if (status === "DRAFT") {
    throw refused(WORDS.rule, `version ${version} of ${quoted(id)} is a DRAFT: change that one`);
  }
  if (status === "ARCHIVED") {
    throw refused(WORDS.rule, `the price plan ${quoted(id)} is ARCHIVED: it has no new versions`);
  }
  const given = checkGiven(changes, ["id", "name", "status", "version", "activatedAt"]);
  checkMigrationFields(given);
  const next = { ...body, ...given, status: "DRAFT", version: version + 1 };
  const document = newDocument("pricePlan", next, now);
  const isAsked = given["pricePlanDetails"] !== undefined && given["pricePlanDetails"] !== null;
  return { documents: [isAsked ? withAskedCurrencies(document) : withCurrencies(document, undefined)] };
}

const ARCHIVING = { ARCHIVED: ["DRAFT", "ACTIVE"] } as const;

function updatedIn(latest: PlanDocument, patch: object, { before, now }: Configuring): ConfigurationChange {
  const { pricePlanDetails, mode, versionsToMigrate, ...given } = checkGiven(patch, [
    "id",
    "type",
    "status",
    "version",
    "activatedAt",
  ]);
  const { id, version, status } = latest.body;
  if (status !== "DRAFT") {
    throw refused(WORDS.rule, `version ${version} of ${quoted(id)} is ${status}: only a DRAFT can be updated`);
  }
  checkMigrationFields({ mode, versionsToMigrate });
  const next = patched(latest, { ...given, mode, versionsToMigrate }, now);
  checkName(before.documents.pricePlan, WORDS, next.body, ({ body }) => body.id === id);
  if (pricePlanDetails === undefined || pricePlanDetails === null) return { documents: [next] };
  const details = { ...latest, body: latest.body.pricePlanDetails ?? {} };
  const changed = patched(details, checkGiven(pricePlanDetails, []), now).body;
  return { documents: [withAskedCurrencies(patched(next, { pricePlanDetails: changed }, now))] };
}

/** @throws {RatebookError} ERR_INPUT_INVALID for a mode or range of migration that is none */
function checkMigrationFields({ mode, versionsToMigrate }: Body): void {
  checkOneOf("mode", mode, MIGRATION_MODES);
  checkOneOf("versionsToMigrate", versionsToMigrate, VERSIONS_TO_MIGRATE);
}

function checkOneOf(field: string, value: unknown, known: readonly string[]): void {
  if (value === undefined || value === null || known.some((each) => each === value)) return;
  throw invalidInput(field, `expected ${known.join(", ")}`);
}

function activatedIn(
  context: EngineContext,
  latest: PlanDocument,
  currencies: readonly string[] | undefined,
  { view, now }: Configuring,
): ConfigurationChange {
  const active = patched(moved(latest, WORDS, { ACTIVE: ["DRAFT"] }, "ACTIVE", now), { activatedAt: now }, now);
  const document = currencies === undefined ? active : withCurrencies(active, checkedCurrencies(latest, currencies));
  const requests = migrationsOf(latest);
  if (requests.length === 0) return { documents: [document] };
  return {
    documents: [document],
    also: async ({ catalog }) => (await migrateIn(context, { catalog, view, now }, requests)).changes,
  };
}

/** @throws {RatebookError} ERR_INPUT_INVALID for a currency that the plan does not support */
function checkedCurrencies({ body }: PlanDocument, currencies: readonly string[]): readonly string[] {
  const supported = body.pricePlanDetails?.supportedCurrencies ?? [];
  const unknown = currencies.find((currency) => !supported.includes(currency));
  if (unknown === undefined) return currencies;
  throw invalidInput("currencies", `expected currencies that the price plan supports, got ${quoted(unknown)}`);
}

/**
 * A DRAFT whose activeCurrencies are some that it supports; an empty list says nothing.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for one that it does not support
 */
function withAskedCurrencies(document: DocumentRecord): DocumentRecord {
  const { pricePlanDetails: details } = document.body;
  const { activeCurrencies: active, supportedCurrencies: supported } = (details ?? {}) as Body;
  // A value that is no list of texts is refused by the checks of the whole plan.
  if (!Array.isArray(active)) return document;
  if (active.length === 0) return withCurrencies(document, undefined);
  const known: readonly unknown[] = Array.isArray(supported) ? supported : [];
  const currencies: readonly unknown[] = active;
  const unknown = currencies.find((each): each is string => typeof each === "string" && !known.includes(each));
  if (unknown === undefined) return document;
  const expected = `expected currencies that the price plan supports, got ${quoted(unknown)}`;
  throw invalidInput("pricePlanDetails.activeCurrencies", expected);
}

/** A version with these active currencies; a new one has none until it is activated. */
function withCurrencies(document: DocumentRecord, activeCurrencies: readonly string[] | undefined): DocumentRecord {
  const { pricePlanDetails: given } = document.body;
  // A value that is no object is refused by the checks of the whole plan.
  if (typeof given !== "object" || given === null) return document;
  const { activeCurrencies: _, ...details } = given as Body;
  const pricePlanDetails = activeCurrencies === undefined ? details : { ...details, activeCurrencies };
  return { ...document, body: { ...document.body, pricePlanDetails } };
}

/** The migrations that activating a version makes: from the version before it, or from all of them (S16.4). */
function migrationsOf({
  body: { id, version, mode: given, versionsToMigrate },
}: PlanDocument): readonly MigrateRequest[] {
  if (given === undefined || given === null || version < 2) return [];
  const mode = MIGRATION_MODES.find((each) => each === given);
  if (mode === undefined) throw invalidInput("mode", `expected ${MIGRATION_MODES.join(", ")}`);
  const first = versionsToMigrate === "ALL_VERSION" ? 1 : version - 1;
  return Array.from({ length: version - first }, (_, index) => ({
    sourceId: id,
    sourceVersion: first + index,
    targetId: id,
    targetVersion: version,
    mode,
  }));
}

/** The accounts that activating a plan's latest version moves. */
async function toMigrate({ configuration, store, clock }: EngineContext, id: string): Promise<readonly string[]> {
  const { catalog, documents } = await configuration(store.read);
  const requests = migrationsOf(latestOf(documents.pricePlan, id, WORDS));
  if (requests.length === 0) return [];
  return accountIdsWhere(store.read, (record) =>
    requests.some((request) => isOnSource(catalog, record, request, clock())),
  );
}
