/**
 * Events one after another, each with its outcome, and the usage and overage that they leave: what a preview prices.
 *
 * An event arrives at its own timestamp, so none is late or early (S13.5).
 *
 * @module
 */
import type { Book } from "../../book/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { dayOf, formatInstant, type Instant } from "../../calendar/instant.ts";
import type { AddAll } from "../../metering/cells.ts";
import { createEnvelopeReader, type EventEnvelope, type ReadEnvelope } from "../../metering/event-envelope.ts";
import type { FieldsRead, ReadFields } from "../../metering/event-fields.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import { createUsageTally, type Usage } from "../../metering/usage.ts";
import type { RuleBudget } from "../../rules/budget.ts";
import { type Catalog, createCatalog } from "../catalog.ts";
import { decideEvent, type EventDecision, refuse, refuseDuplicate } from "../events/decide-event.ts";
import { newEvent, recordOfNewEvent } from "../events/new-event.ts";
import { INGEST_STATUSES, type IngestOutcome, type IngestStatus, METERED } from "../outcome.ts";
import { UNNUMBERED } from "../records.ts";
import { type PreviewAccount, type PreviewAccounts, previewAccounts } from "./preview-account.ts";
import type { EventSpan } from "./preview-range.ts";
import type { SeenIds } from "./seen-ids.ts";

/** How events are decided. */
export interface EventRunOptions {
  /** A plan that all accounts have instead of their own. */
  readonly plan?: PricePlan | undefined;
  /** Remembers the ids of accepted events; undefined does without (S14.1). */
  readonly ids?: SeenIds | undefined;
  /** What an evaluation of a rule may cost (S3.8). */
  readonly ruleBudget?: Partial<RuleBudget> | undefined;
}

/** Events in, usage out. */
export interface EventRun {
  /** What the events are decided by: the book, with the draft among its plans. */
  readonly catalog: Catalog;
  readonly accounts: PreviewAccounts;
  /** Decides one event as it was sent. */
  readonly add: (event: unknown) => IngestOutcome;
  /**
   * The slots for the events of an ACTIVE schema, for a reader that finds the parts of an event by itself. It must set id,
   * accountId, timestamp, every declared attribute within S1.3 and every declared dimension, all within their bounds;
   * whatever it cannot read so goes through {@link add}.
   */
  readonly slotsOf: (schemaName: string) => EventSlots | undefined;
  /** Decides the event that was laid out in the slots of {@link slotsOf}. */
  readonly addSlots: (slots: EventSlots) => IngestOutcome;
  /** The first and the last event by timestamp that were accepted so far; of one timestamp, the one that came first. */
  readonly span: () => EventSpan | undefined;
  /** How many events had each status so far. */
  readonly counts: () => Readonly<Record<IngestStatus, number>>;
  readonly usage: Usage;
}

/** Starts a run over a book that was read and checked. */
export function startEventRun(book: Book, { plan, ids, ruleBudget }: EventRunOptions = {}): EventRun {
  const catalog = createCatalog(
    plan === undefined ? book : withPlan(book, plan),
    ruleBudget === undefined ? {} : { ruleBudget },
  );
  const { metering } = catalog;
  const together = [...metering.schemas.values()].map(({ measure }) => measure.meters);
  const usage = createUsageTally(
    book.accounts.map(({ id }) => id),
    metering.meterIds,
    together,
  );
  const accounts = previewAccounts(catalog, book, plan, usage);
  const run: Run = {
    catalog,
    find: accounts.find,
    adders: together.map((meters) => usage.adder(meters)),
    ids,
    readEnvelope: createEnvelopeReader(),
    readFields: catalog.readFields,
    time: { now: 0, futureMs: 0 },
    counts: new Map(INGEST_STATUSES.map((status) => [status, 0])),
    last: METERED,
    uncounted: 0,
    span: { first: Infinity, firstId: "", last: -Infinity, lastId: "" },
  };
  const read = new Map(
    [...metering.schemas].map(([name, program]) => [name, { program, problem: undefined, fault: undefined }]),
  );
  return {
    catalog,
    accounts,
    add: (event) => {
      const incoming = run.readEnvelope(event);
      return typeof incoming === "string"
        ? counted(run, refuse(incoming))
        : takeEvent(run, incoming, run.readFields(incoming));
    },
    slotsOf: (schemaName) => metering.schemas.get(schemaName)?.slots,
    addSlots: (slots) => takeEvent(run, slots, read.get(slots.schemaName) ?? UNKNOWN),
    counts: () => {
      settleCounts(run);
      return Object.fromEntries(run.counts) as Record<IngestStatus, number>;
    },
    span: () => spanOf(run),
    usage,
  };
}

