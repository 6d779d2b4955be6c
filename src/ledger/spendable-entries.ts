/**
 * The feature credit entries of an account that can be spent, in spending order (S11.2).
 *
 * @module
 */
import { compareSpending, type FeatureEntry, sortForSpending } from "../credits/feature-credits.ts";
import { exactOfDecimal } from "../numbers/exact.ts";
import type { EntryRecord } from "./records.ts";

/**
 * The entries of an account that are not voided and have a balance, by feature. A batch may take from thousands of
 * entries, so they are sorted once and then updated.
 */
export class SpendableEntries {
  readonly #all: () => readonly EntryRecord[];
  readonly #byFeature = new Map<string, FeatureEntry[]>();

  /** @param all the current entries of the account */
  constructor(all: () => readonly EntryRecord[]) {
    this.#all = all;
  }

  /** The entries of one feature, in spending order; valid until the next change. */
  of(featureId: string): readonly FeatureEntry[] {
    let entries = this.#byFeature.get(featureId);
    if (entries === undefined) {
      const featureEntries = this.#all().filter((entry) => entry.featureId === featureId && isSpendable(entry));
      this.#byFeature.set(featureId, (entries = [...sortForSpending(featureEntries.map(toFeatureEntry))]));
    }
    return entries;
  }

  /** Applies a written entry. */
  update(record: EntryRecord): void {
    const entries = this.#byFeature.get(record.featureId);
    if (entries === undefined) return;
    const entry = toFeatureEntry(record);
    const index = findEntryIndex(entries, entry);
    // An entry that is new, has another end, or was not spendable changes the order.
    if (entries[index]?.id !== entry.id) this.#byFeature.delete(record.featureId);
    else if (isSpendable(record)) entries[index] = entry;
    else entries.splice(index, 1);
  }
}

/** Converts an entry record for the feature credit functions. */
export function toFeatureEntry(record: EntryRecord): FeatureEntry {
  return { ...record, granted: exactOfDecimal(record.granted), balance: exactOfDecimal(record.balance) };
}

function isSpendable({ voided, balance }: EntryRecord): boolean {
  return !voided && !balance.isZero();
}

/** The index of an entry in spending order, or the index at which to insert it. */
function findEntryIndex(entries: readonly FeatureEntry[], entry: FeatureEntry): number {
  let [from, until] = [0, entries.length];
  while (from < until) {
    const middle = (from + until) >> 1;
    const other = entries[middle];
    if (other !== undefined && compareSpending(other, entry) < 0) from = middle + 1;
    else until = middle;
  }
  return from;
}
