/**
 * Adds events in bulk that another reader measured.
 *
 * @module
 */
import type { Day, Instant } from "../../calendar/instant.ts";
import { startOfDay } from "../../calendar/instant.ts";
import type { FieldsResult } from "../../metering/event-fields.ts";
import type { Units } from "../../metering/measure-units.ts";
import type { IngestOutcome } from "../outcome.ts";
import { decideIn, type Scenario } from "./preview-scenario.ts";
import type { RunState } from "./run-state.ts";

/** Measured plain events of one account, schema and UTC day, whose ids occur nowhere else (S17.3). */
export interface CountedEvents {
  readonly schemaName: string;
  /** An id or an alias. */
  readonly accountId: string;
  readonly day: Day;
  /** The number of events, and of those that a meter counts. */
  readonly events: number;
  readonly metered: number;
  /** The first and the last timestamp. */
  readonly first: Instant;
  readonly last: Instant;
  /** The sums of their units, by the schema's meters in order; undefined if a meter counts none of them. */
  readonly units: Units;
}

/**
 * Counts measured events if all of them would be decided alike. Decides one of those that a meter counts, and one of
 * the others.
 *
 * @returns false if they must be decided one by one; then nothing is counted
 */
export function addCountedEvents(run: RunState, counted: CountedEvents, read: FieldsResult | undefined): boolean {
  const { scenarios, tally } = run;
  const [first] = scenarios;
  const { accountId, schemaName, day, units, events, metered } = counted;
  const account = first.accounts.find(accountId);
  // A trace lists events one by one.
  if (account === undefined || read?.program === undefined || run.tracer !== undefined) return false;
  const event = { schemaName, id: "", accountId, timestamp: startOfDay(day) };
  run.time.now = event.timestamp;
  run.agreements.end(account.index);
  const kinds = [
    { units, times: metered },
    { units: units.map(() => undefined), times: events - metered },
  ].filter(({ times }) => times > 0);
  const decided: { readonly scenario: Scenario; readonly outcome: IngestOutcome; readonly times: number }[] = [];
  for (const scenario of scenarios) {
    const scenarioAccount = scenario === first ? account : scenario.accounts.at(account.index);
    scenarioAccount?.processDueWork(event.timestamp);
    if (scenarioAccount?.decidesAlikeOn(day) !== true) return false;
    for (const kind of kinds) {
      const { isAccepted, outcome } = decideIn(
        scenario,
        scenarioAccount,
        { event, read, units: kind.units },
        run.time,
        run.ids,
      );
      if (!isAccepted) return false;
      decided.push({ scenario, outcome, times: kind.times });
    }
  }
  for (const { scenario, outcome, times } of decided)
    (scenarios.length > 1 ? scenario.tally : tally).count(outcome, times);
  run.adders[read.program.index]?.(account.index, day, units);
  tally.extendSpan(counted.first, accountId, "usage of");
  tally.extendSpan(counted.last, accountId, "usage of");
  return true;
}
