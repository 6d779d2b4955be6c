/**
 * A run decides events one at a time, and collects the usage and overage that a preview prices. An event arrives at its
 * own timestamp, so none is late or early (S13.5). In a run of several scenarios with their own plans, an event is read
 * and measured once, and decided in each.
 *
 * @module
 */
import type { Book } from "../../book/resources/book.ts";
import { type Day, dayOf, startOfDay } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import { readEnvelope, type EventEnvelope } from "../../metering/event-envelope.ts";
import type { FieldsResult } from "../../metering/event-fields.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import { createUsageTally, type Usage } from "../../metering/usage.ts";
import type { Exact } from "../../numbers/exact.ts";
import type { RuleBudget } from "../../rules/budget.ts";
import { createCatalog } from "../catalog.ts";
import { refuse, refuseDuplicate } from "../events/decide-event.ts";
import type { IngestOutcome } from "../outcome.ts";
import type { SeenIds } from "./accepted-id-set.ts";
import { AcceptedIds } from "./accepted-ids.ts";
import type { Tracer } from "./line-trace.ts";
import { createTally } from "./outcome-tally.ts";
import type { PlanTrial } from "./plan-trial.ts";
import { type CountedEvents, addCountedEvents } from "./premeasured-events.ts";
import { decideIn, reservedUntil, createScenario, type ScenarioResult } from "./preview-scenario.ts";
import { Agreements, outcomeOfUnaccepted, type RunState } from "./run-state.ts";

/** How events are decided. */
export interface EventRunOptions {
  /** The plans of each scenario; default one scenario with the plans of the book. */
  readonly trials?: readonly [PlanTrial, ...PlanTrial[]] | undefined;
  /** Required with several scenarios; a page that previews one does not load it. */
  readonly decideInEach?: RunState["decideInEach"];
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
   * @throws {RatebookError} ERR_ARITHMETIC if its cell would need more than 100 digits (S1.4); nothing is added then
   */
  readonly addCell: (account: number, meter: number, day: Day, quantity: Exact) => void;
  /**
   * Adds measured plain events if all would be decided alike and accepted. Days of an account must be added in order,
   * each before the other events of that day.
   *
   * @returns false if they must be decided one by one; then nothing is counted
   */
  readonly addCounted: (counted: CountedEvents) => boolean;
  /** The usage of events counted in all scenarios at once: with one scenario, of all events. */
  readonly usage: Usage;
  /** In the order of the trials. */
  readonly scenarios: readonly [ScenarioResult, ...ScenarioResult[]];
}

/** Starts a run over a checked book. */
export function startEventRun(book: Book, options: EventRunOptions = {}): EventRun {
  const { trials = [{}], decideInEach, ids, ruleBudget, tracer } = options;
  invariant(trials.length === 1 || decideInEach !== undefined, "S13.5: each event is decided in every scenario");
  const catalog = createCatalog(book, ruleBudget === undefined ? {} : { ruleBudget });
  const { metering } = catalog;
  const together = [...metering.schemas.values()].map(({ measure }) => measure.meters);
  const usage = createUsageTally(
    book.accounts.map(({ id }) => id),
    metering.meterIds,
    together,
  );
  const tally = createTally();
  const shared = { catalog, book, usage, tally, together };
  const first = createScenario(shared, trials[0]);
  const run: RunState = {
    scenarios: [first, ...trials.slice(1).map((trial) => createScenario(shared, trial))],
    tally,
    adders: together.map((meters) => usage.adder(meters)),
    ids: ids && new AcceptedIds(ids),
    agreements: new Agreements(trials.length > 1 ? book.accounts.length : 0),
    time: { now: 0, futureMs: 0 },
    tracer,
    decideInEach,
  };
  const read = new Map(
    [...metering.schemas].map(([name, program]) => [name, { program, problem: undefined, fault: undefined }]),
  );
  return {
    catalog: first.catalog,
    accounts: first.accounts,
    counts: first.counts,
    span: first.span,
    usage,
    scenarios: run.scenarios,
    add: (event) => {
      const incoming = readEnvelope(event);
      return "code" in incoming
        ? tally.count(refuse(incoming))
        : takeEvent(run, incoming, catalog.readFields(incoming));
    },
    slotsOf: (schemaName) => metering.schemas.get(schemaName)?.slots,
    addSlots: (slots) => takeEvent(run, slots, read.get(slots.schemaName) ?? UNKNOWN),
    addCounted: (counted) => addCountedEvents(run, counted, read.get(counted.schemaName)),
    addCell: (account, meter, day, quantity) => {
      usage.add(account, meter, day, quantity);
      const at = startOfDay(day);
      for (const { accounts } of run.scenarios) accounts.at(account)?.addCell(quantity, at);
      run.agreements.end(account);
      tally.extendSpan(at, book.accounts[account]?.id ?? "", "usage of");
    },
  };
}

/** The fields of an event whose schema is unknown. */
const UNKNOWN: FieldsResult = { program: undefined, problem: undefined, fault: undefined };

/** Decides an event, and counts it if it is accepted. @returns its outcome in the first scenario */
function takeEvent(run: RunState, event: EventEnvelope, read: FieldsResult): IngestOutcome {
  const { tally, ids } = run;
  // Indexing avoids creating an iterator for each event.
  const scenario = run.scenarios[0];
  run.time.now = event.timestamp;
  const account = scenario.accounts.find(event.accountId);
  const decision = decideIn(scenario, account, { event, read, units: undefined }, run.time, ids);
  const outcome = run.decideInEach?.(run, event, read, account, decision);
  if (outcome !== undefined) return outcome;
  if (!decision.isAccepted) return tally.count(outcomeOfUnaccepted(run, scenario, event, read, decision));
  if (ids?.admit(event, reservedUntil(scenario.catalog, account, event)) === false)
    return tally.count(refuseDuplicate(event));
  const { program } = read;
  if (account !== undefined && program !== undefined) {
    run.adders[program.index]?.(account.index, dayOf(event.timestamp), decision.units);
    account.apply(event, program, decision);
    run.tracer?.note(account, event, program, decision);
  }
  tally.extendSpan(event.timestamp, event.id, "event");
  return tally.count(decision.outcome);
}
