/** Parses JSON bodies with exact numbers, and queries (S1.2). */
import { isAscii, isUtf8 } from "node:buffer";

import type { FastifyInstance, FastifyRequest } from "fastify";

import { type Path, formatPath } from "../../book/problems.ts";
import { NESTING_MAX, findDeepNesting } from "../../book/reading/read-document.ts";
import { inputError, RatebookError } from "../../errors.ts";
import { refuse } from "../../ledger/events/decide-event.ts";
import type { IngestResult } from "../../ledger/events/ingest.ts";
import {
  countKeys,
  KEYS_MAX,
  scanJson,
  placeInText,
  findRepeatedKeys,
  describeRepeatedKey,
} from "../../numbers/json-text.ts";
import { parseJsonInSteps, parsePlainJson } from "../../numbers/json.ts";
import type { Steps } from "../../numbers/steps.ts";
import { createProblem, type Problem } from "../../problem-table.ts";
import { createYielder, runWithPauses } from "../../store/yielder.ts";
import type { Endpoint } from "./endpoint.ts";
import { Refusal } from "./failures.ts";

/** The maximum number of such numbers. With more, the whole body is rejected. */
const MARKS_MAX = 10_000;

/** Creates a placeholder for such a number: a symbol, which JSON can't contain. */
function createMark(reason: string): symbol {
  return Symbol(reason);
}

/** A list item with such a number. It fails alone. */
export class UnrepresentableItem {
  readonly result: IngestResult;

  constructor(item: object, problem: Problem) {
    const { id } = item as { readonly id?: unknown };
    const outcome = refuse({ ...problem, message: `Field ${inputError([problem]).message}.` });
    this.result = typeof id === "string" ? { ...outcome, eventId: id } : outcome;
  }
}

/**
 * Replaces list items that contain such a number.
 *
 * @param list the field of the list
 * @returns the body with an {@link UnrepresentableItem} for each, or the same body
 */
function replaceMarkedItems(body: unknown, list: string): unknown {
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, list)) return body;
  const items: unknown = Reflect.get(body, list);
  if (!Array.isArray(items)) return body;
  const results = items.map((item: unknown) => {
    // An item that is a number is invalid anyway.
    if (typeof item === "symbol") return 0;
    const problem = typeof item === "object" && item !== null ? findUnrepresentable(item) : undefined;
    return problem === undefined ? item : new UnrepresentableItem(item as object, problem);
  });
  return { ...body, [list]: results };
}

/** The message for the first such number in a value; undefined if there is none. */
function findUnrepresentable(value: unknown): Problem | undefined {
  const firstMark = findMark(value);
  if (firstMark === undefined) return undefined;
  const reason = firstMark.mark.description ?? "";
  const params = { expected: "a number with fewer digits", got: "a number", reason };
  return createProblem(formatPath(firstMark.path.toReversed()), "INVALID_FORMAT", params);
}

/** The first placeholder in a value and its path, reversed. */
function findMark(value: unknown): { readonly mark: symbol; readonly path: (string | number)[] } | undefined {
  if (typeof value === "symbol") return { mark: value, path: [] };
  if (typeof value !== "object" || value === null || value instanceof UnrepresentableItem) return undefined;
  const steps: Path = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  for (const step of steps) {
    const inner = findMark(Reflect.get(value, step));
    if (inner === undefined) continue;
    inner.path.push(step);
    return inner;
  }
  return undefined;
}

const JSON_TYPE = /^\s*application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i;
const OTHER_TYPE = "application/octet-stream";
/**
 * The maximum number of values in a body, including lists and objects, so that parsing takes at most a quarter of a
 * second.
 */
const VALUES_MAX = 150_000;
/** The maximum for batches of events. 1,000 events with 100 attributes and 100 dimensions each have 507,000 values. */
const BATCH_VALUES_MAX = 600_000;
/**
 * The maximum number of numbers in a body that must be parsed as decimals, which is slower: the number of attributes in
 * a batch.
 */
const LONG_NUMBERS_MAX = 100_000;
/** The charset parameter of a content type, and its value. */
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/i;
/** US-ASCII is a subset of UTF-8. */
const CHARSETS: ReadonlySet<string> = new Set(["utf-8", "utf8", "us-ascii"]);

/**
 * Parses all bodies of an instance as JSON; an empty body is no body. Answers 415 for other types, compression, and
 * charsets other than UTF-8.
 */