const UNKNOWN: FieldsRead = { program: undefined, problem: undefined, fault: undefined };

interface Run {
  readonly catalog: Catalog;
  readonly find: PreviewAccounts["find"];
  /** What adds the units of an event, by the index of its program. */
  readonly adders: readonly AddAll[];
  readonly ids: SeenIds | undefined;
  readonly readEnvelope: ReadEnvelope;
  readonly readFields: ReadFields;
  /** The time of the event that is decided. */
  readonly time: { now: Instant; readonly futureMs: number };
  readonly counts: Map<IngestStatus, number>;
  /** The outcome of the last events, and how many of them are not among the counts yet. */
  last: IngestOutcome;
  uncounted: number;
  /** Of accepted events. */
  readonly span: { first: Instant; firstId: string; last: Instant; lastId: string };
}

function spanOf({ span: { first, firstId, last, lastId } }: Run): EventSpan | undefined {
  if (first > last) return undefined;
  return { first: { id: firstId, timestamp: first }, last: { id: lastId, timestamp: last } };
}

function withPlan(book: Book, plan: PricePlan): Book {
  const others = book.pricePlans.filter(({ id, version }) => id !== plan.id || version !== plan.version);
  return { ...book, pricePlans: [...others, plan] };
}

function takeEvent(run: Run, event: EventEnvelope, read: FieldsRead): IngestOutcome {
  const { timestamp } = event;
  const account = run.find(event.accountId);
  run.time.now = timestamp;
  account?.fallDue(timestamp);
  let decision = decideEvent(event, read, account?.seen, run.time);
  if (decision.isAccepted && account?.awaitsPlan === true) {
    // Deciding changes nothing: now that the account gets its plan, the event is decided by it.
    account.startPlan(timestamp);
    decision = decideEvent(event, read, account.seen, run.time);
  }
  const { outcome } = decision;
  if (account === undefined || !decision.isAccepted) {
    const isRepeated = read.problem === undefined && run.ids?.has(event.id, timestamp) === true;
    return counted(run, isRepeated ? refuseDuplicate(event) : outcome);
  }
  if (run.ids !== undefined && !run.ids.admit(event.id, timestamp, heldUntil(run, account, timestamp))) {
    return counted(run, refuseDuplicate(event));
  }
  apply(run, account, event, read, decision);
  widenSpan(run.span, event);
  return counted(run, outcome);
}

function widenSpan(span: Run["span"], { id, timestamp }: EventEnvelope): void {
  if (timestamp < span.first) {
    span.first = timestamp;
    span.firstId = id;
  }
  if (timestamp > span.last) {
    span.last = timestamp;
    span.lastId = id;
  }
}

/** For a time after its ingest, and in any case while its cycle is open (S14.1). */
function heldUntil({ catalog }: Run, account: PreviewAccount, at: Instant): Instant {
  return Math.max(at + catalog.options.idMemoryMs, account.seen.periodAt(at).openUntil ?? -Infinity);
}

function apply(
  run: Run,
  account: PreviewAccount,
  event: EventEnvelope,
  { program }: FieldsRead,
  decision: EventDecision,
): void {
  const { timestamp } = event;
  const { units, take } = decision;
  if (program === undefined) return;
  run.adders[program.index]?.(account.index, dayOf(timestamp), units);
  account.count(units, timestamp);
  if (take === undefined) return;
  account.take(take, timestamp, (feature) => {
    const { schemaName, id, accountId } = event;
    const sent = { schemaName, id, accountId, timestamp: formatInstant(timestamp) };
    const { id: ownId, customerId } = account.seen;
    const owner = { accountId: ownId, customerId, referenceId: id, createdAt: timestamp };
    return recordOfNewEvent(newEvent({ ...event, sent }, program, decision, owner, feature), UNNUMBERED);
  });
}

/** Counts an outcome; most events come out as the one before them. */
function counted(run: Run, outcome: IngestOutcome): IngestOutcome {
  if (outcome !== run.last) settleCounts(run);
  run.last = outcome;
  run.uncounted++;
  return outcome;
}

function settleCounts(run: Run): void {
  const { status } = run.last;
  run.counts.set(status, (run.counts.get(status) ?? 0) + run.uncounted);
  run.uncounted = 0;
}
