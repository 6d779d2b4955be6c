/** Problems of events and lines, the first of which are printed, and notes on what a preview could not bill. */
import { findNearest } from "../../book/problems.ts";
import type { Book } from "../../book/resources/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { tryParseInstant } from "../../calendar/instant.ts";
import { findMatchingForms, removeGrouping, toDecimalPoint } from "../../event-files/cell-texts.ts";
import type { EventFileMap, Origin } from "../../event-files/event-file-map.ts";
import type { Disorder } from "../../event-files/merge-events.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { type IngestStatus, isCompleted } from "../../ledger/outcome.ts";
import { quoteText, changeProblem, type Problem, type ProblemCode, type ProblemParams } from "../../problem-table.ts";
import { formatCount } from "../table/format-rows.ts";

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

/** The problems found so far. */
export class ProblemList {
  /** The first {@link PROBLEMS_MAX}. */
  readonly problems: LineProblem[] = [];
  /** The total number. */
  count = 0;
  /** The number of each {@link problemKind}, for the first {@link PROBLEMS_MAX} kinds. */
  readonly kinds = new Map<string, number>();
  badLines = 0;
  /** The number of rows that a map leaves out, by file and reason. */
  readonly leftOutRows = new Map<string, number>();
  /** The maps of the files, by file. */
  maps: ReadonlyMap<string, EventFileMap> = new Map();
  /** The number of events of unknown accounts, and by account for the first {@link PROBLEMS_MAX} accounts. */
  unknownAccountEvents = 0;
  readonly unknownAccounts = new Map<string, number>();
  readonly disorders: Disorder[] = [];
  /** Whether reading stopped at the first problem. */
  isStopped = false;

  /** @param accountId the account as named by the event */
  addProblem(problem: LineProblem, accountId?: unknown): void {
    this.count++;
    if (problem.status === ACCOUNT_NOT_FOUND && typeof accountId === "string") {
      this.unknownAccountEvents++;
      incrementCount(this.unknownAccounts, accountId);
    }
    incrementCount(this.kinds, problemKind(problem));
    if (problem.status === BAD_LINE) this.badLines++;
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(problem);
  }

  addLeftOutRow(file: string, { message }: Problem): void {
    incrementCount(this.leftOutRows, `${file}: ${message}`);
  }
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

/** The number of accepted events by account. */
export class AcceptedCounts {
  /** Accounts by id and alias. */
  readonly #ids: ReadonlyMap<string, string>;
  readonly #counts = new Map<string, number>();

  constructor({ accounts }: Pick<Book, "accounts">) {
    const aliases = accounts.flatMap((account) => account.aliases.map((alias) => [alias, account.id] as const));
    this.#ids = new Map([...aliases, ...accounts.map(({ id }) => [id, id] as const)]);
  }

  /** @param accountId an id or alias */
  addEvents(accountId: unknown, times = 1): void {
    const id = this.#ids.get(String(accountId));
    if (id !== undefined) this.#counts.set(id, this.eventsFor(id) + times);
  }