export function registerBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // Only the JSON type and the charset matter; the framework would reject a malformed type even without a body.
  app.addHook("onRequest", async ({ raw }) => {
    const type = raw.headers["content-type"];
    if (type === undefined) return;
    const charset = CHARSET.exec(type)?.[1]?.toLowerCase() ?? "utf-8";
    const isJson = JSON_TYPE.test(type) && CHARSETS.has(charset);
    raw.headers["content-type"] = isJson ? "application/json" : OTHER_TYPE;
  });
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) => {
    const encoding = request.headers["content-encoding"]?.trim() ?? "";
    if (body.length > 0 && encoding !== "" && encoding.toLowerCase() !== "identity") {
      throw new Refusal(415, "compressed bodies are not supported; remove Content-Encoding");
    }
    const { batchField } = request.routeOptions.config as Pick<Endpoint, "batchField">;
    const yieldToOthers = createYielder();
    const parsedBody = await runWithPauses(readJsonBodyInSteps(body, batchField), yieldToOthers);
    // Processing a large body takes as long as parsing it.
    const pause = yieldToOthers();
    if (pause !== undefined) await pause;
    return parsedBody;
  });
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, callback) => {
    if (body.length === 0) callback(null, undefined);
    else callback(new Refusal(415, "the body must be application/json in UTF-8"));
  });
}

/**
 * Parses a body in steps; undefined if it is empty.
 *
 * @param batchField the list whose items fail separately if they contain a number that is not representable
 * @throws {Refusal} 400 for invalid JSON, nesting that is too deep, too many keys, values or long numbers, a duplicate
 * key, or a number outside `batchField` that is not representable
 */
export function* readJsonBodyInSteps(bytes: Buffer, batchField?: string): Steps<unknown> {
  if (bytes.length === 0) return undefined;
  const isAsciiText = isAscii(bytes);
  if (!isAsciiText && !isUtf8(bytes)) throw new Refusal(400, "the body is not valid UTF-8");
  const text = bytes.toString(isAsciiText ? "latin1" : "utf8");
  const { depth, longNumbers, keys, values, excessKeyIndex } = scanJson(bytes);
  const deepPosition = depth > NESTING_MAX ? findDeepNesting(text) : undefined;
  if (deepPosition !== undefined) {
    throw new Refusal(400, `the body is nested too deeply at line ${deepPosition.line}, column ${deepPosition.column}`);
  }
  if (excessKeyIndex >= 0) {
    const { line, column } = placeInText(bytes.toString("utf8", 0, excessKeyIndex), excessKeyIndex);
    throw new Refusal(
      400,
      `an object can have at most ${KEYS_MAX} keys; one has more at line ${line}, column ${column}`,
    );
  }
  const valuesMax = batchField === undefined ? VALUES_MAX : BATCH_VALUES_MAX;
  if (values > valuesMax) throw new Refusal(400, `the body has more than ${valuesMax} values; send it in parts`);
  if (longNumbers > LONG_NUMBERS_MAX) {
    const sentence = `the body has more than ${LONG_NUMBERS_MAX} numbers of more than 15 digits or with an exponent`;
    throw new Refusal(400, `${sentence}; send it in parts`);
  }
  yield;
  let marks = 0;
  const body = yield* parseBodyText(text, longNumbers > 0, (reason) => {
    if (++marks > MARKS_MAX) throw new Refusal(400, `the body has more than ${MARKS_MAX} numbers with too many digits`);
    return createMark(reason);
  });
  yield;
  if (countKeys(body) !== keys) refuseRepeatedKey(text);
  yield;
  return marks === 0 ? body : requireRepresentable(body, batchField);
}

function* parseBodyText(
  text: string,
  longNumbers: boolean,
  replaceUnrepresentable: (reason: string) => symbol,
): Steps<unknown> {
  try {
    return longNumbers ? yield* parseJsonInSteps(text, replaceUnrepresentable) : parsePlainJson(text);
  } catch (error) {
    if (error instanceof RatebookError && error.cause instanceof Refusal) throw error.cause;
    throw new Refusal(400, `the body is ${error instanceof Error ? error.message : "not JSON"}`);
  }
}

function requireRepresentable(body: unknown, batchField: string | undefined): unknown {
  const checkedBody = batchField === undefined ? body : replaceMarkedItems(body, batchField);
  const problem = findUnrepresentable(checkedBody);
  if (problem !== undefined) throw inputError([problem]);
  return checkedBody;
}

/** Rejects duplicate keys, because a parser would silently keep only the last value. */
function refuseRepeatedKey(text: string): void {
  const [repeatedKey] = findRepeatedKeys(text, 1);
  if (repeatedKey === undefined) return;
  throw new Refusal(400, `${formatPath(repeatedKey.path).replace(/^\$\.?/, "")}: ${describeRepeatedKey(repeatedKey)}`);
}

/**
 * Parses the parameters of a query.
 *
 * @throws {Refusal} 400 for a repeated, empty or nameless one
 */
export function parseQuery(url: string): Readonly<Record<string, string>> {
  const start = url.indexOf("?");
  if (start < 0) return {};
  const query = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) {
    const quotedName = JSON.stringify(name.slice(0, 60));
    if (query.has(name)) throw new Refusal(400, `${quotedName}: the query parameter is repeated`);
    if (value === "") throw new Refusal(400, `${quotedName}: the query parameter is empty`);
    query.set(name, value);
  }
  return Object.fromEntries(query);
}
