/**
 * The operators, and their minimum numbers of arguments.
 *
 * @module
 */
import type { Fact } from "./value.ts";

/**
 * A custom operator. It gets evaluated arguments, with decimals as Decimals, and returns a fact. It must be pure: a
 * rule may be evaluated any number of times.
 */
export type RuleOperator = (...args: readonly Fact[]) => unknown;

/** Custom operators by name. Built-in names are reserved. */
export type RuleOperators = Readonly<Record<string, RuleOperator>>;

/** Every built-in operator, by its minimum number of arguments; extra ones are ignored, as in json-logic-js. */
const OPERATORS: readonly (readonly [number, string])[] = [
  [0, "var missing missing_some if ?: and or ! !! log == === != !== < <= > >="],
  [0, "map filter reduce all some none merge in cat substr"],
  [1, "+ * - min max round floor ceil date"],
  [2, "/ % date.add date.sub duration.between duration.of duration.as"],
];
const ARGUMENTS_MIN: ReadonlyMap<string, number> = new Map(
  OPERATORS.flatMap(([count, names]) => names.split(" ").map((name): [string, number] => [name, count])),
);

/** The operators whose results are never lists or objects. */
const SCALAR_OPERATORS: ReadonlySet<string> = new Set(
  (
    "! !! == === != !== < <= > >= all some none in cat substr + * - / % min max round floor ceil " +
    "date date.add date.sub duration.between duration.of duration.as"
  ).split(" "),
);

/** Whether an operator's result is never a list or an object. */
export function isScalarOperator(operator: string): boolean {
  return SCALAR_OPERATORS.has(operator);
}

/** The operators whose second argument is evaluated for each element of a list. */
const ITERATIONS = ["map", "filter", "reduce", "all", "some", "none"] as const;
export type Iteration = (typeof ITERATIONS)[number];

/** The minimum number of arguments of a built-in operator; undefined if there is no such operator. */
export function minimumArguments(operator: string): number | undefined {
  return ARGUMENTS_MIN.get(operator);
}

/** Whether an operator's second argument reads the elements of a list. */
export function isIteration(operator: string): operator is Iteration {
  return (ITERATIONS as readonly string[]).includes(operator);
}

/** A custom operator with this name; own properties only. */
export function findCustomOperator(operators: RuleOperators | undefined, name: string): RuleOperator | undefined {
  return operators !== undefined && Object.hasOwn(operators, name) ? operators[name] : undefined;
}

/** The arguments of an operation: `{"!": x}` is short for `{"!": [x]}`. */
export function toArguments<Part>(value: Part | readonly Part[]): readonly Part[] {
  return Array.isArray(value) ? (value as readonly Part[]) : [value as Part];
}
