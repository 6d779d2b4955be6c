/**
 * Findings in meters: matchers that are never or always true, and redundant computations.
 *
 * Matchers are tested by search, not proved: each variable takes the values in the rule, adjacent values and a few
 * others, in all combinations if there are not too many.
 */
import { hasKeys, type UsageMeter } from "../../book/resources/event-schema.ts";
import { RatebookError } from "../../errors.ts";
import { add, Decimal, ONE, subtract, formatDecimal, ZERO } from "../../numbers/decimal.ts";
import { compileRule } from "../../rules/compile.ts";
import type { Rule } from "../../rules/rule.ts";
import { createFinding, type LintFinding, type LintPlace } from "./finding.ts";

/** The maximum number of combinations to try for a rule. */
const TRIES_MAX = 4096;
/** Operators with values that a search can't guess, or whose variables are list elements. */
const UNSEARCHABLE_OPERATORS: ReadonlySet<string> = new Set(
  "map filter reduce all none some date date.add date.sub duration.between duration.of duration.as substr cat missing missing_some".split(
    " ",
  ),
);

/** Findings in a meter. */
export function lintMeter(meter: UsageMeter, index: number): readonly LintFinding[] {
  return meter.computations.flatMap(({ matcher, order }, position) => {
    const place = { path: ["usageMeters", index, "computations", position], at: `${meter.id}/computation/${order}` };
    return [
      matcher === undefined ? [] : lintMatcher(matcher, place),
      lintShadowedComputation(meter, position, place),
      lintConstantValue(meter, place),
    ].flat();
  });
}

/** A COUNT meter counts an event once, so a computation is redundant if another matches at least the same events. */
function lintShadowedComputation(
  { aggregation, computations }: UsageMeter,
  position: number,
  place: LintPlace,
): LintFinding | readonly [] {
  const computation = computations[position];
  if (aggregation !== "COUNT" || computation === undefined) return [];
  const other = computations.find(({ matcher }, at) => {
    if (at === position) return false;
    if (matchesEveryEvent(matcher)) return !matchesEveryEvent(computation.matcher) || at < position;
    return at < position && JSON.stringify(matcher) === JSON.stringify(computation.matcher);
  });
  if (other === undefined) return [];
  const example = matchesEveryEvent(other.matcher)
    ? `computation ${other.order} counts every event, and no event counts twice`
    : `computation ${other.order} has the same matcher, and no event counts twice`;
  return createFinding("COMPUTATION_SHADOWED", place, {
    message: `computation ${computation.order} has no effect in addition to computation ${other.order}`,
    example,
  });
}

/** The only computation of a meter with keys, except of changes, that does not depend on the event. */
function lintConstantValue(meter: UsageMeter, place: LintPlace): LintFinding | readonly [] {
  const [{ computation } = {}, ...others] = meter.computations;
  const isConstant = computation instanceof Decimal || (computation !== undefined && typeof computation !== "object");
  if (!isConstant || others.length > 0 || !hasKeys(meter) || meter.mode === "CHANGE") return [];
  const value = computation instanceof Decimal ? formatDecimal(computation) : JSON.stringify(computation);
  return createFinding("VALUE_CONSTANT", place, {
    level: meter.aggregation === "UNIQUE_COUNT" ? "warning" : "note",
    message: "the computation does not depend on the event, so that all events have one value; compute it from a field",
    example: `every event of ${meter.id} has the value ${value}: a thousand on a day are measured like one`,
  });
}

function matchesEveryEvent(matcher: Rule | undefined): boolean {
  return matcher === undefined || matcher === true;
}

/** The result of trying values. */
export interface SearchResult {
  readonly triedCount: number;
  readonly matchedCount: number;
  /** The last values that were tried, as text; empty without variables. */
  readonly last: string;
}

function lintMatcher(rule: Rule, place: LintPlace): LintFinding | readonly [] {
  const search = searchValues(rule);
  if (search === undefined) return [];
  const { triedCount, matchedCount, last } = search;
  if (matchedCount > 0 && matchedCount < triedCount) return [];
  const isSearched = last !== "";
  const otherCombinations = `${triedCount - 1} other ${triedCount === 2 ? "combination" : "combinations"} tried`;
  if (matchedCount === 0) {
    const example = isSearched
      ? `no match with ${last}, nor with ${otherCombinations}`
      : "it has no variables, and is false";
    return createFinding("RULE_NEVER_MATCHES", place, {
      message: "the matcher matches no event",
      example,
      searched: isSearched,
    });
  }
  return createFinding("RULE_ALWAYS_MATCHES", place, {
    level: "note",
    message: "the matcher matches every event, so it can be removed",
    example: isSearched ? `a match with ${last}, and with ${otherCombinations}` : "it has no variables, and is true",
    searched: isSearched,
  });
}

/**
 * Whether a meter measures no event with these dimensions, as far as a search tells.
 *
 * @returns the values that were tried; undefined if some event matches, or values can't be guessed
 */
