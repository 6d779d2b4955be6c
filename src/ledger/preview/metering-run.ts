/**
 * A metering run: events one after another, each with its outcome, and the usage and overage that they leave (S14).
 *
 * The pure core of a preview. An event arrives at its own timestamp, so none is late or early (S13.5).
 *
 * @module
 */
import type { Feature } from "../../book/resources/catalog-items.ts";
import type { Day, Instant } from "../../calendar/instant.ts";
import { DAY_MS, dayOf } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import type { AddAll } from "../../metering/cells.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import { idsAmong, lookAtEvents } from "../../metering/look-ahead.ts";
import type { MeteringBook, SchemaProgram } from "../../metering/program.ts";
import { compileMetering } from "../../metering/program.ts";
import type { ReadEvent } from "../../metering/read-event.ts";
import { createEventReader } from "../../metering/read-event.ts";
import type { Usage, UsageTally } from "../../metering/usage.ts";
import { createUsageTally } from "../../metering/usage.ts";
import { isZeroExact } from "../../numbers/exact.ts";
import type { RuleBudget } from "../../rules/budget.ts";
import type { SeenIds } from "../events/duplicates.ts";
import { rememberIds } from "../events/duplicates.ts";
import {
  archivedAccount,
  duplicateOf,
  insufficientCredits,
  meteringFailureOf,
  noAccount,
  noSchema,
  tooEarly,
  tooLate,
  tooManyDigits,
} from "../events/event-outcomes.ts";
import type { AccountState, FindAccount, MeteredAccount } from "../events/metered-accounts.ts";
import { accountStates, createAccountFinder, purchasedIn } from "../events/metered-accounts.ts";
import type { AccountPeriod, FeatureLedger, PlanHooks } from "../events/state.ts";
import { createFeatureLedger } from "../events/state.ts";
import type { IngestOutcome, IngestStatus } from "../outcome.ts";
import { INGEST_STATUSES, isCompleted, METERED, NO_METERS, NOT_BILLED, NOT_METERED, outcomeOf } from "../outcome.ts";

/** What a metering run needs of a book. */
export interface MeteringRunBook extends MeteringBook {
  readonly features: readonly Pick<Feature, "id">[];
  readonly accounts: readonly MeteredAccount[];
}

/** How events are metered. */
export interface MeteringRunOptions extends PlanHooks {
  /** Remembers the ids of accepted events; `false` does without, default an exact memory (S14.1). */
  readonly ids?: SeenIds | false | undefined;
  /**
   * When the events arrive: those too far in the future fail, and those whose cycle has closed (S6.5, S6.6). Absent: each
   * arrives at its own timestamp, and none is early or late (S13.5).
   */
  readonly now?: Instant | undefined;
  /** How far ahead of `now` an event may be, in milliseconds; default one day (S6.6). */
  readonly aheadMs?: number | undefined;
  /** What one evaluation of a rule may do (S3.8). */
  readonly ruleBudget?: RuleBudget | undefined;
}

/** Events in, usage out. */
export interface MeteringRun {
  /** Decides one event as it was sent. */
  readonly add: (event: unknown) => IngestOutcome;
  /** Looks at the events `[from, until)` of a list that are to be added next, which makes adding them quicker. */
  readonly lookAhead: (events: readonly unknown[], from: number, until: number) => void;
  /**
   * The slots for the events of an ACTIVE schema, for a reader that finds the parts of an event by itself. It must set id,
   * accountId, timestamp, every declared attribute within S1.3 and every declared dimension, all within their bounds;
   * whatever it cannot read so goes through {@link add}.
   */
  readonly slotsOf: (schemaName: string) => EventSlots | undefined;
  /** Decides the event that was laid out in the slots of {@link slotsOf}. */
  readonly addSlots: (slots: EventSlots) => IngestOutcome;
  /** The timestamps of the first and the last event (inclusive) that were accepted so far. */
  readonly span: () => { readonly first: Instant; readonly last: Instant } | undefined;
  /** How many events had each status so far. */
  readonly counts: () => Readonly<Record<IngestStatus, number>>;
  readonly usage: Usage;
  /** Overage by account, feature (as meter) and UTC day (S11.3). */
  readonly overage: Usage;
  /** Feature credits as the events left them. */
  readonly features: FeatureLedger;
}

