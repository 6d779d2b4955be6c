/** Moves overage onto entries (S11.5): no open overage remains while an entry with balance covers it. */
import { dayOf, type Instant } from "../../calendar/instant.ts";
import { type FeatureEntry, moveOverage } from "../../credits/feature-credits.ts";
import { decimalOfExact, exactOfDecimal, subtractExact } from "../../numbers/exact.ts";
import type { AccountState } from "../account-state.ts";
import type { EventRecord, FeatureUse } from "../records.ts";

/**
 * Moves a feature's overage onto its entries with a balance, in order of ingest (S11.5). Call it after credits were
 * returned and whenever an entry was created, raised or extended. The working copy must contain the events whose
 * overage may move.
 *
 * @param isOpen whether the cycle at an event's timestamp still accepts changes (S6.5)
 */
export function moveOverageOnto(account: AccountState, featureId: string, isOpen: (at: Instant) => boolean): void {
  const uses = account.events().flatMap((event) => toOverageUse(event, featureId, isOpen));
  if (uses.length === 0) return;
  const { entries, events } = moveOverage(
    account.spendableEntries(featureId),
    uses.map(({ event, use }) => ({
      eventId: event.referenceId,
      at: event.timestamp,
      allocations: [],
      overage: exactOfDecimal(use.overage),
    })),
  );
  for (const [index, { event, use }] of uses.entries()) {
    const movedEvent = events[index];
    if (movedEvent === undefined || movedEvent.allocations.length === 0) continue;
    const overage = decimalOfExact(movedEvent.overage);
    account.addOverage(
      featureId,
      dayOf(event.timestamp),
      subtractExact(movedEvent.overage, exactOfDecimal(use.overage)),
    );
    const allocations = movedEvent.allocations.map((each) => ({ ...each, quantity: decimalOfExact(each.quantity) }));
    account.putEvent({ ...event, feature: { ...use, overage, allocations: [...use.allocations, ...allocations] } });
  }
  putBalances(account, entries);
}

/** Saves the balances that changed. */
export function putBalances(account: AccountState, entries: readonly Pick<FeatureEntry, "id" | "balance">[]): void {
  for (const { id, balance } of entries) {
    const record = account.entry(id);
    const newBalance = decimalOfExact(balance);
    if (record !== undefined && !record.balance.eq(newBalance)) account.putEntry({ ...record, balance: newBalance });
  }
}

interface OverageUse {
  readonly event: EventRecord;
  readonly use: FeatureUse;
}

function toOverageUse(event: EventRecord, featureId: string, isOpen: (at: Instant) => boolean): readonly OverageUse[] {
  const use = event.feature;
  if (use === undefined || use.featureId !== featureId || event.reverted || use.overage.isZero()) return [];
  return isOpen(event.timestamp) ? [{ event, use }] : [];
}
