/**
 * ratebook: usage metering and rating. From usage events to invoices: exact, explained, one function for preview and
 * invoice.
 *
 * @module
 */
export type {
  Account,
  Address,
  Credit,
  Customer,
  FeatureCredit,
  InvoiceGroup,
  LicenseUpdate,
  PlanAssociation,
} from "./book/resources/account.ts";
export {
  type Book,
  type BookInput,
  type BookOptions,
  checkPlan,
  type Organization,
  parseBook,
  readBook,
} from "./book/book.ts";
export { defineBook } from "./book/define-book.ts";
export type { AddOn, Feature, Setting } from "./book/resources/catalog-items.ts";
export type { Dependency, EnrichmentField, EventSchema } from "./book/resources/event-schema.ts";
export type {
  PricePlan,
  PricePlanDetails,
  PricePlanDetailsOverride,
  PricingCycleConfig,
} from "./book/resources/price-plan.ts";
export type {
  BillingEntitlementRateCard,
  CreditGrantRateCard,
  EntitlementOverageRateCard,
  FixedFeeRateCard,
  LicenseRateCard,
  MinimumCommitment,
  RatePlan,
  RateValue,
  UsageRateCard,
} from "./book/resources/rate-card.ts";
export type { Computation, UsageMeter } from "./book/resources/usage-meter.ts";
export type {
  AggregationPeriod,
  MetricField,
  MetricName,
  MetricsRequestInput,
} from "./book/requests/metrics-request.ts";
export type { RequestInput, RequestKind } from "./book/requests/requests.ts";
export type { RevenueRequestInput } from "./book/requests/revenue-request.ts";
export { type Cycle, type CycleConfig, cyclesBetween, type Interval } from "./calendar/cycle.ts";
export type { Accounts, Aliases, Credits, Customers, Entries, Licenses } from "./engine/accounts/account-resources.ts";
export type { AliasShown } from "./engine/accounts/aliases.ts";
export type { AddOns, Features, Settings } from "./engine/catalog/catalog-resources.ts";
export type { Stored } from "./engine/configured.ts";
export type { CreditFilter } from "./engine/billing/credit-lists.ts";
export type { CustomerMade, CustomerShown } from "./engine/accounts/customers.ts";
export type { CreditBalance } from "./engine/billing/credit-balance.ts";
export { createEngine, type Engine, type EngineOptions } from "./engine/engine.ts";
export type { EventPlace } from "./engine/events/event-places.ts";
export type { EventSchemas } from "./engine/catalog/event-schemas.ts";
export type { EntryShown, EntryTarget, FeatureBalance, LicenseUpdateShown } from "./engine/billing/holdings.ts";
export type { InvoiceGroups, InvoiceGroupShown } from "./engine/accounts/invoice-groups.ts";
export type { Finalized } from "./engine/billing/bill-run.ts";
export type {
  EnginePreview,
  EnginePreviewOptions,
  InstantInput,
  InvoiceFilter,
  InvoiceShown,
} from "./engine/billing/invoices.ts";
export type { Loaded } from "./engine/load.ts";
export type { MetricPoint, MetricResult, MetricSeries } from "./engine/analytics/metrics.ts";
export type { Page, PageOptions } from "./engine/pages.ts";
export type { MigrationShown, PricingSchedule } from "./engine/accounts/plans.ts";
export type { PricePlans } from "./engine/catalog/price-plans.ts";
export type { RevenueAnswer } from "./engine/analytics/revenue-calculator.ts";
export type { WithoutSkipped } from "./engine/billing/skipped-accounts.ts";
export type { CompositeFilter, CompositeShown, UsageQuery } from "./engine/events/usage.ts";
export type { UsageMeters } from "./engine/catalog/usage-meters.ts";
export { type ErrorCode, type ErrorDetails, InvariantError, type Problem, RatebookError } from "./errors.ts";
export type { Explanation } from "./invoicing/explain.ts";
export type { RuleLink } from "./rulebook.ts";
export type { Invoice, InvoiceLine, InvoiceType, LineType, UsageLine } from "./invoicing/invoice.ts";
export type { SkippedAccount } from "./ledger/account/bill.ts";
export type { CatalogOptions } from "./ledger/catalog.ts";
export type { IdSource } from "./ledger/decision.ts";
export type { SeenIds } from "./ledger/preview/seen-ids.ts";
export type { IngestResult } from "./ledger/events/ingest.ts";
export type { IngestOutcome, IngestStatus } from "./ledger/outcome.ts";
export {
  createPreview,
  type EventCounts,
  type EventProblem,
  preview,
  type Preview,
  type PreviewOptions,
  type PreviewRun,
} from "./ledger/preview/preview.ts";
export type { CalculatedInvoice, CalculatedRevenue } from "./ledger/analytics/revenue-calculator.ts";
export type { CreditShown } from "./ledger/commands/credits.ts";
export type { LicenseUpdated } from "./ledger/commands/licenses.ts";
export type { Migration, MigrationMode } from "./ledger/commands/migrate.ts";
export type {
  AccountRecord,
  LedgerCell,
  CreditRecord,
  EntryRecord,
  EventRecord,
  FeatureUse,
} from "./ledger/records.ts";
export { UNNUMBERED } from "./ledger/records.ts";
export type { UndoneEvent } from "./ledger/events/undo.ts";
export type { EventFilter, PageKey } from "./ledger/view.ts";
export type { LintCode, Silence } from "./book/resources/lint.ts";
export {
  type Backtest,
  backtest,
  type BacktestAccount,
  type BacktestInput,
  type BacktestOptions,
  type BacktestPlan,
  type BacktestRun,
  type BacktestTotal,
  createBacktest,
} from "./proof/backtest/backtest.ts";
export type { Distribution } from "./proof/backtest/distribution.ts";
export {
  type AccountDiff,
  type Cause,
  diffInvoices,
  type DiffLine,
  type DiffOptions,
  type InvoiceDiff,
} from "./proof/diff/diff-invoices.ts";
export type { LintFinding } from "./proof/lint/finding.ts";
export { lintBook, type LintOptions } from "./proof/lint/lint-book.ts";
export { type Breakpoint, type PriceCurve, priceCurve, type PricePiece } from "./proof/price-curve.ts";
export { Decimal, type DecimalInput } from "./numbers/decimal.ts";
export { priceQuantity, type PricedQuantity, type PricedSlab } from "./rating/slabs.ts";
export type { RuleBudget } from "./rules/budget.ts";
export { compileRule, type RuleOptions } from "./rules/compile-rule.ts";
export type { Fact } from "./rules/value.ts";
export { memoryStore, type MemoryStore, type MemoryStoreOptions } from "./store/memory/memory.ts";
export type { Scope, Store } from "./store/store.ts";
