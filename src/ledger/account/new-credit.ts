/** Creates records of credits, whether granted by a plan, granted manually or loaded from a book. */
import type { Credit } from "../../book/resources/account.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import { ZERO } from "../../numbers/decimal.ts";
import type { AccountRecord, CreditRecord } from "../records.ts";

/**
 * Creates a credit record with nothing spent.
 *
 * An end equal to `NO_END` is omitted.
 *
 * @param origin the id of the credit and its cause
 */
export function createCreditRecord(
  owner: Pick<AccountRecord, "id" | "customerId" | "invoiceCurrency">,
  { purpose, creditAmount, priority, effectiveFrom, effectiveUntil, applicableEntityIds }: Omit<Credit, "id">,
  origin: Pick<CreditRecord, "id" | "kind" | "cause" | "createdAt" | "idempotencyKey">,
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
    ...origin,
    transactions: [],
  };
}
