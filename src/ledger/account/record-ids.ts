/**
 * What keeps a record from being created twice. Ids of due records, entries and credits granted by plans, and invoices,
 * derive from their cause, whose key is stored beside the id (S2.4). Older ledgers have long ids that contain the key
 * after `entry|`, `credit|` or `inv|` and the account. These ids stay valid, and also resolve to records that now have a
 * short id. Records that users create may have idempotency keys.
 */
import { invoiceKey } from "../../invoicing/draft.ts";
import type { AccountCycle } from "../../invoicing/timeline.ts";
import { shortId } from "../../numbers/ids.ts";
import { quoteText } from "../../problem-table.ts";
import type { AccountState } from "../account-state.ts";
import type { EntryRecord, InvoiceRecord, CreditRecord, LicenseUpdateRecord } from "../records.ts";
import { alreadyTakenError } from "../refusals.ts";

const DUE_KINDS = ["entry", "credit", "inv"] as const;

/** The kinds of records whose ids derive from their keys, each with its id prefix. */
export type DueKind = (typeof DUE_KINDS)[number];

/** The id of a feature credit entry granted by a plan, from the key of the grant. */
export function dueEntryId(accountId: string, key: string): string {
  return shortId("entry", [accountId, key]);
}

/** The id of a credit granted by a plan or an invoice, from its cause. */
export function dueCreditId(accountId: string, cause: string): string {
  return shortId("credit", [accountId, cause]);
}

/** The id of an invoice, from its `invoiceKey`. The final invoice keeps the id of the draft. */
export function dueInvoiceId(accountId: string, key: string): string {
  return shortId("inv", [accountId, key]);
}

/** The key of the cycle's one invoice that is a draft while the cycle is open (S13.1). */
export function standardInvoiceKey({ start, end }: Pick<AccountCycle, "start" | "end">): string {
  return invoiceKey({ invoiceType: "STANDARD", cycle: { start }, invoiceDate: end, finalAt: end });
}

/** The key of the grant that created an entry; undefined for a purchased entry. */
export function grantKey({ id, accountId, key, source }: EntryRecord): string | undefined {
  return source === "PURCHASE" ? undefined : (key ?? stripPrefix(`entry|${accountId}|`, id));
}

/** The key of a final invoice. */
export function storedInvoiceKey({ id, accountId, key }: Pick<InvoiceRecord, "id" | "accountId" | "key">): string {
  return key ?? stripPrefix(`inv|${accountId}|`, id) ?? id;
}

/**
 * Whether a requested id identifies a record of an account: by the id itself, or by the short id of the same cause if
 * the record has a long id.
 *
 * @param id the record's id
 * @param requestedId the id in the request
 */
export function matchesId(accountId: string, id: string, requestedId: string): boolean {
  return id === requestedId || id === toShortId(accountId, requestedId);
}

/** The ids that {@link matchesId} accepts for a requested id. */
export function listMatchingIds(accountId: string, requestedId: string): ReadonlySet<string> {
  const short = toShortId(accountId, requestedId);
  return new Set(short === undefined ? [requestedId] : [requestedId, short]);
}

/** Whether a text has the current id format of one of these kinds. */
export function isShortId(kind: DueKind, id: string): boolean {
  return new RegExp(`^${kind}\\.[0-9A-Za-z]{16}$`).test(id);
}

/** The short id for a long id of the account; undefined for any other id. */
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

/** The kinds of records with idempotency keys, as messages name them. */
export interface KeyedRecords {
  readonly entry: EntryRecord;
  readonly credit: CreditRecord;
  readonly "license update": LicenseUpdateRecord;
}

/**
 * The record created with an account's key; undefined if the key is absent or unused.
 *
 * @param isSame whether a record was created by the same request
 * @throws {RatebookError} ERR_TAKEN if the key was used for another request or another kind of record
 */
export function findByIdempotencyKey<Kind extends keyof KeyedRecords>(
  account: AccountState,
  kind: Kind,
  key: string | null | undefined,
  isSame: (record: KeyedRecords[Kind]) => boolean,
): KeyedRecords[Kind] | undefined {
  if (!key) return undefined;
  const records: { readonly [Each in keyof KeyedRecords]: readonly KeyedRecords[Each][] } = {
    entry: account.entries(),
    credit: account.credits(),
    "license update": account.record.licenseUpdates,
  };
  const record = records[kind].find(({ idempotencyKey }) => idempotencyKey === key);
  if (record !== undefined) {
    if (isSame(record)) return record;
    throw alreadyTakenError("idempotencyKey", key, `the idempotencyKey ${quoteText(key)} was used for another ${kind}`);
  }
  const other = Object.entries(records).find(([, all]) => all.some(({ idempotencyKey }) => idempotencyKey === key));
  if (other === undefined) return undefined;
  const [otherKind] = other;
  const article = otherKind === "entry" ? "an" : "a";
  throw alreadyTakenError(
    "idempotencyKey",
    key,
    `the idempotencyKey ${quoteText(key)} was used for ${article} ${otherKind}`,
  );
}
