/**
 * The holdings of accounts: licenses, feature credit entries and monetary credits (S10, S11, S12).
 *
 * @module
 */
import type { CreditRequest, EntryGrantRequest, EntryPatch, LicenseUpdateRequest } from "../../book/model/requests.ts";
import { readRequest } from "../../book/requests/requests.ts";
import type { Instant } from "../../calendar/instant.ts";
import { dayOf } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import { planOf } from "../../ledger/account/account-plan.ts";
import { billOf } from "../../ledger/account/bill.ts";
import { catchUp } from "../../ledger/account/catch-up.ts";
import { isNamed, isShortId } from "../../ledger/account/due-ids.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import * as creditCommands from "../../ledger/commands/credits.ts";
import { type CreditShown, creditsShown } from "../../ledger/commands/credits.ts";
import * as entryCommands from "../../ledger/commands/entries.ts";
import type { EntryChange } from "../../ledger/commands/entries.ts";
import { readForEntry, readForGrant } from "../../ledger/commands/entry-reads.ts";
import * as licenseCommands from "../../ledger/commands/licenses.ts";
import type { LicenseUpdated } from "../../ledger/commands/licenses.ts";
import type { AccountRecord, CreditRecord, EntryRecord, LicenseUpdateRecord } from "../../ledger/records.ts";
import { invalidInput, notFound } from "../../ledger/refusals.ts";
import { type AccountWork, openWorkspace } from "../../ledger/workspace.ts";
import { type Decimal, sum } from "../../numbers/decimal.ts";
import { quantityAt } from "../../rating/license-timeline.ts";
import { accountsNamedIn, accountsUncharted, accountsWithinBound } from "../account-lists.ts";
import { decideOnAccount, decideOnAccounts, type EngineContext } from "../context.ts";
import { lookAtAccount } from "../looks.ts";
import { collectPage, type Page, pageAmong, type PageOptions } from "../pages.ts";
import { collectSkipped, eachAlone } from "./skipped-accounts.ts";

/** A license update with the account that it is of. */
export type LicenseUpdateShown = LicenseUpdateRecord & {
  readonly accountId: string;
  /** In effect right after it, by the updates that had arrived. */
  readonly quantityAfter: Decimal;
};

/** A feature credit entry as a read shows it (S11.2). */
export type EntryShown = Omit<EntryRecord, "spentAtBefore"> & { readonly status: "ACTIVE" | "EXPIRED" | "VOIDED" };

/** Which entry is meant; the feature, where it is given, must be the entry's. */
export interface EntryTarget {
  readonly accountId: string;
  readonly entryId: string;
  readonly featureId?: string;
}

/** The balance of a feature that an account has now (S11). */
export interface FeatureBalance {
  readonly accountId: string;
  readonly featureId: string;
  /** Over the entries that may be spent now. */
  readonly granted: Decimal;
  readonly balance: Decimal;
  /** Absent: no overage card is in force, or it has no limit. */
  readonly overageLimit?: Decimal;
  /** In the billing window of now; absent where no overage card is in force. */
  readonly usedOverage?: Decimal;
}

/** Changes the quantity of a license (S10.1). */
export async function updateLicense(
  context: EngineContext,
  accountId: string,
  input: LicenseUpdateRequest,
): Promise<LicenseUpdated> {
  const { effectiveFrom, idempotencyKey, ...asked } = readRequest("licenseUpdate", input);
  const request = {
    ...asked,
    effectiveFrom: effectiveFrom ?? undefined,
    idempotencyKey: idempotencyKey ?? undefined,
  };
  return decideOnAccount(context, accountId, (catalog, work, now) =>
    licenseCommands.updateLicense(catalog, work, request, now, context.ids),
  );
}

/**
 * License updates, newest first.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID without an account, where there are more than {@link WALKED_ACCOUNTS_MAX}:
 * updates are kept with their accounts
 */
