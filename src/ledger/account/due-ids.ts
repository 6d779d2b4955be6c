/**
 * The ids of what falls due, derived from its cause: entries and credits that plans grant, and invoices (S2.4).
 *
 * The key names the cause and is stored beside the id: by it the same thing is never made twice. Ledgers that
 * were written before ids were short have the key in the id itself, after `entry|`, `credit|` or `inv|` and the account;
 * these ids stay what they are, and lead to what has a short id since.
 *
 * @module
 */
import { invoiceKey } from "../../invoicing/draft.ts";
import type { AccountCycle } from "../../invoicing/timeline.ts";
import { shortId } from "../../numbers/short-id.ts";
import type { EntryRecord, InvoiceRecord } from "../records.ts";

const DUE_KINDS = ["entry", "credit", "inv"] as const;

/** The kinds of things whose ids are derived from their keys; the word is the id's prefix. */
export type DueKind = (typeof DUE_KINDS)[number];

/** The id of a feature credit entry that a plan grants, by the key of its grant. */
export function dueEntryId(accountId: string, key: string): string {
  return shortId("entry", [accountId, key]);
}

/** The id of a credit that a plan or an invoice grants, by what caused it. */
export function dueCreditId(accountId: string, cause: string): string {
  return shortId("credit", [accountId, cause]);
}

/** The id of an invoice by its `invoiceKey`: a draft has the id of the final one. */
export function dueInvoiceId(accountId: string, key: string): string {
  return shortId("inv", [accountId, key]);
}

/** The key of the one invoice of a cycle that is a draft while the cycle is open (S13.1). */
export function standardInvoiceKey({ start, end }: Pick<AccountCycle, "start" | "end">): string {
  return invoiceKey({ invoiceType: "STANDARD", cycle: { start }, invoiceDate: end, finalAt: end });
}

/** The key of the grant that an entry was made by; undefined for one that was bought. */
export function grantKey({ id, accountId, key, source }: EntryRecord): string | undefined {
  return source === "PURCHASE" ? undefined : (key ?? stripPrefix(`entry|${accountId}|`, id));
}

/** The key of a final invoice. */
export function storedInvoiceKey({ id, accountId, key }: Pick<InvoiceRecord, "id" | "accountId" | "key">): string {
  return key ?? stripPrefix(`inv|${accountId}|`, id) ?? id;
}

/**
 * Whether an id that a caller asks for is that of a record of an account: the id itself, or the short id of the same cause where
 * the record has a former, long one.
 *
 * @param id that of the thing
 * @param requestedId what a caller asks for
 */
export function matchesId(accountId: string, id: string, requestedId: string): boolean {
  return id === requestedId || id === toShortId(accountId, requestedId);
}

/** The ids that {@link matchesId} finds for one that a caller asks for. */
export function idsNamed(accountId: string, requestedId: string): ReadonlySet<string> {
  const short = toShortId(accountId, requestedId);
  return new Set(short === undefined ? [requestedId] : [requestedId, short]);
}

/** Whether a text looks like an id of one of these kinds, as they are made now. */
export function isShortId(kind: DueKind, id: string): boolean {
  return new RegExp(`^${kind}\\.[0-9A-Za-z]{16}$`).test(id);
}

/** The short id for a former id of the account; undefined for any other id. */
function toShortId(accountId: string, requestedId: string): string | undefined {
  for (const kind of DUE_KINDS) {
    const key = stripPrefix(`${kind}|${accountId}|`, requestedId);
    if (key !== undefined) return shortId(kind, [accountId, key]);
  }
  return undefined;
}

function stripPrefix(prefix: string, text: string): string | undefined {
  return text.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}
