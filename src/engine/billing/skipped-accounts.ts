/**
 * Accounts whose bill cannot be computed because a result needs more than 100 digits (S1.4). Requests over many
 * accounts continue without them and report them.
 *
 * @module
 */
import { hasCode } from "../../errors.ts";
import type { SkippedAccount } from "../../ledger/refusals.ts";

/** The part of a result over many accounts that reports the skipped ones. */
export interface WithSkipped {
  /** Absent without any; at most {@link SKIPPED_MAX}. */
  readonly skipped?: readonly SkippedAccount[];
}

/** Collects skipped accounts. */
export interface SkippedCollector {
  /** Adds an account. @throws the error itself if it is not about the account's amounts */
  skip(accountId: string, error: unknown): void;
  result(): WithSkipped;
}

/** Maximum number of accounts reported. */
export const SKIPPED_MAX = 100;

export function collectSkipped(): SkippedCollector {
  const messages = new Map<string, string>();
  return {
    skip(accountId, error) {
      if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
      if (messages.size < SKIPPED_MAX) messages.set(accountId, error.message);
    },
    result() {
      const skipped = [...messages].map(([accountId, message]) => ({ accountId, message }));
      return skipped.length === 0 ? {} : { skipped };
    },
  };
}

/** Processes accounts together or, if the amounts of one fail, each separately. */
export async function retryPerAccount<Result>(
  accountIds: readonly string[],
  skippedCollector: SkippedCollector,
  work: (accountIds: readonly string[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  try {
    return await work(accountIds);
  } catch (error) {
    if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
    const [only, ...others] = accountIds;
    if (only !== undefined && others.length === 0) {
      skippedCollector.skip(only, error);
      return [];
    }
  }
  const results: Result[] = [];
  for (const id of accountIds) results.push(...(await retryPerAccount([id], skippedCollector, work)));
  return results;
}
