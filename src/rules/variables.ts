/**
 * Reading facts by name (S3.3): own properties only, and a name may hold dots.
 *
 * @module
 */
import { Decimal } from "../numbers/decimal.ts";
import { Scaled } from "../numbers/exact.ts";
import { constantNode } from "./node.ts";
import type { Evaluator, Node } from "./node.ts";
import { doubleOf, failure, ruleValueOf, shown, stringOf } from "./value.ts";
import type { RuleValue } from "./value.ts";

/** Names that decimals have as objects; a decimal is one value and has no properties. */
const DECIMAL_NAMES = new Set(["d", "e", "s", "constructor", "mantissa", "scale"]);

/** Makes the reader of a path. */
type Readers = (path: string) => Evaluator;

/** Compiles `var`: the value at a path, else the default, else null. The path is a literal, or is computed. */
export function compileVariable(path: Node, fallback: Node | undefined, readers: Readers): Node {
  const orElse = fallback?.run ?? constantNode(null).run;
  const readBy = (reader: Evaluator, frame: unknown): RuleValue => {
    const value = reader(frame);
    return value === undefined ? (orElse(frame) ?? null) : value;
  };
  if (path.constant === undefined) {
    return { run: (frame) => readBy(readers(nameOf(path.run(frame))), frame) };
  }
  const name = nameOf(path.constant.value);
  const reader = readers(name);
  if (name === "") return { run: reader };
  if (fallback !== undefined) return { run: (frame) => readBy(reader, frame), variable: name };
  return { run: (frame) => reader(frame) ?? null, variable: name };
}

/** Compiles `missing`: those of the names, given one by one or as one list, whose value is absent, null or "". */
export function compileMissing(names: readonly Node[], readers: Readers): Evaluator {
  const [first] = names;
  const known = names.every((name) => name.constant !== undefined);
  if (known) {
    const list = first?.constant?.value;
    const keys = isList(list) ? list : names.map((name) => name.constant?.value);
    const bound = keys.map((key) => ({ key, reader: readers(nameOf(key)) }));
    return (frame) => bound.filter(({ reader }) => isMissing(reader(frame))).map(({ key }) => key);
  }
  return (frame) => {
    const values = names.map((name) => name.run(frame));
    const [list] = values;
    return missingOf(isList(list) ? list : values, readers, frame);
  };
}

/** Compiles `missing_some`: nothing when at least so many of the listed names have a value, else the missing ones. */
export function compileMissingSome([needed, names]: readonly Node[], readers: Readers): Evaluator {
  return (frame) => {
    const count = doubleOf(needed?.run(frame));
    const list = names?.run(frame);
    if (!isList(list)) throw failure(`"missing_some" takes a list of names, got ${shown(list)}`);
    const missing = missingOf(list, readers, frame);
    return list.length - missing.length >= count ? [] : missing;
  };
}

/**
 * Reads a path of plain data: at each step the rest of the path is first tried as one key, then up to its first dot.
 * Only own properties of objects, lists and texts are read. The empty path is the whole.
 *
 * @returns reads undefined where there is none
 */
export function pathReader(path: string): Evaluator {
  if (path === "") return (facts) => ruleValueOf(facts);
  const steps = stepsOf(path);
  if (steps.length === 1) return (facts) => ruleValueOf(ownProperty(facts, path));
  return (facts) => {
    let data = facts;
    for (const { key, rest } of steps) {
      const whole = ownProperty(data, rest);
      if (whole !== undefined) return ruleValueOf(whole);
      if (key === undefined) return undefined;
      data = ownProperty(data, key);
      if (data === undefined || data === null) return undefined;
    }
    return undefined;
  };
}

function missingOf(keys: readonly RuleValue[], readers: Readers, frame: unknown): readonly RuleValue[] {
  return keys.filter((key) => isMissing(readers(nameOf(key))(frame)));
}

function isMissing(value: RuleValue): boolean {
  return value === undefined || value === null || value === "";
}

/** A path given as a value: a number is the place in a list; null and nothing are the whole. */
function nameOf(path: RuleValue): string {
  return path === null || path === undefined ? "" : stringOf(path);
}

function isList(value: RuleValue): value is readonly RuleValue[] {
  return Array.isArray(value);
}

interface Step {
  /** The path from here on, as one key. */
  readonly rest: string;
  /** The path up to its first dot; undefined in the last step. */
  readonly key: string | undefined;
}

function stepsOf(path: string): readonly Step[] {
  const steps: Step[] = [];
  let rest = path;
  for (let dot = rest.indexOf("."); dot >= 0; dot = rest.indexOf(".")) {
    steps.push({ rest, key: rest.slice(0, dot) });
    rest = rest.slice(dot + 1);
  }
  steps.push({ rest, key: undefined });
  return steps;
}

function ownProperty(data: unknown, key: string): unknown {
  if (typeof data === "object" ? data === null : typeof data !== "string") return undefined;
  const record = data as Readonly<Record<string, unknown>>;
  const value = record[key];
  // Asked last: most names that are not there are not inherited either.
  if (value === undefined || !Object.hasOwn(record, key)) return undefined;
  if (DECIMAL_NAMES.has(key) && (Decimal.isDecimal(data) || data instanceof Scaled)) return undefined;
  return value;
}
