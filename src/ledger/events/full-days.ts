/**
 * The days of an ingest on which an account may get too many groups of a meter (S18.1). On most days the number of groups
 * and of new events shows that there is room; only for the others are the groups read.
 */
import { findGroupLimit } from "../../book/resources/event-schema.ts";
import type { Day } from "../../calendar/instant.ts";
import type { SchemaProgram } from "../../metering/compile-metering.ts";
import type { LedgerReads } from "../reads.ts";
import type { AccountRecord, LedgerCell } from "../records.ts";
import type { AccountParts } from "../working-records.ts";

/** The number of new events that may add to groups of a meter on a day. */
interface MeterDayEvents {
  readonly meterId: string;
  /** Maximum number of its groups on a day (S18.1, S19.2). */
  readonly maximum: number;
  readonly day: Day;
  events: number;
}

/** The new events of an account by meter with groups and day. */
export type GroupedEvents = Map<string, MeterDayEvents>;

/** The meters and days of an account on which there may be too many groups, and all usage of them. */
export interface FullDays {
  readonly days: NonNullable<AccountParts["fullDays"]>;
  readonly usage: readonly LedgerCell[];
}

/** Counts an event for each meter with groups. */
export function countGroupedEvent(counts: GroupedEvents, { meters, groups }: SchemaProgram, day: Day): void {
  for (const [place, meter] of meters.entries()) {
    if (groups[place] === undefined) continue;
    const key = meterDayKey(meter.id, day);
    const count = counts.get(key);
    if (count === undefined) counts.set(key, { meterId: meter.id, maximum: findGroupLimit(meter), day, events: 1 });
    else count.events++;
  }
}

/** The new events of an account under two names. */
export function mergeGroupedEvents(
  a: GroupedEvents = new Map(),
  b: GroupedEvents = new Map(),
): { readonly groupedEvents?: GroupedEvents } {
  const merged: GroupedEvents = new Map();
  for (const [key, { events, ...meterDay }] of [...a, ...b])
    merged.set(key, { ...meterDay, events: events + (merged.get(key)?.events ?? 0) });
  return merged.size === 0 ? {} : { groupedEvents: merged };
}

/** Reads the days that the events of some accounts may fill, by account. @param needs by account id */
export async function readFullDays(
  view: Pick<LedgerReads, "groupCounts" | "usage">,
  records: readonly AccountRecord[],
  needs: ReadonlyMap<string, { readonly groupedEvents?: GroupedEvents }>,
): Promise<ReadonlyMap<string, FullDays>> {
  const all = records.flatMap(({ id: accountId }) =>
    [...(needs.get(accountId)?.groupedEvents?.values() ?? [])].map((each) => ({ accountId, ...each })),
  );
  const requests = all.map((each) => ({ ...each, exactAbove: each.maximum - each.events }));
  const groupCounts = all.length === 0 ? [] : await view.groupCounts(requests);
  const full = all.filter(({ events, maximum }, index) => (groupCounts[index] ?? 0) + events > maximum);
  const fullDays = new Map<string, FullDays>();
  for (const { accountId, meterId, day } of full) {
    const cells = await view.usage([accountId], day, day + 1);
    const { days = [], usage = [] } = fullDays.get(accountId) ?? {};
    const meterCells = cells.filter(({ meterOrFeatureId }) => meterOrFeatureId === meterId);
    fullDays.set(accountId, { days: [...days, { meterId, day }], usage: [...usage, ...meterCells] });
  }
  return fullDays;
}

/** An account with its days that may become full. Other parts stay as they were read. */
export function withFullDays(parts: AccountParts, full: FullDays | undefined): AccountParts {
  if (full === undefined) return parts;
  const keys = new Set(full.days.map(({ meterId, day }) => meterDayKey(meterId, day)));
  const others = parts.usage.filter(({ meterOrFeatureId, day }) => !keys.has(meterDayKey(meterOrFeatureId, day)));
  return { ...parts, usage: [...others, ...full.usage], fullDays: full.days };
}

function meterDayKey(meterId: string, day: Day): string {
  return `${day} ${meterId}`;
}
