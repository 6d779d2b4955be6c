/**
 * Idempotency keys: one key of an account is one feature credit entry, one credit or one license update, for good.
 *
 * The requests are compared, not what became of them: a repeated request gets what the first one made, as it is now.
 *
 * @module
 */
import type { CreditRecord, EntryRecord, LicenseUpdateRecord } from "../records.ts";
import { quoteText, alreadyTaken } from "../refusals.ts";
import type { AccountWork } from "../workspace.ts";

/** The kinds of things that have idempotency keys, as messages name them. */
export interface KeyedRecords {
  readonly entry: EntryRecord;
  readonly credit: CreditRecord;
  readonly "license update": LicenseUpdateRecord;
}

/**
 * The record that an account's key was used for; undefined where it was not used, or no key is given.
 *
 * @param isSame whether a record is what the request asks for
 * @throws {RatebookError} ERR_TAKEN where the key was used for another request, or for something of another kind
 */
export function findByIdempotencyKey<Kind extends keyof KeyedRecords>(
  work: AccountWork,
  kind: Kind,
  key: string | undefined,
  isSame: (record: KeyedRecords[Kind]) => boolean,
): KeyedRecords[Kind] | undefined {
  if (key === undefined) return undefined;
  const records: { readonly [Each in keyof KeyedRecords]: readonly KeyedRecords[Each][] } = {
    entry: work.entries(),
    credit: work.credits(),
    "license update": work.record.licenseUpdates,
  };
  const made = records[kind].find(({ idempotencyKey }) => idempotencyKey === key);
  if (made !== undefined) {
    if (isSame(made)) return made;
    throw alreadyTaken("idempotencyKey", key, `the idempotencyKey ${quoteText(key)} was used for another ${kind}`);
  }
  const other = Object.entries(records).find(([, all]) => all.some(({ idempotencyKey }) => idempotencyKey === key));
  if (other === undefined) return undefined;
  const [what] = other;
  const article = what === "entry" ? "an" : "a";
  throw alreadyTaken("idempotencyKey", key, `the idempotencyKey ${quoteText(key)} was used for ${article} ${what}`);
}
