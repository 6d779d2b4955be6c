/**
 * Keeps what is wrong with events and lines: the first ones to be told, all to be counted.
 *
 * @module
 */
import type { Disorder } from "../../event-files/merge-events.ts";
import type { IngestStatus } from "../../ledger/outcome.ts";

/** A line of an event file that holds no event. */
export const BAD_LINE = "BAD_LINE";

/** An event of an account that the book does not have. */
export const ACCOUNT_NOT_FOUND = "INGESTION_FAILED_ACCOUNT_NOT_FOUND" satisfies IngestStatus;

/** The problem of one line of a file. */
export interface LineProblem {
  readonly file: string;
  /** From 1; 0 in a table, whose rows have no numbers. */
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
  /** How many there are of each {@link problemKind}; the first {@link PROBLEMS_MAX} of them. */
  readonly kinds: ReadonlyMap<string, number>;
  readonly badLines: number;
  /** How many of them are events of unknown accounts. */
  readonly unknownAccountEvents: number;
  readonly disorders: readonly Disorder[];
  /** Accounts that the book does not have, with their events; the first {@link PROBLEMS_MAX} of them. */
  readonly unknownAccounts: ReadonlyMap<string, number>;
  /** @param accountId whose event it is, as it says itself */
  addProblem(problem: LineProblem, accountId?: unknown): void;
  addDisorder(disorder: Disorder): void;
}

/** Where a problem is: rows of a table have no numbers. */
export function formatLinePlace(file: string, line: number): string {
  return line === 0 ? file : `${file}:${line}`;
}

/** How many problems are kept; the rest is counted. */
const PROBLEMS_MAX = 1000;

/** An empty list. */
export function createProblemList(): ProblemList {
  const problems: LineProblem[] = [];
  const disorders: Disorder[] = [];
  const unknownAccounts = new Map<string, number>();
  const kinds = new Map<string, number>();
  let count = 0;
  let badLines = 0;
  let unknownAccountEvents = 0;
  return {
    problems,
    kinds,
    unknownAccounts,
    disorders,
    get count() {
      return count;
    },
    get badLines() {
      return badLines;
    },
    get unknownAccountEvents() {
      return unknownAccountEvents;
    },
    addProblem(problem, accountId) {
      count++;
      if (problem.status === ACCOUNT_NOT_FOUND && typeof accountId === "string") {
        unknownAccountEvents++;
        incrementCount(unknownAccounts, accountId);
      }
      incrementCount(kinds, problemKind(problem));
      if (problem.status === BAD_LINE) badLines++;
      if (problems.length < PROBLEMS_MAX) problems.push(problem);
    },
    addDisorder: (disorder) => {
      disorders.push(disorder);
    },
  };
}

/** Counts a name among the first {@link PROBLEMS_MAX}. */
function incrementCount(counts: Map<string, number>, name: string): void {
  const previous = counts.get(name);
  if (previous !== undefined || counts.size < PROBLEMS_MAX) counts.set(name, (previous ?? 0) + 1);
}

/** The kind of a problem: equal for problems that differ only in their line and in the values that they show. */
export function problemKind({ file, status, message }: LineProblem): string {
  const [where = "", ...why] = message.split(": ");
  const reason = why.join(": ").replace(/"(?:[^"\\]|\\.)*"?|\d+/g, "…");
  return JSON.stringify([file, status, where, reason]);
}

/**
 * Whether an outcome is a problem of the input. A repeated id, and credits that do not suffice, are ordinary: they are
 * counted with the other outcomes.
 */
export function isProblem(status: IngestStatus): boolean {
  if (status === "INGESTION_FAILED_DUPLICATE_EVENT" || status === "INGESTION_FAILED_INSUFFICIENT_CREDITS") return false;
  return !status.startsWith("INGESTION_COMPLETED");
}
