/**
 * Types shared by inputs.
 *
 * @module
 */

/** An optional value: `null` means the same as undefined. */
export type Maybe<Value> = Value | null | undefined;

/**
 * A JSON-logic rule: an object, a literal, or a text that contains one (S3.6). Its variables are checked against the
 * event schema when the book is read.
 */
export type RuleInput = string | number | boolean | object;

/** An object with any fields, stored unchanged. */
export type FreeForm = Readonly<Record<string, unknown>>;
