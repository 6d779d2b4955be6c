/**
 * The engine: the stateful whole over a store (design: load, decide, commit).
 *
 * @module
 */
import type { MetricsRequestInput } from "../book/requests/metrics-request.ts";
import type { RequestInput } from "../book/requests/requests.ts";
import type { RevenueRequestInput } from "../book/requests/revenue-request.ts";
import type { Instant } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import type { CatalogOptions } from "../ledger/catalog.ts";
import type { Migration } from "../ledger/commands/migrate.ts";
import type { IdSource } from "../ledger/decision.ts";
import type { IngestResult } from "../ledger/events/ingest.ts";
import type { UndoneEvent } from "../ledger/events/undo.ts";
import type { LedgerCell, EventRecord } from "../ledger/records.ts";
import type { EventFilter } from "../ledger/view.ts";
import type { Store } from "../store/store.ts";
import { type AccountResources, accountResourcesOf } from "./accounts/account-resources.ts";
import { invoiceGroupsOf, type InvoiceGroups } from "./accounts/invoice-groups.ts";
import {
  associatePlan,
  dissociatePlan,
  listMigrations,
  migratePlan,
  type MigrationShown,
  type PricingSchedule,
} from "./accounts/plans.ts";
import { type MetricResult, metricsOf } from "./analytics/metrics.ts";
import { type RevenueAnswer, revenueOf } from "./analytics/revenue-calculator.ts";
import { finalize, type Finalized } from "./billing/bill-run.ts";
import { type CreditBalance, creditBalance } from "./billing/credit-balance.ts";
import { listInvoices } from "./billing/invoice-lists.ts";
import {
  type EnginePreview,
  type EnginePreviewOptions,
  getInvoice,
  type InstantInput,
  type InvoiceFilter,
  type InvoiceShown,
  preview,
} from "./billing/invoices.ts";
import type { WithoutSkipped } from "./billing/skipped-accounts.ts";
import {
  type AddOns,
  addOnsOf,
  type Features,
  featuresOf,
  type Settings,
  settingsOf,
} from "./catalog/catalog-resources.ts";
import { type EventSchemas, eventSchemasOf } from "./catalog/event-schemas.ts";
import { organizationOf, type OrganizationResource } from "./catalog/organization.ts";
import { type PricePlans, pricePlansOf } from "./catalog/price-plans.ts";
import { type UsageMeters, usageMetersOf } from "./catalog/usage-meters.ts";
import { createConfigurationSource } from "./configuration.ts";
import type { EngineContext } from "./context.ts";
import { type EventPlace, placesOf } from "./events/event-places.ts";
import { eventsNamed, ingestOf, listEvents, undo } from "./events/events.ts";
import {
  type CompositeFilter,
  type CompositeShown,
  getComposite,
  listComposites,
  overageBetween,
  usageBetween,
  type UsageQuery,
} from "./events/usage.ts";
import { createIds } from "./ids.ts";
import { load, type Loaded } from "./load.ts";
import { ENGINE_ARGUMENTS, withCheckedArguments } from "./method-arguments.ts";
import type { Page, PageOptions } from "./pages.ts";

/** What an engine is made of. */
export interface EngineOptions extends CatalogOptions {
  /** Where all is kept; the engine does not close it unless it is closed itself. */
  readonly store: Store;
  /** Milliseconds since 1970; default the system's clock. */
  readonly clock?: () => Instant;
  /** Makes ids; each call must give another one. */
  readonly ids?: IdSource;
  /**
   * Told, for a log, of each account that a bill run leaves for the next one, and why; it must not throw. Default: nobody
   * is told, but `skipped` counts them.
   */
  readonly onSkipped?: (accountId: string, error: unknown) => void;
}

