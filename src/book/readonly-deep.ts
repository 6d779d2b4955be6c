/**
 * Inputs are not changed: what is `as const` is taken too.
 *
 * @module
 */
import type { Decimal } from "../numbers/decimal.ts";

/** A type whose objects and lists, at every depth, are read only. */
export type ReadonlyDeep<T> = T extends string | number | boolean | bigint | null | undefined | Decimal
  ? T
  : T extends readonly (infer Item)[]
    ? readonly ReadonlyDeep<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
      : T;