export async function listLicenseUpdates(
  { store }: EngineContext,
  { accountId, licenseId }: { readonly accountId?: string | undefined; readonly licenseId?: string | undefined },
  options: PageOptions,
): Promise<Page<LicenseUpdateShown>> {
  const found = collectPage<LicenseUpdateRecord & { readonly account: AccountRecord }>(
    options,
    ({ createdAt, id }) => ({
      createdAt,
      id,
    }),
  );
  const records =
    accountId === undefined
      ? accountsWithinBound(store.read, "accountId", "license updates", "the id of an account")
      : await store.read.accounts([accountId]);
  for await (const account of records) {
    for (const update of account.licenseUpdates) {
      if (licenseId === undefined || update.licenseId === licenseId) found.offer({ ...update, account });
    }
  }
  const { items, ...more } = found.page();
  const shown = items.map(({ account, ...update }) => ({
    ...update,
    accountId: account.id,
    quantityAfter: quantityAfter(account, update),
  }));
  return { items: shown, ...more };
}

/** The quantity that was answered when the update was made: by those of its license that had arrived. */
function quantityAfter(
  { licenseUpdates }: AccountRecord,
  { id, licenseId, effectiveFrom }: LicenseUpdateRecord,
): Decimal {
  const arrived = licenseUpdates.slice(0, licenseUpdates.findIndex((each) => each.id === id) + 1);
  return quantityAt(
    arrived.filter((each) => each.licenseId === licenseId),
    effectiveFrom,
  );
}

/** Grants an entry of source PURCHASE (S11). */
export async function grantEntry(
  context: EngineContext,
  { accountId, featureId }: { readonly accountId: string; readonly featureId: string },
  input: EntryGrantRequest,
): Promise<EntryShown> {
  const { idempotencyKey, ...asked } = readRequest("entryGrant", input);
  const request = { ...asked, featureId, idempotencyKey: idempotencyKey ?? undefined };
  const { store, clock, configuration } = context;
  return store.transact({ configuration: "shared", accountIds: [accountId], eventIds: [] }, async (view) => {
    const { catalog } = await configuration(view);
    const now = clock();
    const [record] = await view.accounts([accountId]);
    const room = { ...request, quantity: request.granted };
    const read = record && (await readForGrant(catalog, view, record, room, now));
    if (read === undefined) throw notFound("account", accountId);
    const workspace = openWorkspace([read]);
    const entry = entryCommands.grantEntry(catalog, workspace.account(accountId), request, now, context.ids);
    return { result: entryShown(entry, now), changes: workspace.changes() };
  });
}

/** Changes an entry (S11.8). */
export async function updateEntry(
  context: EngineContext,
  { accountId, entryId, featureId }: EntryTarget,
  input: EntryPatch,
): Promise<EntryShown> {
  const { granted, effectiveUntil } = readRequest("entryPatch", input);
  const change: EntryChange = { granted: granted ?? undefined, effectiveUntil: effectiveUntil ?? undefined };
  if (change.granted === undefined && change.effectiveUntil === undefined) {
    throw invalidInput("granted", "missing: expected granted or effectiveUntil");
  }
  const { store, clock, configuration } = context;
  return store.transact({ configuration: "shared", accountIds: [accountId], eventIds: [] }, async (view) => {
    const { catalog } = await configuration(view);
    const now = clock();
    const [record] = await view.accounts([accountId]);
    const read = record && (await readForEntry(catalog, view, record, { entryId, ...change }, now));
    if (read === undefined) throw notFound("account", accountId);
    const workspace = openWorkspace([read.account]);
    const work = workspace.account(accountId);
    checkEntryOf(catalog, work, entryId, featureId, now);
    const entry = entryCommands.patchEntry(catalog, work, { entryId, lastSpent: read.lastSpent }, change, now);
    return { result: entryShown(entry, now), changes: workspace.changes() };
  });
}

