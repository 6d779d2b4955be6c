/** Reads facts by name (S3.3): own properties only; names may contain dots. */
import { Decimal } from "../numbers/decimal.ts";
import { Scaled } from "../numbers/exact.ts";
import type { Allowance } from "./budget.ts";
import {
  constantNode,
  type Evaluator,
  type Node,
  type ValueSlot,
  toDouble,
  ruleFailedError,
  isList,
  NESTING_MAX,
  toRuleValue,
  formatValue,
  toText,
  type RuleValue,
} from "./value.ts";
/** Property names of decimal objects, which rules can't read: for them a decimal is one value. */
const DECIMAL_NAMES = new Set(["d", "e", "s", "constructor", "mantissa", "scale"]);

/** Creates the reader of a path; undefined is the whole facts. */
type Readers = (path: string | undefined) => Evaluator;
/** Finds the slot of a path, if it has one. */
type Slots = (path: string) => ValueSlot | undefined;

/** How variables are found, and the budget for computed names. */
interface VariableScope {
  readonly readers: Readers;
  readonly slots: Slots | undefined;
  readonly allowance: Allowance;
}

/** Compiles `var`: the value at a path, else the default, else null. The path is literal or computed. */
export function compileVariable(
  path: Node,
  fallback: Node | undefined,
  { readers, slots, allowance }: VariableScope,
): Node {
  const runFallback = fallback?.run ?? constantNode(null).run;
  const readOrFallback = (reader: Evaluator, frame: unknown): RuleValue => {
    const value = reader(frame);
    return value === undefined ? (runFallback(frame) ?? null) : value;
  };
  // A literal name and its variable are one node.
  const size = 1 + (path.constant === undefined ? path.size : 0) + (fallback?.size ?? 0);
  if (path.constant === undefined) {
    if (path.isScalar !== true) allowance.enableCounting();
    return { size, run: (frame) => readOrFallback(readers(computedName(path.run(frame), allowance)), frame) };
  }
  const name = toPathName(path.constant.value);
  const slot = name === undefined ? undefined : slots?.(name);
  if (name !== undefined && slot !== undefined) {
    const { values, index } = slot;
    return { size, run: () => values[index], variable: name, isScalar: true };
  }
  const reader = readers(name);
  if (name === undefined) return { size, run: reader };
  if (fallback !== undefined) return { size, run: (frame) => readOrFallback(reader, frame), variable: name };
  return { size, run: (frame) => reader(frame) ?? null, variable: name };
}

/** Compiles `missing`: those of the names, given individually or as one list, whose value is absent, null or "". */
export function compileMissing(names: readonly Node[], readers: Readers, allowance: Allowance): Evaluator {
  const [first] = names;
  const areConstant = names.every((name) => name.constant !== undefined);
  if (areConstant) {
    const list = first?.constant?.value;
    const keys = isList(list) ? list : names.map((name) => name.constant?.value);
    const keyReaders = keys.map((key) => ({ key, reader: readers(toPathName(toRuleValue(key))) }));
    return (frame) => {
      allowance.deductSteps(keyReaders.length);
      return keyReaders.filter(({ reader }) => isMissing(reader(frame))).map(({ key }) => key);
    };
  }
  allowance.enableCounting();
  return (frame) => {
    const values = names.map((name) => name.run(frame));
    const [list] = values;
    return findMissing(isList(list) ? list : values, { readers, allowance }, frame);
  };
}

/** Compiles `missing_some`: empty if at least that many of the listed names have a value, else the missing ones. */
export function compileMissingSome(
  [neededCount, names]: readonly Node[],
  readers: Readers,
  allowance: Allowance,
): Evaluator {
  if (names?.constant === undefined || neededCount?.isScalar !== true) allowance.enableCounting();
  return (frame) => {
    const count = toDouble(neededCount?.run(frame), allowance);
    const list = names?.run(frame);
    if (!isList(list)) throw ruleFailedError(`"missing_some" expects a list of names, got ${formatValue(list)}`);
    const missing = findMissing(list, { readers, allowance }, frame);
    return list.length - missing.length >= count ? [] : missing;
  };
}

/**
 * Reads a path in plain data: the part up to the first dot is a key of the facts; the rest is, at each step, first
 * tried as one key, then up to its first dot. Only own properties of objects, lists and texts are read. If the first
 * part is not a key, the whole path may be one. Undefined is the whole facts.
 *
 * @returns reads undefined if there is no value
 */
