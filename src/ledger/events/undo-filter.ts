/**
 * Which events an undo asks for: the six combinations of filters (S15.1).
 *
 * @module
 */
import { type Instant, instantOrUndefined } from "../../calendar/instant.ts";
import type { Problem } from "../../errors.ts";
import { RatebookError } from "../../errors.ts";
import { quoted } from "../refusals.ts";
import type { EventFilter } from "../view.ts";

/** The parts of an undo's filter, by their names in a query. */
export const UNDO_FILTERS = ["account_id", "id", "event_id", "event_source_time", "created_at"] as const;

/** What may stand beside `account_id`; with nothing, all events of the account match. */
const COMBINATIONS: readonly (readonly (typeof UNDO_FILTERS)[number][])[] = [
  [],
  ["id"],
  ["event_id"],
  ["event_source_time"],
  ["event_id", "created_at"],
  ["event_id", "event_source_time"],
];

/** A checked filter. */
export interface UndoFilter {
  /** The account's id or one of its aliases. */
  readonly account: string;
  readonly events: Pick<EventFilter, "referenceId" | "eventId" | "timestamp" | "createdAt">;
}

/**
 * Checks the filter of an undo (S15.1). An instant without a fraction of a second matches its whole second.
 *
 * @param query `account_id`: an id or alias; `id`: a referenceId; `event_id`; `event_source_time` and `created_at`:
 * date-times with a zone
 * @throws {RatebookError} ERR_INPUT_INVALID with every fault: a part that is unknown or no text, and a combination that
 * is not one of the six
 */
export function undoFilterOf(query: Readonly<Record<string, unknown>>): UndoFilter {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const problems = given.flatMap(([name, value]) => problemOf(name, value));
  if (!given.some(([name]) => name === "account_id")) {
    problems.unshift({ path: "$.account_id", message: "missing: expected the id or alias of an account" });
  }
  const beside = given.map(([name]) => name).filter((name) => name !== "account_id");
  if (problems.length === 0 && !isCombination(beside)) {
    const message = `${beside.join(" with ")}: expected account_id alone or with id, event_id, event_source_time, event_id and created_at, or event_id and event_source_time`;
    problems.push({ path: "$", message });
  }
  const [first] = problems;
  if (first !== undefined) {
    const where = first.path === "$" ? "" : `${first.path.slice(2)}: `;
    throw new RatebookError("ERR_INPUT_INVALID", where + first.message, { problems });
  }
  return filterOf(new Map(given.map(([name, value]) => [name, String(value)])));
}

function filterOf(texts: ReadonlyMap<string, string>): UndoFilter {
  const [referenceId, eventId] = [texts.get("id"), texts.get("event_id")];
  const [timestamp, createdAt] = [spanOf(texts.get("event_source_time")), spanOf(texts.get("created_at"))];
  return {
    account: texts.get("account_id") ?? "",
    events: {
      ...(referenceId === undefined ? {} : { referenceId }),
      ...(eventId === undefined ? {} : { eventId }),
      ...(timestamp === undefined ? {} : { timestamp }),
      ...(createdAt === undefined ? {} : { createdAt }),
    },
  };
}

function isCombination(beside: readonly string[]): boolean {
  const sorted = beside.toSorted().join();
  return COMBINATIONS.some((combination) => combination.toSorted().join() === sorted);
}

function problemOf(name: string, value: unknown): Problem[] {
  const path = `$.${name.slice(0, 60)}`;
  if (!UNDO_FILTERS.some((known) => known === name)) {
    return [{ path, message: `unknown: expected ${UNDO_FILTERS.join(", ")}` }];
  }
  if (typeof value !== "string" || value === "") return [{ path, message: "expected a text that is not empty" }];
  if ((name === "event_source_time" || name === "created_at") && spanOf(value) === undefined) {
    return [{ path, message: `expected a date-time with its zone, got ${quoted(value)}` }];
  }
  return [];
}

/** The millisecond that a text names, or its whole second where it has no fraction. */
function spanOf(text: string | undefined): { readonly from: Instant; readonly until: Instant } | undefined {
  const from = text === undefined ? undefined : instantOrUndefined(text);
  if (text === undefined || from === undefined) return undefined;
  return { from, until: from + (/[.,]/.test(text) ? 1 : 1000) };
}
