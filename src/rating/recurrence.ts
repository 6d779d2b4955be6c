/**
 * The cycles in which a recurring card is charged, and the cycles that a charge covers (S9.1, S11.1, S11.7).
 *
 * @module
 */
import type { RecurrenceConfig } from "../book/resources/rate-card.ts";

/** RECURRING: repeatedly. ONE_TIME: once. */
export type RecurrenceType = "RECURRING" | "ONE_TIME";

/** The cycles that one charge covers, by number; both inclusive. */
export interface Coverage {
  readonly first: number;
  readonly last: number;
}

/**
 * Whether a charge begins in cycle `n`: RECURRING if `n > offset` and `(n − 1 − offset) mod interval = 0`, ONE_TIME if
 * `n = 1 + offset` (S9.1). Missing values are interval 1 and offset 0.
 *
 * @param n 1 is the first cycle, partial or not
 */
export function isChargedIn(recurrence: RecurrenceConfig | null | undefined, type: RecurrenceType, n: number): boolean {
  return coverageAt(recurrence, type, n)?.first === n;
}

/**
 * The cycles of the charge that covers cycle `n`: `interval` cycles for RECURRING, one for ONE_TIME; undefined if there
 * is none.
 *
 * @param n 1 is the first cycle, partial or not
 */
export function coverageAt(
  recurrence: RecurrenceConfig | null | undefined,
  type: RecurrenceType,
  n: number,
): Coverage | undefined {
  const offset = recurrence?.offset ?? 0;
  if (n <= offset) return undefined;
  switch (type) {
    case "ONE_TIME":
      return n === offset + 1 ? { first: n, last: n } : undefined;
    case "RECURRING": {
      const interval = recurrence?.interval ?? 1;
      const first = n - ((n - 1 - offset) % interval);
      return { first, last: first + interval - 1 };
    }
  }
}
