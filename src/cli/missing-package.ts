/**
 * Packages that an install may leave out (`--omit=optional`), told as what they are: no fault of the program.
 *
 * @module
 */

/**
 * The sentence for a failed import of a package that is not installed.
 *
 * @returns undefined for every other error
 */
export function describeMissingPackage(error: unknown): string | undefined {
  if (!(error instanceof Error) || (error as { readonly code?: unknown }).code !== "ERR_MODULE_NOT_FOUND")
    return undefined;
  const [, name] = /^Cannot find package '([^']+)'/.exec(error.message) ?? [];
  if (name === undefined) return undefined;
  return `this command needs the package ${name}; install it with npm install --include=optional`;
}
