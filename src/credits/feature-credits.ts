/**
 * Feature credit entries: how they are spent, given back and how overage moves onto them (S11).
 *
 * Pure functions over plain entries. Quantities are exact values of the event path.
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import { invariant } from "../errors.ts";
import type { Exact } from "../numbers/exact.ts";
import { addExact, compareExact, isZeroExact, subtractExact } from "../numbers/exact.ts";

/** One grant or purchase of feature credits that an account holds. */
export interface FeatureEntry {
  readonly id: string;
  readonly featureId: string;
  /** Units, 0 or more. */
  readonly granted: Exact;
  /** Units left, from 0 to `granted`. */
  readonly balance: Exact;
  /** In force over the half-open `[effectiveFrom, effectiveUntil)`. */
  readonly effectiveFrom: Instant;
  readonly effectiveUntil: Instant;
  /** Any number that grows in the order in which entries are made. */
  readonly createdAt: number;
  /** A voided entry keeps granted and balance and is not spent (S11.8). */
  readonly voided: boolean;
}

/** The units that an event took from one entry (S11.4). */
export interface Allocation {
  readonly entryId: string;
  readonly quantity: Exact;
}

/** The consumption of an event: from entries, in the order taken, and the rest as overage. */
export interface Consumption {
  readonly allocations: readonly Allocation[];
  readonly overage: Exact;
}

/** Units of overage that are still allowed; 0 where no overage card is in force (S11.3). */
export type OverageRoom = Exact | "UNLIMITED";

/** Consumed in whole, or not at all (S11.3). */
export type ConsumeResult =
  | ({ readonly kind: "CONSUMED"; readonly entries: readonly FeatureEntry[] } & Consumption)
  /** `available` is in entries and overage together; `missing` is in entries alone. */
  | { readonly kind: "INSUFFICIENT"; readonly available: Exact; readonly missing: Exact };

/** An event whose quantity was, in part, overage. */
export interface OverageEvent extends Consumption {
  readonly eventId: string;
  /** The event's own timestamp. */
  readonly at: Instant;
}

/** Earliest effectiveUntil, then earliest effectiveFrom, then earliest createdAt, then id (S11.2). */
export function compareSpending(a: FeatureEntry, b: FeatureEntry): number {
  return (
    a.effectiveUntil - b.effectiveUntil ||
    a.effectiveFrom - b.effectiveFrom ||
    a.createdAt - b.createdAt ||
    (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  );
}

/** The entries in the order in which they are spent (S11.2). */
export function inSpendingOrder(entries: readonly FeatureEntry[]): readonly FeatureEntry[] {
  return entries.toSorted(compareSpending);
}

/**
 * Spends the entries in force at an event's timestamp, the rest being overage, all or nothing (S11.2, S11.3).
 *
 * @param entries of one account and feature, in spending order
 * @param quantity units, 0 or more
 * @param at the event's timestamp: a late event still spends an entry that covered it
 * @returns the entries with their new balances, in the same order, and what was taken
 */
export function consume(
  entries: readonly FeatureEntry[],
  quantity: Exact,
  at: Instant,
  overageRoom: OverageRoom,
): ConsumeResult {
  invariant(compareExact(quantity, 0) >= 0, "S11.3: a negative quantity never reaches the feature credits");
  const { left, allocations, after } = spend(entries, quantity, at);
  if (overageRoom !== "UNLIMITED" && compareExact(left, overageRoom) > 0) {
    const spent = subtractExact(quantity, left);
    // A later plan may allow less than was used already.
    const available = compareExact(overageRoom, 0) > 0 ? addExact(spent, overageRoom) : spent;
    return { kind: "INSUFFICIENT", available, missing: left };
  }
  return { kind: "CONSUMED", entries: after, allocations, overage: left };
}

/**
 * Gives every allocation back to where it came from, last taken first (S11.5).
 *
 * An entry that has expired or been voided gets its balance back and stays as it is.
 */
export function giveBack(
  entries: readonly FeatureEntry[],
  allocations: readonly Allocation[],
): readonly FeatureEntry[] {
  const after = [...entries];
  for (const { entryId, quantity } of allocations.toReversed()) {
    const index = after.findIndex((entry) => entry.id === entryId);
    const entry = after[index];
    invariant(entry !== undefined, "S11.4: an allocation names an entry of its account and feature");
    const balance = addExact(entry.balance, quantity);
    invariant(compareExact(balance, entry.granted) <= 0, "S11.6: a balance is never above what was granted");
    after[index] = { ...entry, balance };
  }
  return after;
}

/**
 * Moves overage onto entries that are not voided and cover its event, wherever they have a balance (S11.5).
 *
 * Called after credits were given back, and whenever an entry is made, raised or extended.
 *
 * @param entries of one account and feature, in spending order
 * @param events with overage of the same feature in open cycles, earliest ingested first
 * @returns the entries, and the events with their new allocations and overage, both in the order given
 */
export function moveOverage(
  entries: readonly FeatureEntry[],
  events: readonly OverageEvent[],
): { readonly entries: readonly FeatureEntry[]; readonly events: readonly OverageEvent[] } {
  let current = entries;
  const moved = events.map((event) => {
    const { left, allocations, after } = spend(current, event.overage, event.at);
    if (allocations.length === 0) return event;
    current = after;
    return { ...event, allocations: [...event.allocations, ...allocations], overage: left };
  });
  return { entries: current, events: moved };
}

/** Takes as much of a quantity as the entries in force hold. */
function spend(
  entries: readonly FeatureEntry[],
  quantity: Exact,
  at: Instant,
): { left: Exact; allocations: readonly Allocation[]; after: readonly FeatureEntry[] } {
  let left = quantity;
  const allocations: Allocation[] = [];
  let after: FeatureEntry[] | undefined;
  for (let index = 0; index < entries.length && !isZeroExact(left); index++) {
    const entry = entries[index];
    if (entry === undefined || !spendable(entry, at)) continue;
    const taken = compareExact(entry.balance, left) < 0 ? entry.balance : left;
    left = subtractExact(left, taken);
    allocations.push({ entryId: entry.id, quantity: taken });
    after ??= [...entries];
    after[index] = { ...entry, balance: subtractExact(entry.balance, taken) };
  }
  return { left, allocations, after: after ?? entries };
}

function spendable(entry: FeatureEntry, at: Instant): boolean {
  return !entry.voided && entry.effectiveFrom <= at && at < entry.effectiveUntil && !isZeroExact(entry.balance);
}
