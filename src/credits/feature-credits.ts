/**
 * Feature credit entries: how they are spent and restored, and how overage moves onto them (S11). Pure functions over
 * plain entries; quantities are Exact values.
 */
import type { Instant } from "../calendar/instant.ts";
import { invariant } from "../errors.ts";
import type { Exact } from "../numbers/exact.ts";
import { addExact, compareExact, isZeroExact, subtractExact } from "../numbers/exact.ts";

/** One grant or purchase of feature credits of an account. */
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
  /** Any number that increases in the order of creation. */
  readonly createdAt: number;
  /** A voided entry keeps granted and balance, but cannot be spent (S11.8). */
  readonly voided: boolean;
}

/** The units that an event took from one entry (S11.4). */
export interface Allocation {
  readonly entryId: string;
  readonly quantity: Exact;
}

/** The consumption of an event: from entries, in the order taken, with the rest as overage. */
export interface Consumption {
  readonly allocations: readonly Allocation[];
  readonly overage: Exact;
}

/** The feature credits that an event takes (S11.4). */
export interface FeatureConsumption extends Consumption {
  readonly featureId: string;
  readonly quantity: Exact;
}

/** Units of overage that are still allowed; 0 without an overage card in force (S11.3). */
export type OverageAllowance = Exact | "UNLIMITED";

/** Consumed completely or not at all (S11.3). */
export type ConsumeResult =
  | ({ readonly kind: "CONSUMED"; readonly entries: readonly FeatureEntry[] } & Consumption)
  /** `available` is the total of entries and overage; `missing` is what entries lack. */
  | { readonly kind: "INSUFFICIENT"; readonly available: Exact; readonly missing: Exact };

/** An event of which some quantity was overage. */
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

/** The entries in spending order (S11.2). */
export function sortForSpending(entries: readonly FeatureEntry[]): readonly FeatureEntry[] {
  return entries.toSorted(compareSpending);
}

/**
 * Spends the entries in force at an event's timestamp, with the rest as overage, all or nothing (S11.2, S11.3).
 *
 * @param entries of one account and feature, in spending order
 * @param quantity units, 0 or more
 * @param at the event's timestamp: a late event still spends an entry that covered it
 * @returns the entries with their new balances, in the same order, and the consumption
 */
export function consume(
  entries: readonly FeatureEntry[],
  quantity: Exact,
  at: Instant,
  overageAllowance: OverageAllowance,
): ConsumeResult {
  invariant(compareExact(quantity, 0) >= 0, "S11.3: a negative quantity never reaches the feature credits");
  const balances = new Balances(entries);
  const { remaining, allocations } = balances.spendEntries(quantity, at);
  if (overageAllowance !== "UNLIMITED" && compareExact(remaining, overageAllowance) > 0) {
    const coveredQuantity = subtractExact(quantity, remaining);
    // A later plan may allow less than was already used.
    const available =
      compareExact(overageAllowance, 0) > 0 ? addExact(coveredQuantity, overageAllowance) : coveredQuantity;
    return { kind: "INSUFFICIENT", available, missing: remaining };
  }
  return { kind: "CONSUMED", entries: balances.entries(), allocations, overage: remaining };
}

/**
 * Returns every allocation to its entry, last taken first (S11.5). An expired or voided entry gets its balance back and
 * stays expired or voided.
 */
export function restoreAllocations(
  entries: readonly FeatureEntry[],
  allocations: readonly Allocation[],
): readonly FeatureEntry[] {
  const restoredEntries = [...entries];
  const indicesById = new Map(entries.map(({ id }, index) => [id, index]));
  for (const { entryId, quantity } of allocations.toReversed()) {
    const index = indicesById.get(entryId) ?? -1;
    const entry = restoredEntries[index];
    invariant(entry !== undefined, "S11.4: an allocation names an entry of its account and feature");
    const balance = addExact(entry.balance, quantity);
    invariant(compareExact(balance, entry.granted) <= 0, "S11.6: a balance is never above what was granted");
    restoredEntries[index] = { ...entry, balance };
  }
  return restoredEntries;
}

/**
 * Moves overage onto entries that have a balance, are not voided and cover its event (S11.5). Call it after credits
 * were returned, and whenever an entry is created, raised or extended.
 *
 * @param entries of one account and feature, in spending order
 * @param events with overage of the same feature in open cycles, earliest ingested first
 * @returns the entries, and the events with their new allocations and overage, both in the given order
 */
export function moveOverage(
  entries: readonly FeatureEntry[],
  events: readonly OverageEvent[],
): { readonly entries: readonly FeatureEntry[]; readonly events: readonly OverageEvent[] } {
  const balances = new Balances(entries);
  const movedEvents = events.map((event) => {
    const { remaining, allocations } = balances.spendEntries(event.overage, event.at);
    if (allocations.length === 0) return event;
    return { ...event, allocations: [...event.allocations, ...allocations], overage: remaining };
  });
  return { entries: balances.entries(), events: movedEvents };
}

/** The balances of entries while quantities are taken from them. */
class Balances {
  readonly #entries: readonly FeatureEntry[];
  /** A copy of the entries, created on the first change. */
  #changedEntries: FeatureEntry[] | undefined;
  /** The indices still considered, in spending order; undefined: all. */
  #indices: readonly number[] | undefined;
  /** The number of these indices with nothing left. */
  #exhaustedCount = 0;

  /** @param entries in spending order */
  constructor(entries: readonly FeatureEntry[]) {
    this.#entries = entries;
  }

  /** Takes as much of a quantity as the entries in force have. */
  spendEntries(
    quantity: Exact,
    at: Instant,
  ): { readonly remaining: Exact; readonly allocations: readonly Allocation[] } {
    let remaining = quantity;
    const allocations: Allocation[] = [];
    const count = this.#indices?.length ?? this.#entries.length;
    for (let index = 0; index < count && !isZeroExact(remaining); index++) {
      const entryIndex = this.#indices?.[index] ?? index;
      const entry = this.entries()[entryIndex];
      if (entry === undefined || !isSpendable(entry, at)) continue;
      const entryQuantity = compareExact(entry.balance, remaining) < 0 ? entry.balance : remaining;
      remaining = subtractExact(remaining, entryQuantity);
      allocations.push({ entryId: entry.id, quantity: entryQuantity });
      this.#replaceEntry(entryIndex, { ...entry, balance: subtractExact(entry.balance, entryQuantity) });
    }
    this.#skipExhausted(count);
    return { remaining, allocations };
  }

  /** The entries with their current balances, in the given order. */
  entries(): readonly FeatureEntry[] {
    return this.#changedEntries ?? this.#entries;
  }

  #replaceEntry(index: number, entry: FeatureEntry): void {
    this.#changedEntries ??= [...this.#entries];
    this.#changedEntries[index] = entry;
    if (isZeroExact(entry.balance)) this.#exhaustedCount++;
  }

  /** Stops considering exhausted entries once they are half of all: thousands of events may exhaust thousands of entries. */
  #skipExhausted(count: number): void {
    if (this.#exhaustedCount * 2 < count || this.#exhaustedCount === 0) return;
    const entries = this.entries();
    const indices = this.#indices ?? entries.map((_, index) => index);
    this.#indices = indices.filter((index) => entries[index] !== undefined && !isZeroExact(entries[index].balance));
    this.#exhaustedCount = 0;
  }
}

function isSpendable(entry: FeatureEntry, at: Instant): boolean {
  return !entry.voided && entry.effectiveFrom <= at && at < entry.effectiveUntil && !isZeroExact(entry.balance);
}
