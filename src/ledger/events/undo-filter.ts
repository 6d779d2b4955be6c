/**
 * The filter of an undo: one of six combinations of parts (S15.1).
 *
 * @module
 */
import { type Instant, type InstantInput, toInstant, parseInstant } from "../../calendar/instant.ts";
import { hasCode, inputError, type Problem } from "../../errors.ts";
import { createProblem, rejection } from "../../problem-table.ts";
import { quoteText } from "../refusals.ts";
import type { EventFilter } from "../view.ts";

/**
 * The parts of an undo's filter beside its account. A date-time without a fraction of a second matches its whole second; one
 * with a fraction, milliseconds since 1970 and a `Date` match their millisecond.
 */
interface UndoParts {
  /** The event of this referenceId. */
  readonly referenceId: string;
  /** The events that were sent with this id. */
  readonly eventId: string;
  /** The events that carry this timestamp. */
  readonly timestamp: InstantInput;
  /** The events that were ingested then. */
  readonly createdAt: InstantInput;
}
type UndoFilterWith<Part extends keyof UndoParts> = Pick<UndoParts, Part> & {
  readonly [Other in Exclude<keyof UndoParts, Part>]?: undefined;
};

/** Which events an undo takes back: all of an account, or those that one of five combinations tells (S15.1). */
export type UndoFilter = {
  /** The account's id or one of its aliases. */
  readonly account: string;
} & (
  | UndoFilterWith<never>
  | UndoFilterWith<"referenceId">
  | UndoFilterWith<"eventId">
  | UndoFilterWith<"timestamp">
  | UndoFilterWith<"eventId" | "createdAt">
  | UndoFilterWith<"eventId" | "timestamp">
);

const PARTS = ["account", "referenceId", "eventId", "timestamp", "createdAt"] as const;

/** The filters beside `account`; without any, all events of the account match. */
const COMBINATIONS: readonly (readonly (keyof UndoParts)[])[] = [
  [],
  ["referenceId"],
  ["eventId"],
  ["timestamp"],
  ["eventId", "timestamp"],
  ["eventId", "createdAt"],
];

/** The parts beside `account` that are given, in one order. */
function filterParts(filter: object): readonly (keyof UndoParts)[] {
  return PARTS.filter((part) => part !== "account" && Reflect.get(filter, part) !== undefined) as (keyof UndoParts)[];
}

/** Whether what is given beside `account` is one of the six combinations (S15.1). */
export function isUndoCombination(filter: object): filter is UndoFilter {
  const fieldList = filterParts(filter).join();
  return COMBINATIONS.some((combination) => combination.join() === fieldList);
}

/** A checked filter. */
export interface UndoQuery {
  /** The account's id or one of its aliases. */
  readonly account: string;
  readonly events: Pick<EventFilter, "referenceId" | "eventId" | "timestamp" | "createdAt">;
}

/**
 * Checks the filter of an undo (S15.1).
 *
 * @throws {RatebookError} ERR_INPUT_INVALID with every fault: a part that is unknown, empty or no instant, and a
 * combination that is not one of the six
 */
export function parseUndoFilter(filter: UndoFilter): UndoQuery {
  const fields = Object.entries(filter).filter(([, value]) => value !== undefined);
  const problems = fields.flatMap(([name, value]) => checkPart(name, value));
  if (!fields.some(([name]) => name === "account")) {
    problems.unshift(createProblem("$.account", "MISSING", { expected: "the id or alias of an account" }));
  }
  if (problems.length === 0 && !isUndoCombination(filter)) {
    const reason = `${filterParts(filter).join(" with ")}: expected account alone or with referenceId, eventId, timestamp, eventId and createdAt, or eventId and timestamp`;
    problems.push(rejection("$", reason));
  }
  const [first, ...others] = problems;
  if (first !== undefined) throw inputError([first, ...others]);
  const { account, referenceId, eventId, timestamp, createdAt } = filter;
  return {
    account,
    events: {
      ...(referenceId === undefined ? {} : { referenceId }),
      ...(eventId === undefined ? {} : { eventId }),
      ...(timestamp === undefined ? {} : { timestamp: toInstantRange(timestamp) }),
      ...(createdAt === undefined ? {} : { createdAt: toInstantRange(createdAt) }),
    },
  };
}

function checkPart(name: string, value: unknown): readonly Problem[] {
  const path = `$.${name.slice(0, 60)}`;
  if (!PARTS.some((known) => known === name)) {
    return [rejection(path, `unknown field: expected ${PARTS.join(", ")}`)];
  }
  if (name !== "timestamp" && name !== "createdAt") {
    if (typeof value === "string" && value !== "") return [];
    return [rejection(path, "expected a text that is not empty")];
  }
  try {
    toInstantRange(value as InstantInput);
    return [];
  } catch (error) {
    if (!hasCode(error, "ERR_DATE_INVALID")) throw error;
    const got = typeof value === "string" ? quoteText(value) : error.message;
    return [createProblem(path, "INVALID_DATE", { expected: "a date-time with its zone", got })];
  }
}

/** The millisecond that is named, or the whole second of a text that has no fraction. */
function toInstantRange(input: InstantInput): { readonly from: Instant; readonly until: Instant } {
  const from = typeof input === "string" ? parseInstant(input) : toInstant(input);
  return { from, until: from + (typeof input === "string" && !/[.,]/.test(input) ? 1000 : 1) };
}
