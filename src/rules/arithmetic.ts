/**
 * `+ - * / % min max` on exact decimals (S3.2), `round floor ceil` (S3.4), `== === != !== < <= > >=` (S3.2: decimals by
 * value, everything else as in json-logic-js), and `if ?: and or ! !!`. Common shapes have their own closures for speed.
 */
import { invariant } from "../errors.ts";
import {
  addExact,
  compareExact,
  divideExact,
  exactOfText,
  multiplyExact,
  negateExact,
  remainderExact,
  roundExact,
  subtractExact,
  type Exact,
  type PlacesRounding,
} from "../numbers/exact.ts";
import type { Allowance } from "./budget.ts";
import {
  ABSENT,
  anyOperator,
  createDecimalConverter,
  type OperationScope,
  type Operator,
  type Operators,
  scalarOperator,
  type Evaluator,
  type Node,
  ruleFailedError,
  isDecimal,
  formatValue,
  isLooselyEqual,
  compareValues,
  isStrictlyEqual,
  type RuleValue,
  isTruthy,
} from "./value.ts";

/** Maximum number of places for rounding, before or after the decimal point. */
const PLACES_MAX = 100;

type BinaryOperation = (a: Exact, b: Exact) => Exact;

/** `+ - * / % min max round floor ceil`. */
export const ARITHMETIC: Operators = {
  "+": scalarOperator(1, (operands) =>
    operands.length === 2 ? compileBinary(operands, "+", addExact) : compileFold(operands, "+", addExact),
  ),
  "*": scalarOperator(1, (operands) =>
    operands.length === 2 ? compileBinary(operands, "*", multiplyExact) : compileFold(operands, "*", multiplyExact),
  ),
  "-": scalarOperator(1, (operands) =>
    operands.length === 1 ? compileNegation(operands) : compileBinary(operands, "-", subtractExact),
  ),
  "/": scalarOperator(2, (operands) => compileBinary(operands, "/", divideExact)),
  "%": scalarOperator(2, (operands) => compileBinary(operands, "%", remainderExact)),
  min: scalarOperator(1, (operands) => compileFold(operands, "min", (a, b) => (compareExact(b, a) < 0 ? b : a))),
  max: scalarOperator(1, (operands) => compileFold(operands, "max", (a, b) => (compareExact(b, a) > 0 ? b : a))),
  round: scalarOperator(1, (operands) => compileRounding("round", operands)),
  floor: scalarOperator(1, (operands) => compileRounding("floor", operands)),
  ceil: scalarOperator(1, (operands) => compileRounding("ceil", operands)),
};

/** Compiles `round` (half away from zero), `floor` or `ceil` of `[x, places = 0]`. */
function compileRounding(operator: PlacesRounding, operands: readonly Node[]): Evaluator {
  const { run, decimal } = toOperand(operands[0], operator);
  const places = operands[1];
  if (places === undefined) return (frame) => roundExact(decimal(run(frame)), 0, operator);
  return (frame) => {
    const x = decimal(run(frame));
    const digitsValue = places.run(frame);
    // A decimal text is converted here too, for example from a text setting.
    const digits = typeof digitsValue === "string" ? exactOfText(digitsValue) : digitsValue;
    if (typeof digits !== "number" || Math.abs(digits) > PLACES_MAX) {
      const actual = isDecimal(digits) ? formatValue(digitsValue) : `${formatValue(digitsValue)}, not a decimal`;
      throw ruleFailedError(
        `the second argument of "${operator}" must be a whole number from -${PLACES_MAX} to ${PLACES_MAX}, got ${actual}`,
      );
    }
    return roundExact(x, digits, operator);
  };
}

/** An operand with its conversion; constant decimals are converted in advance. */
interface Operand {
  readonly run: Evaluator;
  readonly decimal: (value: ReturnType<Evaluator>) => Exact;
  readonly constant: Exact | undefined;
}

function toOperand(node: Node | undefined, operator: string): Operand {
  invariant(node !== undefined, "S3.6: a checked rule has enough arguments");
  const constant = node.constant?.value;
  return {
    run: node.run,
    decimal: createDecimalConverter(node, operator),
    constant: isDecimal(constant) ? constant : undefined,
  };
}

function compileBinary(operands: readonly Node[], operator: string, operation: BinaryOperation): Evaluator {
  const { run: runLeft, decimal: decimalLeft } = toOperand(operands[0], operator);
  const { run: runRight, decimal: decimalRight, constant } = toOperand(operands[1], operator);
  if (constant !== undefined) {
    return (frame) => {
      const a = runLeft(frame);
      return operation(isDecimal(a) ? a : decimalLeft(a), constant);
    };
  }
  return (frame) => {
    const a = runLeft(frame);
    const b = runRight(frame);
    return operation(isDecimal(a) ? a : decimalLeft(a), isDecimal(b) ? b : decimalRight(b));
  };
}

function compileNegation(operands: readonly Node[]): Evaluator {
  const { run, decimal } = toOperand(operands[0], "-");
  return (frame) => negateExact(decimal(run(frame)));
}

function compileFold(operands: readonly Node[], operator: string, operation: BinaryOperation): Evaluator {
  const [head, ...rest] = operands;
  const first = toOperand(head, operator);
  const others = rest.map((node) => toOperand(node, operator));
  return (frame) => {
    let total = first.decimal(first.run(frame));
    for (const { run, decimal } of others) total = operation(total, decimal(run(frame)));
    return total;
  };
}

