/** Reads events with SQL, and which of them reserve event ids: queried, or assumed free and checked by the commit. */
import { type Instant, instantOfDay } from "../../calendar/instant.ts";
import type { EventRecord } from "../../ledger/records.ts";
import type { AcceptedEventId, EventFilter } from "../../ledger/view.ts";
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
} from "./query.ts";
import {
  type Condition,
  type Parameter,
  type Reader,
  type Reads,
  equals,
  hasInstant,
  hasKey,
  isBetween,
  isOfAccount,
  joinConditions,
  readQuery,
  writePage,
} from "./selects.ts";

/** The event that reserves an id, and its number among those that do. */
interface Holder {
  readonly event: AcceptedEventId;
  /** 0 for the first event with the id, 1 for one that reused it later, and so on. */
  readonly reservationNumber: number;
}

/** The reads of events. */
export const EVENT_READS: Reads<"acceptedIds" | "events" | "eventsToUndo" | "eventsWithOverage" | "lastSpent"> = {
  async acceptedIds({ run, table }, eventIds) {
    return (await readHolders(run, table, eventIds)).map(({ event }) => event);
  },
  events(reader, { accountId, ...filter }, page) {
    // A few events are found by their ids or their days.
    const { eventId, referenceId, timestamp } = filter;
    const isSelective = eventId !== undefined || referenceId !== undefined || timestamp !== undefined;
    const ofAccount = accountId !== undefined && !isSelective;
    const conditions = [(ofAccount ? isOfAccount : hasKey)("account_id", accountId), ...filterConditions(filter)];
    const list = { name: "event", id: "reference_id", ofAccount };
    return readEvents(reader, (parameter) => writePage(parameter, conditions, page, list));
  },
  async eventsToUndo(reader, accountId, { accountId: filteredAccount = accountId, ...filter }, limit) {
    if (filteredAccount !== accountId) return [];
    const isNarrow = limit === undefined || filter.eventId !== undefined || filter.referenceId !== undefined;
    const conditions = [hasKey("account_id", accountId), () => "not reverted", ...filterConditions(filter)];
    const writeEarliest = (parameter: Parameter): string =>
      `order by event.number ${limit === undefined ? "" : `limit ${parameter(limit, "bigint")}`}`;
    if (isNarrow)
      return readEvents(reader, (parameter) => `${joinConditions(parameter, conditions)} ${writeEarliest(parameter)}`);
    // The earliest of each day, and the earliest of these: each day costs one index lookup, however many events there are.
    const { table } = reader;
    return readQuery(reader, readEvent, (parameter) => {
      const earliest = writeEarliest(parameter);
      return `with recursive ${selectDays(parameter, table("event"), accountId, filter)}
        select ${eventColumns(table)} from (
          select event.* from day cross join lateral (
            select * from ${table("event")}
            where ${DAY_OF_EVENT} = day.day and ${joinConditions(parameter, conditions)} ${earliest}
          ) as event where day.day is not null
        ) as event ${earliest}`;
    });
  },
  eventsWithOverage(reader, ...[accountId, featureId, fromDay, untilDay, page]) {
    const conditions = [
      hasKey("account_id", accountId),
      hasKey("overage_of", featureId),
      () => "holds is not null",
      ...isBetween("timestamp", { from: midnight(fromDay), until: midnight(untilDay) }),
      hasInstant("number", ">", page?.afterNumber),
    ];
    return readEvents(reader, (parameter) => {
      const limitClause = page === undefined ? "" : `limit ${parameter(page.limit, "bigint")}`;
      return `${joinConditions(parameter, conditions)} order by event.number ${limitClause}`;
    });
  },
  async lastSpent({ run, table }, entryId, accountId) {
    const [row] = await run(
      `select timestamp::text from ${table("event")} where account_id = $1::text and not reverted and holds is not null
        and $2::text = any(entry_ids) order by event.${DAY_OF_EVENT} desc, event.timestamp desc limit 1`,
      [idKey(accountId), idKey(entryId)],
    );
    return row === undefined ? undefined : instantFromColumn(row["timestamp"]);
  },
};

/** Reads events. @param write the query from its conditions on */
function readEvents(reader: Reader, write: (parameter: Parameter) => string): Promise<readonly EventRecord[]> {
  const select = `select ${eventColumns(reader.table)} from ${reader.table("event")} where`;
  return readQuery(reader, readEvent, (parameter) => `${select} ${write(parameter)}`);
}

/** A common table expression of the days on which an account has events that may be undone. */
function selectDays(parameter: Parameter, event: string, accountId: string, { timestamp }: EventFilter): string {
  const account = hasKey("account_id", accountId);
  const onDay = (operator: string, instant: Instant | undefined): Condition =>
    instant === undefined
      ? undefined
      : () => `${DAY_OF_EVENT} ${operator} ${dayOfSql(parameter(instantValue(instant), "bigint"))}`;
  const next = (after: Condition): string =>
    `(select ${DAY_OF_EVENT} as day from ${event}
      where ${joinConditions(parameter, [account, () => "not reverted", after, onDay("<=", timestamp?.until)])}
      order by ${DAY_OF_EVENT} limit 1)`;
  return `day as (${next(onDay(">=", timestamp?.from))}
      union all select ${next(() => `${DAY_OF_EVENT} > day.day`)} from day where day.day is not null)`;
}

/**
 * For each reserved id, the event ingested last, and the greatest number with which the id is reserved.
 *
 * @param lock `for no key update` if they must not change
 */
async function readHolders(
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

/** A filter without its account as conditions. */
function filterConditions({
  schemaName,
  status,
  accepted,
  reverted,
  eventId,
  referenceId,
  timestamp,
  createdAt,
}: Omit<EventFilter, "accountId">): readonly Condition[] {
  return [
    hasKey("schema_name", schemaName),
    equals("status", status),
    eventId === undefined
      ? undefined
      : (parameter) => {
          const key = parameter(idKey(eventId));
          return `event_id = ${key} and ${EVENT_KEY} = ${hashExpression(key)}`;
        },
    hasKey("reference_id", referenceId),
    accepted === undefined ? undefined : () => `${accepted ? "" : "not "}starts_with(status, 'INGESTION_COMPLETED')`,
    reverted === undefined ? undefined : () => (reverted ? "reverted" : "not reverted"),
    ...isBetween("timestamp", timestamp),
    ...isBetween("created_at", createdAt),
  ];
}

function midnight(day: number): Instant {
  return instantOfDay(dayValue(day));
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
