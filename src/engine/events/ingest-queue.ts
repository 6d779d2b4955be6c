/**
 * Groups concurrent ingests into one commit: most clients send events one by one, and a commit costs about the same for
 * one event as for a hundred. A call that finds no commit in progress is committed at once. Calls that arrive during a
 * commit are committed afterwards as one batch, in order of arrival, and each gets its own results (S14.3). So a call
 * waits for at most two commits, and there is no timer while nothing waits. Between two commits, callers that were just
 * answered may first enqueue their next events, which would otherwise miss the next commit and need one of their own.
 *
 * @module
 */
import { hasCode } from "../../errors.ts";
import { type BatchEvent, type IngestResult, isMalformed } from "../../ledger/events/ingest.ts";

/** Ingests a batch atomically. */
export type IngestBatch = (batch: readonly BatchEvent[]) => Promise<readonly IngestResult[]>;

/** A larger batch has its own commit, in parallel with others. */
const SMALL = 100;
/** Maximum number of events in a group. */
const GROUP_EVENTS_MAX = 1_000;
/** A commit that takes longer may be waiting for a locked account: calls for other accounts then overtake it. */
const STALLED_MS = 100;

/** A waiting call. */
interface PendingCaller {
  readonly batch: readonly BatchEvent[];
  readonly answer: (results: readonly IngestResult[]) => void;
  readonly refuse: (error: unknown) => void;
}

/** A commit in progress. */
interface RunningCommit {
  readonly members: readonly Pick<PendingCaller, "batch">[];
  isStalled: boolean;
}

/**
 * Adds a queue to the commits of batches.
 *
 * @param ingestBatch decides and commits one batch
 * @returns the same function for concurrent callers
 */
export function createIngestQueue(ingestBatch: IngestBatch): IngestBatch {
  let waiting: PendingCaller[] = [];
  const underWay = new Set<RunningCommit>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** A commit has just ended, and answered callers may call again. */
  let isBetweenCommits = false;

  const isFree = (): boolean => !isBetweenCommits && [...underWay].every(({ isStalled }) => isStalled);

  const start = (members: readonly Pick<PendingCaller, "batch">[], work: () => Promise<unknown>): void => {
    const commit: RunningCommit = { members, isStalled: false };
    underWay.add(commit);
    const end = (): void => {
      underWay.delete(commit);
      if (isBetweenCommits) return;
      // A single caller does not wait for others to call again.
      if (members.length === 1 && waiting.length === 0) return next();
      void startNextTurn();
    };
    work().then(end, end);
  };

  const startNextTurn = async (): Promise<void> => {
    isBetweenCommits = true;
    await waitForAnswers();
    isBetweenCommits = false;
    next();
  };

  const next = (): void => {
    if (timer !== undefined) clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    if (isFree()) {
      const { group, rest } = nextGroup(waiting, lockedNames(underWay));
      waiting = rest;
      if (group.length > 0) start(group, () => ingestGroup(ingestBatch, group));
    }
    if (waiting.length > 0 && !isFree()) watch();
  };

  const watch = (): void => {
    timer ??= setTimeout(() => {
      for (const commit of underWay) commit.isStalled = true;
      next();
    }, STALLED_MS);
  };

  return (batch) => {
    if (batch.length > SMALL) return ingestBatch(batch);
    if (underWay.size === 0 && waiting.length === 0 && !isBetweenCommits) {
      const batchResult = ingestBatch(batch);
      start([{ batch }], () => batchResult);
      return batchResult;
    }
    return new Promise((answer, refuse) => {
      waiting.push({ batch, answer, refuse });
      if (isFree()) next();
      else watch();
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
function lockedNames(underWay: ReadonlySet<RunningCommit>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { members } of underWay)
    for (const { batch } of members) for (const name of accountNames(batch)) names.add(name);
  return names;
}

function accountNames(batch: readonly BatchEvent[]): readonly string[] {
  return batch.flatMap((event) => (isMalformed(event) ? [] : [event.accountId]));
}

/** The next callers in order of arrival, except those that need a locked account. */
function nextGroup(
  waiting: readonly PendingCaller[],
  locked: ReadonlySet<string>,
): { readonly group: readonly PendingCaller[]; readonly rest: PendingCaller[] } {
  const group: PendingCaller[] = [];
  const rest: PendingCaller[] = [];
  let events = 0;
  for (const caller of waiting) {
    const { length } = caller.batch;
    const canStart =
      events + length <= GROUP_EVENTS_MAX &&
      (locked.size === 0 || !accountNames(caller.batch).some((name) => locked.has(name)));
    if (canStart) events += length;
    (canStart ? group : rest).push(caller);
  }
  return { group, rest };
}

/**
 * Ingests the events of several callers as one batch. If that fails, tries each half separately, down to single
 * callers, so that only a caller whose events fail is rejected. If the store is unavailable nothing is retried: its
 * error says whether the commit is in doubt, and applies to all of them.
 */
async function ingestGroup(ingestBatch: IngestBatch, group: readonly PendingCaller[]): Promise<void> {
  try {
    const results = await ingestBatch(group.flatMap(({ batch }) => batch));
    let start = 0;
    for (const { batch, answer } of group) answer(results.slice(start, (start += batch.length)));
  } catch (error) {
    if (group.length === 1 || hasCode(error, "ERR_STORE_UNAVAILABLE")) {
      for (const { refuse } of group) refuse(error);
      return;
    }
    const half = Math.ceil(group.length / 2);
    await ingestGroup(ingestBatch, group.slice(0, half));
    await ingestGroup(ingestBatch, group.slice(half));
  }
}
