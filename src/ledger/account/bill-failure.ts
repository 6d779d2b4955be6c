/**
 * Bills that fail because a result needs more than 100 digits (S1.4). Each failure concerns one account.
 *
 * @module
 */
import { hasCode, RatebookError } from "../../errors.ts";
import type { Steps } from "../../numbers/steps.ts";
import { quoteText } from "../refusals.ts";

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
