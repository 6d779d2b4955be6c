/**
 * Collects problems of events and lines: the first ones to print, and the number of all.
 *
 * @module
 */
import type { Disorder } from "../../event-files/merge-events.ts";
import type { IngestStatus } from "../../ledger/outcome.ts";
import type { Problem } from "../../problem-table.ts";

/** The status of a line without an event. */
export const BAD_LINE = "BAD_LINE";

/** The status of an event whose account is not in the book. */
export const ACCOUNT_NOT_FOUND = "INGESTION_FAILED_ACCOUNT_NOT_FOUND" satisfies IngestStatus;

/** The problem of a line. */
export interface LineProblem extends Problem {
  readonly file: string;
  /** From 1; 0 for tables, whose rows have no numbers. */
  readonly line: number;
  /** `BAD_LINE` for a line without an event, otherwise the event's status. */
  readonly status: IngestStatus | typeof BAD_LINE;
}

/** The problems found so far. */
export interface ProblemList {
  /** The first {@link PROBLEMS_MAX}. */
  readonly problems: readonly LineProblem[];
  /** The total number. */
  readonly count: number;
  /** The number of each {@link problemKind}, for the first {@link PROBLEMS_MAX} kinds. */
  readonly kinds: ReadonlyMap<string, number>;
  readonly badLines: number;
  /** The number of events of unknown accounts. */
  readonly unknownAccountEvents: number;
  readonly disorders: readonly Disorder[];
  /** The number of events by unknown account, for the first {@link PROBLEMS_MAX} accounts. */
  readonly unknownAccounts: ReadonlyMap<string, number>;
  /** @param accountId the account as named by the event */
  addProblem(problem: LineProblem, accountId?: unknown): void;
  addDisorder(disorder: Disorder): void;
}

/** Formats the place of a problem; rows of tables have no numbers. */
export function formatLinePlace(file: string, line: number): string {
  return line === 0 ? file : `${file}:${line}`;
}

/** The maximum number of stored problems; the rest is counted. */
const PROBLEMS_MAX = 1000;

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

/** Counts a name, for the first {@link PROBLEMS_MAX} names. */
function incrementCount(counts: Map<string, number>, name: string): void {
  const previous = counts.get(name);
  if (previous !== undefined || counts.size < PROBLEMS_MAX) counts.set(name, (previous ?? 0) + 1);
}

/** The kind of a problem, which is equal for problems that differ only in their line and values. */
export function problemKind({ file, status, code, path, params: { name, accountId } }: LineProblem): string {
  return JSON.stringify([file, status, code, path, name ?? accountId]);
}

/** Whether an outcome is a problem of the input. Duplicate ids and insufficient credits are ordinary outcomes. */
export function isProblem(status: IngestStatus): boolean {
  if (status === "INGESTION_FAILED_DUPLICATE_EVENT" || status === "INGESTION_FAILED_INSUFFICIENT_CREDITS") return false;
  return !status.startsWith("INGESTION_COMPLETED");
}
