/**
 * Failures in the words of the wire, where a field has another name there than in the engine: those of all failures of an
 * endpoint, and those of one operation, for names that depend on the request or are a place in it.
 *
 * @module
 */
import { hasCode, RatebookError } from "../../errors.ts";

/**
 * A sentence with the fields named as a request names them: the one that it begins with, and those in backticks.
 *
 * @param wireNames from the engine's names
 */
export function translateFieldNames(message: string, wireNames: Readonly<Record<string, string>> = {}): string {
  return message.replaceAll(/^\w+(?=[:[.])|(?<=`)\w+(?=`)/g, (name) =>
    Object.hasOwn(wireNames, name) ? (wireNames[name] ?? name) : name,
  );
}

/**
 * The result of an operation whose refusals name fields as the client knows them.
 *
 * @param names the name on the wire of each of the engine's fields
 */
export async function withWireNames<Result>(
  names: Readonly<Record<string, string>>,
  operation: Promise<Result>,
): Promise<Result> {
  try {
    return await operation;
  } catch (error) {
    if (!hasCode(error, "ERR_INPUT_INVALID")) throw error;
    const fieldName = Object.keys(names).find((name) => new RegExp(`^${name}(?=[.:[])`).test(error.message));
    if (fieldName === undefined) throw error;
    const message = `${names[fieldName] ?? fieldName}${error.message.slice(fieldName.length)}`;
    throw new RatebookError("ERR_INPUT_INVALID", message, error.details, { cause: error });
  }
}
