/**
 * The engine: all stateful operations over a store, each of which loads, decides and commits.
 *
 * @module
 */
import type { BookSource } from "../book/book.ts";
import type {
  AssociationRequest,
  DissociationRequest,
  MetricsRequestInput,
  MigrationRequest,
} from "../book/resources/requests.ts";
import type { RevenueRequestInput } from "../book/resources/revenue-request.ts";
import type { Instant, InstantInput } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { type CatalogOptions, ID_MEMORY_MS } from "../ledger/catalog.ts";
import type { Migration } from "../ledger/commands/migrate.ts";
import type { IdSource } from "../ledger/decision.ts";
import type { IngestResult } from "../ledger/events/ingest.ts";
import type { UndoFilter } from "../ledger/events/undo-filter.ts";
import type { UndoneEvent } from "../ledger/events/undo.ts";
import type { LateUsage } from "../ledger/late-usage.ts";
import { isCompleted } from "../ledger/outcome.ts";
import type { EventRecord } from "../ledger/records.ts";
import type { EventInput } from "../metering/event-envelope.ts";
import type { Store } from "../store/store.ts";
import { type AccountResources, createAccountResources } from "./accounts/account-resources.ts";
import { createInvoiceGroups, type InvoiceGroups } from "./accounts/invoice-groups.ts";
import {
  associatePlan,
  dissociatePlan,
  listMigrations,
  migratePlan,
  type MigrationSnapshot,
  type PricingSchedule,
} from "./accounts/plans.ts";
import { finalize, type FinalizeResult, type FinalizeOptions } from "./billing/bill-run.ts";
import { type CreditBalance, creditBalance } from "./billing/credit-balance.ts";
import { listInvoices } from "./billing/invoice-lists.ts";
import {
  type EnginePreview,
  type EnginePreviewOptions,
  readInvoice,
  type InvoiceFilter,
  type InvoiceSnapshot,
  preview,
} from "./billing/invoices.ts";
import { lateUsage } from "./billing/late-usage.ts";
import { lineEvents, type LineEvents, type LineTarget } from "./billing/line-events.ts";
import type { WithSkipped } from "./billing/skipped-accounts.ts";
import {
  type AddOns,
  createAddOns,
  type Features,
  createFeatures,
  type Settings,
  createSettings,
} from "./catalog/catalog-resources.ts";
import { type EventSchemas, createEventSchemas } from "./catalog/event-schemas.ts";
import { createOrganizationResource, type OrganizationResource } from "./catalog/organization.ts";
import { type PricePlans, createPricePlans } from "./catalog/price-plans.ts";
import { type UsageMeters, createUsageMeters } from "./catalog/usage-meters.ts";
import { createConfigurationSource } from "./configuration.ts";
import type { EngineContext } from "./context.ts";
import { type EventCycle, findEventCycles } from "./events/event-cycles.ts";
import { type EventListFilter, findEvents, createIngest, listEvents, undo } from "./events/events.ts";
import {
  eventsKeptSince,
  type PruneResult,
  type PruneOptions,
  pruneEvents,
  checkRetention,
} from "./events/retention.ts";
import {
  type CompositeFilter,
  type CompositeSnapshot,
  type DailyOverage,
  type DailyUsage,
  getComposite,
  listComposites,
  overageBetween,
  usageBetween,
  type UsageQuery,
} from "./events/usage.ts";
import { type ExportResult, exportBook, type ExportOptions } from "./export.ts";
import { createEngineStore } from "./external/engine-store.ts";
import type { ExternalSchemas } from "./external/external-schemas.ts";
import type { ExternalUsageOptions } from "./external/source-cells.ts";
import { createIds } from "./ids.ts";
import { load, type LoadCounts } from "./load.ts";
import { ENGINE_ARGUMENTS, withCheckedArguments } from "./method-arguments.ts";
import { type MetricResult, computeMetrics } from "./metrics/metrics.ts";
import { type RevenueAnswer, calculatePlanRevenue } from "./metrics/revenue-calculator.ts";
import type { ListOptions, Page, PagedOptions } from "./pages.ts";

