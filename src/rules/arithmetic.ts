/**
 * `+ - * / % min max` on exact decimals (S3.2), and `round`, `floor`, `ceil` (S3.4). Operands are evaluated in order.
 * Common shapes have their own closures for speed.
 *
 * @module
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
} from "../numbers/exact.ts";
import type { Exact, PlacesRounding } from "../numbers/exact.ts";
import { createDecimalConverter } from "./node.ts";
import type { Evaluator, Node } from "./node.ts";
import { ruleFailedError, isDecimal, formatValue } from "./value.ts";

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