/** How long an id blocks a second event of the same id, after the first was ingested (S14.1). */
export const ID_MEMORY_MS = 45 * DAY_MS;

/** Starts a metering run over a book that was read and checked. */
export function createMeteringRun(book: MeteringRunBook, options: MeteringRunOptions = {}): MeteringRun {
  const program = compileMetering(book, options);
  const reader = createEventReader(program.schemas);
  const accountIds = book.accounts.map(({ id }) => id);
  const featureIds = book.features.map(({ id }) => id);
  const features = createFeatureLedger(accountIds, featureIds, purchasedIn(book.accounts), options);
  const together = [...program.schemas.values()].map(({ measure }) => measure.meters);
  const usage = createUsageTally(accountIds, program.meterIds, together);
  const context: RunContext = {
    findAccount: createAccountFinder(accountStates(book.accounts)),
    usage,
    adders: together.map((meters) => usage.adder(meters)),
    features,
    ids: options.ids === false ? undefined : (options.ids ?? rememberIds()),
    options,
  };
  const tally = tallyOutcomes();
  let seen = 0;
  const direct: ReadEvent = { ...reader.event };
  return {
    add(event) {
      const problem = reader.read(event);
      const outcome = problem === undefined ? decide(context, reader.event) : outcomeOf("INGESTION_REFUSED", problem);
      return tally.count(outcome, reader.event.timestamp);
    },
    lookAhead(events, from, until) {
      seen += lookAtEvents(events, from, until);
      context.ids?.expect?.(idsAmong(events, from, until));
    },
    slotsOf: (schemaName) => program.schemas.get(schemaName)?.slots,
    addSlots(slots) {
      direct.schemaName = slots.schemaName;
      direct.id = slots.id;
      direct.accountId = slots.accountId;
      direct.timestamp = slots.timestamp;
      if (direct.program?.slots !== slots) direct.program = program.schemas.get(slots.schemaName);
      return tally.count(decide(context, direct), slots.timestamp);
    },
    counts: tally.counts,
    span: tally.span,
    usage: usage,
    overage: features.overage,
    features,
  };
}

interface RunContext {
  /** By id and by alias; archived accounts by id only. */
  readonly findAccount: FindAccount;
  readonly usage: UsageTally;
  /** What adds the units of an event, by the index of its program. */
  readonly adders: readonly AddAll[];
  readonly features: FeatureLedger;
  readonly ids: SeenIds | undefined;
  readonly options: MeteringRunOptions;
}

/** Counts outcomes, and the time that accepted events span; a run of equal outcomes without a look-up. */
function tallyOutcomes(): {
  readonly count: (outcome: IngestOutcome, at: Instant) => IngestOutcome;
  readonly counts: MeteringRun["counts"];
  readonly span: MeteringRun["span"];
} {
  const span = { first: Infinity, last: -Infinity };
  const counts = new Map<IngestStatus, number>(INGEST_STATUSES.map((status) => [status, 0]));
  let current: IngestOutcome = METERED;
  let completed = true;
  let uncounted = 0;
  const settle = (): void => {
    counts.set(current.status, (counts.get(current.status) ?? 0) + uncounted);
    uncounted = 0;
  };
  return {
    count(outcome, at) {
      if (outcome !== current) {
        settle();
        current = outcome;
        completed = isCompleted(outcome.status);
      }
      uncounted++;
      if (completed) {
        if (at < span.first) span.first = at;
        if (at > span.last) span.last = at;
      }
      return outcome;
    },
    counts() {
      settle();
      return Object.fromEntries(counts) as Record<IngestStatus, number>;
    },
    span: () => (span.first <= span.last ? { ...span } : undefined),
  };
}

/** Without plans to ask, none is in force. */
const ALWAYS: AccountPeriod = { start: -Infinity, end: Infinity };

