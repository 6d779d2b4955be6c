/** A credit that comes to be: granted by a plan, given by hand or loaded with a book. */
import type { Credit } from "../../book/model/account.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import { ZERO } from "../../numbers/decimal.ts";
import type { AccountRecord, CreditRecord } from "../records.ts";

/**
 * Makes the record of a credit of which nothing is spent.
 *
 * @param worth what it pays, how much of it and when; an end at which nothing ends is left out
 * @param made which credit it is, and what made it
 */
export function createCreditRecord(
  owner: Pick<AccountRecord, "id" | "customerId" | "invoiceCurrency">,
  { purpose, creditAmount, priority, effectiveFrom, effectiveUntil, applicableEntityIds }: Omit<Credit, "id">,
  made: Pick<CreditRecord, "id" | "kind" | "cause" | "createdAt" | "idempotencyKey">,
): CreditRecord {
  return {
    accountId: owner.id,
    customerId: owner.customerId,
    purpose,
    creditAmount,
    consumedAmount: ZERO,
    currency: owner.invoiceCurrency,
    priority,
    effectiveFrom,
    ...(typeof effectiveUntil === "number" && effectiveUntil < NO_END ? { effectiveUntil } : {}),
    ...(applicableEntityIds ? { applicableEntityIds } : {}),
    voided: false,
    ...made,
    transactions: [],
  };
}
