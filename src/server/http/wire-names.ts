/**
 * Failures in the words of the wire, where a field has another name there than in the engine: those of one operation,
 * for names that depend on the request or are a place in it. An endpoint's `wireNames` hold for all its failures.
 *
 * @module
 */
import { hasCode, RatebookError } from "../../errors.ts";

/**
 * The result of an operation whose refusals name fields as the client knows them.
 *
 * @param names the name on the wire of each of the engine's fields
 */
export async function inWireNames<Result>(
  names: Readonly<Record<string, string>>,
  operation: Promise<Result>,
): Promise<Result> {
  try {
    return await operation;
  } catch (error) {
    if (!hasCode(error, "ERR_INPUT_INVALID")) throw error;
    const own = Object.keys(names).find((name) => new RegExp(`^${name}(?=[.:[])`).test(error.message));
    if (own === undefined) throw error;
    const message = `${names[own] ?? own}${error.message.slice(own.length)}`;
    throw new RatebookError("ERR_INPUT_INVALID", message, error.details, { cause: error });
  }
}
