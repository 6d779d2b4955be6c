/** Decides an ingest: each event of a batch gets one outcome, in order, and all changes form one decision (S14). */
import { dayOf, startOfUtcDay, type Instant } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import { type IncomingEvent, type BatchEvent, isMalformed } from "../../metering/event-envelope.ts";
import type { FieldsResult } from "../../metering/event-fields.ts";
import type { Steps } from "../../numbers/steps.ts";
import { AccountState } from "../account-state.ts";
import { findAccountPlan } from "../account/account-plan.ts";
import { catchUp, grantUpTo, isBehind } from "../account/catch-up.ts";
import type { Catalog } from "../catalog.ts";
import { type Changes, type Decision, type IdSource, noChanges } from "../decision.ts";
import type { IngestOutcome } from "../outcome.ts";
import type { AccountRecord, NewEvent } from "../records.ts";
import type { AcceptedEventId } from "../view.ts";
import type { AccountParts } from "../working-records.ts";
import {
  decideEvent,
  type DecisionTime,
  type EventDecision,
  explainUnmetered,
  idReservedUntil,
  refuse,
  refuseDuplicate,
  refuseExternal,
  type UnmeteredExplanation,
} from "./decide-event.ts";
import type { IngestState } from "./ingest-reads.ts";
import { createNewEvent } from "./new-event.ts";

/** The result of one event. */
export interface IngestResult extends IngestOutcome, UnmeteredExplanation {
  /** As sent, also for a malformed event; absent if that has none. */
  readonly eventId?: string;
  /** The stored event's; for a duplicate, that of the event that reserves the id. Absent if the event is malformed. */
  readonly referenceId?: string;
}

/**
 * Decides a batch of events. Pure: the same state, batch and instant give the same decision (S14.3). Pauses after every
 * event, whose rules may use a full budget, so that other work can run.
 *
 * @param batch in the order sent
 * @param ids creates the referenceIds
 */
export function* decideIngest(
  catalog: Catalog,
  read: IngestState,
  batch: readonly BatchEvent[],
  now: Instant,
  ids: IdSource,
): Steps<IngestDecision> {
  const ingest: Ingest = {
    catalog,
    accounts: new Map(read.accounts.map((each) => [each.record.id, each])),
    names: read.names,
    acceptedIds: new Map(read.acceptedIds.map((each) => [each.eventId, each])),
    holders: new Map(read.holders.map((each) => [each.id, each])),
    events: [],
    time: { now, futureMs: catalog.options.futureMs },
    ids,
  };
  const result: IngestResult[] = [];
  for (const event of batch) {
    if (result.length > 0) yield;
    result.push(ingestOne(ingest, event));
  }
  return { result, changes: collectChanges(ingest) };
}

type IngestDecision = Decision<readonly IngestResult[]>;

interface Ingest {
  readonly catalog: Catalog;
  /** By id: the parts that were read, replaced by an AccountState when the first event of the account is decided. */
  readonly accounts: Map<string, AccountParts | AccountState>;
  readonly names: ReadonlyMap<string, string>;
  /** By event id; accepted events of the batch are added. */
  readonly acceptedIds: Map<string, AcceptedEventId>;
  /** Accounts not in the batch, by id. */
  readonly holders: ReadonlyMap<string, AccountRecord>;
  /** The events to store, in order. */
  readonly events: NewEvent[];
  readonly time: DecisionTime;
  readonly ids: IdSource;
}

