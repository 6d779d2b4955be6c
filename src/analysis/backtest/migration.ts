/**
 * Backtests of migrations, which move accounts to a draft on a date (S16.5).
 *
 * @module
 */
import type { Account } from "../../book/resources/account.ts";
import type { Book } from "../../book/resources/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { MIGRATION_MODES, type MigrationMode } from "../../book/resources/requests.ts";
import { formatDate, type Instant, toInstant, isDayStart } from "../../calendar/instant.ts";
import type { TrialMigration } from "../../ledger/preview/plan-trial.ts";
import { invalidOptionError } from "../../ledger/preview/preview-range.ts";
import type { ScenarioResult } from "../../ledger/preview/preview-scenario.ts";

/** When and how accounts move. */
export interface MigrationInput {
  readonly mode: MigrationMode;
  /** A UTC day, or an instant at its midnight. An account moves from the plan that it has at that midnight. */
  readonly on: string | Instant | Date;
}

/** The outcome of a trial migration. */
export interface MigrationOutcome {
  readonly mode: MigrationMode;
  /** A UTC day, such as `2026-01-31`. */
  readonly on: string;
  readonly moved: number;
  /** Accounts that stay: with overrides that the mode preserves, without a plan on that day, or with one that ends. */
  readonly stayed: readonly string[];
}

/**
 * Checks a migration and reads its day.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for an unknown mode, or an instant that isn't midnight; ERR_DATE_INVALID
 */
export function toTrialMigration({ mode, on }: MigrationInput): TrialMigration {
  if (!(MIGRATION_MODES as readonly string[]).includes(mode))
    throw invalidOptionError("migration", `migration: expected the mode ${MIGRATION_MODES.join(", ")}, got ${mode}`);
  const at = toInstant(on);
  if (!isDayStart(at))
    throw invalidOptionError("migration", "migration: expected a UTC day, got an instant that is not midnight UTC");
  return { mode, on: at };
}

/** Gives a draft a new version number if the book has its version, because accounts move away from that version. */
export function toNewVersion(draft: PricePlan, { pricePlans }: Pick<Book, "pricePlans">): PricePlan {
  const versions = pricePlans.filter(({ id }) => id === draft.id).map(({ version }) => version);
  return versions.includes(draft.version) ? { ...draft, version: Math.max(...versions) + 1 } : draft;
}

/** The migration's outcome for the accounts in the result; undefined without a migration. */
export function toMigrationOutcome(
  { trial: { migration }, accounts }: ScenarioResult,
  plan: PricePlan,
  comparedAccounts: readonly Account[],
): MigrationOutcome | undefined {
  if (migration === undefined) return undefined;
  const isMoved = ({ id }: Account): boolean =>
    accounts
      .of(id)
      ?.current.record.associations.some(
        (each) => each.plan?.planId === plan.id && each.plan.version === plan.version,
      ) ?? false;
  const unmovedIds = comparedAccounts.filter((account) => !isMoved(account)).map(({ id }) => id);
  return {
    mode: migration.mode,
    on: formatDate(migration.on),
    moved: comparedAccounts.length - unmovedIds.length,
    stayed: unmovedIds,
  };
}
