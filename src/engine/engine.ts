/** The engine: all stateful operations over a store, each of which loads, decides and commits. */
import * as z from "zod";

import { type Instant, INSTANT_END, INSTANT_MIN } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { type CatalogOptions, ID_MEMORY_MS } from "../ledger/catalog.ts";
import type { IdSource } from "../ledger/decision.ts";
import type { IngestResult } from "../ledger/events/ingest.ts";
import { isCompleted } from "../ledger/outcome.ts";
import { EVENT_LINE_TYPES } from "../ledger/preview/line-trace.ts";
import type { EventInput } from "../metering/event-envelope.ts";
import type { Store } from "../store/store.ts";
import { accountMethods, type Accounts, type Aliases, aliasMethods } from "./accounts/accounts.ts";
import { customerMethods, type Customers } from "./accounts/customers.ts";
import { invoiceGroupMethods, type InvoiceGroups } from "./accounts/invoice-groups.ts";
import { associatePlan, dissociatePlan, listMigrations, migratePlan } from "./accounts/plans.ts";
import { finalize } from "./billing/bill-run.ts";
import { type Credits, creditBalance, creditMethods } from "./billing/credits.ts";
import { type Entries, type Licenses, entryMethods, licenseMethods } from "./billing/entitlements.ts";
import { listInvoices, preview, readInvoice } from "./billing/invoices.ts";
import { lineEvents } from "./billing/line-events.ts";
import {
  addOnMethods,
  type AddOns,
  featureMethods,
  type Features,
  settingMethods,
  type Settings,
  organizationMethods,
} from "./catalog/catalog-resources.ts";
import { eventSchemaMethods, type EventSchemas, usageMeterMethods, type UsageMeters } from "./catalog/event-schemas.ts";
import { pricePlanMethods, type PricePlans } from "./catalog/price-plans.ts";
import { createConfigurationSource } from "./configuration.ts";
import { createIngest, eventMethods, undo } from "./events/events.ts";
import { checkRetention, pruneEvents } from "./events/retention.ts";
import { compositeInvoiceMethods, lateUsage, overageBetween, usageBetween } from "./events/usage.ts";
import { createEngineStore, type ExternalSchemas, type ExternalUsageOptions } from "./external-usage.ts";
import { createIds } from "./ids.ts";
import { exportBook, load } from "./load.ts";
import {
  type EngineContext,
  ACCOUNT_REQUEST,
  bindMethods,
  ID,
  IDS,
  idMethod,
  listMethod,
  method,
  type Methods,
  PACING,
  PAGED,
  pageMethod,
  REQUEST,
  textFields,
} from "./methods.ts";
import { computeMetrics } from "./metrics/metrics.ts";
import { calculatePlanRevenue } from "./metrics/revenue-calculator.ts";

