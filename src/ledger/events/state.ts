/**
 * What events change of the accounts: usage, feature credits and overage (S5.3, S11).
 *
 * @module
 */
import type { Cycle } from "../../calendar/cycle.ts";
import type { Day, Instant } from "../../calendar/instant.ts";
import { DAY_MS, dayOf } from "../../calendar/instant.ts";
import type { ConsumeResult, FeatureEntry, OverageRoom } from "../../credits/feature-credits.ts";
import { consume, inSpendingOrder } from "../../credits/feature-credits.ts";
import type { UsageTally } from "../../metering/usage.ts";
import { createUsageTally } from "../../metering/usage.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import type { Exact } from "../../numbers/exact.ts";
import { exactOfDecimal, subtractExact } from "../../numbers/exact.ts";

/** A stretch of an account's time in which one cycle, or no cycle, is in force: `[start, end)`, whole UTC days. */
export interface AccountPeriod {
  /** May be `-Infinity` before the first association. */
  readonly start: Instant;
  /** May be `Infinity` after the last one. */
  readonly end: Instant;
  /**
   * Until when events of this cycle are accepted, exclusive: its end plus the grace period (S6.5). Undefined where no
   * plan is in force: an event there is metered, not priced, and never too late.
   */
  readonly openUntil?: Instant | undefined;
}

/** The overage that the plan in force allows for a feature, over one billing window (S11.3, S11.7). */
export interface OverageLimit {
  readonly window: Cycle;
  /** Absent: no limit. */
  readonly maxQuantity?: Decimal | null | undefined;
}

/** What the plans of the accounts say to the events; all pure. */
export interface PlanHooks {
  /** The period that holds an instant. Without it no plan is in force anywhere. */
  periodAt?(accountId: string, at: Instant): AccountPeriod;
  /** The entries that plans grant up to and including `upTo` and that were not returned before, in date order (S2.4). */
  grantsDue?(accountId: string, upTo: Instant): readonly FeatureEntry[];
  /** The overage card in force at an event's timestamp; undefined where there is none. */
  overageAt?(accountId: string, featureId: string, at: Instant): OverageLimit | undefined;
}

/** The feature credits and overage of all accounts, as events change them. */
export interface FeatureLedger {
  /** By account, feature and UTC day; the tally's meters are the features. */
  readonly overage: UsageTally;
  /** The entries of an account and feature that are due so far, in spending order. */
  entriesOf(accountId: string, featureId: string): readonly FeatureEntry[];
  /**
   * Consumes a quantity, 0 or more, all or nothing; grants fall due first (S2.4, S11.3).
   *
   * @throws {RatebookError} ERR_ARITHMETIC beyond 100 digits (S1.4); nothing is consumed then
   */
  consume(account: number, featureId: string, quantity: Exact, at: Instant): ConsumeResult;
}

/** An empty ledger of feature credits. */
export function createFeatureLedger(
  accountIds: readonly string[],
  featureIds: readonly string[],
  purchased: ReadonlyMap<string, readonly FeatureEntry[]>,
  hooks: PlanHooks,
): FeatureLedger {
  const overage = createUsageTally(accountIds, featureIds);
  const features = new Map(featureIds.map((id, index) => [id, index]));
  const held = new Map<string, Map<string, readonly FeatureEntry[]>>();
  const grantedThrough = new Map<string, Day>();

  const entriesOf = (accountId: string): Map<string, readonly FeatureEntry[]> => {
    let entries = held.get(accountId);
    if (entries === undefined) {
      held.set(accountId, (entries = new Map()));
      put(entries, purchased.get(accountId) ?? []);
    }
    return entries;
  };

  /** Entries are granted at cycle starts, which are midnights: what is due at an instant was due when its day began. */
  const grant = (accountId: string, entries: Map<string, readonly FeatureEntry[]>, at: Instant): void => {
    const day = dayOf(at);
    if (hooks.grantsDue === undefined || day <= (grantedThrough.get(accountId) ?? -Infinity)) return;
    grantedThrough.set(accountId, day);
    put(entries, hooks.grantsDue(accountId, day * DAY_MS));
  };

  const roomFor = (accountId: string, featureId: string, at: Instant): OverageRoom => {
    const limit = hooks.overageAt?.(accountId, featureId, at);
    if (limit === undefined) return 0;
    if (limit.maxQuantity === undefined || limit.maxQuantity === null) return "UNLIMITED";
    const used = overage.between(accountId, featureId, dayOf(limit.window.start), dayOf(limit.window.end));
    return subtractExact(exactOfDecimal(limit.maxQuantity), exactOfDecimal(used));
  };

  return {
    overage,
    entriesOf: (accountId, featureId) => entriesOf(accountId).get(featureId) ?? [],
    consume(account, featureId, quantity, at) {
      const accountId = accountIds[account] ?? "";
      const entries = entriesOf(accountId);
      grant(accountId, entries, at);
      const own = entries.get(featureId) ?? [];
      // Most events are covered by entries: only the others ask what overage is allowed.
      let result = consume(own, quantity, at, 0);
      if (result.kind === "INSUFFICIENT") result = consume(own, quantity, at, roomFor(accountId, featureId, at));
      if (result.kind === "INSUFFICIENT") return result;
      if (result.overage !== 0) overage.add(account, features.get(featureId) ?? -1, dayOf(at), result.overage);
      if (result.entries !== own) entries.set(featureId, result.entries);
      return result;
    },
  };
}

function put(entries: Map<string, readonly FeatureEntry[]>, more: readonly FeatureEntry[]): void {
  for (const featureId of new Set(more.map((entry) => entry.featureId))) {
    const added = more.filter((entry) => entry.featureId === featureId);
    entries.set(featureId, inSpendingOrder([...(entries.get(featureId) ?? []), ...added]));
  }
}
