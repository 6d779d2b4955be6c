/**
 * Keeps what is wrong with events and lines: the first ones to be told, all to be counted.
 *
 * @module
 */
import type { IngestStatus } from "../ledger/outcome.ts";
import type { Disorder } from "./events/cursor.ts";

/** A line of an event file that holds no event. */
export const BAD_LINE = "BAD_LINE";

/** An event of an account that the book does not have. */
export const NO_ACCOUNT = "INGESTION_FAILED_ACCOUNT_NOT_FOUND" satisfies IngestStatus;

/** What is wrong with one line of a file. */
export interface LineProblem {
  readonly file: string;
  readonly line: number;
  /** `BAD_LINE` where the line holds no event, else the event's status. */
  readonly status: IngestStatus | typeof BAD_LINE;
  /** A sentence. */
  readonly message: string;
}

/** Problems as they are found. */
export interface ProblemList {
  /** The first {@link PROBLEMS_MAX}. */
  readonly problems: readonly LineProblem[];
  /** How many there were in all. */
  readonly count: number;
  readonly badLines: number;
  /** How many of them are events of unknown accounts. */
  readonly withoutAccount: number;
  readonly disorders: readonly Disorder[];
  /** Accounts that the book does not have, with their events; the first {@link PROBLEMS_MAX} of them. */
  readonly unknownAccounts: ReadonlyMap<string, number>;
  /** @param accountId whose event it is, as it says itself */
  add(problem: LineProblem, accountId?: unknown): void;
  addDisorder(disorder: Disorder): void;
}

/** How many problems are kept; the rest is counted. */
const PROBLEMS_MAX = 1000;

/** An empty list. */
export function createProblemList(): ProblemList {
  const problems: LineProblem[] = [];
  const disorders: Disorder[] = [];
  const unknownAccounts = new Map<string, number>();
  let count = 0;
  let badLines = 0;
  let withoutAccount = 0;
  return {
    problems,
    unknownAccounts,
    disorders,
    get count() {
      return count;
    },
    get badLines() {
      return badLines;
    },
    get withoutAccount() {
      return withoutAccount;
    },
    add(problem, accountId) {
      count++;
      if (problem.status === NO_ACCOUNT && typeof accountId === "string") {
        withoutAccount++;
        const known = unknownAccounts.get(accountId);
        if (known !== undefined || unknownAccounts.size < PROBLEMS_MAX)
          unknownAccounts.set(accountId, (known ?? 0) + 1);
      }
      if (problem.status === BAD_LINE) badLines++;
      if (problems.length < PROBLEMS_MAX) problems.push(problem);
    },
    addDisorder: (disorder) => {
      disorders.push(disorder);
    },
  };
}

/**
 * Whether an outcome is a problem of the input. A repeated id, and credits that do not suffice, are ordinary: they are
 * counted with the other outcomes.
 */
export function isProblem(status: IngestStatus): boolean {
  if (status === "INGESTION_FAILED_DUPLICATE_EVENT" || status === "INGESTION_FAILED_INSUFFICIENT_CREDITS") return false;
  return !status.startsWith("INGESTION_COMPLETED");
}
