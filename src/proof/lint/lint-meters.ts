/**
 * Findings in meters: matchers that are never or always true, and computations that others make useless.
 *
 * Whether a matcher is ever true is searched, not proved: the values that a rule names itself, those beside them, and a
 * few others are tried for its variables, all together where these are not too many.
 *
 * @module
 */
import type { UsageMeter } from "../../book/model/metering.ts";
import { RatebookError } from "../../errors.ts";
import { add, Decimal, ONE, subtract, formatDecimal, ZERO } from "../../numbers/decimal.ts";
import { compileRule } from "../../rules/compile-rule.ts";
import type { Rule } from "../../rules/rule.ts";
import { finding, type LintFinding, type LintPlace } from "./finding.ts";

/** Most combinations of values that are tried for a rule. */
const TRIES_MAX = 4096;
/** Operators under which a variable is an element, or whose values a search could not guess. */
const OPAQUE: ReadonlySet<string> = new Set(
  "map filter reduce all none some date date.add date.sub duration.between duration.of duration.as substr cat missing missing_some".split(
    " ",
  ),
);

/** Everything that is found in a meter. */
export function lintMeter(meter: UsageMeter, index: number): readonly LintFinding[] {
  return meter.computations.flatMap(({ matcher, order }, position) => {
    const place = { path: ["usageMeters", index, "computations", position], at: `${meter.id}/computation/${order}` };
    return [...(matcher === undefined ? [] : lintMatcher(matcher, place)), ...shadowed(meter, position, place)];
  });
}

/** Of a COUNT meter an event counts once, so that a computation adds nothing beside one that matches at least as much. */
function shadowed(
  { aggregation, computations }: UsageMeter,
  position: number,
  place: LintPlace,
): readonly LintFinding[] {
  const own = computations[position];
  if (aggregation !== "COUNT" || own === undefined) return [];
  const other = computations.find(({ matcher }, at) => {
    if (at === position) return false;
    if (isEveryEvent(matcher)) return !isEveryEvent(own.matcher) || at < position;
    return at < position && JSON.stringify(matcher) === JSON.stringify(own.matcher);
  });
  if (other === undefined) return [];
  const example = isEveryEvent(other.matcher)
    ? `computation ${other.order} counts every event, and no event counts twice`
    : `computation ${other.order} has the same matcher, and no event counts twice`;
  return [
    finding("COMPUTATION_SHADOWED", place, {
      message: `computation ${own.order} changes nothing beside computation ${other.order}`,
      example,
    }),
  ];
}

function isEveryEvent(matcher: Rule | undefined): boolean {
  return matcher === undefined || matcher === true;
}

/** The result of trying values. */
interface Search {
  readonly tried: number;
  readonly matched: number;
  /** The last values that were tried, as a text; empty where the rule has no variables. */
  readonly last: string;
}

function lintMatcher(rule: Rule, place: LintPlace): readonly LintFinding[] {
  const search = tryOut(rule);
  if (search === undefined) return [];
  const { tried, matched, last } = search;
  if (matched > 0 && matched < tried) return [];
  const searched = last !== "";
  const others = `${tried - 1} other ${tried === 2 ? "combination" : "combinations"} that were tried`;
  if (matched === 0) {
    const example = searched ? `no match with ${last}, nor with ${others}` : "it has no variables, and is false";
    return [finding("RULE_NEVER_MATCHES", place, { message: "the matcher matches no event", example, searched })];
  }
  return [
    finding("RULE_ALWAYS_MATCHES", place, {
      level: "note",
      message: "the matcher matches every event, as none would",
      example: searched ? `a match with ${last}, and with ${others}` : "it has no variables, and is true",
      searched,
    }),
  ];
}

