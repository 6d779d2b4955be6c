/** Notes on a preview: accounts in events that the book doesn't have, and why nothing is billed. */
import { findNearest } from "../../book/problems.ts";
import type { Book } from "../../book/resources/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { tryParseInstant } from "../../calendar/instant.ts";
import { removeGrouping, toDecimalPoint, findMatchingForms } from "../../event-files/cell-texts.ts";
import { quoteText } from "../../event-files/input-error.ts";
import { groupThousands } from "../../invoicing/invoice-rows.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { isCompleted } from "../../ledger/outcome.ts";
import type { Problem, ProblemCode } from "../../problem-table.ts";

/** The number of accepted events by account. */
export interface AcceptedCounts {
  /**
   * @param accountId an id or alias
   * @param times the number of events
   */
  addEvents(accountId: unknown, times?: number): void;
  eventsFor(accountId: string): number;
}

export function createAcceptedCounts({ accounts }: Pick<Book, "accounts">): AcceptedCounts {
  const ids = new Map(accounts.flatMap(({ id, aliases }) => aliases.map((alias) => [alias, id] as const)));
  for (const { id } of accounts) ids.set(id, id);
  const counts = new Map<string, number>();
  return {
    addEvents: (accountId, times = 1) => {
      const id = ids.get(String(accountId));
      if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + times);
    },
    eventsFor: (accountId) => counts.get(accountId) ?? 0,
  };
}

/** The advice for timestamps without a zone in CSV files; undefined if there are none. */
export function suggestZone(problems: readonly Problem[]): string | undefined {
  if (!findValues(problems, "INVALID_TIMESTAMP").some(lacksZone)) return undefined;
  return 'some timestamps have no time zone; set it in the map, as in "timestamp": {"column": "…", "zone": "UTC"} or "Europe/Berlin"';
}

/** The advice for times in another format in CSV files whose map doesn't name it; undefined if there are none. */
export function suggestTimeForm(problems: readonly Problem[]): string | undefined {
  const texts = findValues(problems, "INVALID_TIMESTAMP").filter((text) => !lacksZone(text));
  const forms = texts.map((text) => findMatchingForms([text])).find((fitting) => fitting.length > 0);
  if (forms === undefined) return undefined;
  const [first = "", second] = forms;
  const other = second === undefined ? "" : ` (or "${second}")`;
  return `some times have another format; set it in the map, as in "timestamp": {"column": "…", "form": "${first}", "zone": "UTC"}${other}`;
}

/** The advice for numbers in another format in CSV files; undefined if there are none. */
export function suggestDecimalMark(problems: readonly Problem[]): string | undefined {
  const texts = findValues(
    problems.filter(({ params }) => params["fault"] === "NOT_A_DECIMAL"),
    "INVALID_DECIMAL",
  );
  const isGrouped = texts.some((text) => ![text, undefined].includes(removeGrouping(text)));
  if (!isGrouped && !texts.some((text) => toDecimalPoint(text) !== undefined)) return undefined;
  return `some numbers have another format; set it in the map, as in "attributes": {"…": {"column": "…", "decimal": "${isGrouped ? "." : ","}"}}`;
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

/** The sentence on accounts in events that the book doesn't have; undefined if there are none. */
export function describeUnknownAccounts(unknown: ReadonlyMap<string, number>, { accounts }: Book): string | undefined {
  if (unknown.size === 0) return undefined;
  const largest = [...unknown].sort(([, a], [, b]) => b - a).slice(0, NAMED_MAX);
  const names = accounts.flatMap(({ id, aliases }) => [id, ...aliases]);
  const accountTexts = largest.map(([id, count]) => {
    const nearest = findNearest(id, names);
    const hint = nearest === undefined ? "" : `; did you mean ${quoteText(nearest)}?`;
    return `${formatAccountId(id)} (${groupThousands(String(count))} event${count === 1 ? "" : "s"}${hint})`;
  });
  const rest = unknown.size > NAMED_MAX ? ", …" : "";
  const subject = `${groupThousands(String(unknown.size))} unknown account${unknown.size === 1 ? "" : "s"}`;
  return `${subject}: ${accountTexts.join(", ")}${rest}; add ${unknown.size === 1 ? "it" : "them"} to the book or use --accounts-from-events`;
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
