/**
 * The state that the events of a run share.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type { AddAll } from "../../metering/cells.ts";
import type { EventEnvelope } from "../../metering/event-envelope.ts";
import type { FieldsResult } from "../../metering/event-fields.ts";
import { type DecisionTime, type EventDecision, refuseDuplicate } from "../events/decide-event.ts";
import type { IngestOutcome } from "../outcome.ts";
import type { AcceptedIds } from "./accepted-ids.ts";
import type { Tracer } from "./line-trace.ts";
import type { OutcomeTally } from "./outcome-tally.ts";
import type { PreviewAccount } from "./preview-account.ts";
import type { Scenario } from "./preview-scenario.ts";

/** A run in progress. */
export interface RunState {
  readonly scenarios: readonly [Scenario, ...Scenario[]];
  /** Outcomes and span of the events counted in all scenarios at once. */
  readonly tally: OutcomeTally;
  /** Add the units of an event to the usage of all scenarios, by program index. */
  readonly adders: readonly AddAll[];
  /** Undefined if ids are not checked. */
  readonly ids: AcceptedIds<Scenario> | undefined;
  /** Empty with one scenario. */
  readonly agreements: Agreements;
  /** The time of the event being decided: one object for all events. */
  readonly time: { now: DecisionTime["now"]; readonly futureMs: number };
  readonly tracer: Pick<Tracer, "note"> | undefined;
  /**
   * Decides an event in all scenarios; undefined with one scenario. Returns the outcome in the first scenario, or
   * undefined if the decision there holds for all.
   */
  readonly decideInEach:
    | ((
        run: RunState,
        event: EventEnvelope,
        read: FieldsResult,
        account: PreviewAccount | undefined,
        decision: EventDecision,
      ) => IngestOutcome | undefined)
    | undefined;
}

/**
 * The outcome of an event that a scenario rejects: a duplicate id is reported before any other problem except a
 * malformed field.
 */
export function outcomeOfUnaccepted(
  { ids }: RunState,
  scenario: Scenario,
  event: EventEnvelope,
  read: FieldsResult,
  { outcome }: EventDecision,
): IngestOutcome {
  return read.problem === undefined && ids?.has(scenario, event) === true ? refuseDuplicate(event) : outcome;
}

/**
 * For each account a time span in which all scenarios decide its events alike, so that one decision holds for all. With
 * five drafts, this makes a million events five times as fast.
 */
export class Agreements {
  readonly #from: Float64Array;
  readonly #until: Float64Array;

  constructor(accounts: number) {
    this.#from = new Float64Array(accounts).fill(Infinity);
    this.#until = new Float64Array(accounts).fill(-Infinity);
  }

  /** Whether the span of the account at an index contains an instant. */
  hold(account: number, at: Instant): boolean {
    return at >= (this.#from[account] ?? Infinity) && at < (this.#until[account] ?? -Infinity);
  }

  /** Sets the span of an account to `[from, until)`, which may be empty. */
  note(account: number, from: Instant, until: Instant): void {
    this.#from[account] = from;
    this.#until[account] = until;
  }

  /** Clears the span of an account. */
  end(account: number): void {
    this.#until[account] = -Infinity;
  }
}
