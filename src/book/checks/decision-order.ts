/**
 * The order in which an account's associations were decided (S9.2, S16.1): each is laid over those before it.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type { PlanAssociation } from "../model/account.ts";

/** An association of a book, and when it was decided. */
export interface DecidedAssociation {
  readonly association: PlanAssociation;
  readonly decidedAt: Instant;
  /** Its place in the account's list, from 0. */
  readonly at: number;
}

/**
 * An account's associations by when they were decided, of one instant in the order of the list.
 *
 * One that does not say when it was decided was so at its effectiveFrom, or with the next one in the list that does say
 * so, if that is earlier (S9.2): else the earlier one would be laid over the later one and hide it. What is said never
 * falls along a checked list.
 *
 * @param associations the list as the book has it; holes, which could not be read, are left out
 */
export function sortByDecision(associations: readonly PlanAssociation[]): readonly DecidedAssociation[] {
  const result: DecidedAssociation[] = [];
  let earliestLaterDecision = Number.POSITIVE_INFINITY;
  for (let at = associations.length - 1; at >= 0; at--) {
    const association = associations[at];
    if (association === undefined) continue;
    const ownDecidedAt = association.decidedAt ?? undefined;
    result.push({
      association,
      at,
      decidedAt: ownDecidedAt ?? Math.min(association.effectiveFrom, earliestLaterDecision),
    });
    if (ownDecidedAt !== undefined) earliestLaterDecision = Math.min(earliestLaterDecision, ownDecidedAt);
  }
  return result.sort((a, b) => a.decidedAt - b.decidedAt || a.at - b.at);
}