/** The parts and options of an engine. */
export interface EngineOptions extends CatalogOptions {
  /** Stores all data; closed by the engine's `close`. */
  readonly store: Store;
  /** Milliseconds since 1970; default the system clock. */
  readonly clock?: () => Instant;
  /** Creates unique ids. */
  readonly ids?: IdSource;
  /**
   * Called, for logging, for each account that a bill run skips, with the reason; must not throw. By default they are
   * only counted, in `skipped`.
   */
  readonly onSkipped?: (accountId: string, error: unknown) => void;
  /**
   * How long events are kept after their ingest, in milliseconds, at least `idMemoryMs`; default forever. `pruneEvents`
   * deletes older ones whose cycle is closed.
   */
  readonly keepEventsMs?: number;
  /**
   * Event schemas with external usage, and the source that reads it: for previews, drafts, invoices, metrics and
   * revenue calculations (S17.4). Default none: all events are ingested.
   */
  readonly usage?: ExternalUsageOptions;
  /**
   * Event schemas that were external and are ingested from now on: the store no longer treats them as external.
   * External usage of open cycles is then not billed. Default none.
   */
  readonly resumeIngest?: readonly string[];
}

/** The outcome of {@link Engine.entitle}. */
export interface EntitleResult extends IngestResult {
  /** Whether the event was accepted and its feature credits consumed; false for a duplicate event id. */
  readonly allowed: boolean;
}

