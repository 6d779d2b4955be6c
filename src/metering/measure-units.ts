/**
 * Computes the units of each meter for an enriched event (S5).
 *
 * @module
 */
import type { Computation, UsageMeter } from "../book/resources/usage-meter.ts";
import type { Exact } from "../numbers/exact.ts";
import { addExact } from "../numbers/exact.ts";
import { createProblem, type Problem } from "../problem-table.ts";
import { computeEventSteps, type FullRuleBudget } from "../rules/budget.ts";
import type { RuleObject, RuleValue } from "../rules/value.ts";
import { ruleFailedError, formatValue, isTruthy } from "../rules/value.ts";
import { compileRuleOver, toExactResult, describeFailure, type RuleContext } from "./enrich.ts";
import type { EventSlots, VisibleSlots } from "./event-slots.ts";
import { findAttributeSlot, createFacts } from "./event-slots.ts";

/** A meter with its index in the tally. */
export interface IndexedMeter {
  readonly meter: UsageMeter;
  readonly index: number;
}

/** The units of an event, by the schema's meters in order; undefined if a meter does not match. */
export type Units = readonly (Exact | undefined)[];

/** Measures the event in the slots. */
export interface Measure {
  /** The tally index of each meter, in order. */
  readonly meters: readonly number[];
  /** The units of the event, or the problem if a meter's rule fails. */
  run(): Units | Problem;
}

type Compiled = (facts: RuleObject) => RuleValue;

interface Step {
  /** The order of the computation. */
  readonly order: number;
  readonly matches: Compiled | undefined;
  readonly computes: (facts: RuleObject) => Exact;
}

/** Compiles the meters of one schema over its slots. @param budget for one evaluation of a rule (S3.8) */
export function compileMeasure(slots: EventSlots, places: readonly IndexedMeter[], budget: FullRuleBudget): Measure {
  const facts = createFacts(slots, allSlots(slots));
  const stepsMax = computeEventSteps(budget);
  const nothing: Units = places.map(() => undefined);
  const place: RuleContext = { slots, visible: allSlots(slots), budget };
  const steps = places.map(({ meter }) => compileSteps(meter, place));
  const measured = places.map(({ meter }, index) => compileAggregation(meter, steps[index] ?? []));
  return {
    meters: places.map(({ index }) => index),
    run() {
      const units = nothing.slice();
      let index = 0;
      try {
        for (; index < measured.length; index++) units[index] = measured[index]?.(facts);
      } catch (error) {
        slots.remainingSteps = stepsMax;
        const place = describeFailingRule(steps[index] ?? [], facts);
        const params = { name: places[index]?.meter.name ?? "", place, reason: describeFailure(error) };
        return createProblem("$", "METER_FAILED", params);
      }
      return units;
    },
  };
}

/** COUNT: 1 if a matcher is truthy. SUM: the sum of all computations whose matcher is truthy (S5.2). */
function compileAggregation(
  { aggregation }: Pick<UsageMeter, "aggregation">,
  steps: readonly Step[],
): (facts: RuleObject) => Exact | undefined {
  switch (aggregation) {
    case "COUNT":
      return (facts) => {
        for (const { matches } of steps) if (matches === undefined || isTruthy(matches(facts))) return 1;
        return undefined;
      };
    case "SUM":
      return compileSum(steps);
  }
}

function compileSum(steps: readonly Step[]): (facts: RuleObject) => Exact | undefined {
  const [only] = steps;
  // Most meters have one computation, which needs no sum.
  if (only !== undefined && steps.length === 1) {
    const { matches, computes } = only;
    if (matches === undefined) return computes;
    return (facts) => {
      const matched = matches(facts);
      return matched === true || isTruthy(matched) ? computes(facts) : undefined;
    };
  }
  return (facts) => {
    let total: Exact | undefined;
    for (const { matches, computes } of steps) {
      if (matches !== undefined && !isTruthy(matches(facts))) continue;
      const result = computes(facts);
      total = total === undefined ? result : addExact(total, result);
    }
    return total;
  };
}

/** The computations of a meter, in order. */
function compileSteps(meter: UsageMeter, place: RuleContext): readonly Step[] {
  return meter.computations.toSorted((a, b) => a.order - b.order).map((computation) => compileStep(computation, place));
}

/** Describes the rule that failed; empty if the meter has only one. */
function describeFailingRule(steps: readonly Step[], facts: RuleObject): string {
  for (const { order, matches, computes } of steps) {
    let where = ` (matcher of computation ${order})`;
    try {
      if (matches !== undefined && !isTruthy(matches(facts))) continue;
      where = steps.length > 1 ? ` (computation ${order})` : "";
      computes(facts);
    } catch {
      return where;
    }
  }
  return "";
}

function compileStep({ order, matcher, computation }: Computation, place: RuleContext): Step {
  return {
    order,
    matches: matcher === undefined || matcher === null ? undefined : compileRuleOver(matcher, place),
    computes: compileUnits(computation ?? 1, place),
  };
}

/** The units of a computation. The most frequent one is just an attribute: its slot always has a decimal, so it is not checked. */
function compileUnits(computation: unknown, place: RuleContext): (facts: RuleObject) => Exact {
  const compiled = compileRuleOver(computation, place);
  const slot = findAttributeSlot(computation, place.slots, place.visible);
  if (slot === undefined) return (facts) => toUnits(compiled(facts));
  const { values } = place.slots;
  return () => values[slot] ?? 0;
}

/** A meter reads the event and every enriched field. */
function allSlots(slots: EventSlots): VisibleSlots {
  return { attributes: slots.values.length, dimensions: slots.texts.length };
}

function toUnits(value: RuleValue): Exact {
  const exact = toExactResult(value);
  if (exact !== undefined) return exact;
  throw ruleFailedError(`its computation must return a decimal but returned ${formatValue(value)}`);
}
