/**
 * The filter of an undo: one of six combinations of fields (S15.1).
 *
 * @module
 */
import { type Instant, type InstantInput, toInstant, parseInstant } from "../../calendar/instant.ts";
import { hasCode, inputError, type Problem } from "../../errors.ts";
import { createProblem, rejection } from "../../problem-table.ts";
import { quoteText } from "../refusals.ts";
import type { EventFilter } from "../view.ts";

/**
 * The filter fields besides the account. A date-time without fractional seconds matches the whole second; one with a
 * fraction, milliseconds since 1970 and a `Date` match the millisecond.
 */
interface UndoParts {
  /** The event with this referenceId. */
  readonly referenceId: string;
  /** The events sent with this id. */
  readonly eventId: string;
  /** The events with this timestamp. */
  readonly timestamp: InstantInput;
  /** The events ingested at this time. */
  readonly createdAt: InstantInput;
}
type UndoFilterWith<Part extends keyof UndoParts> = Pick<UndoParts, Part> & {
  readonly [Other in Exclude<keyof UndoParts, Part>]?: undefined;
};

/** Selects the events to undo: all of an account, or those that match one of five combinations of fields (S15.1). */
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

/** The allowed fields besides `account`; with none of them, all events of the account match. */
const COMBINATIONS: readonly (readonly (keyof UndoParts)[])[] = [
  [],
  ["referenceId"],
  ["eventId"],
  ["timestamp"],
  ["eventId", "timestamp"],
  ["eventId", "createdAt"],
];

/** The fields besides `account` that are present, in a fixed order. */
function filterParts(filter: object): readonly (keyof UndoParts)[] {
  return PARTS.filter((part) => part !== "account" && Reflect.get(filter, part) !== undefined) as (keyof UndoParts)[];
}

/** Whether the fields form one of the six combinations (S15.1). */
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
 * @throws {RatebookError} ERR_INPUT_INVALID with every problem: an unknown or empty field, an invalid instant, and an
 * unsupported combination
 */
export function parseUndoFilter(filter: UndoFilter): UndoQuery {
  const fields = Object.entries(filter).filter(([, value]) => value !== undefined);
  const problems = fields.flatMap(([name, value]) => checkPart(name, value));
  if (!fields.some(([name]) => name === "account")) {
    problems.unshift(createProblem("$.account", "MISSING", { expected: "the id or alias of an account" }));
  }
  if (problems.length === 0 && !isUndoCombination(filter)) {
    const reason = `${filterParts(filter).join(" with ")}: use account alone, or with referenceId, eventId, timestamp, eventId and createdAt, or eventId and timestamp`;
    problems.push(rejection("$", "INVALID_FILTER", reason));
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
  if (!PARTS.some((part) => part === name)) {
    return [rejection(path, "INVALID_FILTER", `unknown field; use ${PARTS.join(", ")}`)];
  }
  if (name !== "timestamp" && name !== "createdAt") {
    if (typeof value === "string" && value !== "") return [];
    return [rejection(path, "INVALID_FILTER", "expected a string that is not empty")];
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

/** The given millisecond, or the whole second of a text without a fraction. */
function toInstantRange(input: InstantInput): { readonly from: Instant; readonly until: Instant } {
  const from = typeof input === "string" ? parseInstant(input) : toInstant(input);
  return { from, until: from + (typeof input === "string" && !/[.,]/.test(input) ? 1000 : 1) };
}
