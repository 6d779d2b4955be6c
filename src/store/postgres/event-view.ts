/** Reads events with SQL, and which of them reserve event ids: queried, or assumed free and checked by the commit. */
import { instantOfDay } from "../../calendar/instant.ts";
import type { EventRecord } from "../../ledger/records.ts";
import type { AcceptedEventId, EventFilter, LedgerView } from "../../ledger/view.ts";
import { LostRaceError, type Run } from "./client.ts";
import { eventColumns, readEvent } from "./event-rows.ts";
import {
  DAY_OF_EVENT,
  EVENT_KEY,
  dayOfSql,
  dayValue,
  formatTextArray,
  hasEventId,
  hashExpression,
  idKey,
  idKeys,
  instantFromColumn,
  instantValue,
  isOfAccount,
  pageClause,
  parameter,
} from "./query.ts";

type EventReads = Pick<LedgerView, "acceptedIds" | "events" | "eventsToUndo" | "eventsWithOverage" | "lastSpent">;

/** The event that reserves an id, and its number among those that do. */
export interface Holder {
  readonly event: AcceptedEventId;
  /** 0 for the first event with the id, 1 for one that reused it later, and so on. */
  readonly reservationNumber: number;
}

/** The reads of events. */
export function eventReads(run: Run, table: (name: string) => string): EventReads {
  const from = `select ${eventColumns(table)} from ${table("event")} where`;
  return {
    async acceptedIds(eventIds) {
      return (await readHolders(run, table, eventIds)).map(({ event }) => event);
    },
    async events(filter, page) {
      const values: string[] = [];
      const { accountId, eventId, referenceId, timestamp, ...otherConditions } = filter;
      // A few events are found by their ids or their days.
      const isSelective = eventId !== undefined || referenceId !== undefined || timestamp !== undefined;
      const ofAccount = accountId !== undefined && !isSelective;
      const accountCondition = ofAccount ? `${isOfAccount(parameter(values, idKey(accountId)))} and ` : "";
      const conditions = `${accountCondition}${filterConditions(ofAccount ? otherConditions : filter, values)}`;
      const text = `${from} ${conditions} ${pageClause(values, page, { table: "event", id: "reference_id", ofAccount })}`;
      return (await run(text, values)).map(readEvent);
    },
    async eventsToUndo(accountId, filter, limit) {
      if (filter.accountId !== undefined && filter.accountId !== accountId) return [];
      const values: string[] = [];
      const conditions = `not reverted and ${filterConditions({ ...filter, accountId }, values)}`;
      const limitClause = limit === undefined ? "" : `limit ${parameter(values, String(limit), "bigint")}`;
      const isNarrow = limitClause === "" || filter.eventId !== undefined || filter.referenceId !== undefined;
      const text = isNarrow
        ? `${from} ${conditions} order by event.number ${limitClause}`
        : earliestEventsQuery({ table, conditions, limitClause }, dayConditions(filter, values));
      return (await run(text, values)).map(readEvent);
    },
    async eventsWithOverage(accountId, featureId, fromDay, untilDay, page) {
      const values = [idKey(accountId), idKey(featureId), midnight(fromDay), midnight(untilDay)];
      const after = page?.afterNumber;
      const afterCondition = after === undefined ? "" : `and number > ${parameter(values, String(after), "bigint")}`;
      const limitClause = page === undefined ? "" : `limit ${parameter(values, String(page.limit), "bigint")}`;
      const text = `${from} account_id = $1::text and overage_of = $2::text and holds is not null
        and timestamp >= $3::text::bigint and timestamp < $4::text::bigint ${afterCondition} order by event.number ${limitClause}`;
      return (await run(text, values)).map(readEvent);
    },
    async lastSpent(entryId, accountId) {
      const [row] = await run(
        `select timestamp::text from ${table("event")} where account_id = $1::text and not reverted and holds is not null
          and $2::text = any(entry_ids) order by event.${DAY_OF_EVENT} desc, event.timestamp desc limit 1`,
        [idKey(accountId), idKey(entryId)],
      );
      return row === undefined ? undefined : instantFromColumn(row["timestamp"]);
    },
  };
}

/** SQL conditions for the first and the last day of the events to find; empty without a range. */
interface DayConditions {
  readonly from: string;
  readonly until: string;
}