function ingestOne(ingest: Ingest, event: BatchEvent): IngestResult {
  const { catalog, time } = ingest;
  if (isMalformed(event)) return { ...refuse(event.problem), ...(event.id === undefined ? {} : { eventId: event.id }) };
  if (catalog.options.externalSchemas.includes(event.schemaName)) {
    return { ...refuseExternal(event), eventId: event.id };
  }
  const fields = catalog.readFields(event);
  if (fields.problem !== undefined) return { ...refuse(fields.problem), eventId: event.id };
  const acceptedId = ingest.acceptedIds.get(event.id);
  if (acceptedId !== undefined && isIdReserved(ingest, acceptedId)) {
    return { ...refuseDuplicate(event), eventId: event.id, referenceId: acceptedId.referenceId };
  }
  const account = findAccount(ingest, event.accountId);
  const isAhead = event.timestamp > time.now && event.timestamp <= time.now + time.futureMs;
  if (isAhead && fields.program?.feature !== undefined && account !== undefined && account.billFault === undefined) {
    grantAhead(catalog, account, event.timestamp);
  }
  const decision = decideEvent(event, fields, account, time);
  const referenceId = addToChanges(ingest, event, fields, account, decision);
  return { ...decision.outcome, eventId: event.id, referenceId, ...explainUnmetered(fields, decision) };
}

/** Adds a decided event, its units and its consumption to the changes. @returns its reference id */
function addToChanges(
  { ids, time: { now }, events, acceptedIds }: Ingest,
  event: IncomingEvent,
  { program }: FieldsResult,
  account: AccountState | undefined,
  decision: EventDecision,
): string {
  const { timestamp } = event;
  const { units, consumption } = decision;
  const referenceId = ids("ev");
  const { id: accountId, customerId } = account ?? NO_ACCOUNT;
  const feature = consumption && account?.consume(consumption, timestamp);
  const newEvent = createNewEvent(
    event,
    program,
    decision,
    { accountId, customerId, referenceId, createdAt: now },
    feature,
  );
  events.push(newEvent);
  if (account === undefined || !decision.isAccepted) return referenceId;
  if (program !== undefined && units.length > 0) account.addUnits(program, units, dayOf(timestamp));
  acceptedIds.set(event.id, newEvent);
  return referenceId;
}

const NO_ACCOUNT = { id: "", customerId: "" };

/** Whether an accepted event still reserves its id (S14.1). */
function isIdReserved({ catalog, accounts, holders, time: { now } }: Ingest, acceptedId: AcceptedEventId): boolean {
  const { accountId, createdAt, timestamp } = acceptedId;
  const holder = accounts.get(accountId)?.record ?? holders.get(accountId);
  const period = holder && findAccountPlan(catalog, holder).lookup.periodAt(timestamp);
  return now < idReservedUntil(catalog.options, createdAt, period);
}

/** Finds the account with a name, caught up (S2.4). */
function findAccount({ catalog, names, accounts, time: { now } }: Ingest, name: string): AccountState | undefined {
  const id = names.get(name) ?? name;
  let account = accounts.get(id);
  if (account === undefined) return undefined;
  if (!(account instanceof AccountState)) accounts.set(id, (account = createCaughtUpAccount(catalog, account, now)));
  // An archived account is named by its id only: archiving frees its aliases (S16.6).
  return account.isArchived && name !== id ? undefined : account;
}

/** Opens an account with everything due processed. If nothing was due, its record is not written. */
function createCaughtUpAccount(catalog: Catalog, read: AccountParts, now: Instant): AccountState {
  const account = new AccountState(catalog, read);
  if (read.currentPlan !== undefined || !isBehind(read.record, now)) return account;
  try {
    catchUp(catalog, account, now);
    return account;
  } catch (error) {
    // Amounts with too many digits: the account stays as read and its events fail; other accounts continue.
    if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
    const failedAccount = new AccountState(catalog, read);
    failedAccount.billFault = error.message;
    return failedAccount;
  }
}

/** Creates the grants due up to a future-dated event (S2.4). */
function grantAhead(catalog: Catalog, account: AccountState, at: Instant): void {
  // Every grant falls due at the start of a day.
  const upTo = startOfUtcDay(at);
  if (upTo <= Math.max(account.grantedUpTo, account.record.caughtUpTo)) return;
  account.grantedUpTo = upTo;
  grantUpTo(catalog, account, upTo);
}

function collectChanges({ accounts, events }: Ingest): Changes {
  const changes = { ...noChanges(), newEvents: events };
  for (const account of accounts.values()) if (account instanceof AccountState) account.addTo(changes);
  return changes;
}
