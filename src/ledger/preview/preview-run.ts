/**
 * A run decides events one at a time, and collects the usage and overage that a preview prices. An event arrives at its
 * own timestamp, so none is late or early (S13.5). In a run of several scenarios with their own plans, an event is read
 * and measured once, and decided in each. Metering is a run whose usage is the result (S17.1).
 */
import { type BookSource, toBook } from "../../book/book.ts";
import type { Book } from "../../book/resources/book.ts";
import { dayOf } from "../../calendar/instant.ts";
import { readEnvelope, type EventEnvelope, type EventInput } from "../../metering/event-envelope.ts";
import type { FieldsResult } from "../../metering/event-fields.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import { createUnmeteredTally, type UnmeteredEvents } from "../../metering/unmetered-events.ts";
import { toUsageRow, type UsageRow } from "../../metering/usage-rows.ts";
import type { UsageTally } from "../../metering/usage.ts";
import type { Problem } from "../../problem-table.ts";
import type { RuleBudget } from "../../rules/budget.ts";
import { createCatalog, featuresBySchema } from "../catalog.ts";
import { idReservedUntil, refuse, refuseDuplicate } from "../events/decide-event.ts";
import { type IngestOutcome, type IngestStatus, isUnmetered, METERED, isCompleted } from "../outcome.ts";
import { type SeenIds, AcceptedIds, rememberIds } from "./accepted-ids.ts";
import type { Tracer } from "./line-trace.ts";
import type { PlanTrial, PreviewAccount } from "./preview-account.ts";
import {
  decideInEachScenario,
  holdsForAll,
  outcomeOfUnaccepted,
  type RunState,
  createEventUsage,
  createScenario,
  decideIn,
  type Scenario,
  type ScenarioResult,
} from "./scenarios.ts";
import {
  addSummedEvents,
  type SummedEvents,
  PROBLEMS_MAX,
  featureUsageError,
  type UsageCellArguments,
  addUsageCell,
} from "./summed-usage.ts";
/** How the ids of events are remembered, and the budget of rules. */
export interface MeterOptions {
  /** Remembers the ids of accepted events (S14.1); `false` for no check, default an exact set. */
  readonly ids?: SeenIds | false | undefined;
  /** The budget for one evaluation of a rule that iterates over lists or creates text (S3.8). */
  readonly ruleBudget?: Partial<RuleBudget> | undefined;
}

/** How events are decided. */
export interface EventRunOptions extends Pick<MeterOptions, "ruleBudget"> {
  /** The plans of each scenario; default one scenario with the plans of the book. */
  readonly trials?: readonly [PlanTrial, ...PlanTrial[]] | undefined;
  /** Undefined for no check. */
  readonly ids?: SeenIds | undefined;
  /** Take the accepted events, in a run of one scenario. */
  readonly tracers?: readonly Pick<Tracer, "note">[];
}

/** Takes events one at a time. */
export interface EventReceiver {
  /** Decides one event as sent. */
  readonly add: (event: unknown) => IngestOutcome;
  /**
   * The slots for the events of an ACTIVE schema, for a reader that parses events without JSON.parse. It must set id,
   * accountId, timestamp, every declared attribute within S1.3 and every declared dimension, all within their bounds;
   * all other events must use {@link add}.
   */
  readonly slotsOf: (schemaName: string) => EventSlots | undefined;
  /** Decides the event in the slots of {@link slotsOf}. */
  readonly addSlots: (slots: EventSlots) => IngestOutcome;
  /**
   * Adds events that a database has already summed if all would be decided alike and accepted. Days of an account must
   * be added in order, each before the other events of that day.
   *
   * @returns false if they must be decided one by one; then nothing is counted
   */
  readonly addSummed: (summed: SummedEvents) => boolean;
}

/** Events in, usage out. Outcomes, and members of a {@link ScenarioResult}, are those of the first scenario. */
export interface EventRun extends EventReceiver, Omit<ScenarioResult, "usage" | "trial"> {
  /** Adds a usage cell (S17.1), in any order, to all scenarios; see {@link addUsageCell}. */
  readonly addCell: (...of: UsageCellArguments) => void;
  /** The usage of the events that all scenarios accept. */
  readonly usage: UsageTally;
  /** The events that the first scenario accepts and no meter counts, the most first; empty for schemas that allow them. */
  readonly unmetered: () => readonly UnmeteredEvents[];
  /** In the order of the trials. */
  readonly scenarios: readonly [ScenarioResult, ...ScenarioResult[]];
}

