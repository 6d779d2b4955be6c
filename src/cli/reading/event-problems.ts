/** Collects problems of events and lines: the first ones to print, and the number of all. */
import type { EventFileMap, Origin } from "../../event-files/event-file-map.ts";
import { quoteText } from "../../event-files/input-error.ts";
import type { Disorder } from "../../event-files/merge-events.ts";
import type { IngestStatus } from "../../ledger/outcome.ts";
import { changeProblem, type Problem, type ProblemCode, type ProblemParams } from "../../problem-table.ts";

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
  /** The number of rows that a map leaves out, by file and reason. */
  readonly leftOutRows: ReadonlyMap<string, number>;
  /** The maps of the files, by file. */
  readonly maps: ReadonlyMap<string, EventFileMap>;
  /** The number of events of unknown accounts. */
  readonly unknownAccountEvents: number;
  readonly disorders: readonly Disorder[];
  /** Whether reading stopped at the first problem. */
  isStopped: boolean;
  /** The number of events by unknown account, for the first {@link PROBLEMS_MAX} accounts. */
  readonly unknownAccounts: ReadonlyMap<string, number>;
  /** @param accountId the account as named by the event */
  addProblem(problem: LineProblem, accountId?: unknown): void;
  addDisorder(disorder: Disorder): void;
  addLeftOutRow(file: string, reason: Problem): void;
  addMaps(maps: ReadonlyMap<string, EventFileMap>): void;
}

/** Formats the place of a problem; rows of tables have no numbers. */
export function formatLinePlace(file: string, line: number): string {
  return line === 0 ? file : `${file}:${line}`;
}

/** The paths of event fields that problems name by their column. */
const EVENT_FIELD = /^\$\.(schemaName|id|accountId|timestamp)$/;

/** The problems of one field of an event. */
const FIELD_CODES: ReadonlySet<ProblemCode> = new Set(["MISSING", "INVALID_TIMESTAMP", "WRONG_TYPE", "OUT_OF_BOUNDS"]);

/** Describes a problem after its place, with fields named by their columns. @param map the map of the file */
export function describeLineProblem(problem: LineProblem, map: EventFileMap | undefined): string {
  const { code, path, params, message } = problem;
  if (code === "INVALID_DECIMAL") return describeInvalidDecimal(params as ProblemParams<"INVALID_DECIMAL">, map);
  if (path === "$" && code === "WRONG_TYPE") return messageOfCode(problem);
  const [, field] = EVENT_FIELD.exec(path) ?? [];
  if (field === undefined || !FIELD_CODES.has(code)) return message;
  const subject = nameField(field, map?.[field as "schemaName" | "id" | "accountId" | "timestamp"]);
  if (code === "MISSING") return `${subject} is missing`;
  if (params["got"] === "an empty string") return `${subject} is empty`;
  if (params["value"] === "") return `${subject} is empty; expected a date-time such as 2024-01-02T03:04:05Z`;
  return `${subject}: ${messageOfCode(problem)}`;
}

/** The message of a problem's code, to follow a place. The problem's own is the whole sentence of the event's outcome. */
function messageOfCode(problem: LineProblem): string {
  return changeProblem(problem, {}).message;
}

function describeInvalidDecimal(
  { kind, name, fault, value, reason }: ProblemParams<"INVALID_DECIMAL">,
  map: EventFileMap | undefined,
): string {
  const subject = nameField(name, (kind === "attribute" ? map?.attributes : map?.dimensions)?.[name]);
  if (value === "") return `${subject} is empty; expected a number`;
  return `${subject}: ${fault === "NOT_A_DECIMAL" ? `${quoteText(value)} is not a number` : reason}`;
}

/** The column and the field that it fills, `Tenant (accountId)`, or the field alone. */
function nameField(field: string, origin: Origin | undefined): string {
  if (origin === undefined || !("column" in origin) || origin.column === field) return field;
  return `${origin.column} (${field})`;
}

/** The maximum number of problems, kinds and unknown accounts that are stored; others are only counted. */
const PROBLEMS_MAX = 1000;

export function createProblemList(): ProblemList {
  const problems: LineProblem[] = [];
  const disorders: Disorder[] = [];
  const unknownAccounts = new Map<string, number>();
  const kinds = new Map<string, number>();
  const leftOutRows = new Map<string, number>();
  const maps = new Map<string, EventFileMap>();
  let count = 0;
  let badLines = 0;
  let unknownAccountEvents = 0;
  return {
    problems,
    kinds,
    maps,
    isStopped: false,
    unknownAccounts,
    disorders,
    leftOutRows,
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
    addLeftOutRow: (file, { message }) => incrementCount(leftOutRows, `${file}: ${message}`),
    addMaps: (fileMaps) => {
      for (const [file, map] of fileMaps) maps.set(file, map);
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
