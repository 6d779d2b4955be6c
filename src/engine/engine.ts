/**
 * The engine: the stateful whole over a store (design: load, decide, commit).
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import type { CatalogOptions } from "../ledger/catalog.ts";
import type { IdSource } from "../ledger/decision.ts";
import type { IngestResult } from "../ledger/ingest.ts";
import type { EventRecord } from "../ledger/records.ts";
import type { UndoneEvent } from "../ledger/undo.ts";
import type { EventFilter } from "../ledger/view.ts";
import type { Store } from "../store/store.ts";
import { createConfigurationSource } from "./configuration.ts";
import type { EngineContext } from "./context.ts";
import { eventsNamed, ingest, listEvents, undo } from "./events.ts";
import { createIds } from "./ids.ts";
import {
  type EnginePreviewOptions,
  finalize,
  type Finalized,
  getInvoice,
  type InstantInput,
  type InvoiceFilter,
  type InvoiceShown,
  listInvoices,
  preview,
} from "./invoices.ts";
import { load, type Loaded } from "./load.ts";
import type { Page, PageOptions } from "./pages.ts";

/** What an engine is made of. */
export interface EngineOptions extends CatalogOptions {
  /** Where all is kept; the engine does not close it unless it is closed itself. */
  readonly store: Store;
  /** Milliseconds since 1970; default the system's clock. */
  readonly clock?: () => Instant;
  /** Makes ids; each call must give another one. */
  readonly ids?: IdSource;
}

/** An engine over a store. Every method commits all that it does, or nothing. */
export interface Engine {
  /** Puts a whole book into the store; refused where something of it is there already. */
  load(book: unknown): Promise<Loaded>;
  /** Ingests a batch as one; each event has its own outcome, in order (S14). */
  ingest(events: readonly unknown[]): Promise<readonly IngestResult[]>;
  /** Ingests one event, and tells whether its feature credits were taken (S11.3). */
  entitle(event: unknown): Promise<IngestResult>;
  /** Undoes up to five events that match the six combinations of filters (S15). */
  undo(filter: Readonly<Record<string, unknown>>): Promise<readonly UndoneEvent[]>;
  /** What finalizing at an instant would leave, drafts among it; nothing is changed (S13.5). */
  preview(options?: EnginePreviewOptions): Promise<readonly InvoiceShown[]>;
  /** Does all that falls due up to an instant, now by default (S2.4, S13.4). */
  finalize(asOf?: InstantInput): Promise<Finalized>;
  readonly events: {
    /** The latest ingested first. */
    list(filter?: EventFilter, page?: PageOptions): Promise<Page<EventRecord>>;
    /** All events of an event id, or the one of a referenceId. @throws {RatebookError} ERR_NOT_FOUND */
    get(eventIdOrReferenceId: string): Promise<readonly EventRecord[]>;
  };
  readonly invoices: {
    /** Final ones and the drafts of every begun cycle, by the start of their cycle, newest first. */
    list(filter?: InvoiceFilter, page?: PageOptions): Promise<Page<InvoiceShown>>;
    /** @throws {RatebookError} ERR_NOT_FOUND */
    get(id: string): Promise<InvoiceShown>;
  };
  /** Closes the store. */
  close(): Promise<void>;
}

/** Opens an engine over a store. @throws {RatebookError} ERR_OPTION_INVALID for an option out of its bounds, at the first call */
export function createEngine({ store, clock = Date.now, ids, ...options }: EngineOptions): Engine {
  const context: EngineContext = {
    store,
    clock,
    ids: ids ?? createIds(clock),
    configuration: createConfigurationSource(options),
    aliasHints: new Map(),
  };
  return {
    load: (book) => load(context, book),
    ingest: (events) => ingest(context, events),
    async entitle(event) {
      const [result] = await ingest(context, [event]);
      if (result === undefined) throw new TypeError("one event has one outcome");
      return result;
    },
    undo: (filter) => undo(context, filter),
    preview: (wanted = {}) => preview(context, wanted),
    finalize: (asOf) => finalize(context, asOf),
    events: {
      list: (filter = {}, page = {}) => listEvents(context, filter, page),
      get: (id) => eventsNamed(context, id),
    },
    invoices: {
      list: (filter = {}, page = {}) => listInvoices(context, filter, page),
      get: (id) => getInvoice(context, id),
    },
    close: () => store.close(),
  };
}
