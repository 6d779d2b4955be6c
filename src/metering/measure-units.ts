/** Computes the units of each meter for an enriched event (S5). */
import type { Computation, UsageMeter } from "../book/resources/event-schema.ts";
import { type Exact, addExact } from "../numbers/exact.ts";
import { createProblem, type Problem } from "../problem-table.ts";
import { computeEventSteps, type FullRuleBudget } from "../rules/budget.ts";
import { type RuleObject, type RuleValue, ruleFailedError, formatValue, isTruthy } from "../rules/value.ts";
import { compileRuleOver, toExactResult, describeFailure, type RuleContext } from "./enrich.ts";
import { type EventSlots, type VisibleSlots, findAttributeSlot, createFacts } from "./event-slots.ts";

/** A meter with its index in the tally. */
export interface IndexedMeter {
  readonly meter: UsageMeter;
  readonly index: number;
}

/** The units of an event, by the schema's meters in order; undefined for a meter that does not match. */
export type Units = readonly (Exact | undefined)[];

/** Measures the event in the slots. */
export interface Measure {
  /** The tally index of each meter, in order. */
  readonly meters: readonly number[];
  /** The units of the event, or the problem if a meter's rule fails. */
  run(): Units | Problem;
}

type CompiledRule = (facts: RuleObject) => RuleValue;

interface Step {
  /** The order of the computation. */
  readonly order: number;
  readonly matcher: CompiledRule | undefined;
  readonly compute: (facts: RuleObject) => Exact;
}

/** Compiles the meters of one schema over its slots. @param budget for one evaluation of a rule (S3.8) */
export function compileMeasure(slots: EventSlots, meters: readonly IndexedMeter[], budget: FullRuleBudget): Measure {
  const facts = createFacts(slots, allSlots(slots));
  const stepsMax = computeEventSteps(budget);
  const noUnits: Units = meters.map(() => undefined);
  const context: RuleContext = { slots, visible: allSlots(slots), budget };
  const steps = meters.map(({ meter }) => compileSteps(meter, context));
  const aggregations = meters.map(({ meter }, index) => compileAggregation(meter, steps[index] ?? []));
  return {
    meters: meters.map(({ index }) => index),
    run() {
      const units = noUnits.slice();
      let index = 0;
      try {
        for (; index < aggregations.length; index++) units[index] = aggregations[index]?.(facts);
      } catch (error) {
        // To find the rule that failed, the computations are run again, with the full budget.
        slots.remainingSteps = stepsMax;
        const place = describeFailingRule(steps[index] ?? [], facts);
        const params = { name: meters[index]?.meter.name ?? "", place, reason: describeFailure(error) };
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
        for (const { matcher } of steps) if (matcher === undefined || isTruthy(matcher(facts))) return 1;
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
    const { matcher, compute } = only;
    if (matcher === undefined) return compute;
    return (facts) => {
      const match = matcher(facts);
      return match === true || isTruthy(match) ? compute(facts) : undefined;
    };
  }
  return (facts) => {
    let total: Exact | undefined;
    for (const { matcher, compute } of steps) {
      if (matcher !== undefined && !isTruthy(matcher(facts))) continue;
      const result = compute(facts);
      total = total === undefined ? result : addExact(total, result);
    }
    return total;
  };
}

/** The computations of a meter, in order. */
function compileSteps(meter: UsageMeter, context: RuleContext): readonly Step[] {
  return meter.computations
    .toSorted((a, b) => a.order - b.order)
    .map((computation) => compileStep(computation, context));
}

/** Runs the computations again and describes the rule that failed; empty for the only computation of a meter. */
function describeFailingRule(steps: readonly Step[], facts: RuleObject): string {
  for (const { order, matcher, compute } of steps) {
    let where = ` (matcher of computation ${order})`;
    try {
      if (matcher !== undefined && !isTruthy(matcher(facts))) continue;
      where = steps.length > 1 ? ` (computation ${order})` : "";
      compute(facts);
    } catch {
      return where;
    }
  }
  return "";
}

function compileStep({ order, matcher, computation }: Computation, context: RuleContext): Step {
  return {
    order,
    matcher: matcher === undefined || matcher === null ? undefined : compileRuleOver(matcher, context),
    compute: compileUnits(computation ?? 1, context),
  };
}

/** The units of a computation. The most frequent one is just an attribute: its slot always has a decimal, so it is not checked. */
function compileUnits(computation: unknown, context: RuleContext): (facts: RuleObject) => Exact {
  const compiled = compileRuleOver(computation, context);
  const slot = findAttributeSlot(computation, context.slots, context.visible);
  if (slot === undefined) return (facts) => toUnits(compiled(facts));
  const { values } = context.slots;
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
