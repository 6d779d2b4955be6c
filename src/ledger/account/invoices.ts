/**
 * The invoices of a ledger account: drafts, computed when read, and the final ones that they become (S13.4).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import type { AccountView } from "../../invoicing/account-view.ts";
import {
  computeInvoicesInSteps,
  type ComputedInvoice,
  type InvoicingOptions,
} from "../../invoicing/compute-invoices.ts";
import { withConsumedCredits } from "../../invoicing/credit-lines.ts";
import { invoiceKey } from "../../invoicing/draft.ts";
import type { GrantedCredit } from "../../invoicing/granted-credits.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { add, ZERO } from "../../numbers/decimal.ts";
import type { Steps } from "../../numbers/steps.ts";
import type { AccountState } from "../account-state.ts";
import type { Catalog } from "../catalog.ts";
import type { AccountRecord, CreditRecord } from "../records.ts";
import { dueCreditId, dueInvoiceId, storedInvoiceKey } from "./due-ids.ts";
import { createCreditRecord } from "./new-credit.ts";

/** A draft with the id that the final invoice will have. */
export interface DraftInvoice {
  readonly id: string;
  readonly invoice: Invoice;
}

/**
 * Computes the open invoices of the cycles that touch `[from, until)`, in the order in which they take credits; one draft
 * per step.
 */
export function* computeOpenInvoices(
  catalog: Catalog,
  work: AccountState,
  range: Pick<InvoicingOptions, "from" | "until" | "knownUntil" | "selection" | "limit">,
  view: AccountView = work.view(catalog),
): Steps<readonly ComputedInvoice[]> {
  const final = new Set(work.invoices().map(storedInvoiceKey));
  return yield* computeInvoicesInSteps(view, catalog.billing, {
    ...range,
    explain: true,
    viewHasAllCredits: true,
    isFinal: (draft) => final.has(invoiceKey(draft)),
    creditId: (cause) => dueCreditId(view.accountId, cause),
  });
}

/** Finalizes a draft: its record, the credits that it consumes, and the credit that it grants (S12.4, S13.4). */
export function finalizeInvoice(work: AccountState, computedInvoice: ComputedInvoice, at: Instant): void {
  const { record } = work;
  const key = invoiceKey(computedInvoice.draft);
  const id = dueInvoiceId(record.id, key);
  const invoice = computedInvoice.invoice();
  const status = invoice.revenueInfo.value.gt(ZERO) ? "DUE" : "PAID";
  const revenueInfo =
    computedInvoice.creditUses.length === 0
      ? invoice.revenueInfo
      : withConsumedCredits(invoice.revenueInfo, (creditId) => requireCredit(work, creditId).consumedAmount);
  work.putInvoice({
    id,
    accountId: record.id,
    key,
    finalizedAt: at,
    invoice: { ...invoice, status, revenueInfo },
    ...(record.invoiceGroupId === undefined ? {} : { invoiceGroupId: record.invoiceGroupId }),
  });
  for (const { creditId, amount } of computedInvoice.creditUses) {
    const credit = requireCredit(work, creditId);
    work.putCredit({
      ...credit,
      consumedAmount: add(credit.consumedAmount, amount),
      transactions: [...credit.transactions, { invoiceId: id, amount, at }],
    });
  }
  if (computedInvoice.grantedCredit !== undefined)
    createGrantedCredit(work, { ...computedInvoice.grantedCredit, grantedAt: at });
}

function requireCredit(work: AccountState, creditId: string): CreditRecord {
  const credit = work.credit(creditId);
  invariant(credit !== undefined, "S12.4: a final invoice consumes credits of its account");
  return credit;
}

/** Creates a credit granted by a plan or an invoice. */
export function createGrantedCredit(work: AccountState, granted: GrantedCredit): void {
  const { record } = work;
  const { id: cause, kind, grantedAt } = granted;
  work.putCredit(
    createCreditRecord(record, granted, { id: dueCreditId(record.id, cause), kind, cause, createdAt: grantedAt }),
  );
}

/** A draft as reads return it. */
export function toDraftInvoice(
  record: Pick<AccountRecord, "id">,
  { draft, invoiceWithLazyLines }: ComputedInvoice,
): DraftInvoice {
  return { id: dueInvoiceId(record.id, invoiceKey(draft)), invoice: invoiceWithLazyLines() };
}
