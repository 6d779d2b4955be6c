/**
 * Errors with their fields named as a request names them, where the engine has another name: those of all errors of an
 * endpoint, and those of one operation, for names that depend on the request or are a place in it.
 *
 * @module
 */
import { hasCode, inputError, optionError, type Problem } from "../../errors.ts";

/** The names of fields on the wire, by the engine's names; that of `""` is what contains a list without a name. */
export type WireNames = Readonly<Record<string, string>>;

/** An error with the fields of its problems renamed; any other error as it is. */
export function toWireError(error: unknown, names: WireNames): unknown {
  if (hasCode(error, "ERR_OPTION_INVALID")) {
    const { option, reason } = error.details;
    return reason === undefined ? error : optionError(names[option] ?? option, reason);
  }
  if (!hasCode(error, "ERR_INPUT_INVALID")) return error;
  const problems = error.details.problems.map((problem) => ({ ...problem, path: renamePath(problem.path, names) }));
  const [first, ...others] = problems;
  const isRenamed = first?.path !== error.details.problems[0]?.path;
  return first === undefined || !isRenamed ? error : inputError([first, ...others], { cause: error });
}

/** The result of an operation; its errors name fields as the client knows them. */
export async function withWireNames<Result>(names: WireNames, operation: Promise<Result>): Promise<Result> {
  try {
    return await operation;
  } catch (error) {
    throw toWireError(error, names);
  }
}

/** A path with its first field renamed: of `$.version`, and of `$[0].id`, whose list has no name. */
function renamePath(path: Problem["path"], names: WireNames): string {
  const [start = "", field = ""] = /^\$\.?([A-Za-z_$][\w$]*)?(?=[.[]|$)/.exec(path) ?? [];
  if (path === "$" || start === "" || !Object.hasOwn(names, field)) return path;
  return `$.${names[field] ?? field}${path.slice(start.length)}`;
}
