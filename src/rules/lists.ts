/**
 * Texts and lists: `cat substr in merge`, and the iterations `map filter reduce all some none`; dates and durations (S3.4):
 * `date date.add date.sub duration.between duration.of duration.as`. A date is its text, `2024-05-29T00:00:00.000Z`: dates
 * compare like their instants.
 */

import {
  addDuration,
  DURATION_UNITS,
  durationAs,
  durationBetween,
  formatDuration,
  isDurationUnit,
  parseDuration,
  type DurationUnit,
} from "../calendar/duration.ts";
import { formatInstant, toInstant, type Instant } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { formatExact, decimalOfExact, exactOfDecimal } from "../numbers/exact.ts";
import type { Allowance } from "./budget.ts";
import {
  ABSENT,
  anyOperator,
  constantNode,
  type Operator,
  type Operators,
  scalarOperator,
  type Evaluator,
  type Node,
  requireDecimal,
  toDouble,
  isDecimal,
  isList,
  toRuleValue,
  isStrictlyEqual,
  toText,
  toInnerText,
  isTruthy,
  type RuleList,
  type RuleValue,
  ruleFailedError,
  formatValue,
} from "./value.ts";

/** Compiles a list with computed parts. */
export function compileList(parts: readonly Node[], allowance: Allowance): Evaluator {
  allowance.enableCounting();
  return (frame) => {
    allowance.deductSteps(parts.length);
    return parts.map((part) => part.run(frame));
  };
}

/** `cat substr in merge`, and the iterations, which {@link compileIteration} compiles. */
export const TEXTS_AND_LISTS: Operators = {
  cat: scalarOperator(0, (operands, { allowance }) => compileCat(operands, allowance)),
  substr: scalarOperator(0, (operands, { allowance }) => compileSubstr(operands, allowance)),
  in: scalarOperator(0, (operands, { allowance }) => compileIn(operands, allowance)),
  merge: anyOperator((operands, { allowance }) => compileMerge(operands, allowance)),
  map: anyOperator(),
  filter: anyOperator(),
  reduce: anyOperator(),
  all: scalarOperator(0),
  some: scalarOperator(0),
  none: scalarOperator(0),
};

/** The operators whose second argument is evaluated for each element of a list. */
const ITERATIONS = ["map", "filter", "reduce", "all", "some", "none"] as const;
export type Iteration = (typeof ITERATIONS)[number];

/** Whether an operator's second argument reads the elements of a list. */
export function isIteration(operator: string): operator is Iteration {
  return (ITERATIONS as readonly string[]).includes(operator);
}

/**
 * Compiles `map filter reduce all some none`. Each element costs one step, one more if it is added to a new list, and
 * one per node of the body.
 *
 * @param body evaluated with the element as its facts
 * @param initial only for `reduce`: the initial value; default null
 */
export function compileIteration(
  operator: Iteration,
  { list, body, initial }: { readonly list: Node; readonly body: Node; readonly initial: Node | undefined },
  allowance: Allowance,
): Evaluator {
  allowance.enableCounting();
  const stepsPerElement = 1 + body.size;
  const toList = (frame: unknown): RuleList => {
    const value = list.run(frame);
    return isList(value) ? value : [];
  };
  /** The elements, all of which will be visited. */
  const toVisitedList = (frame: unknown, stepsEach: number): RuleList => {
    const list = toList(frame);
    allowance.deductSteps(list.length * stepsEach);
    return list;
  };
  const matches = (element: unknown): boolean => isTruthy(body.run(element));
  /** For iterations that may stop early. */
  const countAndMatch = (element: unknown): boolean => {
    allowance.deductSteps(stepsPerElement);
    return matches(element);
  };
  switch (operator) {
    case "map":
      return (frame) => toVisitedList(frame, stepsPerElement + 1).map((element) => body.run(element));
    case "filter":
      return (frame) => {
        const matchingElements = toVisitedList(frame, stepsPerElement).filter(matches);
        allowance.deductSteps(matchingElements.length);
        return matchingElements;
      };
    case "all":
      return (frame) => {
        const items = toList(frame);
        return items.length > 0 && items.every(countAndMatch);
      };
    case "some":
      return (frame) => toList(frame).some(countAndMatch);
    case "none":
      return (frame) => !toList(frame).some(countAndMatch);
    case "reduce":
      return compileReduce((frame) => toVisitedList(frame, stepsPerElement), body.run, initial ?? constantNode(null));
  }
}