/** `== === != !== < <= > >=`: a list is compared as text, which costs budget; most operands are never lists. */
export const COMPARISONS: Operators = {
  "==": comparison((left, right, texts) => compileEquality(left, right, createLooseEquality(texts()))),
  "===": comparison((left, right) => compileEquality(left, right, isStrictlyEqual)),
  "!=": comparison((left, right, texts) => compileInequality(left, right, createLooseEquality(texts()))),
  "!==": comparison((left, right) => compileInequality(left, right, isStrictlyEqual)),
  "<": ordering((order) => order < 0, true),
  "<=": ordering((order) => order <= 0, true),
  ">": ordering((order) => order > 0),
  ">=": ordering((order) => order >= 0),
};

/** Compares two operands. */
function comparison(compileTwo: (left: Node, right: Node, textAllowance: () => TextAllowance) => Evaluator): Operator {
  return scalarOperator(0, (operands, scope) =>
    compileTwo(operands[0] ?? ABSENT, operands[1] ?? ABSENT, () => chooseTextAllowance(operands, scope)),
  );
}

/** Compares by order; `a < b < c` compares both pairs of neighbors. */
function ordering(isInOrder: (order: number) => boolean, canBeBetween = false): Operator {
  return scalarOperator(0, (operands, scope) => {
    const texts = chooseTextAllowance(operands, scope);
    if (canBeBetween && operands.length >= 3)
      return compileBetween(operands, (a, b) => isInOrder(compareValues(a, b, texts)));
    const [{ run: left } = ABSENT, { run: right } = ABSENT] = operands;
    return (frame) => {
      const a = left(frame);
      const b = right(frame);
      return isInOrder(typeof a === "number" && typeof b === "number" ? a - b : compareValues(a, b, texts));
    };
  });
}

function chooseTextAllowance(operands: readonly Node[], { allowance }: OperationScope): TextAllowance {
  if (operands.every((operand) => operand.isScalar === true)) return undefined;
  allowance.enableCounting();
  return allowance;
}

/** The budget for the text of lists; undefined if no operand can be a list. */
type TextAllowance = Allowance | undefined;

type Test = (a: RuleValue, b: RuleValue) => boolean;

function compileEquality(left: Node, right: Node, equal: Test): Evaluator {
  const runLeft = left.run;
  const runRight = right.run;
  const constant = right.constant?.value;
  if (typeof constant === "string" || typeof constant === "number") {
    const kind = typeof constant;
    return (frame) => {
      const a = runLeft(frame);
      return a === constant || (typeof a !== kind && equal(a, constant));
    };
  }
  return (frame) => {
    const a = runLeft(frame);
    const b = runRight(frame);
    return typeof a === "number" && typeof b === "number" ? a === b : equal(a, b);
  };
}

function compileInequality(left: Node, right: Node, equal: Test): Evaluator {
  const runEquality = compileEquality(left, right, equal);
  return (frame) => runEquality(frame) !== true;
}

function createLooseEquality(textAllowance: TextAllowance): Test {
  return textAllowance === undefined ? isLooselyEqual : (a, b) => isLooselyEqual(a, b, textAllowance);
}

/** `{"<": [a, b, c]}`: a < b and b < c; without a third value only the first. */
function compileBetween(operands: readonly Node[], test: Test): Evaluator {
  const [low, middle, high] = [operands[0] ?? ABSENT, operands[1] ?? ABSENT, operands[2] ?? ABSENT];
  return (frame) => {
    const a = low.run(frame);
    const b = middle.run(frame);
    const c = high.run(frame);
    return test(a, b) && (c === undefined || test(b, c));
  };
}

/** `if ?: and or ! !! log`. */
export const CONTROL: Operators = {
  if: anyOperator(compileIf, "ARGUMENT"),
  "?:": anyOperator(compileIf, "ARGUMENT"),
  and: anyOperator((nodes) => compileAndOr(nodes, false), "ARGUMENT"),
  or: anyOperator((nodes) => compileAndOr(nodes, true), "ARGUMENT"),
  log: anyOperator(([operand = ABSENT]) => operand.run, "ARGUMENT"),
  "!": scalarOperator(
    0,
    ([{ run } = ABSENT]) =>
      (frame) =>
        !isTruthy(run(frame)),
  ),
  "!!": scalarOperator(
    0,
    ([{ run } = ABSENT]) =>
      (frame) =>
        isTruthy(run(frame)),
  ),
};

/** `if`: pairs of condition and result, then the alternative; null without one. */
function compileIf(nodes: readonly Node[]): Evaluator {
  const [condition, result, otherwise] = nodes.map((node) => node.run);
  if (nodes.length === 3 && condition !== undefined && result !== undefined && otherwise !== undefined) {
    return (frame) => (isTruthy(condition(frame)) ? result(frame) : otherwise(frame));
  }
  if (condition === undefined) return () => null;
  if (result === undefined) return condition;
  const rest = compileIf(nodes.slice(2));
  return (frame) => (isTruthy(condition(frame)) ? result(frame) : rest(frame));
}

/** `and` and `or`: the first falsy or truthy value, else the last; undefined without operands. */
function compileAndOr(nodes: readonly Node[], stopsAt: boolean): Evaluator {
  const runs = nodes.map((node) => node.run);
  const [first, second] = runs;
  if (runs.length === 2 && first !== undefined && second !== undefined) {
    return (frame) => {
      const value = first(frame);
      return isTruthy(value) === stopsAt ? value : second(frame);
    };
  }
  return (frame) => {
    let value: RuleValue = undefined;
    for (const run of runs) {
      value = run(frame);
      if (isTruthy(value) === stopsAt) return value;
    }
    return value;
  };
}
