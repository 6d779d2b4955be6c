/**
 * Parses and checks rules before they are saved (S3.6). All traversals are iterative, so that extremely deep rules are
 * rejected like any other.
 */
import { hasCode, RatebookError } from "../errors.ts";
import { Decimal, parseValue } from "../numbers/decimal.ts";
import { findRepeatedKeys } from "../numbers/json-text.ts";
import { parseJson } from "../numbers/json.ts";
import { type RuleProblemCode, quoteText, truncateText } from "../problem-table.ts";
import { isIteration } from "./lists.ts";
import { OPERATORS } from "./operators.ts";
import type { Fact } from "./value.ts";

/**
 * A custom operator. It gets evaluated arguments, with decimals as Decimals, and returns a fact. It must be pure: a
 * rule may be evaluated any number of times.
 */
export type RuleOperator = (...args: readonly Fact[]) => unknown;

/** Custom operators by name. Built-in names are reserved. */
export type RuleOperators = Readonly<Record<string, RuleOperator>>;

/** A custom operator with this name; own properties only. */
export function findCustomOperator(operators: RuleOperators | undefined, name: string): RuleOperator | undefined {
  return operators !== undefined && Object.hasOwn(operators, name) ? operators[name] : undefined;
}

/** The arguments of an operation: `{"!": x}` is short for `{"!": [x]}`. */
export function toArguments<Part>(value: Part | readonly Part[]): readonly Part[] {
  return Array.isArray(value) ? (value as readonly Part[]) : [value as Part];
}

/** A JSON logic rule: a literal, a list of rules, or an operation, an object with exactly one key. */
export type Rule = null | boolean | number | string | Decimal | readonly Rule[] | { readonly [operator: string]: Rule };

/** The names that a rule's variables may have (S3.3, S3.6). */
export interface RuleFields {
  /** `attribute.<name>`: declared attributes and the enriched ones that the rule may see. */
  readonly attributes: ReadonlySet<string>;
  /** `dimension.<name>`: declared dimensions and the enriched ones that the rule may see. */
  readonly dimensions: ReadonlySet<string>;
  /** `dependencies.<name>`. */
  readonly dependencies: ReadonlySet<string>;
}

/** A problem in a rule. */
export interface RuleProblem {
  /** The path inside the rule, such as `if[0].==[1]`; `$` is the whole rule. */
  readonly path: string;
  readonly code: RuleProblemCode;
  readonly message: string;
}

/** Options for checking a rule. */
export interface RuleCheckOptions {
  /** Absent: variables are not checked. */
  readonly fields?: RuleFields;
  /** Custom operators. */
  readonly operators?: RuleOperators;
}

/** Maximum nesting of operations and lists; an operation and its argument list are one level (S3.6). */
export const RULE_NESTING_MAX = 64;
/** Maximum number of operations, lists and literals of a rule (S3.6). */
export const RULE_NODES_MAX = 2000;
/** Maximum length of a rule's text. */
const RULE_TEXT_MAX = 1_000_000;

const EVENT_FIELDS = new Set(["id", "timestamp", "accountId", "schemaName"]);

/**
 * Parses a rule: an object, a list, a literal, or a JSON text of one of these (S3.6). It is not checked; see
 * {@link checkRule}.
 *
 * @throws {RatebookError} ERR_RULE_INVALID for a text that is not JSON, and for values that JSON does not allow
 */
export function parseRule(source: unknown): Rule {
  if (typeof source !== "string") {
    if (source === undefined || typeof source === "function" || typeof source === "symbol") {
      throw invalidRuleError(
        { path: "$", code: "INVALID_RULE" },
        "expected a JSON logic rule: an object with one key, a literal, or one of these as JSON text",
      );
    }
    return source as Rule;
  }
  if (source.length > RULE_TEXT_MAX)
    throw invalidRuleError(
      { path: "$", code: "RULE_TOO_LARGE" },
      `the rule is longer than ${RULE_TEXT_MAX} characters`,
    );
  try {
    const rule = parseJson(source) as Rule;
    const [repeatedKey] = findRepeatedKeys(source, 1);
    if (repeatedKey === undefined) return rule;
    throw invalidRuleError(
      { path: "$", code: "INVALID_RULE" },
      `the rule has the key ${JSON.stringify(String(repeatedKey.path.at(-1)).slice(0, 60))} twice in one object, at column ${repeatedKey.column}`,
    );
  } catch (error) {
    if (!hasCode(error, "ERR_JSON_INVALID")) throw error;
    throw invalidRuleError(
      { path: "$", code: "INVALID_RULE" },
      `${quoteText(source)} is not a JSON logic rule: ${error.message}`,
      error,
    );
  }
}

