/**
 * The order in which an account's associations were decided (S9.2, S16.1): later ones take precedence.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type { PlanAssociation } from "../resources/account.ts";

/** An association of a book with its decision time. */
export interface DecidedAssociation {
  readonly association: PlanAssociation;
  readonly decidedAt: Instant;
  /** Its index in the account's list. */
  readonly index: number;
}

/**
 * An account's associations by decision time, then by list order. An association without decidedAt was decided at its
 * effectiveFrom, or with the next association in the list that has one, if that is earlier (S9.2): otherwise the
 * earlier one would take precedence over the later one. In a checked list the decidedAt never decrease.
 *
 * @param associations the list in the book; unreadable items are skipped
 */
export function sortByDecision(associations: readonly PlanAssociation[]): readonly DecidedAssociation[] {
  const result: DecidedAssociation[] = [];
  let earliestLaterDecision = Number.POSITIVE_INFINITY;
  for (let index = associations.length - 1; index >= 0; index--) {
    const association = associations[index];
    if (association === undefined) continue;
    const ownDecidedAt = association.decidedAt ?? undefined;
    result.push({
      association,
      index,
      decidedAt: ownDecidedAt ?? Math.min(association.effectiveFrom, earliestLaterDecision),
    });
    if (ownDecidedAt !== undefined) earliestLaterDecision = Math.min(earliestLaterDecision, ownDecidedAt);
  }
  return result.sort((a, b) => a.decidedAt - b.decidedAt || a.index - b.index);
}