/** Every check of S14.1 after the envelope, in an order of our own that gives the outcome of the first in its order. */
function decide(context: RunContext, event: ReadEvent): IngestOutcome {
  const account = context.findAccount(event.accountId);
  const failure = account === undefined ? noAccount(event) : failureOf(context, event, account);
  const { ids } = context;
  const now = context.options.now ?? event.timestamp;
  if (failure !== undefined || account === undefined || event.program === undefined) {
    // A repeated id comes before any other failure.
    if (ids?.has(event.id, now) === true) return duplicateOf(event);
    return failure ?? noSchema(event);
  }
  const period = periodOf(context, account, event.timestamp);
  if (ids !== undefined) {
    const until = Math.max(now + ID_MEMORY_MS, period.openUntil ?? -Infinity);
    if (!ids.admit(event.id, now, until)) return duplicateOf(event);
  }
  const outcome = count(context, event, event.program, account, period);
  if (ids !== undefined && outcome !== METERED && !isCompleted(outcome.status)) ids.forget(event.id);
  return outcome;
}

/** What fails an event before it counts or consumes anything; fills the slots of its program. */
function failureOf(context: RunContext, event: ReadEvent, account: AccountState): IngestOutcome | undefined {
  const { program } = event;
  if (account.archived) {
    return archivedAccount(event);
  }
  if (program === undefined) return noSchema(event);
  if (event.fault !== undefined) return outcomeOf("INGESTION_FAILED", event.fault);
  const untimely =
    context.options.now === undefined ? undefined : untimelyAt(context, event, account, context.options.now);
  if (untimely !== undefined) return untimely;
  return meteringFailureOf(event, program, account);
}

/** Whether an event is too far in the future, or its cycle has closed (S6.5, S6.6). */
function untimelyAt(
  context: RunContext,
  { timestamp }: ReadEvent,
  account: AccountState,
  now: Instant,
): IngestOutcome | undefined {
  if (timestamp > now + (context.options.aheadMs ?? DAY_MS)) {
    return tooEarly(timestamp, now);
  }
  const { openUntil } = periodOf(context, account, timestamp);
  return openUntil === undefined || now < openUntil ? undefined : tooLate(timestamp, openUntil);
}

/** Consumes feature credits, then adds to the tally. */
function count(
  context: RunContext,
  event: ReadEvent,
  program: SchemaProgram,
  account: AccountState,
  period: AccountPeriod,
): IngestOutcome {
  const { meters, units } = program.measure;
  const day = dayOf(event.timestamp);
  let metered = false;
  for (let place = 0; place < units.length; place++) metered ||= units[place] !== undefined;
  if (program.feature !== undefined) {
    // Nothing may be consumed for an event whose usage cannot be added.
    if (!fits(context.usage, program, account, day)) return tooManyDigits();
    const consumed = consume(context.features, event, program, account);
    if (consumed.failure !== undefined) return consumed.failure;
    metered ||= consumed.some;
  } else if (meters.length === 0) return NO_METERS;
  if (context.adders[program.index]?.(account.index, day, units) === false) return tooManyDigits();
  if (!metered) return NOT_METERED;
  return period.openUntil === undefined ? NOT_BILLED : METERED;
}

/** Whether all that the event counts can be added. */
function fits(usage: UsageTally, { measure }: SchemaProgram, account: AccountState, day: Day): boolean {
  const { meters, units } = measure;
  return units.every((quantity, place) => {
    return quantity === undefined || usage.fits(account.index, meters[place] ?? -1, day, quantity);
  });
}

/** Whether an event consumed some feature credits or overage, or why it could not. */
function consume(
  features: FeatureLedger,
  { timestamp }: ReadEvent,
  { slots, feature }: SchemaProgram,
  account: AccountState,
): { readonly some: boolean; readonly failure?: IngestOutcome } {
  const featureId = feature?.featureId ?? "";
  const quantity = slots.values[feature?.slot ?? -1] ?? 0;
  try {
    const result = features.consume(account.index, featureId, quantity, timestamp);
    if (result.kind === "CONSUMED") return { some: !isZeroExact(quantity) };
    return { some: false, failure: insufficientCredits(featureId, quantity, result.available) };
  } catch (error) {
    if (hasCode(error, "ERR_ARITHMETIC")) return { some: false, failure: tooManyDigits() };
    throw error;
  }
}

function periodOf(context: RunContext, account: AccountState, at: Instant): AccountPeriod {
  const { period } = account;
  if (at >= period.start && at < period.end) return period;
  return (account.period = context.options.periodAt?.(account.id, at) ?? ALWAYS);
}
