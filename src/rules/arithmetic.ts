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
  createDecimalConverter,
  type Evaluator,
  type Node,
  constantNode,
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

/** Compiles one of `+ - * / % min max`; undefined for any other name. */
export function compileArithmetic(operator: string, operands: readonly Node[]): Evaluator | undefined {
  switch (operator) {
    case "+":
      return operands.length === 2
        ? compileBinary(operands, operator, plus)
        : compileFold(operands, operator, addExact);
    case "*":
      return operands.length === 2
        ? compileBinary(operands, operator, times)
        : compileFold(operands, operator, multiplyExact);
    case "-":
      return operands.length === 1 ? compileNegation(operands) : compileBinary(operands, operator, minus);
    case "/":
      return compileBinary(operands, operator, (left, right) => applyBinary(left, right, divideExact));
    case "%":
      return compileBinary(operands, operator, (left, right) => applyBinary(left, right, remainderExact));
    case "min":
      return compileFold(operands, operator, (a, b) => (compareExact(b, a) < 0 ? b : a));
    case "max":
      return compileFold(operands, operator, (a, b) => (compareExact(b, a) > 0 ? b : a));
    default:
      return undefined;
  }
}

/** Compiles `round` (half away from zero), `floor` or `ceil` of `[x, places = 0]`. */
export function compileRounding(operator: PlacesRounding, operands: readonly Node[]): Evaluator {
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

function compileBinary(
  operands: readonly Node[],
  operator: string,
  make: (left: Operand, right: Operand) => Evaluator,
): Evaluator {
  return make(toOperand(operands[0], operator), toOperand(operands[1], operator));
}

function applyBinary(left: Operand, right: Operand, operation: BinaryOperation): Evaluator {
  return (frame) => {
    const a = left.decimal(left.run(frame));
    return operation(a, right.decimal(right.run(frame)));
  };
}

function plus(left: Operand, right: Operand): Evaluator {
  const { run: runLeft, decimal: decimalLeft } = left;
  const { run: runRight, decimal: decimalRight, constant } = right;
  if (constant !== undefined) {
    return (frame) => {
      const a = runLeft(frame);
      return addExact(isDecimal(a) ? a : decimalLeft(a), constant);
    };
  }
  return (frame) => {
    const a = runLeft(frame);
    const b = runRight(frame);
    return addExact(isDecimal(a) ? a : decimalLeft(a), isDecimal(b) ? b : decimalRight(b));
  };
}

function minus(left: Operand, right: Operand): Evaluator {
  const { run: runLeft, decimal: decimalLeft } = left;
  const { run: runRight, decimal: decimalRight, constant } = right;
  if (constant !== undefined) {
    return (frame) => {
      const a = runLeft(frame);
      return subtractExact(isDecimal(a) ? a : decimalLeft(a), constant);
    };
  }
  return (frame) => {
    const a = runLeft(frame);
    const b = runRight(frame);
    return subtractExact(isDecimal(a) ? a : decimalLeft(a), isDecimal(b) ? b : decimalRight(b));
  };
}

function times(left: Operand, right: Operand): Evaluator {
  const { run: runLeft, decimal: decimalLeft } = left;
  const { run: runRight, decimal: decimalRight, constant } = right;
  if (constant !== undefined) {
    return (frame) => {
      const a = runLeft(frame);
      return multiplyExact(isDecimal(a) ? a : decimalLeft(a), constant);
    };
  }
  return (frame) => {
    const a = runLeft(frame);
    const b = runRight(frame);
    return multiplyExact(isDecimal(a) ? a : decimalLeft(a), isDecimal(b) ? b : decimalRight(b));
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

const ABSENT = constantNode(undefined);

/** Compiles a comparison; undefined for any other name. */
export function compileComparison(
  operator: string,
  operands: readonly Node[],
  allowance: Allowance,
): Evaluator | undefined {
  const left = operands[0] ?? ABSENT;
  const right = operands[1] ?? ABSENT;
  // A list is compared as text, which costs budget; most operands are never lists.
  const isScalar = operands.every((operand) => operand.isScalar === true);
  const textAllowance = (): TextAllowance => {
    if (isScalar) return undefined;
    allowance.enableCounting();
    return allowance;
  };
  const isBetween = operands.length > 2;
  switch (operator) {
    case "==":
      return compileEquality(left, right, createLooseEquality(textAllowance()));
    case "===":
      return compileEquality(left, right, isStrictlyEqual);
    case "!=":
      return compileInequality(left, right, createLooseEquality(textAllowance()));
    case "!==":
      return compileInequality(left, right, isStrictlyEqual);
    case "<": {
      const texts = textAllowance();
      if (isBetween) return compileBetween(operands, (a, b) => compareValues(a, b, texts) < 0);
      return compileLessThan(left, right, texts);
    }
    case "<=": {
      const texts = textAllowance();
      if (isBetween) return compileBetween(operands, (a, b) => compareValues(a, b, texts) <= 0);
      return compileAtMost(left, right, texts);
    }
    case ">":
      return compileMoreThan(left, right, textAllowance());
    case ">=":
      return compileAtLeast(left, right, textAllowance());
    default:
      return undefined;
  }
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

function compileLessThan({ run: left }: Node, { run: right }: Node, textAllowance: TextAllowance): Evaluator {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    return typeof a === "number" && typeof b === "number" ? a < b : compareValues(a, b, textAllowance) < 0;
  };
}

function compileAtMost({ run: left }: Node, { run: right }: Node, textAllowance: TextAllowance): Evaluator {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    return typeof a === "number" && typeof b === "number" ? a <= b : compareValues(a, b, textAllowance) <= 0;
  };
}

function compileMoreThan({ run: left }: Node, { run: right }: Node, textAllowance: TextAllowance): Evaluator {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    return typeof a === "number" && typeof b === "number" ? a > b : compareValues(a, b, textAllowance) > 0;
  };
}

function compileAtLeast({ run: left }: Node, { run: right }: Node, textAllowance: TextAllowance): Evaluator {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    return typeof a === "number" && typeof b === "number" ? a >= b : compareValues(a, b, textAllowance) >= 0;
  };
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

/** Compiles `if ?: and or ! !!`; undefined for any other name. */
export function compileControl(operator: string, nodes: readonly Node[]): Evaluator | undefined {
  const [operand = ABSENT] = nodes;
  switch (operator) {
    case "if":
    case "?:":
      return compileIf(nodes);
    case "and":
      return compileAndOr(nodes, false);
    case "or":
      return compileAndOr(nodes, true);
    case "!":
      return (frame) => !isTruthy(operand.run(frame));
    case "!!":
      return (frame) => isTruthy(operand.run(frame));
    default:
      return undefined;
  }
}

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