export function findExclusion(
  { computations }: UsageMeter,
  dimensions: Readonly<Record<string, string>>,
): SearchResult | undefined {
  let exclusion: SearchResult | undefined;
  for (const { matcher } of computations) {
    exclusion = matcher === undefined ? undefined : searchValues(matcher, dimensions);
    if (exclusion?.matchedCount !== 0) return undefined;
  }
  return exclusion;
}

/**
 * Evaluates a rule on many values; undefined if values can't be guessed.
 *
 * @param dimensions those with only one text
 */
function searchValues(rule: Rule, dimensions: Readonly<Record<string, string>> = {}): SearchResult | undefined {
  const parts = readRuleParts(rule);
  if (parts === undefined) return undefined;
  const numbers = [...new Set(["0", "1", "1000000000", ...parts.numbers])].map((text) => new Decimal(text));
  const texts = [...new Set([...parts.texts, "", "another"])];
  const names = [...parts.variables];
  const choices = names.map((name): readonly unknown[] => {
    if (!isTextVariable(name)) return numbers;
    const text = dimensions[name.slice(name.indexOf(".") + 1)];
    return text === undefined ? texts : [text];
  });
  const combinations = choices.reduce((count, each) => count * each.length, 1);
  if (combinations > TRIES_MAX) return undefined;
  const evaluate = compileRule(rule);
  let matchedCount = 0;
  for (let at = 0; at < combinations; at++)
    if (evaluatesToTrue(evaluate, toFacts(pickValues(names, choices, at)))) matchedCount += 1;
  return { triedCount: combinations, matchedCount, last: describeValues(pickValues(names, choices, combinations - 1)) };
}

function isTextVariable(variable: string): boolean {
  return variable.startsWith("dimension");
}

function evaluatesToTrue(evaluate: (facts: unknown) => unknown, facts: unknown): boolean {
  try {
    const value = evaluate(facts);
    if (value instanceof Decimal) return !value.isZero();
    return Array.isArray(value) ? value.length > 0 : Boolean(value);
  } catch (error) {
    // A rule that fails does not match the event.
    if (error instanceof RatebookError) return false;
    throw error;
  }
}

/** The values of one combination, whose number has one digit for each variable. */
function pickValues(
  names: readonly string[],
  choices: readonly (readonly unknown[])[],
  combination: number,
): ReadonlyMap<string, unknown> {
  const valuesByName = new Map<string, unknown>();
  let rest = combination;
  for (const [index, name] of names.entries()) {
    const values = choices[index] ?? [];
    valuesByName.set(name, values[rest % values.length]);
    rest = Math.floor(rest / values.length);
  }
  return valuesByName;
}

function toFacts(valuesByName: ReadonlyMap<string, unknown>): unknown {
  const facts: Record<string, Record<string, unknown>> = {};
  for (const [name, value] of valuesByName) {
    const dot = name.indexOf(".");
    const root = name.slice(0, dot);
    facts[root] = { ...facts[root], [name.slice(dot + 1)]: value };
  }
  return facts;
}

/** For example `attribute.units 6 and dimension.region "eu"`. */
function describeValues(valuesByName: ReadonlyMap<string, unknown>): string {
  return [...valuesByName]
    .map(([name, value]) => `${name} ${value instanceof Decimal ? formatDecimal(value) : JSON.stringify(value)}`)
    .join(" and ");
}

interface RuleParts {
  readonly variables: Set<string>;
  readonly numbers: Set<string>;
  readonly texts: Set<string>;
}

/** The variables of a rule and the values in it; undefined if a search can't guess values. */
function readRuleParts(rule: Rule): RuleParts | undefined {
  const parts: RuleParts = { variables: new Set(), numbers: new Set(), texts: new Set() };
  const queue: Rule[] = [rule];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (typeof node === "string") {
      parts.texts.add(node);
      if (/^-?\d+(?:\.\d+)?$/.test(node)) addNearbyNumbers(parts, new Decimal(node));
    } else if (typeof node === "number" || node instanceof Decimal) addNearbyNumbers(parts, new Decimal(node));
    else if (Array.isArray(node)) queue.push(...(node as readonly Rule[]));
    else if (typeof node === "object" && node !== null) {
      const [[operator, argument] = ["", null]] = Object.entries(node as Readonly<Record<string, Rule>>);
      if (UNSEARCHABLE_OPERATORS.has(operator)) return undefined;
      if (operator !== "var") queue.push(argument);
      else if (typeof argument === "string" && /^(?:attribute|dimension)s?\../.test(argument))
        parts.variables.add(argument);
      else return undefined;
    }
  }
  return parts;
}

/** Adds a number from a rule, and the numbers next to it. */
function addNearbyNumbers({ numbers }: RuleParts, value: Decimal): void {
  for (const each of [subtract(ZERO, value), subtract(value, ONE), value, add(value, ONE)])
    numbers.add(formatDecimal(each));
}
