/**
 * The accounts of a book as events name them, with what a run remembers of each (S14.1, S16.6).
 *
 * @module
 */
import type { Account } from "../../book/resources/account.ts";
import type { FeatureEntry } from "../../credits/feature-credits.ts";
import type { AccountDependencies } from "../../metering/event-slots.ts";
import { exactOfDecimal } from "../../numbers/exact.ts";
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

/** Finds the account of a name; undefined where there is none. */
export type FindAccount = (name: string) => AccountState | undefined;

/** Slots for each account: with so many, few names meet. */
const SLOTS_AN_ACCOUNT = 4;
const SLOTS_MAX = 1 << 16;

/**
 * Finds accounts among many events: a name that came before is found by a few of its last characters, which is quicker
 * than a look into a map.
 */
export function createAccountFinder(states: ReadonlyMap<string, AccountState>): FindAccount {
  let slots = 1;
  while (slots < SLOTS_AN_ACCOUNT * states.size && slots < SLOTS_MAX) slots *= 2;
  const names = Array.from({ length: slots }, () => "");
  const found = Array.from({ length: slots }, (): AccountState | undefined => undefined);
  return (name) => {
    const slot = tailOf(name) & (slots - 1);
    if (names[slot] === name) return found[slot];
    const state = states.get(name);
    if (state !== undefined) {
      names[slot] = name;
      found[slot] = state;
    }
    return state;
  };
}

/** A few bits of the last four characters: numbered names differ there, and so do random ones. */
function tailOf(name: string): number {
  const { length } = name;
  let tail = length;
  for (let index = length > 4 ? length - 4 : 0; index < length; index++) {
    tail = Math.imul(tail, 31) + name.charCodeAt(index);
  }
  return Math.imul(tail, 0x9e3779b1) >>> 16;
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
