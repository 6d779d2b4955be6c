/** Every built-in operator. */
import { ARITHMETIC, COMPARISONS, CONTROL } from "./arithmetic.ts";
import { DATES, TEXTS_AND_LISTS } from "./lists.ts";
import { anyOperator, type Operator } from "./value.ts";
import { compileMissing, compileMissingSome } from "./variables.ts";

export const OPERATORS: ReadonlyMap<string, Operator> = new Map(
  Object.entries({
    var: anyOperator(),
    missing: anyOperator((names, { readers, allowance }) => compileMissing(names, readers, allowance)),
    missing_some: anyOperator((names, { readers, allowance }) => compileMissingSome(names, readers, allowance)),
    ...CONTROL,
    ...COMPARISONS,
    ...ARITHMETIC,
    ...TEXTS_AND_LISTS,
    ...DATES,
  }),
);