/** Evaluates a rule on many values; undefined where they could not be guessed. */
function tryOut(rule: Rule): Search | undefined {
  const parts = partsOf(rule);
  if (parts === undefined) return undefined;
  const numbers = [...new Set(["0", "1", "1000000000", ...parts.numbers])].map((text) => new Decimal(text));
  const texts = [...new Set([...parts.texts, "", "another"])];
  const names = [...parts.variables];
  const choices = names.map((name): readonly unknown[] => (isText(name) ? texts : numbers));
  const combinations = choices.reduce((count, each) => count * each.length, 1);
  if (combinations > TRIES_MAX) return undefined;
  const evaluate = compileRule(rule);
  let matched = 0;
  for (let at = 0; at < combinations; at++) if (isTrue(evaluate, factsOf(valuesOf(names, choices, at)))) matched += 1;
  return { tried: combinations, matched, last: namedValues(valuesOf(names, choices, combinations - 1)) };
}

function isText(variable: string): boolean {
  return variable.startsWith("dimension");
}

function isTrue(evaluate: (facts: unknown) => unknown, facts: unknown): boolean {
  try {
    const value = evaluate(facts);
    if (value instanceof Decimal) return !value.isZero();
    return Array.isArray(value) ? value.length > 0 : Boolean(value);
  } catch (error) {
    // An event that fails is not matched.
    if (error instanceof RatebookError) return false;
    throw error;
  }
}

/** The values of one combination, which is a number with a digit for each variable. */
function valuesOf(
  names: readonly string[],
  choices: readonly (readonly unknown[])[],
  combination: number,
): ReadonlyMap<string, unknown> {
  const picked = new Map<string, unknown>();
  let rest = combination;
  for (const [index, name] of names.entries()) {
    const values = choices[index] ?? [];
    picked.set(name, values[rest % values.length]);
    rest = Math.floor(rest / values.length);
  }
  return picked;
}

function factsOf(picked: ReadonlyMap<string, unknown>): unknown {
  const facts: Record<string, Record<string, unknown>> = {};
  for (const [name, value] of picked) {
    const dot = name.indexOf(".");
    const root = name.slice(0, dot);
    facts[root] = { ...facts[root], [name.slice(dot + 1)]: value };
  }
  return facts;
}

/** Such as `attribute.units 6 and dimension.region "eu"`. */
function namedValues(picked: ReadonlyMap<string, unknown>): string {
  return [...picked]
    .map(([name, value]) => `${name} ${value instanceof Decimal ? formatDecimal(value) : JSON.stringify(value)}`)
    .join(" and ");
}

interface RuleParts {
  readonly variables: Set<string>;
  readonly numbers: Set<string>;
  readonly texts: Set<string>;
}

/** The variables of a rule and the values that it names; undefined where a search could not guess values. */
function partsOf(rule: Rule): RuleParts | undefined {
  const parts: RuleParts = { variables: new Set(), numbers: new Set(), texts: new Set() };
  const waiting: Rule[] = [rule];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (typeof node === "string") {
      parts.texts.add(node);
      if (/^-?\d+(?:\.\d+)?$/.test(node)) beside(parts, new Decimal(node));
    } else if (typeof node === "number" || node instanceof Decimal) beside(parts, new Decimal(node));
    else if (Array.isArray(node)) waiting.push(...(node as readonly Rule[]));
    else if (typeof node === "object" && node !== null) {
      const [[operator, given] = ["", null]] = Object.entries(node as Readonly<Record<string, Rule>>);
      if (OPAQUE.has(operator)) return undefined;
      if (operator !== "var") waiting.push(given);
      else if (typeof given === "string" && /^(?:attribute|dimension)s?\../.test(given)) parts.variables.add(given);
      else return undefined;
    }
  }
  return parts;
}

/** A number that a rule names is tried, and so are those beside it. */
function beside({ numbers }: RuleParts, value: Decimal): void {
  for (const each of [subtract(ZERO, value), subtract(value, ONE), value, add(value, ONE)])
    numbers.add(formatDecimal(each));
}
