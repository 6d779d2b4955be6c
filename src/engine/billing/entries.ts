/** Feature credit entries of accounts, and the balance of a feature (S11). */
import * as z from "zod";

import { readRequest } from "../../book/reading/read-request.ts";
import type { EntryGrantRequest, EntryPatch } from "../../book/resources/requests.ts";
import { dayOf, type Instant } from "../../calendar/instant.ts";
import { inputError } from "../../errors.ts";
import type { AccountState } from "../../ledger/account-state.ts";
import { findAccountPlan } from "../../ledger/account/account-plan.ts";
import { catchUp } from "../../ledger/account/catch-up.ts";
import { matchesId } from "../../ledger/account/record-ids.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { readForEntry, readForGrant } from "../../ledger/commands/entries.ts";
import * as entryCommands from "../../ledger/commands/entries.ts";
import type { EntryRecord } from "../../ledger/records.ts";
import { notFoundError } from "../../ledger/refusals.ts";
import { type Decimal, sum } from "../../numbers/decimal.ts";
import { createProblem } from "../../problem-table.ts";
import { type EngineContext, ID, method, type Methods, PAGED, REQUEST } from "../methods.ts";
import { decideOnAccount, lockAccounts, runOperation } from "../operation.ts";
import { type Page, type PagedOptions, pageKey, selectPage } from "../pages.ts";
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
    catchUp(catalog, account, now);
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
    catchUp(catalog, account, now);
    const inForce = account
      .entries()
      .filter((entry) => entry.featureId === featureId && !entry.voided && isInForce(entry, now));
    return {
      accountId,
      featureId,
      granted: sum(inForce.map(({ granted }) => granted)),
      balance: sum(inForce.map(({ balance }) => balance)),
      ...computeOverage(catalog, account, featureId, now),
    };
  });
}

function isInForce({ effectiveFrom, effectiveUntil }: EntryRecord, now: Instant): boolean {
  return effectiveFrom <= now && now < effectiveUntil;
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