/** An engine over a store. Every method commits all of its changes or none. */
export interface Engine extends AccountResources {
  /** The engine's store: a server may keep its own documents there. */
  readonly store: Store;
  /** Loads a whole book into the store; rejected if any part of it already exists. */
  load(book: BookSource): Promise<LoadCounts>;
  /** Exports the store as a book for `load`, with a sentence for each thing that a book cannot express. */
  exportBook(options?: ExportOptions): Promise<ExportResult>;
  /** Ingests a batch in one commit; each event has its own outcome, in order (S14). */
  ingest(events: readonly EventInput[]): Promise<readonly IngestResult[]>;
  /** Ingests one event if its feature credits suffice (S11.3). */
  entitle(event: EventInput): Promise<EntitleResult>;
  /**
   * Undoes up to five events of an account: any, or those that match one of five combinations of fields (S15).
   *
   * @throws {RatebookError} ERR_INPUT_INVALID for another combination, ERR_NOT_FOUND for the account
   */
  undo(filter: UndoFilter): Promise<readonly UndoneEvent[]>;
  /**
   * The invoices, including drafts, as they would be after finalizing at an instant; nothing is stored (S13.5). Without
   * account ids, accounts whose bill cannot be computed are reported in `skipped`.
   *
   * @throws {RatebookError} ERR_ARITHMETIC for a requested account whose bill cannot be computed
   */
  preview(options?: EnginePreviewOptions): Promise<EnginePreview>;
  /**
   * Processes everything due up to an instant, default now (S2.4, S13.4). An account whose bill cannot be computed is
   * skipped and does not affect others; runs of several engines over one store share the accounts.
   *
   * @throws {RatebookError} ERR_STORE_UNAVAILABLE, which ends the run: the next one continues
   */
  finalize(asOf?: InstantInput, options?: FinalizeOptions): Promise<FinalizeResult>;
  /**
   * Deletes events older than `keepEventsMs` whose cycles are closed: they can neither be undone nor reserve an id.
   * Usage, invoices and their explanations stay.
   *
   * @throws {RatebookError} ERR_STORE_UNAVAILABLE
   */
  pruneEvents(options?: PruneOptions): Promise<PruneResult>;
  /** Associates a plan with an account (S16.1, S16.2). @returns the resulting schedules of the account */
  associate(accountId: string, association: AssociationRequest): Promise<readonly PricingSchedule[]>;
  /** Removes the plan from an account for a range of days (S16.1). @returns the resulting schedules of the account */
  dissociate(accountId: string, days: DissociationRequest): Promise<readonly PricingSchedule[]>;
  /** Migrates every account on one plan version to another; all are checked before any is migrated (S16.5). */
  migrate(migration: MigrationRequest): Promise<Migration>;
  readonly migrations: {
    /** Newest first. */
    list(options?: PagedOptions): Promise<Page<MigrationSnapshot>>;
  };
  readonly organization: OrganizationResource;
  readonly settings: Settings;
  readonly eventSchemas: EventSchemas;
  readonly usageMeters: UsageMeters;
  readonly features: Features;
  readonly addOns: AddOns;
  readonly pricePlans: PricePlans;
  readonly invoiceGroups: InvoiceGroups;
  /** The usage of meters, by account and UTC day. */
  usage(query: UsageQuery): Promise<readonly DailyUsage[]>;
  /**
   * Closed cycles of accounts whose external usage changed since, with what it would have cost; by account. Final
   * invoices stay unchanged (S17.4).
   *
   * @throws {RatebookError} ERR_USAGE_UNAVAILABLE; ERR_OPTION_INVALID if all events are ingested
   */
  lateUsage(query: UsageQuery): Promise<readonly LateUsage[]>;
  /** The overage of features, by account and UTC day. */
  overage(query: UsageQuery): Promise<readonly DailyOverage[]>;
  /** Time series of usage, events and revenue; one result per query, in their order. */
  metrics(request: MetricsRequestInput): Promise<readonly MetricResult[]>;
  /** The charges of a draft or existing plan for one cycle with given quantities; nothing is stored (S13.5). */
  calculateRevenue(request: RevenueRequestInput): Promise<RevenueAnswer>;
  /** The total of an account's monetary credits in force (S12). @throws {RatebookError} ERR_NOT_FOUND */
  creditBalance(accountId: string): Promise<CreditBalance>;
  readonly events: {
    /** The latest ingested first. */
    list(options?: ListOptions<EventListFilter>): Promise<Page<EventRecord>>;
    /** All events with an event id, or the one with a referenceId. @throws {RatebookError} ERR_NOT_FOUND */
    get(eventIdOrReferenceId: string): Promise<readonly EventRecord[]>;
    /** Events ingested before this instant may have been deleted; undefined if all are kept. */
    keptSince(): Promise<Instant | undefined>;
    /** The cycle in which each event counts, with the plan that prices it; undefined if no plan is in force. */
    cycles(
      events: readonly Pick<EventRecord, "accountId" | "timestamp">[],
    ): Promise<readonly (EventCycle | undefined)[]>;
  };
  readonly invoices: {
    /**
     * Final invoices and the drafts of every cycle that has begun, by the start of their cycle, newest first. Without
     * drafts of accounts whose bill cannot be computed, unless such an account is requested alone.
     */
    list(options?: ListOptions<InvoiceFilter>): Promise<Page<InvoiceSnapshot> & WithSkipped>;
    /** @throws {RatebookError} ERR_NOT_FOUND */
    get(id: string): Promise<InvoiceSnapshot>;
    /**
     * The stored events behind a line for a meter's usage or a feature's overage, the latest ingested first, each with
     * the quantity that it added.
     *
     * @throws {RatebookError} ERR_NOT_FOUND, ERR_INPUT_INVALID for a line that does not charge events
     */
    lineEvents(of: LineTarget, options?: PagedOptions): Promise<LineEvents>;
  };
  readonly compositeInvoices: {
    /** Newest first. */
    list(options?: ListOptions<CompositeFilter>): Promise<Page<CompositeSnapshot>>;
    /** @throws {RatebookError} ERR_NOT_FOUND */
    get(id: string): Promise<CompositeSnapshot>;
  };
  close(): Promise<void>;
}

/**
 * Opens an engine over a store.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID without a store, for `keepEventsMs` out of bounds, and for invalid
 * `usage`. Other options are checked by the first call; it rejects with ERR_REFUSED if an external schema consumes a
 * feature (S17.1)
 */
export function createEngine(engineOptions: EngineOptions): Engine {
  const {
    store,
    clock = Date.now,
    ids,
    onSkipped,
    keepEventsMs,
    usage,
    resumeIngest = [],
    ...options
  } = withStore(engineOptions);
  const sources = { external: usage === undefined ? [] : externalSchemaNames(usage), resumeIngest };
  checkSchemasDisjoint(sources);
  const context: EngineContext = {
    store: createEngineStore(store, { usage, sources, clock }),
    clock,
    ids: ids ?? createIds(clock),
    configuration: createConfigurationSource(options, sources),
    ruleBudget: options.ruleBudget,
    onSkipped,
    keepEventsMs: checkRetention(keepEventsMs, options.idMemoryMs ?? ID_MEMORY_MS),
    aliasHints: new Map(),
  };
  const { close, ...operations } = createOperations(context);
  const methods = {
    ...createAccountResources(context),
    organization: createOrganizationResource(context),
    settings: createSettings(context),
    eventSchemas: createEventSchemas(context),
    usageMeters: createUsageMeters(context),
    features: createFeatures(context),
    addOns: createAddOns(context),
    pricePlans: createPricePlans(context),
    invoiceGroups: createInvoiceGroups(context),
    ...operations,
  };
  return { store, ...withCheckedArguments(methods, ENGINE_ARGUMENTS), close };
}

