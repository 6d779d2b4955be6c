/**
 * Grants, changes and voids purchased feature credit entries, and reads the events whose overage may move (S11.5, S11.8).
 */
import type { Frozen } from "../../book/resources/fields.ts";
import type { RequestOutput } from "../../book/resources/requests.ts";
import { formatInstant, type Instant } from "../../calendar/instant.ts";
import { add, subtract, formatDecimal } from "../../numbers/decimal.ts";
import { quoteText } from "../../problem-table.ts";
import type { AccountState } from "../account-state.ts";
import { catchUp } from "../account/catch-up.ts";
import { createOpenCheck, findOpenRanges } from "../account/open-cycles.ts";
import { moveOverageOnto } from "../account/overage-moves.ts";
import { matchesId, findByIdempotencyKey } from "../account/record-ids.ts";
import type { Catalog } from "../catalog.ts";
import type { IdSource } from "../decision.ts";
import { type LedgerReads, type OverageCover, readMovableOverage } from "../reads.ts";
import type { EntryRecord } from "../records.ts";
import { invalidInputError, notFoundError, refusedError, requireUnusedId } from "../refusals.ts";

/**
 * Maximum number of purchased entries per account that can still be spent; each event of the feature reads all of them
 * and may take from all.
 */
export const OPEN_ENTRIES_MAX = 1000;

/** An entry to grant. */
export type EntryRequest = Frozen<RequestOutput<"entryGrant">> & { readonly featureId: string };

/** Changes to an entry; absent fields stay. */
export type EntryChange = Frozen<RequestOutput<"entryPatch">>;

/**
 * Grants an entry of source PURCHASE and moves open overage onto it (S11.5). A repeated request with the same
 * idempotencyKey returns the entry in its current state.
 *
 * @param account with everything that catching up needs, and the events whose overage may move (see `readForEntry`)
 * @throws {RatebookError} ERR_REFUSED for an archived account, and beyond {@link OPEN_ENTRIES_MAX}, ERR_NOT_FOUND for a
 * feature, ERR_INPUT_INVALID for bounds, ERR_TAKEN for a key used for another entry or another kind of record
 */
export function grantEntry(
  catalog: Catalog,
  account: AccountState,
  request: EntryRequest,
  now: Instant,
  ids: IdSource,
): EntryRecord {
  catchUp(catalog, account, now);
  const { featureId, granted, effectiveFrom, effectiveUntil, idempotencyKey } = request;
  const repeated = findByIdempotencyKey(account, "entry", idempotencyKey, (entry) => isSameEntry(entry, request));
  if (repeated !== undefined) return repeated;
  const { id: accountId, status } = account.record;
  if (status === "ARCHIVED")
    throw refusedError("S16.3", `the account ${quoteText(accountId)} is archived and cannot receive grants`);
  if (!catalog.book.features.some((feature) => feature.id === featureId)) throw notFoundError("feature", featureId);
  checkPeriod(effectiveFrom, effectiveUntil);
  const entry: EntryRecord = {
    id: requireUnusedId("entry", account.entries(), ids("fce")),
    accountId,
    featureId,
    source: "PURCHASE",
    granted,
    balance: granted,
    effectiveFrom,
    effectiveUntil,
    createdAt: now,
    voided: false,
    ...(idempotencyKey ? { idempotencyKey } : {}),
  };
  if (canBeSpent(entry, now)) checkEntryCount(account, now);
  account.putEntry(entry);
  moveOverageOnto(account, featureId, createOpenCheck(catalog, account, now));
  return currentEntry(account, entry);
}

/**
 * Changes an entry (S11.8). A change of `granted` changes the balance by the difference; open overage moves onto an
 * entry that was raised or extended (S11.5).
 *
 * @param lastSpent the timestamp of the latest event that spent the entry and was not reverted
 * @throws {RatebookError} ERR_NOT_FOUND, ERR_INPUT_INVALID for bounds, ERR_REFUSED for a voided entry, a balance below
 * 0, an end at or before an event that spent the entry, and beyond {@link OPEN_ENTRIES_MAX}
 */
export function patchEntry(
  catalog: Catalog,
  account: AccountState,
  target: { readonly entryId: string; readonly lastSpent: Instant | undefined },
  change: EntryChange,
  now: Instant,
): EntryRecord {
  catchUp(catalog, account, now);
  const entry = requireEntry(account, target.entryId);
  if (entry.voided) throw refusedError("S11.8", `the entry ${quoteText(entry.id)} is voided and cannot be changed`);
  const granted = change.granted ?? entry.granted;
  const effectiveUntil = change.effectiveUntil ?? entry.effectiveUntil;
  checkPeriod(entry.effectiveFrom, effectiveUntil);
  const balance = add(entry.balance, subtract(granted, entry.granted));
  if (balance.isNegative()) {
    const used = formatDecimal(subtract(entry.granted, entry.balance));
    throw refusedError(
      "S11.8",
      `granted: expected at least ${used}, which events have used, got ${formatDecimal(granted)}`,
    );
  }
  if (target.lastSpent !== undefined && effectiveUntil <= target.lastSpent) {
    const lastSpent = formatInstant(target.lastSpent);
    throw refusedError(
      "S11.8",
      `effectiveUntil: expected a time after ${lastSpent}, when an event last used the entry`,
    );
  }
  const original = entry.requested ?? { granted: entry.granted, effectiveUntil: entry.effectiveUntil };
  const changedEntry: EntryRecord = {
    ...entry,
    granted,
    balance,
    effectiveUntil,
    // A repeated request is compared with the original values.
    ...(entry.idempotencyKey === undefined ? {} : { requested: original }),
  };
  if (!canBeSpent(entry, now) && canBeSpent(changedEntry, now)) checkEntryCount(account, now);
  account.putEntry(changedEntry);
  moveOverageOnto(account, entry.featureId, createOpenCheck(catalog, account, now));
  return currentEntry(account, entry);
}