/** Starts a run over a checked book. */
export function startEventRun(book: Book, options: EventRunOptions = {}): EventRun {
  const { trials = [{}], ids, ruleBudget, tracers = [] } = options;
  const catalog = createCatalog(book, ruleBudget === undefined ? {} : { ruleBudget });
  const { metering } = catalog;
  const usage = createEventUsage(book, metering);
  const create = (trial: PlanTrial): Scenario =>
    createScenario(
      { catalog, book, usage: usage.tally },
      trial,
      trials.length > 1 ? createEventUsage(book, metering) : undefined,
    );
  const [firstTrial, ...otherTrials] = trials;
  const first = create(firstTrial);
  const run: RunState = {
    scenarios: [first, ...otherTrials.map(create)],
    usage,
    ids: ids && new AcceptedIds(ids),
    sharedDecisions: new Map(),
    time: { now: 0, futureMs: 0 },
    tracers,
    unmetered: createUnmeteredTally(),
  };
  const fieldsBySchema = new Map(
    [...metering.schemas].map(([name, program]) => [name, { program, problem: undefined, fault: undefined }]),
  );
  return {
    catalog: first.catalog,
    accounts: first.accounts,
    counts: first.counts,
    span: first.span,
    usage: usage.tally,
    unmetered: run.unmetered.list,
    scenarios: run.scenarios,
    add: (event) => {
      const incoming = readEnvelope(event);
      return "code" in incoming
        ? countInAll(run, refuse(incoming))
        : takeEvent(run, incoming, catalog.readFields(incoming));
    },
    slotsOf: (schemaName) => metering.schemas.get(schemaName)?.slots,
    addSlots: (slots) => takeEvent(run, slots, fieldsBySchema.get(slots.schemaName) ?? UNKNOWN),
    addSummed: (summed) => addSummedEvents(run, summed, fieldsBySchema.get(summed.schemaName)),
    addCell: (...of) => addUsageCell(run, book, ...of),
  };
}

/** The fields of an event whose schema is unknown. */
const UNKNOWN: FieldsResult = { program: undefined, problem: undefined, fault: undefined };

/** Decides an event, and notes it if no meter counts it. @returns its outcome in the first scenario */
function takeEvent(run: RunState, event: EventEnvelope, fields: FieldsResult): IngestOutcome {
  const account = run.scenarios[0].accounts.findByName(event.accountId);
  const outcome = decideAndCount(run, event, fields, account);
  if (outcome !== METERED && fields.program !== undefined && isUnmetered(outcome))
    run.unmetered.add(fields.program, account?.index ?? -1, fields.program.findUnmatchedValues());
  return outcome;
}

/** Decides an event, and counts it if it is accepted. @param account that of the first scenario */
function decideAndCount(
  run: RunState,
  event: EventEnvelope,
  fields: FieldsResult,
  account: PreviewAccount | undefined,
): IngestOutcome {
  const { scenarios, ids } = run;
  // Indexing avoids creating an iterator for each event.
  const first = scenarios[0];
  run.time.now = event.timestamp;
  const decision = decideIn(first, account, { event, fields, units: undefined }, run.time, ids);
  if (scenarios.length > 1 && !holdsForAll(run, account, event, fields, decision))
    return decideInEachScenario(run, event, fields, account, decision);
  if (!decision.isAccepted) return countInAll(run, outcomeOfUnaccepted(run, first, event, fields, decision));
  const period = account?.state.periodAt(event.timestamp);
  if (ids?.admit(event, idReservedUntil(first.catalog.options, event.timestamp, period)) === false)
    return countInAll(run, refuseDuplicate(event));
  const { program } = fields;
  if (account !== undefined && program !== undefined) {
    run.usage.adders[program.index]?.(account.index, dayOf(event.timestamp), decision.units);
    account.apply(event, program, decision);
    for (const tracer of run.tracers) tracer.note(account, event, program, decision);
  }
  return countInAll(run, decision.outcome, event);
}

/** Counts an outcome in all scenarios. @param accepted the event, if it is accepted @returns the outcome */
function countInAll({ scenarios }: RunState, outcome: IngestOutcome, accepted?: EventEnvelope): IngestOutcome {
  for (let index = 0; index < scenarios.length; index++) {
    const { tally } = scenarios[index] ?? scenarios[0];
    if (accepted !== undefined) tally.extendSpan(accepted.timestamp, accepted.id, "event");
    tally.count(outcome);
  }
  return outcome;
}

