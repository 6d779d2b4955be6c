/**
 * Errors for optional packages that are not installed (`--omit=optional`).
 *
 * @module
 */

/**
 * The message for a failed import of a package that is not installed.
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
