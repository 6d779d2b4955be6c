/** Grants and voids monetary credits manually (S12), and returns them to readers. */
import type { Frozen } from "../../book/resources/fields.ts";
import type { RequestOutput } from "../../book/resources/requests.ts";
import { formatInstant, type Instant } from "../../calendar/instant.ts";
import { creditStatus, availableAmount } from "../../credits/monetary-credits.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import { type Decimal, ZERO } from "../../numbers/decimal.ts";
import type { Steps } from "../../numbers/steps.ts";
import { quoteText } from "../../problem-table.ts";
import type { AccountState, Workspace } from "../account-state.ts";
import { catchUp } from "../account/catch-up.ts";
import { computeHolds, createCreditRecord } from "../account/invoices.ts";
import { matchesId, findByIdempotencyKey } from "../account/record-ids.ts";
import type { Catalog } from "../catalog.ts";
import type { IdSource } from "../decision.ts";
import type { CreditRecord } from "../records.ts";
import { invalidInputError, idCollisionError, notFoundError, refusedError, requireActive } from "../refusals.ts";

/**
 * Maximum number of manually granted credits per account that can still be spent; each invoice and each new credit
 * reads all of them.
 */
export const OPEN_CREDITS_MAX = 1000;

/** A credit to grant; references are ids. */
export type CreditRequest = Frozen<RequestOutput<"creditCreate">[number]>;

/** A credit as reads return it (S12.4). */
export interface CreditSnapshot {
  readonly credit: CreditRecord;
  /** The amount that drafts would take, computed when read. */
  readonly holdAmount: Decimal;
  /** Neither reserved nor consumed. */
  readonly left: Decimal;
  readonly status: "ACTIVE" | "CONSUMED" | "EXPIRED" | "VOIDED";
}

/**
 * Creates credits, all or none. A request whose idempotencyKey was already used returns the existing credit in its
 * current state; a key that occurs twice in one call creates one credit.
 *
 * @param workspace each account with everything that {@link catchUp} needs
 * @throws {RatebookError} ERR_INPUT_INVALID, ERR_TAKEN for a key used for another credit or another kind of record,
 * ERR_REFUSED for an archived account, and beyond {@link OPEN_CREDITS_MAX}
 */
export function createCredits(
  catalog: Catalog,
  workspace: Pick<Workspace, "account">,
  requests: readonly CreditRequest[],
  now: Instant,
  ids: IdSource,
): readonly CreditRecord[] {
  const openCounts = new Map<string, number>();
  return requests.map((request, index) => {
    const account = workspace.account(request.accountId);
    let open = openCounts.get(account.record.id);
    if (open === undefined) {
      catchUp(catalog, account, now);
      open = countOpenCredits(account, now);
      openCounts.set(account.record.id, open);
    }
    const repeated = findByIdempotencyKey(account, "credit", request.idempotencyKey, (credit) =>
      isSameCredit(credit, request),
    );
    if (repeated !== undefined) return repeated;
    requireActive(account.record);
    checkPeriod(request, `[${index}].effectiveUntil`);
    const key = request.idempotencyKey ? { idempotencyKey: request.idempotencyKey } : {};
    checkOpen(account, open);
    const id = ids("cr");
    if (account.credit(id) !== undefined) throw idCollisionError("credit", id);
    const credit = createCreditRecord(account.record, request, { id, kind: "MANUAL", createdAt: now, ...key });
    account.putCredit(credit);
    openCounts.set(account.record.id, open + 1);
    return credit;
  });
}

/** The number of manually granted credits that can still be spent. */
function countOpenCredits(account: AccountState, now: Instant): number {
  return account.credits().filter((credit) => {
    if (credit.cause !== undefined || (credit.effectiveUntil ?? NO_END) <= now) return false;
    return creditStatus({ ...credit, holdAmount: ZERO }) === "ACTIVE";
  }).length;
}

function checkOpen({ record }: AccountState, open: number): void {
  if (open < OPEN_CREDITS_MAX) return;
  const many = `it has ${open} open credits; the maximum is ${OPEN_CREDITS_MAX}`;
  throw refusedError("S12.4", `the account ${quoteText(record.id)} cannot have another credit: ${many}`);
}

/**
 * Voids a credit: amounts reserved by drafts are released, consumed amounts stay consumed (S12.5).
 *
 * @param account with everything that {@link catchUp} needs
 * @throws {RatebookError} ERR_NOT_FOUND, ERR_REFUSED for a credit that has already ended
 */
export function voidCredit(catalog: Catalog, account: AccountState, creditId: string, now: Instant): CreditRecord {
  catchUp(catalog, account, now);
  const credit = account.credits().find(({ id }) => matchesId(account.record.id, id, creditId));
  if (credit === undefined) throw notFoundError("credit", creditId);
  const status = creditStatus({ ...credit, holdAmount: ZERO });
  if (status !== "ACTIVE")
    throw refusedError(
      "S12.5",
      `the credit ${quoteText(creditId)} is ${status.toLowerCase()}; only an active credit can be voided`,
    );
  const voidedCredit = { ...credit, voided: true };
  account.putCredit(voidedCredit);
  return voidedCredit;
}

/** An account's credits at an instant to which it was caught up, in order of creation (S12.4). */
export function* creditSnapshots(
  catalog: Catalog,
  account: AccountState,
  now: Instant,
): Steps<readonly CreditSnapshot[]> {
  const amountsHeld = yield* computeHolds(catalog, account, now);
  return account.credits().map((credit) => {
    const holdAmount = amountsHeld.get(credit.id) ?? ZERO;
    const status = creditStatus({ ...credit, holdAmount });
    const isExpired = status === "ACTIVE" && (credit.effectiveUntil ?? NO_END) <= now;
    return {
      credit,
      holdAmount,
      left: availableAmount({ ...credit, holdAmount }),
      status: isExpired ? "EXPIRED" : status,
    };
  });
}

function checkPeriod({ effectiveFrom, effectiveUntil }: CreditRequest, path: string): void {
  if (typeof effectiveUntil !== "number" || effectiveUntil > effectiveFrom) return;
  const expected = `expected a date after ${formatInstant(effectiveFrom)}, got ${formatInstant(effectiveUntil)}`;
  throw invalidInputError(path, "DATE_NOT_ALLOWED", expected);
}

function isSameCredit(credit: CreditRecord, request: CreditRequest): boolean {
  return (
    credit.purpose === request.purpose &&
    credit.creditAmount.eq(request.creditAmount) &&
    credit.priority === request.priority &&
    credit.effectiveFrom === request.effectiveFrom &&
    (credit.effectiveUntil ?? NO_END) === Math.min(request.effectiveUntil ?? NO_END, NO_END) &&
    JSON.stringify(credit.applicableEntityIds ?? []) === JSON.stringify(request.applicableEntityIds ?? [])
  );
}
