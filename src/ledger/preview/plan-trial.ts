/**
 * The plans that a preview applies to accounts: their own, a draft instead of them, or a draft to which they migrate on
 * a date.
 *
 * @module
 */
import type { Account } from "../../book/resources/account.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import type { MigrationMode } from "../../book/resources/requests.ts";
import { INSTANT_MIN, type Instant } from "../../calendar/instant.ts";
import type { AccountParts } from "../account-parts.ts";
import { createBookAccount } from "../account/book-account.ts";
import type { Catalog } from "../catalog.ts";
import { planMoveOnto } from "../commands/migrate.ts";
import type { AccountRecord } from "../records.ts";

/** The createdAt of everything in a book: before all events, so that the order in the book breaks ties. */
export const LOADED_AT: Instant = INSTANT_MIN;

/** When and how accounts migrate to a plan (S16.5). */
export interface TrialMigration {
  readonly mode: MigrationMode;
  /** The midnight of the migration; accounts with a plan at that time take part. */
  readonly on: Instant;
}

/** The plans of one scenario. */
export interface PlanTrial {
  /** A checked plan; undefined for the plans of the book only. */
  readonly plan?: PricePlan | undefined;
  /** Undefined: every account has the plan on the dates of its associations (book.md, `--plan`). */
  readonly migration?: TrialMigration | undefined;
}

/** Creates a ledger account from an account of the book, with the plans of a trial. */
export function createTrialAccount(
  catalog: Catalog,
  account: Account,
  groupId: string | undefined,
  { plan, migration }: PlanTrial,
): AccountParts {
  const drafted = plan === undefined || migration !== undefined ? account : withDraft(account, plan);
  const parts = createBookAccount(catalog, drafted, groupId, { now: LOADED_AT, ids: () => account.id });
  if (plan === undefined || migration === undefined) return parts;
  const record = migrateTo(catalog, parts.record, plan, migration);
  return record === undefined ? parts : { ...parts, record };
}

/** An account after a migration that is known from the day of its decision; undefined if it does not take part. */
export function migrateTo(
  catalog: Catalog,
  record: AccountRecord,
  target: PricePlan,
  { mode, on }: TrialMigration,
): AccountRecord | undefined {
  const decided = planMoveOnto(catalog, record, { mode, target }, on)?.decided;
  if (decided === undefined || record.status !== "ACTIVE") return undefined;
  // The migration takes precedence over every association of the book, including later decisions (S9.2).
  const before = record.associations.map((each) => (each.decidedAt > on ? { ...each, decidedAt: on } : each));
  return { ...record, associations: [...before, { ...decided, id: record.id, decidedAt: on, recordedAt: LOADED_AT }] };
}

/** Gives an account a draft on the dates of its associations, without overrides (book.md, `--plan`). */
function withDraft(account: Account, { id: pricePlanId, version }: PricePlan): Account {
  return {
    ...account,
    pricePlans: account.pricePlans.map(({ effectiveFrom, effectiveUntil, decidedAt }) => ({
      pricePlanId,
      version,
      effectiveFrom,
      retainStartOffsets: false,
      ...(effectiveUntil === undefined ? {} : { effectiveUntil }),
      ...(decidedAt === undefined ? {} : { decidedAt }),
    })),
  };
}
