/** Translates database errors for a store. */
import { RatebookError } from "../../errors.ts";
import { idCollisionError } from "../../ledger/refusals.ts";
import { DIGITS_MAX } from "../../numbers/decimal.ts";
import { sleep } from "../yielder.ts";
import { EXACT_SUM_CONSTRAINT } from "./query.ts";

/** Another writer came first: everything was rolled back, and the work must be repeated. */
export class LostRaceError extends Error {
  override readonly name: string = "LostRaceError";
}

/** Maximum number of attempts after lost races. */
const ATTEMPTS_MAX = 20;

/**
 * Repeats work until it loses no race, with a short pause after each lost one.
 *
 * @param work called with the number of the attempt, from 1
 * @throws {RatebookError} ERR_STORE_CONFLICT after too many attempts
 */
export async function retryLostRaces<Result>(work: (attempt: number) => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (!(error instanceof LostRaceError)) throw error;
      if (attempt === ATTEMPTS_MAX) {
        const message = `other writers committed first ${ATTEMPTS_MAX} times; nothing was written`;
        throw new RatebookError("ERR_STORE_CONFLICT", message, {}, { cause: error });
      }
      await sleep(Math.random() * 2 * attempt);
    }
  }
}

/** Serialization failure, deadlock, and a unique key that another writer has just taken. */
const LOST_RACES = new Set(["40001", "40P01", "23505"]);
/** The primary key of events. A violation means that a generated id was repeated, so that retrying would not help. */
const EVENT_KEY_CONSTRAINT = "event_pkey";
/**
 * Failed or terminated connections; a server that is starting or stopping, is read-only, or has no more connections,
 * memory or disk space; and timeouts.
 */
const UNAVAILABLE =
  /^(?:08...|25006|25P0[34]|53...|55P03|57014|57P0[1-5]|58030|E(?:CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NOTFOUND|AI_AGAIN))$/;
/** Messages of `pg` without a code. */
const TERMINATED =
  /Connection terminated|not queryable|connection error|timeout exceeded when trying to connect|read timeout/i;
/** The socket file does not exist. Without `syscall`, the error comes from elsewhere. */
const NO_SOCKET = "ENOENT";

/** Translates an error of a driver; errors that do not come from the database are returned unchanged. */
export function translateFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof RatebookError) return error;
  const { code = "", constraint, detail = "" } = error as Partial<Record<"code" | "constraint" | "detail", string>>;
  if (code === "23505" && constraint === EVENT_KEY_CONSTRAINT)
    return idCollisionError("event", parseKeyDetail(detail), "reference id");
  if (LOST_RACES.has(code)) return new LostRaceError(error.message, { cause: error });
  if (code === "23514" && constraint === EXACT_SUM_CONSTRAINT) {
    const message = `a sum of usage or overage needs more than ${DIGITS_MAX} significant digits`;
    return new RatebookError("ERR_ARITHMETIC", message, {}, { cause: error });
  }
  const isUnreachable =
    UNAVAILABLE.test(code) || TERMINATED.test(error.message) || (code === NO_SOCKET && "syscall" in error);
  if (!isUnreachable) return error;
  const message = `the database cannot be reached: ${describeUnreachable(error.message).slice(0, 200)}`;
  return new RatebookError("ERR_STORE_UNAVAILABLE", message, {}, { cause: error });
}

/** Why no connection was made, without the names of system calls. */
function describeUnreachable(message: string): string {
  return message
    .replace(/^connect ECONNREFUSED (\S+)$/, "$1 refused the connection")
    .replace(/^getaddrinfo (?:ENOTFOUND|EAI_AGAIN) (\S+)$/, "the host $1 is unknown");
}

/** @param detail the database's description of the key: `Key (reference_id)=(ev.1) already exists.` */
function parseKeyDetail(detail: string): string {
  return /=\((.*)\)/s.exec(detail)?.[1] ?? "";
}