/**
 * Checks a rule (S3.6): one key in each object, known operators, enough arguments, decimals within bounds, nesting of
 * at most 64, at most 2,000 nodes, and, with `fields`, literal variable paths that name one of them.
 *
 * @returns the problems in rule order, each with the path inside the rule, such as `if[0].==[1]`; `$` is the whole rule
 */
export function checkRule(rule: unknown, options: RuleCheckOptions = {}): readonly RuleProblem[] {
  const problems: RuleProblem[] = [];
  const pendingNodes: PendingNode[] = [{ rule, path: "", depth: 0, inElement: false }];
  let nodes = 1;
  for (let pending = pendingNodes.pop(); pending !== undefined; pending = pendingNodes.pop()) {
    if (pending.depth >= RULE_NESTING_MAX && (Array.isArray(pending.rule) || isOperation(pending.rule))) {
      return [
        { path: "$", code: "RULE_TOO_DEEP", message: `the rule is nested more than ${RULE_NESTING_MAX} levels deep` },
      ];
    }
    const node = checkNode(pending, options);
    if (node.problem !== undefined) problems.push({ path: formatRulePath(pending), ...node.problem });
    nodes += node.parts.length;
    if (nodes > RULE_NODES_MAX) {
      return [
        {
          path: "$",
          code: "RULE_TOO_LARGE",
          message: `the rule has more than ${RULE_NODES_MAX} operations, lists and literals`,
        },
      ];
    }
    for (let index = node.parts.length - 1; index >= 0; index--) {
      pendingNodes.push({
        rule: node.parts[index],
        path: node.hasBareArgument === true ? node.prefix : `${node.prefix}[${index}]`,
        depth: pending.depth + 1,
        inElement: pending.inElement || (index === 1 && node.isIteration === true),
      });
    }
  }
  return problems;
}

/** Checks a rule and returns it. @throws {RatebookError} ERR_RULE_INVALID with the first problem of {@link checkRule} */
export function requireValidRule(rule: Rule, options: RuleCheckOptions = {}): Rule {
  const [problem, ...others] = checkRule(rule, options);
  if (problem === undefined) return rule;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  throw invalidRuleError(problem, `in the rule at ${problem.path}: ${problem.message}${more}`);
}

interface PendingNode {
  readonly rule: unknown;
  readonly path: string;
  /** The number of operations and lists around this one. */
  readonly depth: number;
  /** Inside the second argument of `map` and similar, where a variable reads the element. */
  readonly inElement: boolean;
}

/** A problem of one node, without its path. */
type NodeProblem = Omit<RuleProblem, "path">;

/** The children of a node, and its own problem. */
interface NodeCheck {
  readonly problem?: NodeProblem | undefined;
  readonly parts: readonly unknown[];
  readonly prefix: string;
  /** The single argument has no list around it. */
  readonly hasBareArgument?: boolean;
  readonly isIteration?: boolean;
}

function checkNode(pending: PendingNode, options: RuleCheckOptions): NodeCheck {
  const { rule } = pending;
  if (Array.isArray(rule)) return { parts: rule, prefix: pending.path };
  if (!isOperation(rule)) return { problem: findLiteralProblem(rule), parts: [], prefix: pending.path };
  const [operator, ...others] = Object.keys(rule);
  if (operator === undefined || others.length > 0) {
    const operatorNames = operator === undefined ? "none" : [operator, ...others].slice(0, 3).map(quoteText).join(", ");
    const message = `an operation must have exactly one key, found ${operatorNames}`;
    return { problem: { code: "INVALID_OPERATION", message }, parts: [], prefix: pending.path };
  }
  const operand = rule[operator];
  const parts = toArguments(operand);
  const prefix = pending.path === "" ? truncateText(operator) : `${pending.path}.${truncateText(operator)}`;
  const problem =
    findOperatorProblem(operator, parts.length, options.operators) ??
    (options.fields === undefined || pending.inElement
      ? undefined
      : findVariableProblem(operator, parts, options.fields));
  return { problem, parts, prefix, hasBareArgument: !Array.isArray(operand), isIteration: isIteration(operator) };
}

