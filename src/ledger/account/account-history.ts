/**
 * The name and the invoice group of an account at a past instant (S16.6, S16.7).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type { AccountRecord, AliasRecord } from "../records.ts";

/** Maximum number of removed aliases, and of former groups, kept in an account record, which is read and written whole. */
export const PAST_MAX = 1000;

/** Moves these aliases to the removed ones. */
export function endAliases(
  { aliases, pastAliases = [] }: Pick<AccountRecord, "aliases" | "pastAliases">,
  removed: ReadonlySet<string>,
  now: Instant,
): Pick<AccountRecord, "aliases" | "pastAliases"> {
  const removedAliases = aliases.filter(({ alias }) => removed.has(alias)).map((each) => ({ ...each, removedAt: now }));
  return {
    aliases: aliases.filter(({ alias }) => !removed.has(alias)),
    pastAliases: [...pastAliases, ...removedAliases].slice(-PAST_MAX),
  };
}

/** Puts the account into another group from `now`, or into none. */
export function withGroup(record: AccountRecord, groupId: string | undefined, now: Instant): AccountRecord {
  const {
    invoiceGroupId: formerGroupId,
    invoiceGroupFrom = record.createdAt,
    pastInvoiceGroups = [],
    ...rest
  } = record;
  const past =
    formerGroupId === undefined ? [] : [{ invoiceGroupId: formerGroupId, from: invoiceGroupFrom, until: now }];
  const all = [...pastInvoiceGroups, ...past].slice(-PAST_MAX);
  return {
    ...rest,
    ...(groupId === undefined ? {} : { invoiceGroupId: groupId, invoiceGroupFrom: now }),
    ...(all.length === 0 ? {} : { pastInvoiceGroups: all }),
  };
}

/** When the account joined its group or left its last one; undefined if it was never in a group. */
export function groupChangedAt({
  invoiceGroupId,
  invoiceGroupFrom,
  pastInvoiceGroups,
}: Pick<AccountRecord, "invoiceGroupId" | "invoiceGroupFrom" | "pastInvoiceGroups">): Instant | undefined {
  return invoiceGroupId === undefined ? pastInvoiceGroups?.at(-1)?.until : invoiceGroupFrom;
}

/**
 * The account with the aliases and invoice group that it had at an instant; all other fields are current. Aliases
 * removed since then have a `removedAt`. Before the account was created there are none.
 */
export function accountAt(record: AccountRecord, at: Instant): AccountRecord {
  const { invoiceGroupId, invoiceGroupFrom = record.createdAt, pastInvoiceGroups = [], ...rest } = record;
  const pastGroupId = pastInvoiceGroups.find(({ from, until }) => from <= at && at < until)?.invoiceGroupId;
  const groupId = invoiceGroupId !== undefined && invoiceGroupFrom <= at ? invoiceGroupId : pastGroupId;
  return {
    ...rest,
    aliases: [...(record.pastAliases ?? []), ...record.aliases]
      .filter((alias) => isActiveAt(alias, at))
      .toSorted((a, b) => a.createdAt - b.createdAt),
    ...(groupId === undefined ? {} : { invoiceGroupId: groupId }),
  };
}

function isActiveAt({ createdAt, removedAt = Infinity }: AliasRecord, at: Instant): boolean {
  return createdAt <= at && at < removedAt;
}
