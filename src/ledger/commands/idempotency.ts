/**
 * Idempotency keys: one key of an account identifies one feature credit entry, credit or license update permanently.
 * Requests are compared, not their results: a repeated request returns the record in its current state.
 */
import type { AccountState } from "../account-state.ts";
import type { CreditRecord, EntryRecord, LicenseUpdateRecord } from "../records.ts";
import { quoteText, alreadyTakenError } from "../refusals.ts";

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
  key: string | undefined,
  isSame: (record: KeyedRecords[Kind]) => boolean,
): KeyedRecords[Kind] | undefined {
  if (key === undefined) return undefined;
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
