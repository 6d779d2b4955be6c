/**
 * Converts the accounts of a book to ledger accounts, for loading into a store and for previews, and back. Data that a book
 * cannot express is reported as a sentence.
 */
import {
  type Account,
  type AccountInput,
  type CreditInput,
  type FeatureCreditInput,
  type LicenseUpdateInput,
  type PlanAssociation,
  sortByDecision,
} from "../../book/resources/account.ts";
import {
  overridesAnything,
  NO_CARDS,
  applyOverride,
  type PricePlanDetailsOverride,
} from "../../book/resources/price-plan.ts";
import { isSameCycleConfig, toStartOffset } from "../../calendar/cycle.ts";
import { type Instant, formatDate, formatInstant, isDayStart } from "../../calendar/instant.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import { subtract, formatDecimal } from "../../numbers/decimal.ts";
import { quoteText } from "../../problem-table.ts";
import type { Catalog, FindPlan } from "../catalog.ts";
import type { IdSource } from "../decision.ts";
import type { AccountRecord, AssociationRecord, CreditRecord, EntryRecord } from "../records.ts";
import { type AccountParts, partsOfRecord } from "../working-records.ts";
import { toDecisions, toStoredCycles } from "./account-plan.ts";
import { createCreditRecord } from "./invoices.ts";

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

/** An account with everything the ledger stores for it. */
export interface StoredAccount {
  readonly record: AccountRecord;
  readonly entries: readonly EntryRecord[];
  readonly credits: readonly CreditRecord[];
}

/** A book account whose overrides still contain Decimals instead of texts. */
export type ExportedAccount = Omit<AccountInput, "pricePlans"> & {
  readonly pricePlans: readonly (Omit<NonNullable<AccountInput["pricePlans"]>[number], "pricePlanDetailsOverride"> & {
    readonly pricePlanDetailsOverride?: object;
  })[];
};

/** Exports an account. @returns the account, and a sentence for each thing that a book cannot express */
export function exportAccount(
  { record, entries, credits }: StoredAccount,
  findPlan: FindPlan,
): { readonly account: ExportedAccount; readonly notes: readonly string[] } {
  const { id, name, customerId, status, invoiceCurrency, netTermDays, primaryEmail, address, metadata, tags } = record;
  const notes: string[] = [];
  const note = (sentence: string): void => void notes.push(`account ${quoteText(id)}: ${sentence}`);
  if ((record.pastInvoiceGroups ?? []).length > 0)
    note("it was in another invoice group before; the book has the current one");
  const account: ExportedAccount = {
    id,
    name,
    customerId,
    status,
    invoiceCurrency,
    ...(record.aliases.length > 0 && { aliases: record.aliases.map(({ alias }) => alias) }),
    ...(netTermDays !== undefined && { netTermDays }),
    ...(primaryEmail !== undefined && { primaryEmail }),
    ...(address !== undefined && { address }),
    ...(metadata !== undefined && { metadata }),
    ...(tags !== undefined && { tags }),
    pricePlans: exportAssociations(record.associations, findPlan, note),
    licenseUpdates: record.licenseUpdates.map(
      ({ licenseId, updateType, quantity, effectiveFrom, idempotencyKey }): LicenseUpdateInput => ({
        licenseId,
        updateType,
        quantity: formatDecimal(quantity),
        effectiveFrom: formatTime(effectiveFrom),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      }),
    ),
    credits: credits.flatMap((credit) => exportCredit(credit, note)),
    featureCredits: entries.flatMap((entry) => exportEntry(entry, note)),
  };
  return { account, notes };
}

type Note = (sentence: string) => void;
/** A plan in force over some days, with its cycles. */
type PlanPeriod = NonNullable<AssociationRecord["plan"]> & {
  readonly from: Instant;
  readonly until: Instant;
  readonly decidedAt: Instant;
};

function exportAssociations(
  records: readonly AssociationRecord[],
  findPlan: FindPlan,
  note: Note,
): ExportedAccount["pricePlans"] {
  let planPeriods: readonly PlanPeriod[] = [];
  for (const { plan, from, until, decidedAt } of records) {
    if (plan === undefined) {
      planPeriods = planPeriods.flatMap((each) => removeDays(each, from, until));
      const end = until === NO_END ? "" : ` until ${formatDate(until)}`;
      note(
        `its plan was removed on ${formatInstant(decidedAt)}, from ${formatDate(from)}${end}; a book cannot record that decision, so in the book the plan ends then`,
      );
    } else planPeriods = [...planPeriods, { ...plan, from, until, decidedAt }];
  }
  const read: PlanAssociation[] = [];
  return planPeriods.map((each) => {
    const association = exportAssociation(each, read, findPlan);
    read.push(association);
    const { pricePlanId, version, effectiveFrom, retainStartOffsets, pricePlanDetailsOverride: override } = association;
    return {
      pricePlanId,
      version,
      effectiveFrom: formatTime(effectiveFrom),
      ...(each.until < NO_END && { effectiveUntil: formatTime(each.until) }),
      decidedAt: formatInstant(each.decidedAt),
      ...(retainStartOffsets === true && { retainStartOffsets }),
      ...(override && overridesAnything(override) && { pricePlanDetailsOverride: toReadable(override) }),
    };
  });
}

