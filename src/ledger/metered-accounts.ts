/**
 * The accounts of a book as events name them, with what a run remembers of each (S14.1, S16.6).
 *
 * @module
 */
import type { Account } from "../book/account.ts";
import type { FeatureEntry } from "../credits/feature-credits.ts";
import type { AccountDependencies } from "../metering/event-slots.ts";
import { exactOfDecimal } from "../numbers/exact.ts";
import type { AccountPeriod } from "./state.ts";

/** What a metering run needs of an account. */
export interface MeteredAccount extends Pick<Account, "id" | "customerId" | "status" | "featureCredits"> {
  readonly aliases: readonly string[];
}

/** An account, and what was found out about it for the last event. */
export interface AccountState {
  readonly index: number;
  readonly id: string;
  readonly customerId: string;
  readonly archived: boolean;
  /** The period of the last event. */
  period: AccountPeriod;
  /** The settings as this account has them, by the index of the program that asks. */
  readonly dependencies: AccountDependencies[];
}

/** No plan anywhere: what holds until the plans are asked. */
const NEVER: AccountPeriod = { start: 0, end: 0 };

/** The accounts by id, and those that are not archived by alias. */
export function accountStates(accounts: readonly MeteredAccount[]): ReadonlyMap<string, AccountState> {
  const states = new Map<string, AccountState>();
  for (const [index, { id, customerId, status, aliases }] of accounts.entries()) {
    const state: AccountState = {
      index,
      id,
      customerId,
      archived: status === "ARCHIVED",
      period: NEVER,
      dependencies: [],
    };
    states.set(id, state);
    // Archiving an account frees its aliases.
    if (!state.archived) for (const alias of aliases) if (!states.has(alias)) states.set(alias, state);
  }
  return states;
}

/** Entries that the book gives to accounts; where createdAt decides, the order in the book counts. */
export function purchasedIn(accounts: readonly MeteredAccount[]): ReadonlyMap<string, readonly FeatureEntry[]> {
  return new Map(
    accounts.map(({ id, featureCredits }) => [
      id,
      featureCredits.map((credit, createdAt) => ({
        id: credit.id ?? `${id}.featureCredit.${createdAt}`,
        featureId: credit.featureId,
        granted: exactOfDecimal(credit.granted),
        balance: exactOfDecimal(credit.granted),
        effectiveFrom: credit.effectiveFrom,
        effectiveUntil: credit.effectiveUntil,
        createdAt,
        voided: false,
      })),
    ]),
  );
}
