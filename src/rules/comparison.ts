/**
 * `== === != !== < <= > >=` (S3.2): decimals by value, everything else as in json-logic-js.
 *
 * @module
 */
import type { Allowance } from "./budget.ts";
import type { Evaluator, Node } from "./node.ts";
import { constantNode } from "./node.ts";
import { isLooselyEqual, compareValues, isStrictlyEqual } from "./value.ts";
import type { RuleValue } from "./value.ts";

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
  switch (operator) {
    case "==":
      return compileEquality(left, right, createLooseEquality(textAllowance()));
    case "===":
      return compileEquality(left, right, isStrictlyEqual);
    case "!=":
      return compileInequality(left, right, createLooseEquality(textAllowance()));
    case "!==":
      return compileInequality(left, right, isStrictlyEqual);
    case "<":
      return operands.length > 2
        ? compileBetween(operands, createLess(textAllowance()))
        : compileLessThan(left, right, textAllowance());
    case "<=":
      return operands.length > 2
        ? compileBetween(operands, createLessOrEqual(textAllowance()))
        : compileAtMost(left, right, textAllowance());
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

function createLess(textAllowance: TextAllowance): Test {
  return (a, b) => compareValues(a, b, textAllowance) < 0;
}

function createLessOrEqual(textAllowance: TextAllowance): Test {
  return (a, b) => compareValues(a, b, textAllowance) <= 0;
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
