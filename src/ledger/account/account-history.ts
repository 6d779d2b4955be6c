/**
 * The name and the invoice group that an account had at any instant (S16.6, S16.7).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type { AccountRecord, AliasRecord } from "../records.ts";

/** Most removed aliases, and most former groups, that an account keeps: it is read and written whole. */
export const PAST_MAX = 1000;

/** The parts of an account that name those aliases as removed. */
export function endAliases(
  { aliases, pastAliases = [] }: Pick<AccountRecord, "aliases" | "pastAliases">,
  removed: ReadonlySet<string>,
  now: Instant,
): Pick<AccountRecord, "aliases" | "pastAliases"> {
  const ended = aliases.filter(({ alias }) => removed.has(alias)).map((each) => ({ ...each, removedAt: now }));
  return {
    aliases: aliases.filter(({ alias }) => !removed.has(alias)),
    pastAliases: [...pastAliases, ...ended].slice(-PAST_MAX),
  };
}

/** An account that is in another group from now on, or in none. */
export function withGroup(record: AccountRecord, groupId: string | undefined, now: Instant): AccountRecord {
  const { invoiceGroupId: left, invoiceGroupFrom = record.createdAt, pastInvoiceGroups = [], ...rest } = record;
  const past = left === undefined ? [] : [{ invoiceGroupId: left, from: invoiceGroupFrom, until: now }];
  const all = [...pastInvoiceGroups, ...past].slice(-PAST_MAX);
  return {
    ...rest,
    ...(groupId === undefined ? {} : { invoiceGroupId: groupId, invoiceGroupFrom: now }),
    ...(all.length === 0 ? {} : { pastInvoiceGroups: all }),
  };
}

/** When the account came into its group, or left the last one; undefined where it never was in one. */
export function groupChangedAt({
  invoiceGroupId,
  invoiceGroupFrom,
  pastInvoiceGroups,
}: Pick<AccountRecord, "invoiceGroupId" | "invoiceGroupFrom" | "pastInvoiceGroups">): Instant | undefined {
  return invoiceGroupId === undefined ? pastInvoiceGroups?.at(-1)?.until : invoiceGroupFrom;
}

/**
 * An account with the aliases and the invoice group of an instant; all else is as it is now. One that was removed since
 * has its `removedAt`. Before the account was made there are none.
 */
export function accountAt(record: AccountRecord, at: Instant): AccountRecord {
  const { invoiceGroupId, invoiceGroupFrom = record.createdAt, pastInvoiceGroups = [], ...rest } = record;
  const then = pastInvoiceGroups.find(({ from, until }) => from <= at && at < until)?.invoiceGroupId;
  const groupId = invoiceGroupId !== undefined && invoiceGroupFrom <= at ? invoiceGroupId : then;
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