  eventsFor(accountId: string): number {
    return this.#counts.get(accountId) ?? 0;
  }
}

/** What to change in the maps of CSV files so that timestamps without a zone, and other times and numbers, are read. */
export function listMapAdvice(problems: readonly Problem[]): readonly string[] {
  const times = findValues(problems, "INVALID_TIMESTAMP");
  const timesWithZone = times.filter((text) => !lacksZone(text));
  const forms = timesWithZone.map((text) => findMatchingForms([text])).find((fitting) => fitting.length > 0);
  const [form, otherForm] = forms ?? [];
  const wrongTexts = problems.filter(({ params }) => params["fault"] === "NOT_A_DECIMAL");
  const numbers = findValues(wrongTexts, "INVALID_DECIMAL");
  const isGrouped = numbers.some((text) => ![text, undefined].includes(removeGrouping(text)));
  const mark = isGrouped ? "." : numbers.some((text) => toDecimalPoint(text) !== undefined) ? "," : undefined;
  return [
    ...(timesWithZone.length === times.length
      ? []
      : [
          'some timestamps have no time zone; set it in the map, as in "timestamp": {"column": "…", "zone": "UTC"} or "Europe/Berlin"',
        ]),
    ...(form === undefined
      ? []
      : [
          `some times have another format; set it in the map, as in "timestamp": {"column": "…", "form": "${form}", "zone": "UTC"}${otherForm === undefined ? "" : ` (or "${otherForm}")`}`,
        ]),
    ...(mark === undefined
      ? []
      : [
          `some numbers have another format; set it in the map, as in "attributes": {"…": {"column": "…", "decimal": "${mark}"}}`,
        ]),
  ];
}

/** The values that the problems of a code show. */
function findValues(problems: readonly Problem[], code: ProblemCode): readonly string[] {
  return problems.filter((problem) => problem.code === code).map(({ params }) => String(params["value"]));
}

/** Whether a text that is not a date-time would be one with a zone. */
function lacksZone(text: string): boolean {
  return tryParseInstant(text, 0) !== undefined;
}

/** The maximum number of unknown accounts named. */
const NAMED_MAX = 5;

/** The sentence on accounts in events that the book doesn't have; empty if there are none. */
export function describeUnknownAccounts(unknown: ReadonlyMap<string, number>, { accounts }: Book): readonly string[] {
  if (unknown.size === 0) return [];
  const largest = [...unknown].sort(([, a], [, b]) => b - a).slice(0, NAMED_MAX);
  const names = accounts.flatMap(({ id, aliases }) => [id, ...aliases]);
  const accountTexts = largest.map(([id, count]) => {
    const nearest = findNearest(id, names);
    const hint = nearest === undefined ? "" : `; did you mean ${quoteText(nearest)}?`;
    return `${formatAccountId(id)} (${formatCount(count, "event")}${hint})`;
  });
  const rest = unknown.size > NAMED_MAX ? ", …" : "";
  const subject = formatCount(unknown.size, "unknown account");
  return [
    `${subject}: ${accountTexts.join(", ")}${rest}; add ${unknown.size === 1 ? "it" : "them"} to the book or use --accounts-from-events`,
  ];
}

function formatAccountId(id: string): string {
  return /^[\w.@:-]{1,60}$/.test(id) ? id : quoteText(id);
}

/** The result of a preview. */
interface PreviewOutcome {
  readonly book: Book;
  readonly plan: PricePlan | undefined;
  readonly invoices: readonly Invoice[];
  readonly events: Readonly<Record<string, number>>;
  /** Whether event or usage files were given. */
  readonly hasUsage: boolean;
}

/** Why there are no invoices; empty if there are. */
export function explainNoInvoices({ book, plan, invoices, events, hasUsage }: PreviewOutcome): readonly string[] {
  if (invoices.length > 0) return [];
  const hasAccepted = Object.entries(events).some(([status, count]) => isCompletedStatus(status) && count > 0);
  const hasPlan = plan !== undefined || book.accounts.some(({ pricePlans }) => pricePlans.length > 0);
  // If there are events, they are already reported: invalid, or of unknown accounts.
  if (book.accounts.length === 0) {
    const sentence = "nothing billed: the book has no accounts; add some, or use --accounts-from-events";
    return (events["read"] ?? 0) > 0 ? [] : [sentence];
  }
  if (!hasPlan) return ["nothing billed: no account has a plan; add pricePlans to the accounts, or use --plan FILE"];
  // Problems of events, or their absence, are already reported.
  if (!hasAccepted && hasUsage) return [];
  return ["nothing billed: no account had a plan in that period, or none prices this usage"];
}

function isCompletedStatus(status: string): boolean {
  return status !== "read" && isCompleted(status as Parameters<typeof isCompleted>[0]);
}
