/**
 * Accounts whose bill cannot be made, because a result would need more than 100 digits (S1.4): what is asked of many
 * accounts goes on without them, and names them.
 *
 * @module
 */
import { hasCode } from "../../errors.ts";
import type { SkippedAccount } from "../../ledger/account/bill-failure.ts";

/** The part of an answer over many accounts that names those that it leaves out. */
export interface WithoutSkipped {
  /** Absent where there are none; the first {@link SKIPPED_MAX} of them. */
  readonly skipped?: readonly SkippedAccount[];
}

/** The accounts that are found while an answer is made. */
export interface SkippedCollector {
  /** Notes an account. @throws the error itself, where it is not of the account's amounts */
  skip(accountId: string, error: unknown): void;
  result(): WithoutSkipped;
}

/** Most accounts that an answer names. */
export const SKIPPED_MAX = 100;

/** Collects the accounts that an answer leaves out. */
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

/** Does something for accounts together or, where that fails for the amounts of one, for each alone. */
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
