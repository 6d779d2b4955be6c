/** The terms of a meter (S5, S19.2), for a database that sums its units or selects its values. */
import type { UsageMeter } from "../../book/resources/event-schema.ts";
import { isDecimalObject } from "../../numbers/decimal.ts";
import type { Rule } from "../../rules/rule.ts";
import { inferNumber, inferRule, inferTruth, type VariableTerms } from "./infer-rule.ts";
import {
  addTerms,
  chooseNumber,
  createNumberConstant,
  createTruthConstant,
  DAY_TIME,
  joinTruths,
  multiplyTerms,
  NotPushableError,
  type NumberTerm,
  type TextTerm,
  type TruthTerm,
} from "./term.ts";

/** A meter as terms; one with keys may be several (S19.2). They are the places of the core's measure, in the same order. */
export type PushedMeter = PushedSum | PushedValues;

interface PushedPlace {
  readonly meter: UsageMeter;
  /** Whether it counts an event. */
  readonly matches: TruthTerm;
}

/** Units to sum. */
export interface PushedSum extends PushedPlace {
  readonly kind: "sum";
  /** The units that it counts if it matches; if they are a moment, only the milliseconds of the day. */
  readonly units: NumberTerm;
  /** Whether units are the changes of a level × their time, whose sum is that of the changes × the day as well. */
  readonly isMoment: boolean;
}

/** Values: the largest, the smallest, the different ones, all of them, or all with their times and ids. */
export interface PushedValues extends PushedPlace {
  readonly kind: "max" | "min" | "distinct" | "each" | "timed";
  /** The value of an event; a text only of UNIQUE_COUNT. */
  readonly units: NumberTerm | TextTerm;
}

/** The number of text searches within a rule's budget for any event (S3.8). */
const SEARCHES_MAX = 100;

/** Returns a rule whose evaluation is within the budget for any event. @throws {NotPushableError} for others */
export function requireWithinBudget(rule: Rule | undefined): Rule | undefined {
  let searches = 0;
  const countSearches = (part: unknown): void => {
    if (typeof part !== "object" || part === null || isDecimalObject(part)) return;
    if (Object.hasOwn(part, "in")) searches++;
    for (const inner of Object.values(part)) countSearches(inner);
  };
  countSearches(rule);
  if (searches > SEARCHES_MAX) throw new NotPushableError("its searches may exceed the budget of a rule");
  return rule;
}

/** A computation whose result is inferred only if its kind is known. */
interface PushedStep {
  readonly matches: TruthTerm;
  readonly rule: Rule | undefined;
}

/**
 * The terms of a meter, by the places of the core's measure.
 *
 * @param keepsValues whether all values of events are needed, and not only those that decide a quantity
 * @throws {NotPushableError} with the reason
 */
export function pushMeter(meter: UsageMeter, variables: VariableTerms, keepsValues: boolean): readonly PushedMeter[] {
  const steps = meter.computations
    .toSorted((a, b) => a.order - b.order)
    .map(({ matcher, computation }): PushedStep => {
      const matches =
        matcher === undefined || matcher === null
          ? createTruthConstant(true)
          : inferTruth(requireWithinBudget(matcher), variables);
      return { matches, rule: requireWithinBudget(computation ?? 1) };
    });
  switch (meter.aggregation) {
    case "COUNT":
    case "SUM":
      return [{ kind: "sum", meter, isMoment: false, ...sumSteps(meter, steps, variables) }];
    case "MAX":
    case "MIN":
    case "UNIQUE_COUNT": {
      const kind = keepsValues ? "each" : DECISIVE_VALUES[meter.aggregation];
      const infer = meter.aggregation === "UNIQUE_COUNT" ? inferKey : inferNumber;
      return steps.map(({ matches, rule }) => ({ kind, meter, matches, units: infer(rule, variables) }));
    }
    case "LATEST":
    case "TIME_WEIGHTED": {
      const { matches, units } = sumSteps(meter, steps, variables);
      if (meter.mode !== "CHANGE") return [{ kind: "timed", meter, matches, units }];
      const moment = multiplyTerms(units, DAY_TIME);
      return [
        { kind: "sum", meter, matches, units, isMoment: false },
        { kind: "sum", meter, matches, units: moment, isMoment: true },
      ];
    }
  }
}

/** The values that decide the quantity of any period. */
const DECISIVE_VALUES = { MAX: "max", MIN: "min", UNIQUE_COUNT: "distinct" } as const;

/** COUNT: 1 if a matcher is true. Others: the sum of all computations whose matcher is true (S5.2). */
function sumSteps(
  { aggregation }: UsageMeter,
  steps: readonly PushedStep[],
  variables: VariableTerms,
): { readonly matches: TruthTerm; readonly units: NumberTerm } {
  const matches = joinTruths(
    "or",
    steps.map((step) => step.matches),
  );
  if (aggregation === "COUNT") return { matches, units: createNumberConstant(1) };
  const [only, ...others] = steps.map((step) => ({ ...step, units: inferNumber(step.rule, variables) }));
  if (only === undefined || others.length === 0) return { matches, units: only?.units ?? createNumberConstant(1) };
  const zero = createNumberConstant(0);
  return {
    matches,
    units: [only, ...others].map((step) => chooseNumber(step.matches, step.units, zero)).reduce(addTerms),
  };
}

/** A text, or a number whose plain text is the key (S19.2). @throws {NotPushableError} for other kinds */
function inferKey(rule: Rule | undefined, variables: VariableTerms): NumberTerm | TextTerm {
  const term = inferRule(rule, variables);
  if (term.kind === "number" || term.kind === "text") return term;
  throw new NotPushableError("it always fails: its value is not a number or a string");
}
