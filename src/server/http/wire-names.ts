/**
 * Renames fields in errors from the engine's names to those in the request: for all errors of an endpoint, or for one
 * operation whose names depend on the request.
 *
 * @module
 */
import { hasCode, inputError, optionError, type Problem } from "../../errors.ts";

/** Wire names by engine name; `""` is the container of a list without a name. */
export type WireNames = Readonly<Record<string, string>>;

/** Renames the fields of an error's problems. Other errors are unchanged. */
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

/** Renames fields in the errors of an operation. */
export async function withWireNames<Result>(names: WireNames, operation: Promise<Result>): Promise<Result> {
  try {
    return await operation;
  } catch (error) {
    throw toWireError(error, names);
  }
}

/** Renames the first field of a path: of `$.version`, and of `$[0].id`, whose list has no name. */
function renamePath(path: Problem["path"], names: WireNames): string {
  const [start = "", field = ""] = /^\$\.?([A-Za-z_$][\w$]*)?(?=[.[]|$)/.exec(path) ?? [];
  if (path === "$" || start === "" || !Object.hasOwn(names, field)) return path;
  return `$.${names[field] ?? field}${path.slice(start.length)}`;
}
