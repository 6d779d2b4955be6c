/** What accounts are entitled to: feature credit entries and the balance of a feature (S11), and licenses (S10.1). */
import * as z from "zod";

import { readRequest } from "../../book/reading/read-request.ts";
import type { EntryGrantRequest, EntryPatch, LicenseUpdateRequest } from "../../book/resources/requests.ts";
import { type Instant, dayOf } from "../../calendar/instant.ts";
import { inputError } from "../../errors.ts";
import type { AccountState } from "../../ledger/account-state.ts";
import { findAccountPlan } from "../../ledger/account/account-plan.ts";
import { catchUp } from "../../ledger/account/catch-up.ts";
import { matchesId } from "../../ledger/account/record-ids.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import * as entryCommands from "../../ledger/commands/entries.ts";
import { readForEntry, readForGrant } from "../../ledger/commands/entries.ts";
import * as licenseCommands from "../../ledger/commands/licenses.ts";
import type { AccountRecord, EntryRecord, LicenseUpdateRecord } from "../../ledger/records.ts";
import { notFoundError } from "../../ledger/refusals.ts";
import { type Decimal, sum } from "../../numbers/decimal.ts";
import { createProblem } from "../../problem-table.ts";
import { quantityAt } from "../../rating/license-timeline.ts";
import { accountsWithinBound } from "../all-accounts.ts";
import {
  ACCOUNT_REQUEST,
  type EngineContext,
  ID,
  type Methods,
  PAGED,
  REQUEST,
  listMethod,
  method,
  textFields,
} from "../methods.ts";
import { decideOnAccount, lockAccounts, runOperation } from "../operation.ts";
import { type Page, type PageOptions, type PagedOptions, collectPage, pageKey, selectPage } from "../pages.ts";
import { projectAccount } from "../projected-accounts.ts";

/** A feature credit entry as reads return it (S11.2). */
export type EntrySnapshot = Omit<EntryRecord, "spentAtBefore"> & { readonly status: "ACTIVE" | "EXPIRED" | "VOIDED" };

/** A feature of an account. */
export interface FeatureTarget {
  readonly accountId: string;
  readonly featureId: string;
}

/** An entry; `featureId`, if present, must be the entry's. */
export interface EntryTarget {
  readonly accountId: string;
  readonly entryId: string;
  readonly featureId?: string;
}

/** The current balance of a feature (S11). */
export interface FeatureBalance extends FeatureTarget {
  /** The total of the entries that can be spent now. */
  readonly granted: Decimal;
  readonly balance: Decimal;
  /** Absent without an overage card in force, or without a limit. */
  readonly overageLimit?: Decimal;
  /** In the current billing window; absent without an overage card in force. */
  readonly usedOverage?: Decimal;
}

const OF_FEATURE = { of: z.looseObject({ accountId: ID, featureId: ID }) };
const OF_ENTRY = { of: z.looseObject({ accountId: ID, entryId: ID, featureId: ID.optional() }) };

export const entryMethods = {
  /** Grants an entry of source PURCHASE. */
  grant: method({ ...OF_FEATURE, request: REQUEST }, grantEntry),
  /** Changes its granted quantity and its end (S11.8). */
  update: method({ ...OF_ENTRY, patch: REQUEST }, updateEntry),
  void: method(OF_ENTRY, voidEntry),
  /** Including those due by now, newest first. */
  list: method({ ...OF_FEATURE, ...PAGED }, listEntries),
  /** The current balance of a feature. */
  balance: method(OF_FEATURE, featureBalance),
};

/** Feature credit entries of accounts (S11). */
export interface Entries extends Methods<typeof entryMethods> {}

async function grantEntry(
  context: EngineContext,
  { accountId, featureId }: FeatureTarget,
  input: EntryGrantRequest,
): Promise<EntrySnapshot> {
  const request = { ...readRequest("entryGrant", input), featureId };
  return runOperation(context, {
    scope: lockAccounts([accountId]),
    async decide({ catalog, view, workspace, now }) {
      const account = workspace.account(accountId);
      await readForGrant(catalog, view, account, { ...request, quantity: request.granted }, now);
      const entry = entryCommands.grantEntry(catalog, account, request, now, context.ids);
      return { result: toEntrySnapshot(entry, now) };
    },
  });
}

async function updateEntry(
  context: EngineContext,
  { accountId, entryId, featureId }: EntryTarget,
  input: EntryPatch,
): Promise<EntrySnapshot> {
  const change = readRequest("entryPatch", input);
  if ((change.granted ?? undefined) === undefined && (change.effectiveUntil ?? undefined) === undefined) {
    throw inputError([createProblem("$.granted", "MISSING", { expected: "granted or effectiveUntil" })]);
  }
  return runOperation(context, {
    scope: lockAccounts([accountId]),
    async decide({ catalog, view, workspace, now }) {
      const account = workspace.account(accountId);
      const lastSpent = await readForEntry(catalog, view, account, { entryId, ...change }, now);
      checkEntryAccount(catalog, account, entryId, featureId, now);
      const entry = entryCommands.patchEntry(catalog, account, { entryId, lastSpent }, change, now);
      return { result: toEntrySnapshot(entry, now) };
    },
  });
}

async function voidEntry(
  context: EngineContext,
  { accountId, entryId, featureId }: EntryTarget,
): Promise<EntrySnapshot> {
  return decideOnAccount(context, accountId, (catalog, account, now) => {
    checkEntryAccount(catalog, account, entryId, featureId, now);
    return toEntrySnapshot(entryCommands.voidEntry(catalog, account, entryId, now), now);
  });
}

