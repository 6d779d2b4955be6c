/**
 * Groups concurrent ingests into one commit: most clients send events one by one, and a commit costs about the same for
 * one event as for a hundred. A call that finds no commit in progress is committed at once. Calls that arrive during a
 * commit are committed afterwards as one batch, in order of arrival, and each gets its own results (S14.3). So a call
 * waits for at most two commits, and there is no timer while no call waits. Between two commits, callers that were just
 * answered may first enqueue their next events, which would otherwise miss the next commit and need one of their own.
 */
import { hasCode } from "../../errors.ts";
import { type IngestResult } from "../../ledger/events/ingest.ts";
import { type BatchEvent, isMalformed } from "../../metering/event-envelope.ts";

/** Ingests a batch atomically. */
export type IngestBatch = (batch: readonly BatchEvent[]) => Promise<readonly IngestResult[]>;

/** A larger batch has its own commit, in parallel with others. */
const SMALL_BATCH_MAX = 100;
/** Maximum number of events in a group. */
const GROUP_EVENTS_MAX = 1_000;
/** A commit that takes longer may be waiting for a locked account: calls for other accounts then overtake it. */
const STALLED_MS = 100;

/** A waiting call. */
interface PendingCall {
  readonly batch: readonly BatchEvent[];
  readonly resolve: (results: readonly IngestResult[]) => void;
  readonly reject: (error: unknown) => void;
}

/** A commit in progress. */
interface RunningCommit {
  readonly members: readonly Pick<PendingCall, "batch">[];
  isStalled: boolean;
}

/**
 * Adds a queue to the commits of batches.
 *
 * @param ingestBatch decides and commits one batch
 * @returns the same function for concurrent callers
 */
export function createIngestQueue(ingestBatch: IngestBatch): IngestBatch {
  let pendingCalls: PendingCall[] = [];
  const runningCommits = new Set<RunningCommit>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** A commit has just ended, and answered callers may call again. */
  let isBetweenCommits = false;

  const isFree = (): boolean => !isBetweenCommits && [...runningCommits].every(({ isStalled }) => isStalled);

  const start = (members: readonly Pick<PendingCall, "batch">[], work: () => Promise<unknown>): void => {
    const commit: RunningCommit = { members, isStalled: false };
    runningCommits.add(commit);
    const end = (): void => {
      runningCommits.delete(commit);
      if (isBetweenCommits) return;
      // A single caller does not wait for others to call again.
      if (members.length === 1 && pendingCalls.length === 0) return startNext();
      void startAfterAnswers();
    };
    work().then(end, end);
  };

  const startAfterAnswers = async (): Promise<void> => {
    isBetweenCommits = true;
    await waitForAnswers();
    isBetweenCommits = false;
    startNext();
  };

  const startNext = (): void => {
    if (timer !== undefined) clearTimeout(timer);
    timer = undefined;
    if (pendingCalls.length === 0) return;
    if (isFree()) {
      const { group, rest } = nextGroup(pendingCalls, lockedNames(runningCommits));
      pendingCalls = rest;
      if (group.length > 0) start(group, () => ingestGroup(ingestBatch, group));
    }
    if (pendingCalls.length > 0 && !isFree()) watchForStall();
  };

  const watchForStall = (): void => {
    timer ??= setTimeout(() => {
      for (const commit of runningCommits) commit.isStalled = true;
      startNext();
    }, STALLED_MS);
  };

  return (batch) => {
    if (batch.length > SMALL_BATCH_MAX) return ingestBatch(batch);
    if (runningCommits.size === 0 && pendingCalls.length === 0 && !isBetweenCommits) {
      const batchResult = ingestBatch(batch);
      start([{ batch }], () => batchResult);
      return batchResult;
    }
    return new Promise((resolve, reject) => {
      pendingCalls.push({ batch, resolve, reject });
      if (isFree()) startNext();
      else watchForStall();
    });
  };
}

/** Upper bound of the promise steps between an answer and the caller's next call. */
const STEPS_OF_ANSWER = 64;

/** Waits until answered callers could call again; without a timer, because only resolved promises are awaited. */
async function waitForAnswers(): Promise<void> {
  for (let step = 0; step < STEPS_OF_ANSWER; step++) await Promise.resolve();
}

/** The names of the accounts for which stalled commits may wait. */
function lockedNames(runningCommits: ReadonlySet<RunningCommit>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { members } of runningCommits)
    for (const { batch } of members) for (const name of accountNames(batch)) names.add(name);
  return names;
}

function accountNames(batch: readonly BatchEvent[]): readonly string[] {
  return batch.flatMap((event) => (isMalformed(event) ? [] : [event.accountId]));
}

/** The next callers in order of arrival, except those that need a locked account. */
function nextGroup(
  pendingCalls: readonly PendingCall[],
  locked: ReadonlySet<string>,
): { readonly group: readonly PendingCall[]; readonly rest: PendingCall[] } {
  const group: PendingCall[] = [];
  const rest: PendingCall[] = [];
  let events = 0;
  for (const call of pendingCalls) {
    const { length } = call.batch;
    const canStart =
      events + length <= GROUP_EVENTS_MAX &&
      (locked.size === 0 || !accountNames(call.batch).some((name) => locked.has(name)));
    if (canStart) events += length;
    (canStart ? group : rest).push(call);
  }
  return { group, rest };
}

/**
 * Ingests the events of several callers as one batch. If that fails, tries each half separately, down to single
 * callers, so that only a caller whose events fail is rejected. If the store is unavailable nothing is retried: its
 * error says whether the commit is in doubt, and applies to all of them.
 */
async function ingestGroup(ingestBatch: IngestBatch, group: readonly PendingCall[]): Promise<void> {
  try {
    const results = await ingestBatch(group.flatMap(({ batch }) => batch));
    let start = 0;
    for (const { batch, resolve } of group) resolve(results.slice(start, (start += batch.length)));
  } catch (error) {
    if (group.length === 1 || hasCode(error, "ERR_STORE_UNAVAILABLE")) {
      for (const { reject } of group) reject(error);
      return;
    }
    const half = Math.ceil(group.length / 2);
    await ingestGroup(ingestBatch, group.slice(0, half));
    await ingestGroup(ingestBatch, group.slice(half));
  }
}
