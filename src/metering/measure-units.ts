/** Computes the units of each meter for an enriched event (S5). */
import { hasKeys, type UsageMeter } from "../book/resources/event-schema.ts";
import type { Exact } from "../numbers/exact.ts";
import { createProblem, type Problem } from "../problem-table.ts";
import { computeEventSteps, type FullRuleBudget } from "../rules/budget.ts";
import {
  allSlots,
  type CompiledPlace,
  compileCount,
  compileSteps,
  compileSum,
  describeFailingRule,
  type MeasuredPlace,
} from "./computations.ts";
import { describeFailure, type RuleContext } from "./enrich.ts";
import { createFacts, type EventSlots } from "./event-slots.ts";
import { compileKeyedPlaces } from "./measure-keys.ts";

/** A meter with its index in the tally. */
export interface IndexedMeter {
  readonly meter: UsageMeter;
  readonly index: number;
}

/** The units of an event, by the places of the schema's meters in order; undefined for one that does not match. */
export type Units = readonly (Exact | undefined)[];

/** Measures the event in the slots. */
export interface Measure {
  readonly places: readonly MeasuredPlace[];
  /** The tally index of the meter of each place. */
  readonly meters: readonly number[];
  /** The units of the event by place, or the problem if a meter's rule fails. */
  run(): Units | Problem;
}

/** Compiles the meters of one schema over its slots. @param budget for one evaluation of a rule (S3.8) */
export function compileMeasure(slots: EventSlots, meters: readonly IndexedMeter[], budget: FullRuleBudget): Measure {
  const facts = createFacts(slots, allSlots(slots));
  const stepsMax = computeEventSteps(budget);
  const context: RuleContext = { slots, visible: allSlots(slots), budget };
  const places = meters.flatMap((indexed) => compilePlaces(indexed, context));
  const noUnits: Units = places.map(() => undefined);
  const measures = places.map(({ measure }) => measure);
  return {
    places,
    meters: places.map(({ index }) => index),
    run() {
      const units = noUnits.slice();
      let place = 0;
      try {
        for (; place < measures.length; place++) units[place] = measures[place]?.(facts);
      } catch (error) {
        // To find the rule that failed, the computations are run again, with the full budget.
        slots.remainingSteps = stepsMax;
        const { meter, steps = [] } = places[place] ?? {};
        const params = {
          name: meter?.name ?? "",
          place: describeFailingRule(steps, facts),
          reason: describeFailure(error),
        };
        return createProblem("$", "METER_FAILED", params);
      }
      return units;
    },
  };
}

function compilePlaces({ meter, index }: IndexedMeter, context: RuleContext): readonly CompiledPlace[] {
  const steps = compileSteps(meter, context);
  if (hasKeys(meter)) return compileKeyedPlaces(meter, steps, context.slots).map((place) => ({ ...place, index }));
  const isCount = meter.aggregation === "COUNT";
  return [{ meter, index, steps, measure: isCount ? compileCount(steps) : compileSum(steps) }];
}