/** Voids an entry (S11.8). */
export async function voidEntry(
  context: EngineContext,
  { accountId, entryId, featureId }: EntryTarget,
): Promise<EntryShown> {
  return decideOnAccount(context, accountId, (catalog, work, now) => {
    checkEntryOf(catalog, work, entryId, featureId, now);
    return entryShown(entryCommands.voidEntry(catalog, work, entryId, now), now);
  });
}

/** The entries of an account and feature, those that fall due by now among them; newest first. */
export async function listEntries(
  context: EngineContext,
  { accountId, featureId }: { readonly accountId: string; readonly featureId: string },
  options: PageOptions,
): Promise<Page<EntryShown>> {
  return lookAtAccount(context, accountId, (catalog, work, now) => {
    checkFeature(catalog, featureId);
    catchUp(catalog, work, now);
    const own = work.entries().flatMap((entry) => (entry.featureId === featureId ? [entryShown(entry, now)] : []));
    return pageAmong(own, options, ({ createdAt, id }) => ({ createdAt, id }));
  });
}

/** The balance of a feature that an account has now (S11). */
export async function featureBalance(
  context: EngineContext,
  { accountId, featureId }: { readonly accountId: string; readonly featureId: string },
): Promise<FeatureBalance> {
  return lookAtAccount(context, accountId, (catalog, work, now) => {
    checkFeature(catalog, featureId);
    catchUp(catalog, work, now);
    const inForce = work
      .entries()
      .filter((entry) => entry.featureId === featureId && !entry.voided && isInForce(entry, now));
    return {
      accountId,
      featureId,
      granted: sum(inForce.map(({ granted }) => granted)),
      balance: sum(inForce.map(({ balance }) => balance)),
      ...overageOf(catalog, work, featureId, now),
    };
  });
}

/** Makes credits for accounts, all or none (S12). */
export async function createCredits(
  context: EngineContext,
  input: readonly CreditRequest[],
): Promise<readonly CreditShown[]> {
  const requests = readRequest("creditCreate", input).map(
    ({ effectiveUntil, applicableEntityIds, idempotencyKey, ...asked }) => ({
      ...asked,
      effectiveUntil: effectiveUntil ?? undefined,
      applicableEntityIds: applicableEntityIds ?? undefined,
      idempotencyKey: idempotencyKey ?? undefined,
    }),
  );
  const accountIds = [...new Set(requests.map(({ accountId }) => accountId))];
  return decideOnAccounts(context, accountIds, ({ catalog, workspace, now }) => {
    checkEntities(catalog, requests);
    const made = creditCommands.createCredits(catalog, workspace, requests, now, context.ids);
    const shown = accountIds.flatMap((id) => creditsShown(catalog, workspace.account(id), now));
    const byId = new Map(shown.map((each) => [each.credit.id, each]));
    return { result: made.map(({ id }) => madeShown(byId.get(id))) };
  });
}

/** Voids a credit (S12.5). */
export async function voidCredit(context: EngineContext, id: string): Promise<CreditShown> {
  const accountId = await accountOfCredit(context, id);
  return decideOnAccount(context, accountId, (catalog, work, now) =>
    shownIn(catalog, work, creditCommands.voidCredit(catalog, work, id, now), now),
  );
}

/** A credit with what drafts hold of it (S12.4). */
export async function getCredit(context: EngineContext, id: string): Promise<CreditShown> {
  const accountId = await accountOfCredit(context, id);
  return lookAtAccount(context, accountId, (catalog, work, now) => {
    catchUp(catalog, work, now);
    const found = creditsShown(catalog, work, now).find(({ credit }) => isNamed(accountId, credit.id, id));
    if (found === undefined) throw notFound("credit", id);
    return found;
  });
}

