/** Errors of the command line. */

/** Wrong usage: exit code 2. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** Problems of a document. The message has their lines, ready to print. */
export class ProblemsError extends Error {
  override readonly name: string = "ProblemsError";
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EISDIR: "expected a file, got a directory",
  ENOTDIR: "no such file (part of the path is not a directory)",
  ENAMETOOLONG: "the name is too long",
  EMFILE: "too many open files",
  ELOOP: "too many symbolic links",
  EIO: "reading from the device failed",
  Z_BUF_ERROR: "the gzip data is truncated",
  Z_DATA_ERROR: "the gzip data is damaged",
};

/** Why a system call failed, without a stack trace. */
export function describeSystemError(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  const reason = typeof code === "string" ? REASONS[code] : undefined;
  if (reason !== undefined) return reason;
  return error instanceof Error ? error.message : String(error);
}