/** A rejected or failed event. */
export interface EventProblem extends Problem {
  /** Its position among the events, from 1. */
  readonly event: number;
  readonly status: IngestStatus;
}

/** The number of events read, and of those with each status that occurred. */
export type EventCounts = { readonly read: number } & { readonly [Status in IngestStatus]?: number };

/** Adds events in order. @returns the first {@link PROBLEMS_MAX} that were rejected or failed */
export function addAllEvents(
  add: (event: EventInput) => IngestOutcome,
  events: Iterable<EventInput>,
): readonly EventProblem[] {
  const problems: EventProblem[] = [];
  let last: IngestOutcome = METERED;
  let position = 0;
  for (const event of events) {
    position++;
    const outcome = add(event);
    // Most events have the same outcome object as the previous one; if that was completed, skip the checks.
    if (outcome === last || problems.length === PROBLEMS_MAX) continue;
    const { status, description, problem } = outcome;
    if (problem === undefined) last = outcome;
    else problems.push({ event: position, status, ...problem, message: description });
  }
  return problems;
}

/** The number of events of a run with each status so far. */
export function toEventCounts({ counts }: Pick<ScenarioResult, "counts">): EventCounts {
  const occurred = Object.entries(counts()).filter(([, count]) => count > 0);
  return { read: occurred.reduce((total, [, count]) => total + count, 0), ...Object.fromEntries(occurred) };
}

/** The unmetered events of a run, as a member of its result; absent without any. */
export function listUnmetered(run: Pick<EventRun, "unmetered">): { readonly unmetered?: readonly UnmeteredEvents[] } {
  const unmetered = run.unmetered();
  return unmetered.length === 0 ? {} : { unmetered };
}

/** The result of metering. */
export interface MeterResult {
  /** By account in book order, meter and day; includes quantities of 0. */
  readonly usage: readonly UsageRow[];
  readonly events: EventCounts;
  /** As in a preview. */
  readonly unmetered?: readonly UnmeteredEvents[];
  /** The first thousand rejected or failed events. */
  readonly problems: readonly EventProblem[];
}

/** Meters events one at a time. They are rejected as by {@link meter}. */
export interface MeterRun extends EventReceiver {
  /** The result so far. */
  finish(): Omit<MeterResult, "problems">;
}

/**
 * Meters events in the given order like a preview, each arriving at its own timestamp, and returns the usage cells.
 *
 * @throws {RatebookError} ERR_REFUSED at the first accepted event of a schema that consumes a feature, because the
 * order of its events matters and cells have none; ERR_BOOK_INVALID; ERR_OPTION_INVALID for invalid events
 */
export function meter(source: BookSource, events: Iterable<EventInput>, options: MeterOptions = {}): MeterResult {
  const run = createMeter(source, options);
  const problems = addAllEvents((event) => run.add(event), events);
  return { ...run.finish(), problems };
}

/** Starts metering events one at a time. @throws {RatebookError} as {@link meter} */
export function createMeter(source: BookSource, { ids, ruleBudget }: MeterOptions = {}): MeterRun {
  const book = toBook(source, { ruleBudget });
  const run = startEventRun(book, { ids: ids === false ? undefined : (ids ?? rememberIds()), ruleBudget });
  const features = featuresBySchema(book);
  const rejectFeatureSchema = (outcome: IngestOutcome, schemaName: unknown): IngestOutcome => {
    if (features.size === 0 || !isCompleted(outcome.status)) return outcome;
    const feature = features.get(String(schemaName));
    if (feature !== undefined) throw featureUsageError(String(schemaName), feature);
    return outcome;
  };
  return {
    add: (event) =>
      rejectFeatureSchema(run.add(event), (event as { readonly schemaName?: unknown } | null)?.schemaName),
    slotsOf: run.slotsOf,
    addSummed: run.addSummed,
    addSlots: (slots) => rejectFeatureSchema(run.addSlots(slots), slots.schemaName),
    finish: () => ({
      usage: Array.from(run.usage.cells(), (cell) => toUsageRow(cell, book.usageMeters)),
      events: toEventCounts(run),
      ...listUnmetered(run),
    }),
  };
}
