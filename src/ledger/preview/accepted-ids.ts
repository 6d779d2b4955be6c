/**
 * The ids of events accepted in each scenario of a run (S14.1). Ids reserved for the same time in all scenarios are
 * stored once; others are stored per scenario.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type { EventEnvelope } from "../../metering/event-envelope.ts";
import { rememberIds, type SeenIds } from "./accepted-id-set.ts";

/** A scenario that accepts an event, and until when the event reserves its id, exclusive. */
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

  /** Whether every id is reserved in all scenarios or in none. */
  get areAllShared(): boolean {
    return this.#own.size === 0;
  }

  /** Whether an accepted event of the scenario reserves the id at the event's timestamp. */
  has(scenario: Scenario, { id, timestamp }: EventEnvelope): boolean {
    return this.#shared.has(id, timestamp) || this.#own.get(scenario)?.has(id, timestamp) === true;
  }

  /** Reserves the id of an event in all scenarios. @returns false if it is already reserved; nothing changes then */
  admit({ id, timestamp }: EventEnvelope, holdsUntil: Instant): boolean {
    return this.#shared.admit(id, timestamp, holdsUntil);
  }

  /**
   * Reserves the id of an event in each scenario that accepts it, where it is not reserved yet.
   *
   * @param count the number of scenarios of the run
   * @returns the claims that succeeded
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
    const scenarioIds = this.#own.get(scenario) ?? rememberIds();
    this.#own.set(scenario, scenarioIds);
    return scenarioIds;
  }
}
