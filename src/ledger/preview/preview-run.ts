/**
 * A run decides events one at a time, and collects the usage and overage that a preview prices. An event arrives at its
 * own timestamp, so none is late or early (S13.5). In a run of several scenarios with their own plans, an event is read
 * and measured once, and decided in each.
 */

import { didYouMean } from "../../book/problems.ts";
import type { Book } from "../../book/resources/book.ts";
import { findGroupLimit, hasKeys, type UsageGroup, type UsageMeter } from "../../book/resources/event-schema.ts";
import { type Day, dayOf, formatDate, instantOfDay, type Instant } from "../../calendar/instant.ts";
import { hasCode, RatebookError } from "../../errors.ts";
import { readEnvelope, type EventEnvelope, type EventInput } from "../../metering/event-envelope.ts";
import type { FieldsResult } from "../../metering/event-fields.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import { toGroupTexts } from "../../metering/grouped-cells.ts";
import { createUnmeteredTally, type UnmeteredEvents } from "../../metering/unmetered-events.ts";
import { readRowGroup, readUsageRow } from "../../metering/usage-rows.ts";
import type { UsageTally } from "../../metering/usage.ts";
import { type Exact, exactOfDecimal, isZeroExact } from "../../numbers/exact.ts";
import { type Problem, rejection } from "../../problem-table.ts";
import type { RuleBudget } from "../../rules/budget.ts";
import { createCatalog, featuresBySchema, describeOrderDependence } from "../catalog.ts";
import { idReservedUntil, refuse, refuseDuplicate } from "../events/decide-event.ts";
import { type IngestOutcome, type IngestStatus, isUnmetered, METERED } from "../outcome.ts";
import { quoteText, refusedError } from "../refusals.ts";
import { type SeenIds, AcceptedIds } from "./accepted-ids.ts";
import type { Tracer } from "./line-trace.ts";
import { decideInEachScenario, holdsForAll, outcomeOfUnaccepted, type RunState } from "./multiple-scenarios.ts";
import type { PlanTrial } from "./preview-account.ts";
import { createEventUsage, createScenario, decideIn, type Scenario, type ScenarioResult } from "./preview-scenario.ts";
import { addSummedEvents, type SummedEvents } from "./summed-events.ts";

/** How events are decided. */
export interface EventRunOptions {
  /** The plans of each scenario; default one scenario with the plans of the book. */
  readonly trials?: readonly [PlanTrial, ...PlanTrial[]] | undefined;
  /** Remembers the ids of accepted events; undefined for no check (S14.1). */
  readonly ids?: SeenIds | undefined;
  /** The budget for one evaluation of a rule (S3.8). */
  readonly ruleBudget?: Partial<RuleBudget> | undefined;
  /** Traces lines to events, in a run of one scenario. */
  readonly tracer?: Pick<Tracer, "note"> | undefined;
}

/** Events in, usage out. Members of a {@link ScenarioResult} are those of the first scenario. */
export interface EventRun extends Omit<ScenarioResult, "usage" | "trial"> {
  /** Decides one event as sent. @returns its outcome in the first scenario */
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
   * Adds a usage cell (S17.1), in any order, to all scenarios.
   *
   * @param account an index in the book's accounts
   * @param meter an index in the book's meters
   * @param group only for a meter with groups
   * @throws {RatebookError} ERR_ARITHMETIC if its cell would need more than 100 digits (S1.4), ERR_INPUT_INVALID if the
   * account would have too many groups (S18.1); nothing is added then
   */
  readonly addCell: (account: number, meter: number, day: Day, quantity: Exact, group?: UsageGroup) => void;
  /**
   * Adds events that a database has already summed if all would be decided alike and accepted. Days of an account must be added in order,
   * each before the other events of that day.
   *
   * @returns false if they must be decided one by one; then nothing is counted
   */
  readonly addSummed: (summed: SummedEvents) => boolean;
  /** The usage of the events that all scenarios accept. */
  readonly usage: UsageTally;
  /** The events that the first scenario accepts and no meter counts, the most first; empty for schemas that allow them. */
  readonly unmetered: () => readonly UnmeteredEvents[];
  /** In the order of the trials. */
  readonly scenarios: readonly [ScenarioResult, ...ScenarioResult[]];
}

/** Starts a run over a checked book. */
export function startEventRun(book: Book, options: EventRunOptions = {}): EventRun {
  const { trials = [{}], ids, ruleBudget, tracer } = options;
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
    tracer,
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
    addCell: (account, meter, day, quantity, group) => {
      const at = instantOfDay(day);
      const hasRoom = group === undefined || usage.tally.hasRoom(account, meter, day, toGroupTexts(group));
      const { [meter]: bookMeter } = book.usageMeters;
      if (!hasRoom && !isZeroExact(quantity) && bookMeter !== undefined)
        throw rejectedRowError("$.group", describeTooManyGroups(bookMeter, at));
      usage.tally.add(account, meter, day, quantity, group);
      for (const { accounts, tally } of run.scenarios) {
        accounts.findByIndex(account)?.addCell(quantity, at);
        tally.extendSpan(at, book.accounts[account]?.id ?? "", "usage");
      }
      run.sharedDecisions.delete(account);
    },
  };
}

/** The fields of an event whose schema is unknown. */
const UNKNOWN: FieldsResult = { program: undefined, problem: undefined, fault: undefined };

/** Decides an event, and notes it if no meter counts it. @returns its outcome in the first scenario */
function takeEvent(run: RunState, event: EventEnvelope, fields: FieldsResult): IngestOutcome {
  const outcome = decideAndCount(run, event, fields);
  if (outcome !== METERED && fields.program !== undefined && isUnmetered(outcome)) {
    const account = run.scenarios[0].accounts.findByName(event.accountId);
    run.unmetered.add(fields.program, account?.index ?? -1, fields.program.findUnmatchedValues());
  }
  return outcome;
}

