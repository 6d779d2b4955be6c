import type { Account } from "../../book/resources/account.ts";
import { sortByDecision, overridesAnything } from "../../book/resources/override.ts";
import type { Instant } from "../../calendar/instant.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import { type AccountParts, partsOfRecord } from "../account-parts.ts";
import type { Catalog } from "../catalog.ts";
import type { IdSource } from "../decision.ts";
import type { AccountRecord, AssociationRecord, CreditRecord, EntryRecord } from "../records.ts";
import { toDecisions, toStoredCycles } from "./associated-plans.ts";
import { createCreditRecord } from "./new-credit.ts";

/** The creation instant of the accounts, and the id source for records without an id in the book. */
export interface BookAccountOptions {
  readonly now: Instant;
  readonly ids: IdSource;
}

/** Creates an account with its contents from the book; nothing due has been processed yet. */
export function createBookAccount(
  catalog: Catalog,
  account: Account,
  invoiceGroupId: string | undefined,
  options: BookAccountOptions,
): AccountParts {
  return {
    ...partsOfRecord(createAccountRecord(catalog, account, invoiceGroupId, options)),
    entries: createEntryRecords(account, options.now),
    credits: createCreditRecords(account, options.now),
  };
}

function createAccountRecord(
  catalog: Catalog,
  account: Account,
  invoiceGroupId: string | undefined,
  { now, ids }: BookAccountOptions,
): AccountRecord {
  const { id, name, customerId, status, invoiceCurrency, netTermDays, primaryEmail, address, metadata, tags } = account;
  const associations = createAssociations(catalog, account, now, ids);
  const { length } = account.licenseUpdates;
  return {
    id,
    name,
    customerId,
    status,
    invoiceCurrency,
    aliases: account.aliases.map((alias) => ({ alias, createdAt: now })),
    ...(invoiceGroupId === undefined ? {} : { invoiceGroupId, invoiceGroupFrom: now }),
    ...(typeof netTermDays === "number" ? { netTermDays } : {}),
    ...(primaryEmail ? { primaryEmail } : {}),
    ...(address ? { address } : {}),
    ...(metadata ? { metadata } : {}),
    ...(tags ? { tags } : {}),
    associations,
    licenseUpdates: account.licenseUpdates.map((update, index) => ({
      id: ids("lu"),
      licenseId: update.licenseId,
      updateType: update.updateType,
      quantity: update.quantity,
      effectiveFrom: update.effectiveFrom,
      fromBook: true as const,
      createdAt: now - length + index + 1,
      ...(update.idempotencyKey ? { idempotencyKey: update.idempotencyKey } : {}),
    })),
    // Catching up starts at the first decision, so that everything due since is processed in date order (S2.4).
    caughtUpTo: Math.min(now, associations[0]?.decidedAt ?? now),
    nextDueAt: associations.length === 0 ? NO_END : now,
    createdAt: now,
    updatedAt: now,
  };
}

/**
 * The associations of a book account, decided at the times that the book gives and recorded when it is loaded (S6.5,
 * S9.2, S13.5).
 */
export function createAssociations(
  catalog: Catalog,
  account: Pick<Account, "pricePlans">,
  now: Instant,
  ids: IdSource,
): readonly AssociationRecord[] {
  const ordered = sortByDecision(account.pricePlans);
  return toDecisions(account, catalog.findPlan).map(({ from, until, decidedAt, plan }, index) => {
    const override = ordered[index]?.association.pricePlanDetailsOverride ?? undefined;
    const { planId, version, details } = plan;
    const content = overridesAnything(override) ? { override } : {};
    const associated = { planId, version, ...toStoredCycles(plan, details), ...content };
    return { id: ids("as"), plan: associated, from, until, decidedAt, recordedAt: now };
  });
}

/** Ties by createdAt are broken by the order in the book (book.md). */
function createCreditRecords(account: Account, now: Instant): readonly CreditRecord[] {
  const { credits } = account;
  return credits.map((credit, index) =>
    createCreditRecord(account, credit, { id: credit.id, kind: "MANUAL", createdAt: now - credits.length + index + 1 }),
  );
}

/** Ties by createdAt are broken by the order in the book, as for credits. */
function createEntryRecords({ id: accountId, featureCredits }: Account, now: Instant): EntryRecord[] {
  return featureCredits.map(({ id, featureId, granted, effectiveFrom, effectiveUntil }, index) => ({
    id,
    accountId,
    featureId,
    source: "PURCHASE",
    granted,
    balance: granted,
    effectiveFrom,
    effectiveUntil,
    createdAt: now - featureCredits.length + index + 1,
    voided: false,
  }));
}
