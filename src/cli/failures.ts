/** The messages of a command that failed. */
import { hasCode, RatebookError } from "../errors.ts";
import { InputError } from "../event-files/input-error.ts";
import { toPrintable } from "../pages/printable.ts";
import { ProblemsError, UsageError } from "./errors.ts";

/** The messages of an error, one per line. */
export function describeFailure(error: unknown): string {
  if (error instanceof ProblemsError) return error.message;
  // The engine names its own options; the command line has checked --from and --until, so only the range of events is left.
  if (hasCode(error, "ERR_OPTION_INVALID") && error.details.option === "from" && error.details.reason !== undefined) {
    const advice = "if both dates are right, add --at, or --from and --until";
    return `ratebook: ${toPrintable(error.details.reason)}; ${advice}\n`;
  }
  if (error instanceof UsageError || error instanceof InputError || error instanceof RatebookError)
    return `ratebook: ${toPrintable(error.message)}\n`;
  const missingPackageText = describeMissingPackage(error);
  if (missingPackageText !== undefined) return `ratebook: ${toPrintable(missingPackageText)}\n`;
  const message = error instanceof Error ? error.message : String(error);
  return `ratebook: internal error in ratebook: ${toPrintable(message)} (use --debug for the stack trace)\n`;
}

/** Whether an error is in the arguments, and not in the input. */
export function isWrongUsage(error: unknown): boolean {
  return error instanceof UsageError || (hasCode(error, "ERR_OPTION_INVALID") && error.details.option !== "plan");
}

/**
 * The message for a failed import of an optional package that is not installed (`--omit=optional`).
 *
 * @returns undefined for other errors
 */
export function describeMissingPackage(error: unknown): string | undefined {
  if (!(error instanceof Error) || (error as { readonly code?: unknown }).code !== "ERR_MODULE_NOT_FOUND")
    return undefined;
  // Only Node's message names the package.
  const [, name] = /^Cannot find package '([^']+)'/.exec(error.message) ?? [];
  if (name === undefined) return undefined;
  return `this command needs the package ${name}; install it with npm install --include=optional`;
}
