/**
 * The meaning of a database's errors for a store.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { idCollision } from "../../ledger/refusals.ts";
import { DIGITS_MAX } from "../../numbers/decimal.ts";
import { sleep } from "../sleep.ts";
import { EXACT } from "./query.ts";

/** Another writer came first: everything was rolled back, and the work is to be done again. */
export class LostRace extends Error {
  override readonly name: string = "LostRace";
}

/** How often what lost a race is done again. */
const ATTEMPTS_MAX = 20;

/**
 * Does something until it loses no race, with a short pause after each that it lost.
 *
 * @param work told which attempt it is, from 1
 * @throws {RatebookError} ERR_STORE_CONFLICT when it has lost too many
 */
export async function retryLostRaces<Result>(work: (attempt: number) => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (!(error instanceof LostRace)) throw error;
      if (attempt === ATTEMPTS_MAX) {
        const message = `other writers came first ${ATTEMPTS_MAX} times; nothing was written`;
        throw new RatebookError("ERR_STORE_CONFLICT", message, {}, { cause: error });
      }
      await sleep(Math.random() * 2 * attempt);
    }
  }
}

/** Serialization failure, deadlock, and a unique key that another writer took a moment before. */
const LOST_RACES = new Set(["40001", "40P01", "23505"]);
/** The primary key of events. A violation means that the source of ids repeated one, so that trying again would not help. */
const EVENT_KEY_CONSTRAINT = "event_pkey";
/**
 * Connections that fail or are ended, a server that starts or stops, that only reads, that has no more connections, memory
 * or room on its disk, and one that took longer than it was told to.
 */
const UNAVAILABLE =
  /^(?:08...|25006|25P0[34]|53...|55P03|57014|57P0[1-5]|58030|E(?:CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NOTFOUND|AI_AGAIN))$/;
/** Messages of `pg` that come without a code. */
const TERMINATED =
  /Connection terminated|not queryable|connection error|timeout exceeded when trying to connect|read timeout/i;
const NO_SOCKET = "ENOENT";

/** The error to throw for one of a driver: errors of the database get a meaning, all others stay what they are. */
export function translateFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof RatebookError) return error;
  const { code = "", constraint, detail = "" } = error as Partial<Record<"code" | "constraint" | "detail", string>>;
  if (code === "23505" && constraint === EVENT_KEY_CONSTRAINT)
    return idCollision("event", keyIn(detail), "reference id");
  if (LOST_RACES.has(code)) return new LostRace(error.message, { cause: error });
  if (code === "23514" && constraint === EXACT) {
    const message = `a sum of usage or overage needs more than ${DIGITS_MAX} significant digits`;
    return new RatebookError("ERR_ARITHMETIC", message, {}, { cause: error });
  }
  const isUnreachable =
    UNAVAILABLE.test(code) || TERMINATED.test(error.message) || (code === NO_SOCKET && "syscall" in error);
  if (!isUnreachable) return error;
  const message = `the database cannot be reached: ${error.message.slice(0, 200)}`;
  return new RatebookError("ERR_STORE_UNAVAILABLE", message, {}, { cause: error });
}

/** @param detail what the database says of the key: `Key (reference_id)=(ev.1) already exists.` */
function keyIn(detail: string): string {
  return /=\((.*)\)/s.exec(detail)?.[1] ?? "";
}
