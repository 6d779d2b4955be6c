/**
 * The total of an account's monetary credits (S12).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import { catchUp } from "../../ledger/account/catch-up.ts";
import { type CreditSnapshot, creditSnapshots } from "../../ledger/commands/credits.ts";
import type { CreditRecord } from "../../ledger/records.ts";
import { type Decimal, subtract, sum } from "../../numbers/decimal.ts";
import type { EngineContext } from "../context.ts";
import { projectAccount } from "../projected-accounts.ts";

/** The total of an account's credits in force, in its invoice currency. */
export interface CreditBalance {
  readonly accountId: string;
  /** The credited amounts minus the amounts consumed by final invoices. */
  readonly activeCredits: Decimal;
  /** `activeCredits` minus the amounts reserved by drafts (S12.4). */
  readonly availableBalance: Decimal;
  /** The part of `availableBalance` that can pay any line (S12.2). */
  readonly runningBalance: Decimal;
  /** The rest of `availableBalance`, limited to certain meters, add-ons, features or kinds. */
  readonly inapplicableCredits: Decimal;
  /** The invoice currency. */
  readonly unit: string;
  /** When a credit was last created or consumed; without credits, when the account was created. */
  readonly lastUpdatedAt: Instant;
}

/**
 * The balance of an account's current credits: not voided, with `[effectiveFrom, effectiveUntil)` containing now.
 * Everything due by now is included, even before a bill run (S2.4).
 *
 * @throws {RatebookError} ERR_NOT_FOUND
 */
export async function creditBalance(context: EngineContext, accountId: string): Promise<CreditBalance> {
  return projectAccount(context, accountId, function* (catalog, work, now) {
    catchUp(catalog, work, now);
    const inForce = (yield* creditSnapshots(catalog, work, now)).filter((snapshot) => isInForce(snapshot.credit, now));
    const availableBalance = sumAvailable(inForce);
    const runningBalance = sumAvailable(
      inForce.filter(({ credit }) => (credit.applicableEntityIds ?? []).length === 0),
    );
    const changes = work.credits().flatMap(changeInstants);
    return {
      accountId,
      activeCredits: sum(inForce.map(({ credit }) => subtract(credit.creditAmount, credit.consumedAmount))),
      availableBalance,
      runningBalance,
      inapplicableCredits: subtract(availableBalance, runningBalance),
      unit: work.record.invoiceCurrency,
      lastUpdatedAt: changes.length === 0 ? work.record.createdAt : Math.max(...changes),
    };
  });
}

function isInForce({ voided, effectiveFrom, effectiveUntil = NO_END }: CreditRecord, now: Instant): boolean {
  return !voided && effectiveFrom <= now && now < effectiveUntil;
}

function sumAvailable(credits: readonly CreditSnapshot[]): Decimal {
  return sum(credits.map(({ left }) => left));
}

function changeInstants({ createdAt, transactions }: CreditRecord): readonly Instant[] {
  return [createdAt, ...transactions.map(({ at }) => at)];
}
