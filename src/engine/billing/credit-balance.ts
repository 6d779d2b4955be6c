/**
 * The monetary credits of an account now, as one sum (S12).
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

/** The credits of an account that are in force, added up; amounts are in its invoice currency. */
export interface CreditBalance {
  readonly accountId: string;
  /** The credited amounts, less the amounts that final invoices consumed. */
  readonly activeCredits: Decimal;
  /** `activeCredits` less the amounts that drafts hold (S12.4). */
  readonly availableBalance: Decimal;
  /** The part of `availableBalance` that pays any line (S12.2). */
  readonly runningBalance: Decimal;
  /** The rest of `availableBalance`: it pays only the lines of some meters, add-ons, features or kinds. */
  readonly inapplicableCredits: Decimal;
  /** The invoice currency. */
  readonly unit: string;
  /** When a credit was last made or consumed; when the account was made, where it never had one. */
  readonly lastUpdatedAt: Instant;
}

/**
 * The balance of an account's credits in force now: not voided, and now is in `[effectiveFrom, effectiveUntil)`. What falls
 * due by now is counted, bill run or not (S2.4).
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