/** Checks that the options have a store, for callers without types. */
function withStore(options: EngineOptions): EngineOptions {
  const { store } = (options ?? {}) as Partial<EngineOptions>;
  if (typeof store?.transact === "function") return options;
  const message = "store: missing: expected a store, such as memoryStore() or await postgresStore(client)";
  throw new RatebookError("ERR_OPTION_INVALID", message, { option: "store" });
}

/** Checks that no schema is both external and ingested. */
function checkSchemasDisjoint({ external, resumeIngest }: ExternalSchemas): void {
  const areNames = Array.isArray(resumeIngest) && resumeIngest.every((name) => typeof name === "string");
  const sharedName = areNames ? resumeIngest.find((name) => external.includes(name)) : undefined;
  if (areNames && sharedName === undefined) return;
  const why = areNames
    ? `${JSON.stringify(sharedName)} is also in usage.schemas`
    : "expected the names of event schemas";
  throw new RatebookError("ERR_OPTION_INVALID", `resumeIngest: ${why}`, { option: "resumeIngest" });
}

/** The external schemas; callers without types may leave parts out. */
function externalSchemaNames(usage: ExternalUsageOptions): readonly string[] {
  const { schemas, source } = usage as Partial<ExternalUsageOptions>;
  const areNames = Array.isArray(schemas) && schemas.length > 0 && schemas.every((name) => typeof name === "string");
  if (areNames && typeof source?.cells === "function") return schemas;
  const message = "usage: expected { schemas, source }: names of event schemas, one or more, and a source of usage";
  throw new RatebookError("ERR_OPTION_INVALID", message, { option: "usage" });
}

type Resources =
  | keyof AccountResources
  | "store"
  | "organization"
  | "settings"
  | "eventSchemas"
  | "usageMeters"
  | "features"
  | "addOns"
  | "pricePlans"
  | "invoiceGroups";

function createOperations(context: EngineContext): Omit<Engine, Resources> {
  const ingest = createIngest(context);
  return {
    load: (book) => load(context, book),
    exportBook: (options) => exportBook(context, options),
    ingest,
    async entitle(event) {
      const [result] = await ingest([event]);
      if (result === undefined) throw new TypeError("one event has one outcome");
      return { allowed: isCompleted(result.status), ...result };
    },
    undo: (filter) => undo(context, filter),
    preview: (options = {}) => preview(context, options),
    finalize: (asOf, options) => finalize(context, asOf, options),
    pruneEvents: (options) => pruneEvents(context, options),
    associate: (accountId, association) => associatePlan(context, accountId, association),
    dissociate: (accountId, days) => dissociatePlan(context, accountId, days),
    migrate: (migration) => migratePlan(context, migration),
    migrations: { list: ({ page = {} } = {}) => listMigrations(context, page) },
    usage: (query) => usageBetween(context, query),
    lateUsage: (query) => lateUsage(context, query),
    overage: (query) => overageBetween(context, query),
    metrics: (request) => computeMetrics(context, request),
    calculateRevenue: (request) => calculatePlanRevenue(context, request),
    creditBalance: (accountId) => creditBalance(context, accountId),
    events: {
      list: ({ filter = {}, page = {} } = {}) => listEvents(context, filter, page),
      get: (id) => findEvents(context, id),
      cycles: (events) => findEventCycles(context, events),
      keptSince: async () => eventsKeptSince(context),
    },
    invoices: {
      list: ({ filter = {}, page = {} } = {}) => listInvoices(context, filter, page),
      get: (id) => readInvoice(context, id),
      lineEvents: (of, { page = {} } = {}) => lineEvents(context, of, page),
    },
    compositeInvoices: {
      list: ({ filter = {}, page = {} } = {}) => listComposites(context, filter, page),
      get: (id) => getComposite(context, id),
    },
    close: () => context.store.close(),
  };
}
