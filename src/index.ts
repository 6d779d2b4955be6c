/**
 * ratebook: usage metering and rating, from usage events to exact, explained invoices, with one function for preview
 * and invoice.
 *
 * @module
 */
export type {
  Account,
  AccountInput,
  Address,
  AliasInput,
  Credit,
  CreditInput,
  Customer,
  CustomerInput,
  FeatureCredit,
  FeatureCreditInput,
  InvoiceGroup,
  InvoiceGroupInput,
  LicenseUpdate,
  LicenseUpdateInput,
  PlanAssociation,
  PlanAssociationInput,
  Status,
} from "./book/resources/account.ts";
export type { ShortAccountInput, ShortEventSchemaInput, ShortMeterInput } from "./book/resources/short-items.ts";
export type { ShortPlanInput } from "./book/resources/short-plan.ts";
export type {
  Book,
  BookInput,
  ShortBookInput,
  Organization,
  OrganizationInput,
  LintSuppression,
  LintCode,
} from "./book/resources/book.ts";
export type {
  AddOn,
  AddOnInput,
  Feature,
  FeatureAssociation,
  FeatureAssociationInput,
  FeatureInput,
  Setting,
  SettingDataType,
  SettingInput,
  AddOnPatch,
  AddOnRequest,
  FeaturePatch,
  FeatureRequest,
  SettingPatch,
  SettingRequest,
} from "./book/resources/catalog-items.ts";
export type {
  AccountPatch,
  AccountRequest,
  AggregationPeriod,
  AliasRequest,
  AssociationRequest,
  CreditRequest,
  CustomerPatch,
  CustomerRequest,
  DissociationRequest,
  EntitySettingRequest,
  EntryGrantRequest,
  EntryPatch,
  InvoiceGroupRequest,
  LicenseUpdateRequest,
  MetricField,
  MetricGroup,
  MetricName,
  MetricQuery,
  MetricsRequestInput,
  MigrationMode,
  MigrationRequest,
  PricePlanPatch,
  PricePlanRequest,
  PricePlanVersionRequest,
} from "./book/resources/requests.ts";
export type {
  EventSchemaPatch,
  EventSchemaRequest,
  DeclaredField,
  Dependency,
  DependencyInput,
  EnrichmentField,
  EnrichmentFieldInput,
  Enrichments,
  EventSchema,
  EventSchemaInput,
  FeatureDetails,
  LifecycleStatus,
  UsageMeterPatch,
  UsageMeterRequest,
  Computation,
  ComputationInput,
  UsageMeter,
  UsageMeterInput,
} from "./book/resources/event-schema.ts";
export type {
  BillingEntitlementRateCard,
  BillingEntitlementRateCardInput,
  CreditGrantRateCard,
  CreditGrantRateCardInput,
  EntitlementOverageRateCard,
  EntitlementOverageRateCardInput,
  FeatureConfig,
  FeatureConfigInput,
  GrantDetails,
  GrantDetailsInput,
  FixedFeeRateCard,
  FixedFeeRateCardInput,
  InvoiceTiming,
  LicenseRateCard,
  LicenseRateCardInput,
  Recurrence,
  RecurrenceConfig,
  DisplayFields,
  UsageRateCard,
  UsageRateCardInput,
  GrantSlab,
  GrantSlabInput,
  FixedRateValue,
  FixedRateValueInput,
  PriceType,
  PricingModel,
  RateBounds,
  RateBoundsInput,
  RatePlan,
  RatePlanInput,
  RateValue,
  RateValueInput,
  Slab,
  SlabInput,
  SlabRate,
  SlabRateInput,
} from "./book/resources/rate-card.ts";
export type { FreeForm, Maybe, RuleInput } from "./book/resources/fields.ts";
export type {
  PricePlan,
  PricePlanDetails,
  PricePlanDetailsInput,
  PricePlanDetailsOverride,
  PricePlanDetailsOverrideInput,
  PricePlanInput,
  PricingCycleConfig,
  RateCardsInput,
  MinimumCommitment,
  MinimumCommitmentInput,
} from "./book/resources/price-plan.ts";
export type {
  RateAllowance,
  RateRow,
  RateRowInput,
  RateRowsRequest,
  RateTable,
  RateTableInput,
  RateTier,
} from "./book/resources/rate-table.ts";
export type { ValuesById, LicenseEntryInput, RevenueRequestInput } from "./book/resources/revenue-request.ts";
export type { EventAttribute, EventInput, ValueWithUnit } from "./metering/event-envelope.ts";
export { type BookOptions, parseBook, readBook, checkPlan, parsePlan } from "./book/book.ts";
export { defineBook } from "./book/resources/book.ts";
export { type Cycle, type CycleConfig, cyclesBetween, type Interval } from "./calendar/cycle.ts";
export type { Instant, InstantInput } from "./calendar/instant.ts";
export type { Accounts, Aliases, AliasSnapshot } from "./engine/accounts/accounts.ts";
export type { AddOns, Features, Settings } from "./engine/catalog/catalog-resources.ts";
export type { StoredResource } from "./engine/configured-resources.ts";
export type { CreditFilter } from "./engine/billing/credits.ts";
export type { CreatedCustomer, Customers, CustomerSnapshot } from "./engine/accounts/customers.ts";
export type { CreditBalance, Credits } from "./engine/billing/credits.ts";
export type { ExternalUsageOptions } from "./engine/external-usage.ts";
export { createEngine, type Engine, type EngineOptions, type EntitleResult } from "./engine/engine.ts";
export type { EventSchemas } from "./engine/catalog/event-schemas.ts";
export type {
  Entries,
  EntrySnapshot,
  EntryTarget,
  FeatureBalance,
  FeatureTarget,
} from "./engine/billing/entitlements.ts";
export type { Licenses, LicenseUpdateSnapshot } from "./engine/billing/entitlements.ts";
export type { InvoiceGroups, InvoiceGroupSnapshot } from "./engine/accounts/invoice-groups.ts";
export type { FinalizeResult, FinalizeOptions } from "./engine/billing/bill-run.ts";
export type { PruneResult, PruneOptions } from "./engine/events/retention.ts";
export type { EnginePreview, EnginePreviewOptions, InvoiceFilter, InvoiceSnapshot } from "./engine/billing/invoices.ts";
export type { LineEvent, LineEvents, LineTarget } from "./engine/billing/line-events.ts";
export type { ExportResult, LoadCounts } from "./engine/load.ts";
export type { MetricPoint, MetricResult, MetricSeries } from "./engine/metrics/metrics.ts";
export type { ListOptions, Page, PagedOptions, PageOptions } from "./engine/pages.ts";
export type { MigrationSnapshot, PricingSchedule } from "./engine/accounts/plans.ts";
export type { PricePlans } from "./engine/catalog/price-plans.ts";
export type { RevenueAnswer } from "./engine/metrics/revenue-calculator.ts";
export type { WithSkipped } from "./engine/all-accounts.ts";
export type {
  CompositeFilter,
  CompositeSnapshot,
  DailyOverage,
  DailyUsage,
  UsageQuery,
} from "./engine/events/usage.ts";
export type { UsageMeters } from "./engine/catalog/event-schemas.ts";
export {
  type ErrorCode,
  type ErrorDetails,
  hasCode,
  InvariantError,
  type NumberFault,
  type Problem,
  type ProblemCode,
  RatebookError,
} from "./errors.ts";
export type { Explanation, Invoice, InvoiceLine, InvoiceType, LineType, UsageLine } from "./invoicing/invoice.ts";
export type { RuleLink } from "./rulebook.ts";
export type { SkippedAccount } from "./ledger/refusals.ts";
export type { CatalogOptions } from "./ledger/catalog.ts";
export type { EventLineType } from "./ledger/preview/line-trace.ts";
export type { IdSource } from "./ledger/decision.ts";
export type { LineTrace, TracedEvent } from "./ledger/preview/line-trace.ts";
export type { SeenIds } from "./ledger/preview/accepted-ids.ts";
export type { IngestResult } from "./ledger/events/ingest.ts";
export type { IngestOutcome, IngestStatus } from "./ledger/outcome.ts";
export type { LateCell, LateUsage } from "./ledger/external-usage.ts";
export {
  createMeter,
  meter,
  type MeterResult,
  type MeterOptions,
  type MeterRun,
} from "./ledger/preview/preview-run.ts";
export type { EventCounts, EventProblem } from "./ledger/preview/preview-run.ts";
export type { PreviewInput } from "./ledger/preview/preview-options.ts";
export {
  createPreview,
  preview,
  type Preview,
  type PreviewOptions,
  type PreviewRun,
} from "./ledger/preview/preview.ts";
export type { UnmeteredEvents } from "./metering/unmetered-events.ts";
export type { CalculatedInvoice, CalculatedRevenue } from "./ledger/metrics/revenue-calculator.ts";
export type { CreditSnapshot } from "./ledger/commands/credits.ts";
export type { LicenseUpdateResult } from "./ledger/commands/licenses.ts";
export type { Migration } from "./ledger/commands/migrate.ts";
export type { BookSource } from "./book/book.ts";
export type { CreditKind } from "./credits/monetary-credits.ts";
export type { AccountRecord, CreditRecord, EntryRecord, EventRecord, FeatureUse } from "./ledger/records.ts";
export { UNNUMBERED } from "./ledger/records.ts";
export type { UndoFilter, UndoneEvent } from "./ledger/events/undo.ts";
export { usageFromRows, type UsageRowsInput } from "./ledger/external-usage.ts";
export type { CellQuery, UsageAccount, UsageSource } from "./ledger/external-usage.ts";
export type { UsageCell } from "./metering/usage.ts";
export type { EventCycle, EventListFilter, InstantRange } from "./engine/events/events.ts";
export type { PageKey } from "./ledger/view.ts";
export {
  backtest,
  type BacktestInput,
  type BacktestOptions,
  type BacktestRun,
  createBacktest,
} from "./analysis/backtest/backtest.ts";
export type { Backtest, BacktestAccount, BacktestPlan, BacktestTotal } from "./analysis/backtest/compare-invoices.ts";
export type {
  PeriodTotal,
  Distribution,
  MigrationInput,
  MigrationOutcome,
} from "./analysis/backtest/compare-invoices.ts";
export {
  type AccountDiff,
  type Cause,
  diffInvoices,
  type DiffLine,
  type DiffOptions,
  type InvoiceDiff,
} from "./analysis/diff/diff-invoices.ts";
export type { DiffRow } from "./analysis/diff/table-steps.ts";
export type { LintFinding } from "./analysis/lint/finding.ts";
export { lintBook, type LintOptions } from "./analysis/lint/lint-book.ts";
export {
  type CurveEdge,
  curveEdges,
  type EdgeKind,
  fallingPieces,
  priceAtQuantity,
  type Breakpoint,
  type PriceCurve,
  priceCurve,
  type PricePiece,
} from "./analysis/price-curve.ts";
export {
  type CardCurve,
  type CurveKind,
  type PlanCurveOptions,
  type PlanCurves,
  planCurves,
} from "./analysis/plan-curves.ts";
export type { UsageRow, UsageRowInput } from "./metering/usage-rows.ts";
export type { InvoiceDetails, InvoiceParty, InvoiceTax } from "./pages/invoice/invoice-details.ts";
export { renderInvoice } from "./pages/invoice/invoice-page.ts";
export { Decimal, type DecimalInput } from "./numbers/decimal.ts";
export { priceQuantity, type PricedQuantity, type PricedSlab } from "./rating/slab-charge.ts";
export type { RuleBudget } from "./rules/budget.ts";
export { compileRule, type RuleOptions } from "./rules/compile.ts";
export type { Fact } from "./rules/value.ts";
export { memoryStore, type MemoryStore, type MemoryStoreOptions } from "./store/memory/memory.ts";
export type { Scope, Store } from "./store/store.ts";