/** The account of a credit; one that is due but not stored yet is found by its place. */
async function accountOfCredit(context: EngineContext, id: string): Promise<string> {
  const { read } = context.store;
  const stored = await read.credit(id);
  if (stored !== undefined) return stored.accountId;
  for await (const accountId of accountsThatMayHave(context, id)) {
    const found = await eachAlone([accountId], collectSkipped(), () =>
      lookAtAccount(context, accountId, (catalog, work, now) =>
        billOf(accountId, () => {
          catchUp(catalog, work, now);
          return work.credits().filter((credit) => isNamed(accountId, credit.id, id));
        }),
      ),
    );
    if (found.length > 0) return accountId;
  }
  throw notFound("credit", id);
}

async function* accountsThatMayHave(
  { store: { read }, clock }: EngineContext,
  creditId: string,
): AsyncGenerator<string> {
  yield* await accountsNamedIn(read, creditId);
  if (!isShortId("credit", creditId)) return;
  for (const { accountId } of await read.dueCreditList({ id: creditId }, { limit: 1 })) yield accountId;
  yield* accountsUncharted(read, clock());
}

function shownIn(catalog: Catalog, work: AccountWork, credit: CreditRecord, now: Instant): CreditShown {
  return madeShown(creditsShown(catalog, work, now).find((each) => each.credit.id === credit.id));
}

function madeShown(found: CreditShown | undefined): CreditShown {
  invariant(found !== undefined, "S12.4: a credit is among those of its account");
  return found;
}

function isInForce({ effectiveFrom, effectiveUntil }: EntryRecord, now: Instant): boolean {
  return effectiveFrom <= now && now < effectiveUntil;
}

function overageOf(
  catalog: Catalog,
  work: AccountWork,
  featureId: string,
  now: Instant,
): Pick<FeatureBalance, "overageLimit" | "usedOverage"> {
  const limit = planOf(catalog, work.record).clock.overageAt(featureId, now, now);
  if (limit === undefined) return {};
  const usedOverage = work.overage(featureId, dayOf(limit.window.start), dayOf(limit.window.end));
  return { ...(limit.maxQuantity ? { overageLimit: limit.maxQuantity } : {}), usedOverage };
}

/** EXPIRED is only how a read shows an entry whose end is past (S11.2). */
function entryShown({ spentAtBefore: _internal, ...entry }: EntryRecord, now: Instant): EntryShown {
  const status = entry.voided ? "VOIDED" : entry.effectiveUntil <= now ? "EXPIRED" : "ACTIVE";
  return { ...entry, status };
}

/** Where a feature is named, refuses an entry of another one; entries that fall due by now exist. */
function checkEntryOf(
  catalog: Catalog,
  work: AccountWork,
  entryId: string,
  featureId: string | undefined,
  now: Instant,
): void {
  if (featureId === undefined) return;
  checkFeature(catalog, featureId);
  catchUp(catalog, work, now);
  const entry = work.entries().find(({ id }) => isNamed(work.record.id, id, entryId));
  if (entry?.featureId !== featureId) throw notFound("feature credit entry", entryId);
}

function checkFeature({ book }: Catalog, featureId: string): void {
  if (!book.features.some(({ id }) => id === featureId)) throw notFound("feature", featureId);
}

const ALL_CARDS = /^ALL_(USAGE_METER|FIXED_FEE|LICENSE|BILLING_ENTITLEMENT|ENTITLEMENT_OVERAGE)_RATE_CARDS$/;

/** Refuses a credit whose applicableEntityIds name something unknown (S12.2). */
function checkEntities(
  { book }: Catalog,
  requests: readonly { readonly applicableEntityIds?: readonly string[] | undefined }[],
): void {
  const known = new Set([...book.usageMeters, ...book.addOns, ...book.features].map(({ id }) => id));
  for (const [index, { applicableEntityIds = [] }] of requests.entries()) {
    const unknown = applicableEntityIds.findIndex((id) => !known.has(id) && !ALL_CARDS.test(id));
    if (unknown < 0) continue;
    const path = `[${index}].applicableEntityIds[${unknown}]`;
    throw invalidInput(path, "expected the id of a usage meter, add-on or feature, or ALL_…_RATE_CARDS");
  }
}