/** Compiles `in`; searching a list of literals costs nothing. */
function compileIn(operands: readonly Node[], allowance: Allowance): Evaluator {
  const { run: runItem } = operands[0] ?? ABSENT;
  const container = operands[1] ?? ABSENT;
  const constant = container.constant?.value;
  if (isList(constant)) {
    const isInList = createLiteralLookup(constant);
    return (frame) => isInList(runItem(frame));
  }
  allowance.enableCounting();
  return (frame) => {
    const value = runItem(frame);
    return contains(value, container.run(frame), allowance);
  };
}

/** Whether a list of literals contains a value, without iterating: decimals by text, other values unchanged. */
function createLiteralLookup(list: RuleList): (item: RuleValue) => boolean {
  const values = list.map((element) => toRuleValue(element));
  const decimals = new Set(values.filter(isDecimal).map(formatExact));
  const others = new Set(values.filter((value) => !isDecimal(value)));
  return (item) => (isDecimal(item) ? decimals.size > 0 && decimals.has(formatExact(item)) : others.has(item));
}

function compileReduce(elements: (frame: unknown) => RuleList, step: Evaluator, initial: Node): Evaluator {
  return (frame) => {
    // The list is evaluated first: both may fail, and the first error counts.
    const elementList = elements(frame);
    let accumulator = initial.run(frame);
    for (const current of elementList) accumulator = step({ current, accumulator });
    return accumulator;
  };
}

/**
 * Character comparisons per step. Finding a text in another may take the product of their lengths, because JavaScript's
 * search restarts after each partial match.
 */
const COMPARISONS_PER_STEP = 4096;

/** Whether a text contains another text, or a list contains an element. */
function contains(item: RuleValue, container: RuleValue, allowance: Allowance): boolean {
  if (typeof container === "string") {
    if (container === "") return false;
    const text = toText(item, allowance);
    allowance.deductSteps(Math.floor((text.length * container.length) / COMPARISONS_PER_STEP));
    return container.includes(text);
  }
  if (!isList(container)) return false;
  allowance.deductSteps(container.length);
  return container.some((element) => isStrictlyEqual(toRuleValue(element), item));
}

/** `cat`: concatenates the texts of its arguments; null and undefined are empty. */
function compileCat(operands: readonly Node[], allowance: Allowance): Evaluator {
  allowance.enableCounting();
  return (frame) => {
    const texts = operands.map((operand) => toInnerText(operand.run(frame), allowance));
    allowance.deductText(texts.reduce((length, text) => length + text.length, 0));
    return texts.join("");
  };
}

/** `merge`: combines the elements of lists, and other arguments, into one list. */
function compileMerge(operands: readonly Node[], allowance: Allowance): Evaluator {
  allowance.enableCounting();
  return (frame) => {
    const lists = operands.map((operand): RuleList => {
      const value = operand.run(frame);
      return isList(value) ? value : [value];
    });
    allowance.deductSteps(lists.reduce((length, list) => length + list.length, 0));
    return lists.flat();
  };
}

/** `substr`: from `start` (from the end if negative), `length` characters, or all except the last -length. */
function compileSubstr([source = ABSENT, start = ABSENT, length]: readonly Node[], allowance: Allowance): Evaluator {
  allowance.enableCounting();
  return (frame) => {
    const text = source.run(frame);
    const from = start.run(frame);
    const count = length?.run(frame);
    const substring = takeSubstring(toText(text, allowance), from, count, allowance);
    allowance.deductText(substring.length);
    return substring;
  };
}

