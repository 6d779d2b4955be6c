/**
 * `ratebook/store`: all that the author of a storage adapter needs. Unstable until 1.0: a minor release may change it,
 * and the changelog says how. `storeConformance` of `ratebook/testing` says when an adapter is done.
 *
 * @module
 */
export {
  type Changes,
  type Decision,
  DOCUMENT_KINDS,
  type DocumentKind,
  type DocumentRecord,
  type IdSource,
} from "./ledger/decision.ts";
export {
  type AccountRecord,
  type AliasRecord,
  type AssociationRecord,
  type CellChange,
  type CreditRecord,
  type EntryRecord,
  type EventRecord,
  type FeatureUse,
  type InvoiceRecord,
  type LicenseUpdateRecord,
  type PastInvoiceGroup,
  UNNUMBERED,
} from "./ledger/records.ts";
export type { EventFilter, HeldId, LedgerView, PageKey, PageRequest } from "./ledger/view.ts";
export type { Scope, Store } from "./store/store.ts";
