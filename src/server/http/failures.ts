/** Error answers: a status and one sentence, without further details. */
import { type ErrorCode, hasCode, RatebookError, inputError, optionError, type Problem } from "../../errors.ts";

/** An error answer. */
interface Failure {
  readonly status: number;
  /** At most 500 characters. */
  readonly message: string;
  /** Seconds to wait before retrying. */
  readonly retryAfter?: number;
  /** The headers with the error code and the path of its first problem. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error of HTTP that the engine doesn't have: no credential, too many requests, an unknown path. */
export class Refusal extends Error {
  override readonly name: string = "Refusal";
  readonly status: number;
  /** Seconds. */
  readonly retryAfter: number | undefined;

  constructor(status: number, message: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** The status of each code; the compiler ensures that it is complete. */
const STATUSES: Readonly<Record<ErrorCode, number>> = {
  ERR_NUMBER_INVALID: 400,
  ERR_ARITHMETIC: 400,
  ERR_CURRENCY_UNKNOWN: 400,
  ERR_JSON_INVALID: 400,
  ERR_DATE_INVALID: 400,
  ERR_CYCLE_INVALID: 400,
  ERR_RULE_INVALID: 400,
  ERR_RULE_FAILED: 400,
  ERR_BOOK_INVALID: 400,
  ERR_RATES_INVALID: 400,
  ERR_NOT_FOUND: 404,
  ERR_TAKEN: 409,
  ERR_REFUSED: 400,
  ERR_INPUT_INVALID: 400,
  ERR_STORE_CONFLICT: 409,
  ERR_STORE_UNAVAILABLE: 503,
  ERR_USAGE_UNAVAILABLE: 503,
  ERR_OPTION_INVALID: 400,
};

export const NO_ENDPOINT = "there is no endpoint at this path";

/** The maximum length of a message. */
const MESSAGE_MAX = 500;
const STORE_UNAVAILABLE = "database unavailable; retry later";
const USAGE_UNAVAILABLE = "external usage cannot be read; retry later";
/** Seconds to wait before retrying if the store was unavailable. */
const RETRY_SECONDS = 1;
/** The framework's errors by code, with status and message. */
const FRAMEWORK_REFUSALS: Readonly<Record<string, readonly [number, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: [413, "the body is too large"],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [415, "the body must be application/json in UTF-8"],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, "the body does not have the length in Content-Length"],
  FST_ERR_CTP_EMPTY_JSON_BODY: [400, "expected a body"],
  FST_ERR_BAD_URL: [400, "the path is not valid percent-encoded UTF-8"],
  // A client that disconnected while sending its body. The same code from the store has another meaning.
  ECONNRESET: [400, "the connection closed before the whole body arrived"],
  FST_ERR_MAX_PARAM_LENGTH: [400, "an id in the path is too long"],
};
/** Errors of the static file plugin by name, because they have no codes. */
const FILE_REFUSALS: Readonly<Record<string, readonly [number, string]>> = {
  // A path outside the directory, or with a NUL byte.
  BadRequestError: [404, NO_ENDPOINT],
  ForbiddenError: [404, NO_ENDPOINT],
  PreconditionFailedError: [412, "the file does not match If-Match or If-Unmodified-Since"],
  RangeNotSatisfiableError: [416, "the file does not have this range"],
};

/**
 * The answer to a thrown error.
 *
 * @param pathIds the ids in the path: an unknown one gives `unknownIdStatus`, an unknown one in a body or query 400
 * @returns undefined for an internal error, which is logged and answered as one
 */
export function toFailure(
  error: unknown,
  pathIds: Readonly<Record<string, unknown>>,
  unknownIdStatus = 404,
): Failure | undefined {
  if (error instanceof Refusal) {
    return { status: error.status, message: truncate(error.message), ...retryAfter(error.retryAfter) };
  }
  if (error instanceof RatebookError) {
    const status = hasCode(error, "ERR_NOT_FOUND")
      ? chooseUnknownStatus(error, pathIds, unknownIdStatus)
      : STATUSES[(error as RatebookError).code];
    // Details of an unavailable store or usage source are only logged.
    if (status === 503) {
      const message = hasCode(error, "ERR_USAGE_UNAVAILABLE") ? USAGE_UNAVAILABLE : STORE_UNAVAILABLE;
      return { status, message, retryAfter: RETRY_SECONDS, headers: toErrorHeaders(error) };
    }
    return { status, message: truncate(error.message), headers: toErrorHeaders(error) };
  }
  const refusal = FRAMEWORK_REFUSALS[codeOf(error)] ?? findRefusalByStatus(error);
  return refusal === undefined ? undefined : { status: refusal[0], message: refusal[1] };
}

/** Headers of errors: the code, and for invalid input the path of the first problem. */
export const ERROR_HEADERS = { code: "ratebook-error-code", path: "ratebook-error-path" } as const;
/** The maximum length of a path in a header. */
const HEADER_PATH_MAX = 200;

function toErrorHeaders(error: RatebookError): Readonly<Record<string, string>> {
  const [problem] = hasCode(error, "ERR_INPUT_INVALID") ? error.details.problems : [];
  if (problem === undefined) return { [ERROR_HEADERS.code]: error.code };
  // Headers are ASCII, so other characters in a quoted key are escaped as in JSON.
  const path = problem.path.replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return { [ERROR_HEADERS.code]: problem.code, [ERROR_HEADERS.path]: path.slice(0, HEADER_PATH_MAX) };
}

/** An error that the framework or a plugin attributes to the client is not answered as an internal error. */
function findRefusalByStatus(error: unknown): readonly [number, string] | undefined {
  if (!(error instanceof Error) || !("statusCode" in error)) return undefined;
  const { statusCode: status, name } = error;
  if (typeof status !== "number" || status < 400 || status > 499) return undefined;
  return FILE_REFUSALS[name] ?? [status, "the request is refused"];
}

function chooseUnknownStatus(
  { details }: RatebookError<"ERR_NOT_FOUND">,
  pathIds: Readonly<Record<string, unknown>>,
  unknownIdStatus: number,
): number {
  // The id of a version contains the id of its resource: `api-calls@3`.
  const inPath = Object.entries(pathIds).some(
    ([name, id]) =>
      typeof id === "string" &&
      (details.id === id || details.id.startsWith(`${id}@`)) &&
      isIdOf(name, details.resource),
  );
  return inPath ? unknownIdStatus : 400;
}

/** Whether a path parameter belongs to a resource: `addon_id` to an add-on, `entry_id` to a feature credit entry. */
function isIdOf(name: string, resource: string): boolean {
  const letters = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, "");
  return letters(resource).endsWith(letters(name.replace(/_(?:id|name)(?:_str)?$/, "")));
}

function retryAfter(seconds: number | undefined): Pick<Failure, "retryAfter"> {
  return seconds === undefined ? {} : { retryAfter: Math.max(1, Math.ceil(seconds)) };
}

function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

function truncate(message: string): string {
  return message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX - 1)}…` : message;
}

/** Wire names by engine name; `""` is the container of a list without a name. */
export type WireNames = Readonly<Record<string, string>>;

/** Renames the fields of an error's problems. Other errors are unchanged. */
export function toWireError(error: unknown, names: WireNames): unknown {
  if (hasCode(error, "ERR_OPTION_INVALID")) {
    const { option, reason } = error.details;
    return reason === undefined ? error : optionError(names[option] ?? option, reason);
  }
  if (!hasCode(error, "ERR_INPUT_INVALID")) return error;
  const problems = error.details.problems.map((problem) => ({ ...problem, path: renamePath(problem.path, names) }));
  const [first, ...others] = problems;
  const isRenamed = first?.path !== error.details.problems[0]?.path;
  return first === undefined || !isRenamed ? error : inputError([first, ...others], { cause: error });
}

/** Renames the first field of a path: of `$.version`, and of `$[0].id`, whose list has no name. */
function renamePath(path: Problem["path"], names: WireNames): string {
  const [start = "", field = ""] = /^\$\.?([A-Za-z_$][\w$]*)?(?=[.[]|$)/.exec(path) ?? [];
  if (path === "$" || start === "" || !Object.hasOwn(names, field)) return path;
  return `$.${names[field] ?? field}${path.slice(start.length)}`;
}
