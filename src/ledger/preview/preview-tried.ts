/**
 * The plans that a preview tries on accounts: those that they have, a draft in place of these, or a draft that they move to
 * on a date.
 *
 * @module
 */
import type { Account } from "../../book/model/account.ts";
import type { PricePlan } from "../../book/model/price-plan.ts";
import type { MigrationMode } from "../../book/model/requests.ts";
import { INSTANT_MIN, type Instant } from "../../calendar/instant.ts";
import { bookAccount } from "../account/book-account.ts";
import type { Catalog } from "../catalog.ts";
import { moveOnto } from "../commands/migrate.ts";
import type { AccountRecord } from "../records.ts";
import type { AccountParts } from "../workspace.ts";

/** A book is loaded before everything: where a rule breaks ties by createdAt, the order in the book counts. */
export const LOADED_AT: Instant = INSTANT_MIN;

/** When and how accounts move to a plan (S16.5). */
export interface TriedMigration {
  readonly mode: MigrationMode;
  /** The midnight at which the migration is decided; who has a plan then takes part. */
  readonly on: Instant;
}

/** What is tried. */
export interface Tried {
  /** A checked plan; undefined for the plans of the book alone. */
  readonly plan?: PricePlan | undefined;
  /** Without it, all accounts have the plan on the dates of their associations (book.md, `--plan`). */
  readonly migration?: TriedMigration | undefined;
}

/** An account of the book as a ledger would have it, with what is tried. */
export function triedOn(
  catalog: Catalog,
  account: Account,
  groupId: string | undefined,
  { plan, migration }: Tried,
): AccountParts {
  const drafted = plan === undefined || migration !== undefined ? account : withDraft(account, plan);
  const parts = bookAccount(catalog, drafted, groupId, { now: LOADED_AT, ids: () => account.id });
  if (plan === undefined || migration === undefined) return parts;
  const record = movedTo(catalog, parts.record, plan, migration);
  return record === undefined ? parts : { ...parts, record };
}

/** An account after a migration that everybody knows of from the day on which it is decided; undefined where it stays. */
export function movedTo(
  catalog: Catalog,
  record: AccountRecord,
  target: PricePlan,
  { mode, on }: TriedMigration,
): AccountRecord | undefined {
  const decided = moveOnto(catalog, record, { mode, target }, on)?.decided;
  if (decided === undefined || record.status !== "ACTIVE") return undefined;
  // What the book says that was decided later was so by then: the migration is laid over it (S9.2).
  const before = record.associations.map((each) => (each.decidedAt > on ? { ...each, decidedAt: on } : each));
  return { ...record, associations: [...before, { ...decided, id: record.id, decidedAt: on, recordedAt: LOADED_AT }] };
}

/** An account with a draft on the dates of its associations, without overrides (book.md, `--plan`). */
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