/**
 * Voids an entry: granted and balance stay, but no event can spend it (S11.8).
 *
 * @throws {RatebookError} ERR_NOT_FOUND, ERR_REFUSED if it is already voided
 */
export function voidEntry(catalog: Catalog, account: AccountState, entryId: string, now: Instant): EntryRecord {
  catchUp(catalog, account, now);
  const entry = requireEntry(account, entryId);
  if (entry.voided) throw refusedError("S11.8", `the entry ${quoteText(entryId)} is already voided`);
  const voidedEntry = { ...entry, voided: true };
  account.putEntry(voidedEntry);
  return voidedEntry;
}

function requireEntry(account: AccountState, entryId: string): EntryRecord {
  const entry = account.entries().find(({ id }) => matchesId(account.record.id, id, entryId));
  if (entry === undefined) throw notFoundError("feature credit entry", entryId);
  return entry;
}

/** The entry after overage has moved onto it. */
function currentEntry(account: AccountState, entry: EntryRecord): EntryRecord {
  return account.entry(entry.id) ?? entry;
}

function isSameEntry(entry: EntryRecord, request: EntryRequest): boolean {
  const original = entry.requested ?? entry;
  return (
    entry.featureId === request.featureId &&
    original.granted.eq(request.granted) &&
    entry.effectiveFrom === request.effectiveFrom &&
    original.effectiveUntil === request.effectiveUntil
  );
}

/** Whether an entry was purchased, has a balance, and is neither voided nor expired. */
function canBeSpent({ source, voided, balance, effectiveUntil }: EntryRecord, now: Instant): boolean {
  return source === "PURCHASE" && !voided && !balance.isZero() && effectiveUntil > now;
}

/** Checks that the account can have another entry that can be spent. */
function checkEntryCount(account: AccountState, now: Instant): void {
  const open = account.entries().filter((entry) => canBeSpent(entry, now)).length;
  if (open < OPEN_ENTRIES_MAX) return;
  const many = `it has ${open} open purchased entries; the maximum is ${OPEN_ENTRIES_MAX}`;
  throw refusedError(
    "S11.8",
    `the account ${quoteText(account.record.id)} cannot have another feature credit entry: ${many}`,
  );
}

function checkPeriod(effectiveFrom: Instant, effectiveUntil: Instant): void {
  if (effectiveUntil > effectiveFrom) return;
  const from = formatInstant(effectiveFrom);
  throw invalidInputError(
    "effectiveUntil",
    "DATE_NOT_ALLOWED",
    `expected a time after effectiveFrom, ${from}, got ${formatInstant(effectiveUntil)}`,
  );
}

/** Reads what `grantEntry` needs for an entry with these bounds. */
export async function readForGrant(
  catalog: Catalog,
  view: LedgerReads,
  account: AccountState,
  cover: OverageCover,
  now: Instant,
): Promise<void> {
  const open = findOpenRanges(catalog, account.record, account.invoices(), now);
  await readMovableOverage(catalog, view, account, now, { covers: [cover], open });
}

/**
 * Reads what `patchEntry` needs.
 *
 * @returns the timestamp of the latest accepted, not reverted event that spent the entry, including events deleted since
 */
export async function readForEntry(
  catalog: Catalog,
  view: LedgerReads,
  account: AccountState,
  target: { readonly entryId: string } & EntryChange,
  now: Instant,
): Promise<Instant | undefined> {
  const { id: accountId } = account.record;
  const entry = account.entries().find(({ id }) => matchesId(accountId, id, target.entryId));
  if (entry === undefined) return undefined;
  const granted = target.granted ?? entry.granted;
  const cover = {
    ...entry,
    effectiveUntil: target.effectiveUntil ?? entry.effectiveUntil,
    quantity: add(entry.balance, subtract(granted, entry.granted)),
  };
  await readForGrant(catalog, view, account, cover, now);
  const [lastSpent, spentAtBefore] = [await view.lastSpent(entry.id, accountId), entry.spentAtBefore];
  return lastSpent === undefined || spentAtBefore === undefined
    ? (lastSpent ?? spentAtBefore)
    : Math.max(lastSpent, spentAtBefore);
}
