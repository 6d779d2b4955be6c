/**
 * The state of a run: what its events share, one after another.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type { AddAll } from "../../metering/cells.ts";
import type { EventEnvelope } from "../../metering/event-envelope.ts";
import type { FieldsRead } from "../../metering/event-fields.ts";
import { type DecisionTime, type EventDecision, refuseDuplicate } from "../events/decide-event.ts";
import type { IngestOutcome } from "../outcome.ts";
import type { AcceptedIds } from "./accepted-ids.ts";
import type { Tracer } from "./line-trace.ts";
import type { OutcomeTally } from "./outcome-tally.ts";
import type { Scenario } from "./preview-scenario.ts";

/** A run while events come. */
export interface RunState {
  readonly scenarios: readonly [Scenario, ...Scenario[]];
  /** Outcomes and span of the events that are taken in all scenarios at once. */
  readonly tally: OutcomeTally;
  /** Add the units of an event to the usage of all scenarios, by the index of its program. */
  readonly adders: readonly AddAll[];
  /** Undefined where no ids are remembered. */
  readonly ids: AcceptedIds<Scenario> | undefined;
  /** Empty with one scenario. */
  readonly agreements: Agreements;
  /** The time of the event that is being decided: one object for all events. */
  readonly time: { now: DecisionTime["now"]; readonly futureMs: number };
  readonly tracer: Pick<Tracer, "note"> | undefined;
}

/** The outcome of an event that a scenario does not accept: a duplicate id is told before any other fault but a malformed field. */
export function outcomeOfUnaccepted(
  { ids }: RunState,
  scenario: Scenario,
  event: EventEnvelope,
  read: FieldsRead,
  { outcome }: EventDecision,
): IngestOutcome {
  return read.problem === undefined && ids?.has(scenario, event) === true ? refuseDuplicate(event) : outcome;
}

/**
 * For each account a span of time in which all scenarios decide its events alike, so that one decision holds for all: with
 * five drafts a million events take a fifth of the time so.
 */
export class Agreements {
  readonly #from: Float64Array;
  readonly #until: Float64Array;

  /** No spans yet. */
  constructor(accounts: number) {
    this.#from = new Float64Array(accounts).fill(Infinity);
    this.#until = new Float64Array(accounts).fill(-Infinity);
  }

  /** Whether the span of an account, which is given by its index, holds an instant. */
  hold(account: number, at: Instant): boolean {
    return at >= (this.#from[account] ?? Infinity) && at < (this.#until[account] ?? -Infinity);
  }

  /** Sets the span of an account to `[from, until)`, which may be empty. */
  note(account: number, from: Instant, until: Instant): void {
    this.#from[account] = from;
    this.#until[account] = until;
  }

  /** Ends the span of an account. */
  end(account: number): void {
    this.#until[account] = -Infinity;
  }
}
