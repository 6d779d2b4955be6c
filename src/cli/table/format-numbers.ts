/** Formats amounts and counts for tables and summaries. */
import { groupThousands } from "../../invoicing/format-values.ts";
import type { Decimal } from "../../numbers/decimal.ts";

/** An amount with the digits of its currency's minor unit and commas between thousands. */
export function formatAmount(amount: Decimal, digits: number): string {
  return groupThousands(amount.toFixed(digits));
}

/** A count with its noun, in the plural unless it is 1: `1,000 events`. */
export function formatCount(count: number, noun: string): string {
  return `${groupThousands(String(count))} ${noun}${count === 1 ? "" : "s"}`;
}
