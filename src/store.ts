/**
 * `ratebook/store`: everything that the author of a storage adapter needs. Unstable until 1.0: minor releases may
 * change it, as the changelog describes. An adapter is complete when it passes `storeConformance` of
 * `ratebook/testing`.
 *
 * @module
 */
export type { CreditKind } from "./credits/monetary-credits.ts";
export { RatebookError } from "./errors.ts";
export { listingInstant as listedAt } from "./ledger/account/invoices.ts";
export {
  type Changes,
  type Decision,
  DOCUMENT_KINDS,
  type DocumentKind,
  type DocumentRecord,
  type IdSource,
} from "./ledger/decision.ts";
export { toEventRecord } from "./ledger/events/new-event.ts";
export { type StoredEventFields, type NewEvent } from "./ledger/records.ts";
export {
  type AccountRecord,
  type AliasRecord,
  type AssociationRecord,
  type CreditRecord,
  type EntryRecord,
  type EventRecord,
  type FeatureUse,
  type InvoiceRecord,
  type BilledUsage,
  type LedgerCell,
  type LicenseUpdateRecord,
  type PastInvoiceGroup,
  type UsageDelta,
} from "./ledger/records.ts";
export { compareIds } from "./numbers/ids.ts";
export type {
  AcceptedEventId,
  DraftListFilter,
  EventFilter,
  InvoiceListFilter,
  LedgerView,
  ListedDraft,
  PageKey,
  PageRequest,
} from "./ledger/view.ts";
export { addExact, decimalOfExact, type Exact, isZeroExact } from "./numbers/exact.ts";
export type { Scope, Store } from "./store/store.ts";