function dayConditions({ timestamp }: EventFilter, values: string[]): DayConditions {
  const toBound = (instant: number): string => dayOfSql(parameter(values, String(instantValue(instant)), "bigint"));
  return {
    from: timestamp === undefined ? "" : `and ${DAY_OF_EVENT} >= ${toBound(timestamp.from)}`,
    until: timestamp === undefined ? "" : `and ${DAY_OF_EVENT} <= ${toBound(timestamp.until)}`,
  };
}

/**
 * A query for the earliest ingested events that are not reverted, of the account in `$1`: the earliest of each day, and
 * the earliest of these. Each day costs one index lookup, however many events there are.
 */
function earliestEventsQuery(
  {
    table,
    conditions,
    limitClause,
  }: { readonly table: (name: string) => string; readonly conditions: string; readonly limitClause: string },
  { from, until }: DayConditions,
): string {
  const next = (after: string): string =>
    `(select ${DAY_OF_EVENT} as day from ${table("event")} where account_id = $1::text and not reverted ${after} ${until}
      order by ${DAY_OF_EVENT} limit 1)`;
  return `with recursive day as (${next(from)}
      union all select ${next(`and ${DAY_OF_EVENT} > day.day`)} from day where day.day is not null)
    select ${eventColumns(table)} from (
      select event.* from day cross join lateral (
        select * from ${table("event")} where ${DAY_OF_EVENT} = day.day and ${conditions} order by event.number ${limitClause}
      ) as event where day.day is not null
    ) as event order by event.number ${limitClause}`;
}

/**
 * For each reserved id, the event ingested last, and the greatest number with which the id is reserved.
 *
 * @param lock `for no key update` if they must not change
 */
export async function readHolders(
  run: Run,
  table: (name: string) => string,
  eventIds: readonly string[],
  lock = "",
): Promise<readonly Holder[]> {
  const rows = await run(
    `select ${eventColumns(table)}, holds::text from ${table("event")}
      where ${hasEventId("$1::text::text[]")} and holds is not null order by event.created_at ${lock}`,
    [formatTextArray(idKeys(eventIds))],
  );
  const holders = new Map<string, Holder>();
  for (const row of rows) {
    const event = readEvent(row);
    const before = holders.get(event.eventId)?.reservationNumber ?? 0;
    holders.set(event.eventId, {
      event: toAcceptedId(event),
      reservationNumber: Math.max(before, Number(row["holds"])),
    });
  }
  return [...holders.values()];
}

function toAcceptedId({ eventId, referenceId, accountId, timestamp, createdAt }: EventRecord): AcceptedEventId {
  return { eventId, referenceId, accountId, timestamp, createdAt };
}

/** A filter as an SQL condition. */
function filterConditions(filter: EventFilter, values: string[]): string {
  const { accountId, schemaName, status, accepted, reverted, eventId, referenceId, timestamp, createdAt } = filter;
  const conditions = ["true"];
  const equal = (column: string, value: string | undefined): void => {
    if (value !== undefined) conditions.push(`${column} = ${parameter(values, value)}`);
  };
  const within = (column: string, range: EventFilter["timestamp"]): void => {
    if (range === undefined) return;
    conditions.push(`${column} >= ${parameter(values, String(instantValue(range.from)), "bigint")}`);
    conditions.push(`${column} < ${parameter(values, String(instantValue(range.until)), "bigint")}`);
  };
  equal("account_id", accountId === undefined ? undefined : idKey(accountId));
  equal("schema_name", schemaName === undefined ? undefined : idKey(schemaName));
  equal("status", status);
  if (eventId !== undefined) {
    equal("event_id", idKey(eventId));
    conditions.push(`${EVENT_KEY} = ${hashExpression(`$${values.length}::text`)}`);
  }
  equal("reference_id", referenceId === undefined ? undefined : idKey(referenceId));
  if (accepted !== undefined) conditions.push(`${accepted ? "" : "not "}starts_with(status, 'INGESTION_COMPLETED')`);
  if (reverted !== undefined) conditions.push(reverted ? "reverted" : "not reverted");
  within("timestamp", timestamp);
  within("created_at", createdAt);
  return conditions.join(" and ");
}

function midnight(day: number): string {
  return String(instantValue(instantOfDay(dayValue(day))));
}