export function pathReader(path: string | undefined): Evaluator {
  if (path === undefined) return (facts) => toRuleValue(facts);
  const whole = propertyReader(path);
  const dot = path.indexOf(".");
  if (dot < 0) return (facts) => toRuleValue(whole(facts));
  const first = propertyReader(path.slice(0, dot));
  const read = restReader(path.slice(dot + 1));
  return (facts) => {
    const value = read(first(facts));
    return toRuleValue(value === undefined ? whole(facts) : value);
  };
}

/** Reads the path after the first part of a variable, such as the name of a dependency: as one key, then step by step (S3.3). */
export function restOfPathReader(path: string): Evaluator {
  const read = restReader(path);
  return (data) => toRuleValue(read(data));
}

/** The two spellings of a variable's first part (S3.3). */
const SPELLINGS: readonly (readonly [string, string])[] = [
  ["attribute.", "attributes."],
  ["dimension.", "dimensions."],
];

/** Like {@link pathReader}, but also tries the other spelling of `attribute.` or `dimension.`. */
export function variableReader(path: string | undefined): Evaluator {
  const reader = pathReader(path);
  const other = path === undefined ? undefined : otherSpelling(path);
  if (other === undefined) return reader;
  const otherReader = pathReader(other);
  return (facts) => {
    const value = reader(facts);
    return value === undefined ? otherReader(facts) : value;
  };
}

function otherSpelling(path: string): string | undefined {
  for (const [singular, plural] of SPELLINGS) {
    if (path.startsWith(singular)) return plural + path.slice(singular.length);
    if (path.startsWith(plural)) return singular + path.slice(plural.length);
  }
  return undefined;
}

type Read = (data: unknown) => unknown;

/** Reads the rest of a path: as one key, then step by step, to the 64 levels that facts can have. */
function restReader(path: string): Read {
  const steps: { readonly key: Read; readonly rest: Read }[] = [];
  let rest = path;
  for (let dot = rest.indexOf("."); dot >= 0 && steps.length < NESTING_MAX; dot = rest.indexOf(".")) {
    const key = propertyReader(rest.slice(0, dot));
    rest = rest.slice(dot + 1);
    steps.push({ key, rest: propertyReader(rest) });
  }
  const whole = propertyReader(path);
  if (steps.length === 0) return whole;
  return (data) => {
    let value = whole(data);
    let inner = data;
    for (const step of steps) {
      if (value !== undefined) return value;
      inner = step.key(inner);
      value = step.rest(inner);
    }
    return value;
  };
}

/** Reads one own property, if it exists. */
function propertyReader(key: string): Read {
  if (DECIMAL_NAMES.has(key)) {
    return (data) => (Decimal.isDecimal(data) || data instanceof Scaled ? undefined : ownProperty(data, key));
  }
  return (data) => ownProperty(data, key);
}

function ownProperty(data: unknown, key: string): unknown {
  if (typeof data === "object" ? data === null : typeof data !== "string") return undefined;
  const record = data as Readonly<Record<string, unknown>>;
  const value = record[key];
  // `hasOwn` is called last, because few names are inherited.
  return value !== undefined && Object.hasOwn(record, key) ? value : undefined;
}

function findMissing(
  keys: readonly unknown[],
  { readers, allowance }: Pick<VariableScope, "readers" | "allowance">,
  frame: unknown,
): readonly unknown[] {
  allowance.deductSteps(keys.length);
  return keys.filter((key) => isMissing(readers(computedName(toRuleValue(key), allowance))(frame)));
}

function isMissing(value: RuleValue): boolean {
  return value === undefined || value === null || value === "";
}

/** A path given as a value: a number is a list index; null, "" and undefined are the whole facts. */
function toPathName(path: RuleValue, allowance?: Allowance): string | undefined {
  return path === null || path === undefined || path === "" ? undefined : toText(path, allowance);
}

/** Maximum length of a computed name. */
const COMPUTED_NAME_MAX = 1000;

/** Like {@link toPathName}, for a computed path: each of its parts costs a step. */
function computedName(path: RuleValue, allowance: Allowance): string | undefined {
  const name = toPathName(path, allowance);
  if (name === undefined) return undefined;
  if (name.length > COMPUTED_NAME_MAX) {
    throw ruleFailedError(
      `the rule built a variable name of more than ${COMPUTED_NAME_MAX} characters: ${formatValue(name)}`,
    );
  }
  allowance.deductSteps(name.split(".").length);
  return name;
}