function takeSubstring(source: string, start: RuleValue, length: RuleValue, allowance: Allowance): string {
  // A slice shares the characters of its source: nothing is created yet.
  const rest = source.slice(Math.trunc(toDouble(start, allowance)) || 0);
  if (length === undefined) return rest;
  const count = toDouble(length, allowance) || 0;
  // In json-logic-js a negative text is concatenated with the length instead of subtracted, and the result is empty.
  if (count < 0 && !isDecimal(length)) return "";
  return rest.slice(0, Math.max(0, Math.trunc(count < 0 ? rest.length + count : count)));
}

/** Computes a value from evaluated arguments. */
export type Operation = (args: readonly RuleValue[]) => RuleValue;

/** The operations on dates and durations. An invalid argument is an error of the event (S3.4). */
export const DATES: Operators = {
  date: dateOperator(1, ([text]) => formatInstant(requireInstant(text, "date"))),
  "date.add": dateOperator(2, ([date, duration]) => moveDate(date, duration, 1)),
  "date.sub": dateOperator(2, ([date, duration]) => moveDate(date, duration, -1)),
  "duration.between": dateOperator(2, ([from, until]) =>
    durationBetween(requireInstant(from, "duration.between"), requireInstant(until, "duration.between")),
  ),
  "duration.of": dateOperator(2, ([count, unit]) => {
    const decimal = decimalOfExact(requireDecimal(count, "duration.of"));
    const unitName = requireUnit(unit, "duration.of");
    return convertCalendarErrors("duration.of", () => formatDuration(decimal, unitName));
  }),
  "duration.as": dateOperator(2, ([duration, unit]) => {
    const unitName = requireUnit(unit, "duration.as");
    return convertCalendarErrors("duration.as", () =>
      exactOfDecimal(durationAs(parseDuration(requireText(duration, "duration.as")), unitName)),
    );
  }),
};

/** An operation on dates or durations takes as long as ten others. */
function dateOperator(minimum: number, operation: Operation): Operator {
  return scalarOperator(minimum, (nodes) => compileCall(nodes, operation), 10);
}

/** An operation whose arguments are all evaluated. */
export function compileCall(nodes: readonly Node[], operation: Operation): Evaluator {
  const runs = nodes.map((node) => node.run);
  return (frame) => operation(runs.map((run) => run(frame)));
}

function moveDate(date: RuleValue, duration: RuleValue, sign: 1 | -1): string {
  const operator = sign === 1 ? "date.add" : "date.sub";
  const instant = requireInstant(date, operator);
  const text = requireText(duration, operator);
  return convertCalendarErrors(operator, () => formatInstant(addDuration(instant, parseDuration(text), sign)));
}

function requireInstant(value: RuleValue, operator: string): Instant {
  const text = requireText(value, operator);
  return convertCalendarErrors(operator, () => toInstant(text));
}

function requireText(value: RuleValue, operator: string): string {
  if (typeof value === "string") return value;
  throw ruleFailedError(`"${operator}" expects a string, got ${formatValue(value)}`);
}

function requireUnit(value: RuleValue, operator: string): DurationUnit {
  if (typeof value === "string" && isDurationUnit(value)) return value;
  throw ruleFailedError(
    `"${operator}" expects one of the units ${DURATION_UNITS.join(", ")}, got ${formatValue(value)}`,
  );
}

/** Converts calendar errors to errors of the rule. */
function convertCalendarErrors<Result>(operator: string, compute: () => Result): Result {
  try {
    return compute();
  } catch (error) {
    if (error instanceof RatebookError) throw ruleFailedError(`in "${operator}": ${error.message}`, error);
    throw error;
  }
}
