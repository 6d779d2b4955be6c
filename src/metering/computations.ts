/** The computations of a meter, compiled (S5.2). */
import type { Computation, UsageMeter } from "../book/resources/event-schema.ts";
import { addExact, type Exact } from "../numbers/exact.ts";
import { isTruthy, formatValue, ruleFailedError, type RuleObject, type RuleValue } from "../rules/value.ts";
import { compileRuleOver, toExactResult, type RuleContext } from "./enrich.ts";
import { type EventSlots, findAttributeSlot, type VisibleSlots } from "./event-slots.ts";

/** What an event may add to one cell of a meter's usage; a meter with keys may have several (S19.2). */
export interface MeasuredPlace {
  readonly meter: UsageMeter;
  /** The index of the meter in the tally. */
  readonly index: number;
  /** The slot in which the key is, among the texts; undefined for a meter that counts or sums. */
  readonly keySlot?: number;
}

type CompiledRule = (facts: RuleObject) => RuleValue;

/** A computation of a meter. */
export interface Step {
  /** The order of the computation. */
  readonly order: number;
  readonly matcher: CompiledRule | undefined;
  readonly compute: (facts: RuleObject) => Exact;
  /** The result, whatever it is. */
  readonly run: CompiledRule;
}

/** A place with the function that measures it. */
export interface CompiledPlace extends MeasuredPlace {
  readonly steps: readonly Step[];
  readonly measure: (facts: RuleObject) => Exact | undefined;
}

/** 1 if a matcher is truthy (S5.2). */
export function compileCount(steps: readonly Step[]): (facts: RuleObject) => Exact | undefined {
  return (facts) => {
    for (const { matcher } of steps) if (matcher === undefined || isTruthy(matcher(facts))) return 1;
    return undefined;
  };
}

/** The sum of all computations whose matcher is truthy (S5.2). */
export function compileSum(steps: readonly Step[]): (facts: RuleObject) => Exact | undefined {
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
export function compileSteps(meter: UsageMeter, context: RuleContext): readonly Step[] {
  return meter.computations
    .toSorted((a, b) => a.order - b.order)
    .map((computation) => compileStep(computation, context));
}

/** Runs the computations again and describes the rule that failed; empty for the only computation of a meter. */
export function describeFailingRule(steps: readonly Step[], facts: RuleObject): string {
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
  const run = compileRuleOver(computation ?? 1, context);
  return {
    order,
    matcher: matcher === undefined || matcher === null ? undefined : compileRuleOver(matcher, context),
    compute: compileUnits(computation ?? 1, run, context),
    run,
  };
}

/** The units of a computation. The most frequent one is just an attribute: its slot always has a decimal, so it is not checked. */
function compileUnits(
  computation: unknown,
  compiled: CompiledRule,
  context: RuleContext,
): (facts: RuleObject) => Exact {
  const slot = findAttributeSlot(computation, context.slots, context.visible);
  if (slot === undefined) return (facts) => toUnits(compiled(facts));
  const { values } = context.slots;
  return () => values[slot] ?? 0;
}

/** A meter reads the event and every enriched field. */
export function allSlots(slots: EventSlots): VisibleSlots {
  return { attributes: slots.values.length, dimensions: slots.texts.length };
}

function toUnits(value: RuleValue): Exact {
  const exact = toExactResult(value);
  if (exact !== undefined) return exact;
  throw ruleFailedError(`its computation must return a decimal but returned ${formatValue(value)}`);
}
