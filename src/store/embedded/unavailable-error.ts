/** The error of an embedded database that cannot be opened. */
import { RatebookError } from "../../errors.ts";

export function unavailableDatabaseError(message: string, cause?: unknown): RatebookError<"ERR_STORE_UNAVAILABLE"> {
  return new RatebookError("ERR_STORE_UNAVAILABLE", message, {}, { cause });
}