/** Decides an event, and counts it if it is accepted. @returns its outcome in the first scenario */
function decideAndCount(run: RunState, event: EventEnvelope, fields: FieldsResult): IngestOutcome {
  const { scenarios, ids } = run;
  // Indexing avoids creating an iterator for each event.
  const first = scenarios[0];
  run.time.now = event.timestamp;
  const account = first.accounts.findByName(event.accountId);
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
    run.tracer?.note(account, event, program, decision);
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

/**
 * Creates the function that adds a row.
 *
 * @returns throws ERR_INPUT_INVALID for an invalid row, or an unknown account or meter; ERR_REFUSED for a meter whose
 * event schema consumes a feature, because the order of events matters; ERR_ARITHMETIC if its cell would need more than
 * 100 digits. A row that throws adds nothing
 */
export function createUsageReceiver(book: Book, run: Pick<EventRun, "accounts" | "addCell">): (row: unknown) => void {
  const meters = new Map(book.usageMeters.map((meter, index) => [meter.id, { meter, index }]));
  const features = featuresBySchema(book);
  return (row) => {
    const usageRow = readUsageRow(row);
    const { accountId, meterId, day, quantity } = usageRow;
    const meter = meters.get(meterId);
    if (meter === undefined) {
      const hint = didYouMean(meterId, [...meters.keys()]);
      throw rejectedRowError("$.meterId", `no usage meter has the id ${quoteText(meterId)}${hint}`);
    }
    const { eventSchemaName } = meter.meter;
    const feature = features.get(eventSchemaName);
    if (feature !== undefined) throw featureUsageError(eventSchemaName, feature);
    const account = run.accounts.findByName(accountId);
    if (account === undefined) {
      const names = book.accounts.flatMap(({ id, aliases }) => [id, ...aliases]);
      throw rejectedRowError(
        "$.accountId",
        `no account has the id or alias ${quoteText(accountId)}${didYouMean(accountId, names)}`,
      );
    }
    run.addCell(account.index, meter.index, day, exactOfDecimal(quantity), readRowGroup(usageRow, meter.meter));
  };
}

/**
 * Adds all rows, or throws one error for all problems.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID with the first {@link PROBLEMS_MAX} problems, each with its path, as in
 * `$.usage[3].date`
 */
export function addUsageRows(take: (row: unknown) => void, rows: Iterable<unknown>): void {
  const problems: Problem[] = [];
  let index = 0;
  for (const row of rows) {
    try {
      take(row);
    } catch (error) {
      if (!isRowFault(error)) throw error;
      const path = hasCode(error, "ERR_INPUT_INVALID") ? (error.details.problems[0]?.path.slice(1) ?? "") : "";
      if (problems.length < PROBLEMS_MAX)
        problems.push(rejection(`$.usage[${index}]${path}`, "INVALID_USAGE", error.message));
    }
    index++;
  }
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length === 1 ? "" : ` (and ${problems.length - 1} more)`;
  throw new RatebookError("ERR_INPUT_INVALID", `${first.path}: ${first.message}${more}`, { problems });
}

/** Whether an error concerns a single row, so that other rows can still be checked. */
export function isRowFault(error: unknown): error is RatebookError {
  return hasCode(error, "ERR_INPUT_INVALID") || hasCode(error, "ERR_REFUSED") || hasCode(error, "ERR_ARITHMETIC");
}

/** The error for usage of a schema that consumes a feature. */
export function featureUsageError(schemaName: string, featureId: string): RatebookError<"ERR_REFUSED"> {
  const why = describeOrderDependence(featureId);
  return refusedError("S17.1", `${quoteText(schemaName)} can't be summed: ${why}; preview its events instead`);
}

/** The end of a sentence for usage of another group (S18.1). */
export function describeTooManyGroups(meter: UsageMeter, at: Instant): string {
  const [what, cure] = hasKeys(meter) ? ["values", "computations"] : ["groups", "dimensions"];
  const usage = `${findGroupLimit(meter)} ${what} of the meter ${quoteText(meter.name)}`;
  return `the account has usage of ${usage} on ${formatDate(at)}, the maximum; use ${cure} with fewer values`;
}

function rejectedRowError(path: string, message: string): RatebookError<"ERR_INPUT_INVALID"> {
  return new RatebookError("ERR_INPUT_INVALID", message, {
    problems: [rejection(path, "INVALID_USAGE", message)],
  });
}

/** A rejected or failed event. */
export interface EventProblem extends Problem {
  /** Its position among the events, from 1. */
  readonly event: number;
  readonly status: IngestStatus;
}

/** The number of events read, and of those with each status that occurred. */
export type EventCounts = { readonly read: number } & { readonly [Status in IngestStatus]?: number };

/** Maximum number of problems of events, and of rows, listed; all events are counted. */
export const PROBLEMS_MAX = 1000;

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
export function eventCountsOf(run: Pick<EventRun, "counts">): EventCounts {
  const occurred = Object.entries(run.counts()).filter(([, count]) => count > 0);
  return { read: occurred.reduce((total, [, count]) => total + count, 0), ...Object.fromEntries(occurred) };
}

/** The unmetered events of a run, as a member of its result; absent without any. */
export function listUnmetered(run: Pick<EventRun, "unmetered">): { readonly unmetered?: readonly UnmeteredEvents[] } {
  const unmetered = run.unmetered();
  return unmetered.length === 0 ? {} : { unmetered };
}