async function listEntries(
  context: EngineContext,
  { accountId, featureId }: FeatureTarget,
  { page = {} }: PagedOptions = {},
): Promise<Page<EntrySnapshot>> {
  return projectAccount(context, accountId, function* (catalog, account, now) {
    yield;
    checkFeature(catalog, featureId);
    const entries = account
      .entries()
      .flatMap((entry) => (entry.featureId === featureId ? [toEntrySnapshot(entry, now)] : []));
    return selectPage(entries, page, pageKey);
  });
}

async function featureBalance(
  context: EngineContext,
  { accountId, featureId }: FeatureTarget,
): Promise<FeatureBalance> {
  return projectAccount(context, accountId, function* (catalog, account, now) {
    yield;
    checkFeature(catalog, featureId);
    const inForce = account
      .entries()
      .filter(
        (entry) =>
          entry.featureId === featureId && !entry.voided && entry.effectiveFrom <= now && now < entry.effectiveUntil,
      );
    return {
      accountId,
      featureId,
      granted: sum(inForce.map(({ granted }) => granted)),
      balance: sum(inForce.map(({ balance }) => balance)),
      ...computeOverage(catalog, account, featureId, now),
    };
  });
}

function computeOverage(
  catalog: Catalog,
  account: AccountState,
  featureId: string,
  now: Instant,
): Pick<FeatureBalance, "overageLimit" | "usedOverage"> {
  const limit = findAccountPlan(catalog, account.record).lookup.overageAt(featureId, now, now);
  if (limit === undefined) return {};
  const usedOverage = account.overage(featureId, dayOf(limit.window.start), dayOf(limit.window.end));
  return { ...(limit.maxQuantity ? { overageLimit: limit.maxQuantity } : {}), usedOverage };
}

/** Expired entries are not stored as such: EXPIRED is computed when read (S11.2). */
function toEntrySnapshot({ spentAtBefore: _internal, ...entry }: EntryRecord, now: Instant): EntrySnapshot {
  const status = entry.voided ? "VOIDED" : entry.effectiveUntil <= now ? "EXPIRED" : "ACTIVE";
  return { ...entry, status };
}

/** Checks that the entry exists, including those due by now, and belongs to the requested feature. */
function checkEntryAccount(
  catalog: Catalog,
  account: AccountState,
  entryId: string,
  featureId: string | undefined,
  now: Instant,
): void {
  if (featureId === undefined) return;
  checkFeature(catalog, featureId);
  catchUp(catalog, account, now);
  const entry = account.entries().find(({ id }) => matchesId(account.record.id, id, entryId));
  if (entry?.featureId !== featureId) throw notFoundError("feature credit entry", entryId);
}

function checkFeature({ book }: Catalog, featureId: string): void {
  if (!book.features.some(({ id }) => id === featureId)) throw notFoundError("feature", featureId);
}

/** A license update with its account. */
export type LicenseUpdateSnapshot = LicenseUpdateRecord & {
  readonly accountId: string;
  /** In effect right after the update, without updates that were made later. */
  readonly quantityAfter: Decimal;
};

export const licenseMethods = {
  update: method(ACCOUNT_REQUEST, updateLicense),
  /** Newest first. */
  list: listMethod(textFields("accountId", "licenseId"), listLicenseUpdates),
};

/** Licenses of accounts (S10.1). */
export interface Licenses extends Methods<typeof licenseMethods> {}

async function updateLicense(
  context: EngineContext,
  accountId: string,
  input: LicenseUpdateRequest,
): Promise<licenseCommands.LicenseUpdateResult> {
  const request = readRequest("licenseUpdate", input);
  return decideOnAccount(context, accountId, (catalog, account, now) =>
    licenseCommands.updateLicense(catalog, account, request, now, context.ids),
  );
}

/**
 * @throws {RatebookError} ERR_INPUT_INVALID without an account, if there are more than {@link SCANNED_ACCOUNTS_MAX}:
 * updates are stored with their accounts
 */
async function listLicenseUpdates(
  { store }: EngineContext,
  { accountId, licenseId }: { readonly accountId?: string | undefined; readonly licenseId?: string | undefined },
  options: PageOptions,
): Promise<Page<LicenseUpdateSnapshot>> {
  const collector = collectPage<LicenseUpdateRecord & { readonly account: AccountRecord }>(options, pageKey);
  const records =
    accountId === undefined
      ? accountsWithinBound(store.read, "accountId", "license updates", "the id of an account")
      : await store.read.accounts([accountId]);
  for await (const account of records) {
    for (const update of account.licenseUpdates) {
      if (licenseId === undefined || update.licenseId === licenseId) collector.offer({ ...update, account });
    }
  }
  const { items, ...more } = collector.page();
  const updates = items.map(({ account, ...update }) => ({
    ...update,
    accountId: account.id,
    quantityAfter: quantityAfter(account, update),
  }));
  return { items: updates, ...more };
}

/** The quantity that was returned when the update was made: updates made later do not change it. */
function quantityAfter(
  { licenseUpdates }: AccountRecord,
  { id, licenseId, effectiveFrom }: LicenseUpdateRecord,
): Decimal {
  const updatesUntilThen = licenseUpdates.slice(0, licenseUpdates.findIndex((each) => each.id === id) + 1);
  return quantityAt(
    updatesUntilThen.filter((each) => each.licenseId === licenseId),
    effectiveFrom,
  );
}