/**
 * Whether transactions assume event ids to be free. Nearly all are, and a unique key detects the others. So a first
 * attempt does not query: if an id turns out to be reserved, the attempt is a lost race, and the next one queries, as
 * do some transactions after it.
 */
export interface IdCheckPolicy {
  /** The number of transactions that still query before one assumes ids to be free again. */
  queriesLeft: number;
}

/** The number of transactions that query after a wrong assumption: if some events are sent twice, more are likely. */
const QUERIES_AFTER_CONFLICT = 32;

export function createIdCheckPolicy(): IdCheckPolicy {
  return { queriesLeft: 0 };
}

/** Whether an attempt of a transaction may assume that event ids are free. */
export function mayAssumeFree(policy: IdCheckPolicy, attempt: number): boolean {
  // The previous attempt may have lost its race because of this assumption.
  if (attempt === 2) policy.queriesLeft = QUERIES_AFTER_CONFLICT;
  if (attempt > 1) return false;
  if (policy.queriesLeft === 0) return true;
  policy.queriesLeft -= 1;
  return false;
}

/** The event ids of a transaction. */
export interface ReservedIds {
  /** The reserved ids; none if the transaction assumes all ids to be free, which the commit checks. */
  readonly acceptedIds: (eventIds: readonly string[]) => Promise<readonly AcceptedEventId[]>;
  /**
   * The number with which each event id is reserved, -1 or absent if free. The ids that new events take are locked
   * until the commit.
   *
   * @param eventIds of events to write that reserve their ids
   * @param reservedIds those that new events take: the unique key checks the assumption that they are free
   * @throws a {@link LostRaceError} if an event that reserves one was undone at the same time
   */
  readonly reservationNumbers: (
    eventIds: readonly string[],
    reservedIds: readonly string[],
  ) => Promise<ReadonlyMap<string, number>>;
  /** Checks the ids that were assumed to be free and that no new event took. @throws a {@link LostRaceError} if one is not free */
  readonly checkAssumptions: () => Promise<void>;
}

/** Call it once the transaction has its locks. */
export function createReservedIds(run: Run, table: (name: string) => string, assumesFree: boolean): ReservedIds {
  const numbers = new Map<string, number>();
  const holders = new Map<string, Holder>();
  const assumedIds = new Set<string>();
  const checkedIds = new Set<string>();
  const readReservations = async (eventIds: Iterable<string>): Promise<void> => {
    const unknownIds = [...new Set(eventIds)].filter((id) => !numbers.has(id));
    if (unknownIds.length === 0) return;
    for (const id of unknownIds) numbers.set(id, -1);
    for (const holder of await readHolders(run, table, unknownIds)) {
      numbers.set(holder.event.eventId, holder.reservationNumber);
      holders.set(holder.event.eventId, holder);
    }
  };
  return {
    acceptedIds: async (eventIds) => {
      if (assumesFree) {
        for (const id of eventIds) assumedIds.add(id);
        return [];
      }
      await readReservations(eventIds);
      return [...new Set(eventIds)].flatMap((id) => holders.get(id)?.event ?? []);
    },
    reservationNumbers: async (eventIds, reservedIds) => {
      await readReservations(assumedIds.size === 0 ? eventIds : eventIds.filter((id) => !assumedIds.has(id)));
      for (const id of reservedIds) if (assumedIds.has(id)) checkedIds.add(id);
      // An id that is reserved and taken anyway gets the next number: if its event were undone at the same time,
      // another writer would take it with the first number.
      const retakenIds = holders.size === 0 ? [] : reservedIds.filter((id) => holders.has(id));
      const lockedHolders =
        retakenIds.length === 0 ? [] : await readHolders(run, table, retakenIds, "for no key update");
      const unchangedHolders = lockedHolders.filter(
        (holder) => holders.get(holder.event.eventId)?.event.referenceId === holder.event.referenceId,
      );
      if (unchangedHolders.length < retakenIds.length)
        throw new LostRaceError("an event whose id is taken again was undone at the same time");
      return numbers;
    },
    checkAssumptions: async () => {
      if (assumedIds.size === checkedIds.size) return;
      const uncheckedIds = [...assumedIds].filter((id) => !checkedIds.has(id));
      await readReservations(uncheckedIds);
      if (uncheckedIds.some((id) => holders.has(id)))
        throw new LostRaceError("an event id that was assumed to be free is reserved");
    },
  };
}
