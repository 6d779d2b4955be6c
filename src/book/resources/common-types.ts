/**
 * Types shared by inputs.
 *
 * @module
 */

/** An optional value: `null` means the same as undefined. */
export type Maybe<Value> = Value | null | undefined;

/**
 * A JSON-logic rule: an object, a literal, or a string that contains one (S3.6). Its variables are checked against the
 * event schema when the book is read.
 */
export type RuleInput = string | number | boolean | object;

/** An object with any fields, stored unchanged. */
export type FreeForm = Readonly<Record<string, unknown>>;

/** Fields to change; omitted fields stay, null clears. */
export type Patch<Resource> = { readonly [Field in keyof Resource]?: Maybe<Resource[Field]> };

/** A value whose objects and lists are read-only, in all its parts. A decimal stays as it is. */
export type Frozen<Value> = Value extends string | number | boolean | null | undefined | { readonly toFixed: unknown }
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : [keyof Value] extends [never]
      ? Value
      : { readonly [Field in keyof Value]: Frozen<Value[Field]> };