/** An override that can be read: its cards with price tables were given a rate plan without slabs. */
function toReadable(override: PricePlanDetailsOverride): object {
  const usageRateCards = override.usageRateCards.map(({ ratePlan, rateValues, ...card }) =>
    ratePlan.slabs.length === 0 ? card : { ...card, ratePlan, rateValues },
  );
  return { ...override, usageRateCards };
}

/** Removes a range of days from a plan period, which leaves zero, one or two periods. */
function removeDays(each: PlanPeriod, from: Instant, until: Instant): readonly PlanPeriod[] {
  const before = { ...each, until: Math.min(each.until, from) };
  const after = { ...each, from: Math.max(each.from, until) };
  return [before, after].filter((part) => part.from < part.until);
}

/** An association with its actual cycles: the plan's own, the retained ones, or those of its override (S6.3). */
function exportAssociation(each: PlanPeriod, before: readonly PlanAssociation[], findPlan: FindPlan): PlanAssociation {
  const { planId, version, override, from, until, decidedAt } = each;
  const plain: PlanAssociation = {
    pricePlanId: planId,
    version,
    effectiveFrom: from,
    ...(until < NO_END && { effectiveUntil: until }),
    decidedAt,
    ...(override !== undefined && { pricePlanDetailsOverride: override }),
  };
  const matches = (association: PlanAssociation): boolean => {
    const account: Pick<Account, "pricePlans"> = { pricePlans: [...before, association] };
    const exportedPlan = toDecisions(account, findPlan).at(-1)?.plan;
    if (exportedPlan === undefined || !isSameCycleConfig(exportedPlan.cycleConfig, each.cycleConfig)) return false;
    const { gracePeriodDays } = toStoredCycles(exportedPlan, exportedPlan.details);
    return gracePeriodDays === each.gracePeriodDays;
  };
  if (matches(plain)) return plain;
  const retained = { ...plain, retainStartOffsets: true };
  if (before.length > 0 && matches(retained)) return retained;
  return {
    ...plain,
    pricePlanDetailsOverride: { ...NO_CARDS, ...override, pricingCycleConfig: cycleTerms(each, findPlan) },
  };
}

/** The cycle terms of a plan, with explicit offsets in place of derived ones. */
function cycleTerms(
  { planId, version, override, cycleConfig, gracePeriodDays }: PlanPeriod,
  findPlan: FindPlan,
): NonNullable<PricePlanDetailsOverride["pricingCycleConfig"]> {
  const details = findPlan(planId, version)?.pricePlanDetails;
  const terms = details && applyOverride(details, override).pricingCycleConfig;
  return {
    ...terms,
    interval: cycleConfig.interval,
    anniversaryCycle: false,
    startOffset: toStartOffset(cycleConfig),
    ...(gracePeriodDays !== undefined && { gracePeriod: gracePeriodDays }),
  };
}

function exportCredit(credit: CreditRecord, note: Note): readonly CreditInput[] {
  const { id, purpose, creditAmount, consumedAmount, priority, effectiveFrom, effectiveUntil } = credit;
  // A credit of a plan or a refunding invoice is created again when the book is loaded.
  if (credit.cause !== undefined) return [];
  if (credit.voided)
    note(`the credit ${quoteText(id)} was voided; the book has only the ${formatDecimal(consumedAmount)} used before`);
  if (credit.voided && consumedAmount.isZero()) return [];
  return [
    {
      id,
      purpose,
      creditAmount: formatDecimal(credit.voided ? consumedAmount : creditAmount),
      priority,
      effectiveFrom: formatTime(effectiveFrom),
      ...(effectiveUntil !== undefined && { effectiveUntil: formatTime(effectiveUntil) }),
      ...(credit.applicableEntityIds !== undefined && { applicableEntityIds: credit.applicableEntityIds }),
    },
  ];
}

function exportEntry(entry: EntryRecord, note: Note): readonly FeatureCreditInput[] {
  const { id, featureId, source, granted, balance, voided, effectiveFrom, effectiveUntil } = entry;
  const spentQuantity = subtract(granted, balance);
  if (voided) {
    const creation =
      source === "PURCHASE"
        ? `the book has only the ${formatDecimal(spentQuantity)} used before`
        : "the book grants all of them again";
    note(`the feature credits ${quoteText(id)} were voided: ${creation}`);
  }
  if (source !== "PURCHASE" || (voided && spentQuantity.isZero())) return [];
  return [
    {
      id,
      featureId,
      granted: formatDecimal(voided ? spentQuantity : granted),
      effectiveFrom: formatInstant(effectiveFrom),
      effectiveUntil: formatInstant(effectiveUntil),
    },
  ];
}

function formatTime(instant: Instant): string {
  return isDayStart(instant) ? formatDate(instant) : formatInstant(instant);
}
