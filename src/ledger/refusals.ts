/** The errors of rejected decisions, and of bills that fail because a result needs more than 100 digits (S1.4). */
import { inputError, RatebookError, hasCode } from "../errors.ts";
import type { Steps } from "../numbers/steps.ts";
import { type ReasonCode, rejection, quoteText } from "../problem-table.ts";
import { ruleLink, type RuleNumber } from "../rulebook.ts";

/** A rule rejects the operation in the current state. */
export function refusedError(rule: RuleNumber, message: string): RatebookError<"ERR_REFUSED"> {
  return new RatebookError("ERR_REFUSED", message, { rule: ruleLink(rule) });
}

/** Refuses a change of an archived account (S16.3). */
export function requireActive({ id, status }: { readonly id: string; readonly status: "ACTIVE" | "ARCHIVED" }): void {
  if (status !== "ACTIVE") throw refusedError("S16.3", `the account ${quoteText(id)} is archived`);
}

/** An input is malformed or out of bounds. */
export function invalidInputError(path: string, code: ReasonCode, message: string): RatebookError<"ERR_INPUT_INVALID"> {
  const place = path === "$" ? path : `$${path.startsWith("[") ? "" : "."}${path}`;
  return inputError([rejection(place, code, message)]);
}

/** No record has this id, or this name, if the resource has a name instead. */
export function notFoundError(
  resource: string,
  id: string,
  field: "id" | "name" = "id",
): RatebookError<"ERR_NOT_FOUND"> {
  return new RatebookError("ERR_NOT_FOUND", `no ${resource} has the ${field} ${quoteText(id)}`, { resource, id });
}

/** The version of a known id does not exist; the error's details have `id@version`. */
export function versionNotFoundError(resource: string, id: string, version: number): RatebookError<"ERR_NOT_FOUND"> {
  const message = `the ${resource} ${quoteText(id)} has no version ${version}`;
  return new RatebookError("ERR_NOT_FOUND", message, { resource, id: `${id}@${version}` });
}

/** The id, name or key is taken. */
export function alreadyTakenError(resource: string, id: string, message: string): RatebookError<"ERR_TAKEN"> {
  return new RatebookError("ERR_TAKEN", message, { resource, id });
}

/** A generated id already exists; writing it would replace another record. @param noun what the message calls the id */
export function idCollisionError(resource: string, id: string, noun = "id"): RatebookError<"ERR_TAKEN"> {
  return alreadyTakenError(resource, id, `the ${noun} ${quoteText(id)} is taken: the id source returned it twice`);
}

/** Returns a generated id. @throws {RatebookError} ERR_TAKEN if one of the others has it */
export function requireUnusedId(resource: string, existing: readonly { readonly id: string }[], id: string): string {
  if (existing.some((other) => other.id === id)) throw idCollisionError(resource, id);
  return id;
}

/** An account left out of a list or preview. */
export interface SkippedAccount {
  readonly accountId: string;
  /** The reason, as a sentence. */
  readonly message: string;
}

/** Computes the bill of an account. @throws {RatebookError} ERR_ARITHMETIC that names the account */
export function withBillErrors<Result>(accountId: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw addAccountName(accountId, error);
  }
}

/** Like {@link withBillErrors}, for a computation in steps. */
export function* billInSteps<Result>(accountId: string, work: Steps<Result>): Steps<Result> {
  try {
    return yield* work;
  } catch (error) {
    throw addAccountName(accountId, error);
  }
}

function addAccountName(accountId: string, error: unknown): unknown {
  if (!hasCode(error, "ERR_ARITHMETIC")) return error;
  return new RatebookError("ERR_ARITHMETIC", describeMissingBill(accountId, error.message), {}, { cause: error });
}

/** Message for an account whose bill cannot be computed. */
export function describeMissingBill(accountId: string, reason: string): string {
  return `the account ${quoteText(accountId)} cannot be billed: ${reason}`;
}