/** An object that is not a Decimal, with any number of keys. */
function isOperation(rule: unknown): rule is Readonly<Record<string, unknown>> {
  if (typeof rule !== "object" || rule === null || Decimal.isDecimal(rule)) return false;
  const prototype: unknown = Object.getPrototypeOf(rule);
  return prototype === null || prototype === Object.prototype;
}

function findLiteralProblem(rule: unknown): NodeProblem | undefined {
  if (rule === null || typeof rule === "boolean" || typeof rule === "string") return undefined;
  if (typeof rule === "number" || Decimal.isDecimal(rule)) {
    try {
      parseValue(rule);
      return undefined;
    } catch (error) {
      if (hasCode(error, "ERR_NUMBER_INVALID")) return { code: "INVALID_CONSTANT", message: error.message };
      throw error;
    }
  }
  const type = typeof rule === "object" ? "an instance of a class" : typeof rule;
  return { code: "INVALID_CONSTANT", message: `expected JSON, found ${type}` };
}

function findOperatorProblem(
  operator: string,
  count: number,
  customOperators: RuleOperators | undefined,
): NodeProblem | undefined {
  const minimum = OPERATORS.get(operator)?.minimum;
  if (operator === "method") {
    const message = 'the operator "method" is not supported, because it could call any function';
    return { code: "UNKNOWN_OPERATOR", message };
  }
  if (minimum === undefined) {
    if (findCustomOperator(customOperators, operator) !== undefined) return undefined;
    return { code: "UNKNOWN_OPERATOR", message: `unknown operator ${quoteText(operator)}` };
  }
  if (count >= minimum) return undefined;
  const requiredArguments = minimum === 1 ? "one argument" : `${minimum} arguments`;
  return { code: "MISSING_ARGUMENTS", message: `${quoteText(operator)} needs at least ${requiredArguments}` };
}

/** The first problem of the literal variable names in an operation. */
function findVariableProblem(operator: string, parts: readonly unknown[], fields: RuleFields): NodeProblem | undefined {
  const names =
    operator === "var"
      ? [parts[0] ?? ""]
      : operator === "missing"
        ? toArguments(parts[0]).concat(parts.slice(1))
        : operator === "missing_some" && Array.isArray(parts[1])
          ? parts[1]
          : [];
  for (const name of names) {
    if (typeof name !== "string" && typeof name !== "number") continue;
    const message = describePathProblem(String(name), fields);
    if (message !== undefined) return { code: "UNKNOWN_VARIABLE", message };
  }
  return undefined;
}

/** The end of a message for a field that an event has as the other kind. */
function suggestKind(kind: "attribute" | "dimension", name: string, names: ReadonlySet<string>): string {
  return names.has(name) ? `: did you mean ${quoteText(`${kind}.${name}`)}?` : "";
}

function describePathProblem(path: string, fields: RuleFields): string | undefined {
  const dot = path.indexOf(".");
  const root = dot < 0 ? path : path.slice(0, dot);
  const name = dot < 0 ? "" : path.slice(dot + 1);
  switch (root) {
    case "attribute":
    case "attributes":
      if (fields.attributes.has(name)) return undefined;
      return `the event schema has no ${quoteText(path)}${suggestKind("dimension", name, fields.dimensions)}`;
    case "dimension":
    case "dimensions":
      if (fields.dimensions.has(name)) return undefined;
      return `the event schema has no ${quoteText(path)}${suggestKind("attribute", name, fields.attributes)}`;
    case "dependencies":
      // A JSON setting may be read with a longer path: dependencies.prices.small.
      if (fields.dependencies.has(name) || fields.dependencies.has(name.split(".", 1)[0] ?? "")) return undefined;
      return `the event schema has no ${quoteText(path)}`;
    case "event":
      if (EVENT_FIELDS.has(name)) return undefined;
      return `${quoteText(path)} is not one of event.id, event.timestamp, event.accountId and event.schemaName`;
    default:
      return `${quoteText(path)} is not a variable; use attribute.NAME, dimension.NAME, dependencies.NAME or event.NAME`;
  }
}

function formatRulePath(pending: PendingNode): string {
  return pending.path === "" ? "$" : pending.path;
}

function invalidRuleError(
  { path, code }: Omit<RuleProblem, "message">,
  message: string,
  cause?: unknown,
): RatebookError<"ERR_RULE_INVALID"> {
  const options = cause === undefined ? undefined : { cause };
  return new RatebookError("ERR_RULE_INVALID", message, { path, reason: code }, options);
}
