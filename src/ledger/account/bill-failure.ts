/**
 * Bills that cannot be made, because a result would need more than 100 digits (S1.4): each is the fault of one account.
 *
 * @module
 */
import type { Steps } from "../../book/steps.ts";
import { hasCode, RatebookError } from "../../errors.ts";
import { quoteText } from "../refusals.ts";

/** An account that a list or a preview leaves out. */
export interface SkippedAccount {
  readonly accountId: string;
  /** Why: a sentence. */
  readonly message: string;
}

/** Works out the bill of an account. @throws {RatebookError} ERR_ARITHMETIC that names the account */
export function withBillErrors<Result>(accountId: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw lineName(accountId, error);
  }
}

/** As {@link withBillErrors}, in steps. */
export function* billInSteps<Result>(accountId: string, work: Steps<Result>): Steps<Result> {
  try {
    return yield* work;
  } catch (error) {
    throw lineName(accountId, error);
  }
}

function lineName(accountId: string, error: unknown): unknown {
  if (!hasCode(error, "ERR_ARITHMETIC")) return error;
  return new RatebookError("ERR_ARITHMETIC", describeMissingBill(accountId, error.message), {}, { cause: error });
}

/** The sentence on an account whose bill cannot be made. */
export function describeMissingBill(accountId: string, reason: string): string {
  return `the bill of the account ${quoteText(accountId)} cannot be made: ${reason}`;
}