/** The parts and options of an engine. */
export interface EngineOptions extends CatalogOptions {
  /** Stores all data; closed by the engine's `close`. */
  readonly store: Store;
  /** Whole milliseconds since 1970; default the system clock. Operations fail with ERR_OPTION_INVALID for other numbers. */
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

const MAXIMUM = z.number().int().min(0).optional();
const QUERY = { query: z.looseObject({ accountIds: IDS, from: REQUEST, until: REQUEST }) };

const engineMethods = {
  /** Loads a whole book into the store; rejected if any part of it already exists. */
  load: method({ book: REQUEST }, load),
  /** Exports the store as a book for `load`, with a sentence for each thing that a book cannot express. */
  exportBook: method(
    { options: z.strictObject({ accountsMax: MAXIMUM, pricePlansLength: MAXIMUM }).optional() },
    exportBook,
  ),
  /** Ingests a batch in one commit; each event has its own outcome, in order (S14). */
  ingest: method(
    { events: z.custom<readonly unknown[]>(Array.isArray, "expected a list of events") },
    async ({ ingest }, events: readonly EventInput[]) => ingest(events),
  ),
  /** Ingests one event if its feature credits suffice (S11.3). */
  entitle: method({ event: REQUEST }, async ({ ingest }, event: EventInput): Promise<EntitleResult> => {
    const [result] = await ingest([event]);
    if (result === undefined) throw new TypeError("one event has one outcome");
    return { allowed: isCompleted(result.status), ...result };
  }),
  /**
   * Undoes up to five events of an account: any, or those that match one of five combinations of fields (S15).
   *
   * @throws {RatebookError} ERR_INPUT_INVALID for another combination, ERR_NOT_FOUND for the account
   */
  undo: method({ filter: z.looseObject({}) }, undo),
  /**
   * The invoices, including drafts, as they would be after finalizing at an instant; nothing is stored (S13.5). Without
   * account ids, accounts whose bill cannot be computed are reported in `skipped`.
   *
   * @throws {RatebookError} ERR_ARITHMETIC for a requested account whose bill cannot be computed
   */
  preview: method({ options: z.looseObject({ accountIds: IDS.optional() }).optional() }, preview),
  /**
   * Processes everything due up to an instant, default now (S2.4, S13.4). An account whose bill cannot be computed is
   * skipped and does not affect others; runs of several engines over one store share the accounts.
   *
   * @throws {RatebookError} ERR_STORE_UNAVAILABLE, which ends the run: the next one continues
   */
  finalize: method({ asOf: REQUEST, ...PACING }, finalize),
  /**
   * Deletes events older than `keepEventsMs` whose cycles are closed: they can neither be undone nor reserve an id.
   * Usage, invoices and their explanations stay.
   *
   * @throws {RatebookError} ERR_STORE_UNAVAILABLE
   */
  pruneEvents: method(PACING, pruneEvents),
  /** Associates a plan with an account (S16.1, S16.2). @returns the resulting schedules of the account */
  associate: method(ACCOUNT_REQUEST, associatePlan),
  /** Removes the plan from an account for a range of days (S16.1). @returns the resulting schedules of the account */
  dissociate: method(ACCOUNT_REQUEST, dissociatePlan),
  /** Migrates every account on one plan version to another; all are checked before any is migrated (S16.5). */
  migrate: method({ request: REQUEST }, migratePlan),
  migrations: {
    /** Newest first. */
    list: pageMethod(listMigrations),
  },
  organization: organizationMethods,
  /** The usage of meters, by account and UTC day. */
  usage: method(QUERY, usageBetween),
  /**
   * Closed cycles of accounts whose external usage changed since, with what it would have cost; by account. Final
   * invoices stay unchanged (S17.4).
   *
   * @throws {RatebookError} ERR_USAGE_UNAVAILABLE; ERR_OPTION_INVALID if all events are ingested
   */
  lateUsage: method(QUERY, lateUsage),
  /** The overage of features, by account and UTC day. */
  overage: method(QUERY, overageBetween),
  /** Time series of usage, events and revenue; one result per query, in their order. */
  metrics: method({ request: REQUEST }, computeMetrics),
  /** The charges of a draft or existing plan for one cycle with given quantities; nothing is stored (S13.5). */
  calculateRevenue: method({ request: REQUEST }, calculatePlanRevenue),
  /** The total of an account's monetary credits in force (S12). @throws {RatebookError} ERR_NOT_FOUND */
  creditBalance: method({ accountId: ID }, creditBalance),
  events: eventMethods,
  invoices: {
    /**
     * Final invoices and the drafts of every cycle that has begun, by the start of their cycle, newest first. Without
     * drafts of accounts whose bill cannot be computed, unless such an account is requested alone.
     */
    list: listMethod(textFields("accountId", "customerId", "status"), listInvoices),
    /** @throws {RatebookError} ERR_NOT_FOUND */
    get: idMethod(readInvoice),
    /**
     * The stored events behind a line for a meter's usage or a feature's overage, the latest ingested first, each with
     * the quantity that it added.
     *
     * @throws {RatebookError} ERR_NOT_FOUND, ERR_INPUT_INVALID for a line that does not charge events
     */
    lineEvents: method(
      { of: z.strictObject({ invoiceId: ID, lineId: ID, type: z.enum(EVENT_LINE_TYPES).optional() }), ...PAGED },
      lineEvents,
    ),
  },
  compositeInvoices: compositeInvoiceMethods,
};

const resourceMethods = {
  customers: customerMethods,
  accounts: accountMethods,
  aliases: aliasMethods,
  licenses: licenseMethods,
  entries: entryMethods,
  credits: creditMethods,
  settings: settingMethods,
  eventSchemas: eventSchemaMethods,
  usageMeters: usageMeterMethods,
  features: featureMethods,
  addOns: addOnMethods,
  pricePlans: pricePlanMethods,
  invoiceGroups: invoiceGroupMethods,
};

/** An engine over a store. Every method commits all of its changes or none. */
export interface Engine extends Methods<typeof engineMethods> {
  /** The engine's store: a server may keep its own documents there. */
  readonly store: Store;
  readonly customers: Customers;
  readonly accounts: Accounts;
  readonly aliases: Aliases;
  readonly licenses: Licenses;
  readonly entries: Entries;
  readonly credits: Credits;
  readonly settings: Settings;
  readonly eventSchemas: EventSchemas;
  readonly usageMeters: UsageMeters;
  readonly features: Features;
  readonly addOns: AddOns;
  readonly pricePlans: PricePlans;
  readonly invoiceGroups: InvoiceGroups;
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
  const { store, clock: uncheckedClock, ids, onSkipped, keepEventsMs, usage, ...more } = withStore(engineOptions);
  const clock = checkClock(uncheckedClock);
  const { resumeIngest = [], ...options } = more;
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
    ingest: createIngest(() => context),
  };
  const methods = bindMethods({ ...resourceMethods, ...engineMethods }, context);
  return { store, ...methods, close: () => context.store.close() };
}

/** Checks that the options have a store, for callers without types. */
function withStore(options: EngineOptions): EngineOptions {
  const { store } = (options ?? {}) as Partial<EngineOptions>;
  if (typeof store?.transact === "function") return options;
  const message = "store: missing: expected a store, such as memoryStore() or await postgresStore(client)";
  throw new RatebookError("ERR_OPTION_INVALID", message, { option: "store" });
}

/** A clock whose instants are checked, because stored records and ids would keep a wrong one. */
function checkClock(clock: () => Instant = Date.now): () => Instant {
  return () => {
    const now = clock();
    if (Number.isInteger(now) && now >= INSTANT_MIN && now < INSTANT_END) return now;
    const message = `clock: expected whole milliseconds since 1970, got ${now}`;
    throw new RatebookError("ERR_OPTION_INVALID", message, { option: "clock" });
  };
}

/** Checks that no schema is both external and ingested. */
function checkSchemasDisjoint({ external, resumeIngest }: ExternalSchemas): void {
  const areNames = Array.isArray(resumeIngest) && resumeIngest.every((name) => typeof name === "string");
  const sharedName = areNames ? resumeIngest.find((name) => external.includes(name)) : undefined;
  if (areNames && sharedName === undefined) return;
  const shared = `${JSON.stringify(sharedName)} is also in usage.schemas`;
  const why = areNames ? shared : "expected the names of event schemas";
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
