/**
 * The ids of the events that the scenarios of a run have accepted (S14.1). An id that all of them hold for the same time is
 * kept once for all; any other is kept by each scenario that holds it.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type { EventEnvelope } from "../../metering/event-envelope.ts";
import { rememberIds, type SeenIds } from "./accepted-id-set.ts";

/** One scenario that accepts an event, and until when it holds the event's id, exclusive. */
export interface IdClaim<Scenario> {
  readonly scenario: Scenario;
  readonly holdsUntil: Instant;
}

/** Remembers ids by scenario. */
export class AcceptedIds<Scenario> {
  readonly #shared: SeenIds;
  readonly #own = new Map<Scenario, SeenIds>();

  constructor(shared: SeenIds) {
    this.#shared = shared;
  }

  /** Whether every id is held by all scenarios or by none. */
  get areAllShared(): boolean {
    return this.#own.size === 0;
  }

  /** Whether an accepted event of the scenario holds the id at the event's timestamp. */
  has(scenario: Scenario, { id, timestamp }: EventEnvelope): boolean {
    return this.#shared.has(id, timestamp) || this.#own.get(scenario)?.has(id, timestamp) === true;
  }

  /** Holds the id of an event in all scenarios alike. @returns false where it is held already; nothing is changed then */
  admit({ id, timestamp }: EventEnvelope, holdsUntil: Instant): boolean {
    return this.#shared.admit(id, timestamp, holdsUntil);
  }

  /**
   * Holds the id of an event in each scenario that accepts the event, unless it is held there already.
   *
   * @param count of the scenarios of the run
   * @returns those of the claims whose scenario did not hold the id before
   */
  admitEach<Claim extends IdClaim<Scenario>>(
    { id, timestamp }: EventEnvelope,
    claims: readonly Claim[],
    count: number,
  ): readonly Claim[] {
    if (this.#shared.has(id, timestamp)) return [];
    const free = claims.filter(({ scenario }) => this.#own.get(scenario)?.has(id, timestamp) !== true);
    const isEverywhere = free.length === count;
    const shortest = Math.min(...free.map(({ holdsUntil }) => holdsUntil));
    if (isEverywhere) this.#shared.admit(id, timestamp, shortest);
    for (const { scenario, holdsUntil } of free) {
      if (!isEverywhere || holdsUntil > shortest) this.#ownOf(scenario).admit(id, timestamp, holdsUntil);
    }
    return free;
  }

  #ownOf(scenario: Scenario): SeenIds {
    const own = this.#own.get(scenario) ?? rememberIds();
    this.#own.set(scenario, own);
    return own;
  }
}
