/**
 * Types that fields of inputs have in common.
 *
 * @module
 */

/** A value that may be left out: `null` means the same as nothing. */
export type Maybe<Value> = Value | null | undefined;

/**
 * A JSON-logic rule: an object, a literal, or a text that holds one (S3.6). What it may use is checked against the event
 * schema when it is read.
 */
export type RuleInput = string | number | boolean | object;

/** An object of any fields, kept as it is. */
export type FreeForm = Readonly<Record<string, unknown>>;