/** An engine over a store. Every method commits all that it does, or nothing. */
export interface Engine extends AccountResources {
  /** The store that it was made of: a server over it may keep documents of its own there. */
  readonly store: Store;
  /** Puts a whole book into the store; refused where something of it is there already. */
  load(book: unknown): Promise<Loaded>;
  /** Ingests a batch as one; each event has its own outcome, in order (S14). */
  ingest(events: readonly unknown[]): Promise<readonly IngestResult[]>;
  /** Ingests one event, and tells whether its feature credits were taken (S11.3). */
  entitle(event: unknown): Promise<IngestResult>;
  /** Undoes up to five events that match the six combinations of filters (S15). */
  undo(filter: Readonly<Record<string, unknown>>): Promise<readonly UndoneEvent[]>;
  /**
   * What finalizing at an instant would leave, drafts among it; nothing is changed (S13.5). Of all accounts, those whose
   * bill cannot be made are named in `skipped`. @throws {RatebookError} ERR_ARITHMETIC for such an account that is asked for
   */
  preview(options?: EnginePreviewOptions): Promise<EnginePreview>;
  /**
   * Does all that falls due up to an instant, now by default (S2.4, S13.4). An account whose bill cannot be made is skipped
   * and stops no other one. @throws {RatebookError} ERR_STORE_UNAVAILABLE, which ends the run: the next one goes on
   */
  finalize(asOf?: InstantInput): Promise<Finalized>;
  /** Associates a plan with an account (S16.1, S16.2). @returns the account's schedules after it */
  associate(accountId: string, association: RequestInput<"associate">): Promise<readonly PricingSchedule[]>;
  /** Takes the plan from an account, which leaves a gap (S16.1). @returns the account's schedules after it */
  dissociate(accountId: string, days: RequestInput<"dissociate">): Promise<readonly PricingSchedule[]>;
  /** Moves every account on one version of a plan to another; all are checked before any is moved (S16.5). */
  migrate(migration: RequestInput<"migrate">): Promise<Migration>;
  readonly migrations: {
    /** Newest first. */
    list(page?: PageOptions): Promise<Page<MigrationShown>>;
  };
  readonly organization: OrganizationResource;
  readonly settings: Settings;
  readonly eventSchemas: EventSchemas;
  readonly usageMeters: UsageMeters;
  readonly features: Features;
  readonly addOns: AddOns;
  readonly pricePlans: PricePlans;
  readonly invoiceGroups: InvoiceGroups;
  /** What meters counted, by account and UTC day. */
  usage(query: UsageQuery): Promise<readonly LedgerCell[]>;
  /** What features were used beyond their entries, by account and UTC day. */
  overage(query: UsageQuery): Promise<readonly LedgerCell[]>;
  /** Series of usage, events and revenue over time; one result for each query, in their order. */
  metrics(request: MetricsRequestInput): Promise<readonly MetricResult[]>;
  /** What a draft or existing plan would charge for one cycle of given quantities; nothing is stored (S13.5). */
  calculateRevenue(request: RevenueRequestInput): Promise<RevenueAnswer>;
  /** An account's monetary credits in force, added up (S12). @throws {RatebookError} ERR_NOT_FOUND */
  creditBalance(accountId: string): Promise<CreditBalance>;
  readonly events: {
    /** The latest ingested first. */
    list(filter?: EventFilter, page?: PageOptions): Promise<Page<EventRecord>>;
    /** All events of an event id, or the one of a referenceId. @throws {RatebookError} ERR_NOT_FOUND */
    get(eventIdOrReferenceId: string): Promise<readonly EventRecord[]>;
    /** The cycle that each of these events counts in, and the plan that prices it; undefined where none does. */
    places(
      events: readonly Pick<EventRecord, "accountId" | "timestamp">[],
    ): Promise<readonly (EventPlace | undefined)[]>;
  };
  readonly invoices: {
    /**
     * Final ones and the drafts of every begun cycle, by the start of their cycle, newest first; without the drafts of an
     * account whose bill cannot be made, unless it alone is asked for.
     */
    list(filter?: InvoiceFilter, page?: PageOptions): Promise<Page<InvoiceShown> & WithoutSkipped>;
    /** @throws {RatebookError} ERR_NOT_FOUND */
    get(id: string): Promise<InvoiceShown>;
  };
  readonly compositeInvoices: {
    /** Newest first. */
    list(filter?: CompositeFilter, page?: PageOptions): Promise<Page<CompositeShown>>;
    /** @throws {RatebookError} ERR_NOT_FOUND */
    get(id: string): Promise<CompositeShown>;
  };
  /** Closes the store. */
  close(): Promise<void>;
}

/**
 * Opens an engine over a store.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID without a store; for another option out of its bounds, the first call rejects
 * with it
 */
export function createEngine(given: EngineOptions): Engine {
  const { store, clock = Date.now, ids, onSkipped, ...options } = withStore(given);
  const context: EngineContext = {
    store,
    clock,
    ids: ids ?? createIds(clock),
    configuration: createConfigurationSource(options),
    ruleBudget: options.ruleBudget,
    onSkipped,
    aliasHints: new Map(),
  };
  const { close, ...operations } = operationsOf(context);
  const methods = {
    ...accountResourcesOf(context),
    organization: organizationOf(context),
    settings: settingsOf(context),
    eventSchemas: eventSchemasOf(context),
    usageMeters: usageMetersOf(context),
    features: featuresOf(context),
    addOns: addOnsOf(context),
    pricePlans: pricePlansOf(context),
    invoiceGroups: invoiceGroupsOf(context),
    ...operations,
  };
  return { store, ...withCheckedArguments(methods, ENGINE_ARGUMENTS), close };
}

/** The options, once they are known to have a store: callers without types may leave it out. */
function withStore(options: EngineOptions): EngineOptions {
  const { store } = (options ?? {}) as Partial<EngineOptions>;
  if (typeof store?.transact === "function") return options;
  const message = "store: missing: expected a store, such as memoryStore() or await postgresStore(client)";
  throw new RatebookError("ERR_OPTION_INVALID", message, { option: "store" });
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

function operationsOf(context: EngineContext): Omit<Engine, Resources> {
  const ingest = ingestOf(context);
  return {
    load: (book) => load(context, book),
    ingest,
    async entitle(event) {
      const [result] = await ingest([event]);
      if (result === undefined) throw new TypeError("one event has one outcome");
      return result;
    },
    undo: (filter) => undo(context, filter),
    preview: (wanted = {}) => preview(context, wanted),
    finalize: (asOf) => finalize(context, asOf),
    associate: (accountId, association) => associatePlan(context, accountId, association),
    dissociate: (accountId, days) => dissociatePlan(context, accountId, days),
    migrate: (migration) => migratePlan(context, migration),
    migrations: { list: (page = {}) => listMigrations(context, page) },
    usage: (query) => usageBetween(context, query),
    overage: (query) => overageBetween(context, query),
    metrics: (request) => metricsOf(context, request),
    calculateRevenue: (request) => revenueOf(context, request),
    creditBalance: (accountId) => creditBalance(context, accountId),
    events: {
      list: (filter = {}, page = {}) => listEvents(context, filter, page),
      get: (id) => eventsNamed(context, id),
      places: (events) => placesOf(context, events),
    },
    invoices: {
      list: (filter = {}, page = {}) => listInvoices(context, filter, page),
      get: (id) => getInvoice(context, id),
    },
    compositeInvoices: {
      list: (filter = {}, page = {}) => listComposites(context, filter, page),
      get: (id) => getComposite(context, id),
    },
    close: () => context.store.close(),
  };
}
