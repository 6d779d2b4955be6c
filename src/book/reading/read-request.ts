/** Parses requests of an engine and of the HTTP API. */
import type * as z from "zod";

import { formatInstant, INSTANT_END, INSTANT_MIN } from "../../calendar/instant.ts";
import { inputError, invariant, type Problem } from "../../errors.ts";
import { collectProblems } from "../problems.ts";
import {
  type MetricsRequest,
  metricsRequest,
  type RequestKind,
  type RequestOutput,
  REQUESTS,
} from "../resources/requests.ts";
import { readStrictly } from "./read-document.ts";

/** Parses a request. @throws {RatebookError} ERR_INPUT_INVALID with all problems, each with its path */
export function readRequest<Kind extends RequestKind>(kind: Kind, raw: unknown): RequestOutput<Kind> {
  return readInput(REQUESTS[kind], convertTimesToText(raw)) as RequestOutput<Kind>;
}

/** Parses a request for metrics. @throws {RatebookError} ERR_INPUT_INVALID with all problems, each with its path */
export function readMetricsRequest(raw: unknown): MetricsRequest {
  return readInput(metricsRequest, convertTimesToText(raw));
}

/** The fields of requests that are instants or days. */
const TIMES: ReadonlySet<string> = new Set(["effectiveFrom", "effectiveUntil", "startTime", "endTime"]);

/**
 * Converts the instants of a request, or a list of them, to text: a caller in the same process may also use
 * milliseconds since 1970 or a `Date`, whereas a number in a document would be a mistake.
 */
function convertTimesToText(raw: unknown): unknown {
  if (Array.isArray(raw)) return raw.map(convertTimesToText);
  if (typeof raw !== "object" || raw === null || !Object.keys(raw).some((name) => TIMES.has(name))) return raw;
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]: [string, unknown]) => [
      name,
      TIMES.has(name) ? toInstantText(value) : value,
    ]),
  );
}

/** An instant as text. Other values stay unchanged, for the schema to reject. */
function toInstantText(value: unknown): unknown {
  if (typeof value !== "number" && !(value instanceof Date)) return value;
  const instant = Number(value);
  return Number.isInteger(instant) && instant >= INSTANT_MIN && instant < INSTANT_END ? formatInstant(instant) : value;
}

/**
 * Parses an input with its schema.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID with all problems, or the first ones of an input with thousands of values,
 * each with its path; the message has the first one
 */
export function readInput<Schema extends z.ZodType>(schema: Schema, raw: unknown): z.output<Schema> {
  const problems = collectProblems();
  const shape = readStrictly(schema, raw, problems);
  if (problems.count() === 0) return shape as z.output<Schema>;
  throw inputError(moveMissingFieldFirst(problems.sorted(raw), raw));
}

/**
 * The problems in their order. If every field is unknown, the first missing field comes first, as the message: for
 * example, an event sent without its `event` wrapper gets `event: missing`.
 */
function moveMissingFieldFirst(problems: readonly Problem[], raw: unknown): readonly [Problem, ...Problem[]] {
  const isUnknown = ({ path, code }: Problem): boolean => code === "UNKNOWN_FIELD" && !/[.[]/.test(path.slice(2));
  const fieldCount = typeof raw === "object" && raw !== null ? Object.keys(raw).length : 0;
  const areAllUnknown = fieldCount > 0 && problems.filter(isUnknown).length >= fieldCount;
  const missingField = areAllUnknown ? problems.find(({ code }) => code === "MISSING") : undefined;
  const [first, ...others] =
    missingField === undefined ? problems : [missingField, ...problems.filter((each) => each !== missingField)];
  invariant(first !== undefined, "a rejected input has a problem");
  return [first, ...others];
}
