/**
 * The context of engine operations.
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import type { IdSource } from "../ledger/decision.ts";
import type { IngestResult } from "../ledger/events/ingest.ts";
import type { RuleBudget } from "../rules/budget.ts";
import type { ConfigurationSource } from "./configuration.ts";
import type { EngineStore } from "./external-usage.ts";

/** The parts and options of an engine, with defaults applied. */
export interface EngineContext {
  readonly store: EngineStore;
  /** Milliseconds since 1970; called once per decision, after its locks are acquired. */
  readonly clock: () => Instant;
  readonly ids: IdSource;
  readonly configuration: ConfigurationSource;
  /** The budget for one evaluation of a rule (S3.8). */
  readonly ruleBudget?: RuleBudget | undefined;
  /** How long events are kept, in milliseconds; undefined: forever. */
  readonly keepEventsMs: number | undefined;
  /** Called for each account that a bill run skips. */
  readonly onSkipped?: ((accountId: string, error: unknown) => void) | undefined;
  /** Last known accounts by alias: only a hint of what to lock, checked under the lock. */
  readonly aliasHints: Map<string, string>;
  /** Ingests events; concurrent calls share commits. */
  readonly ingest: (events: readonly unknown[]) => Promise<readonly IngestResult[]>;
}
