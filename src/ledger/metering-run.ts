/**
 * A metering run: events one after another, each with its outcome, and the usage and overage that they leave (S14).
 *
 * The pure core of a preview. An event arrives at its own timestamp, so none is late or early (S13.5).
 *
 * @module
 */
import type { Account } from "../book/account.ts";
import type { Feature } from "../book/catalog-items.ts";
import type { Instant } from "../calendar/instant.ts";
import { DAY_MS, dayOf } from "../calendar/instant.ts";
import type { FeatureEntry } from "../credits/feature-credits.ts";
import type { AccountDependencies, EventSlots } from "../metering/event-slots.ts";
import type { MeteringBook, SchemaProgram } from "../metering/program.ts";
import { compileMetering } from "../metering/program.ts";
import type { ReadEvent } from "../metering/read-event.ts";
import { createEventReader } from "../metering/read-event.ts";
import type { Usage } from "../metering/usage.ts";
import { createUsageTally } from "../metering/usage.ts";
import { compareExact, exactOfDecimal, textOfExact } from "../numbers/exact.ts";
import { shown } from "../rules/value.ts";
import type { SeenIds } from "./duplicates.ts";
import { rememberIds } from "./duplicates.ts";
import type { IngestOutcome, IngestStatus } from "./outcome.ts";
import { INGEST_STATUSES, isCompleted, METERED, NO_METERS, NOT_BILLED, NOT_METERED, outcomeOf } from "./outcome.ts";
import type { AccountPeriod, FeatureLedger, PlanHooks } from "./state.ts";
import { createFeatureLedger } from "./state.ts";

/** What a metering run needs of a book. */
export interface MeteringRunBook extends MeteringBook {
  readonly features: readonly Pick<Feature, "id">[];
  readonly accounts: readonly MeteredAccount[];
}

/** What a metering run needs of an account. */
export interface MeteredAccount extends Pick<Account, "id" | "customerId" | "status" | "featureCredits"> {
  readonly aliases: readonly string[];
}

/** How events are metered. */
export interface MeteringRunOptions extends PlanHooks {
  /** Remembers the ids of accepted events; `false` does without, default an exact memory (S14.1). */
  readonly ids?: SeenIds | false | undefined;
}

/** Events in, usage out. */
export interface MeteringRun {
  /** Decides one event as it was sent. */
  readonly add: (event: unknown) => IngestOutcome;
  /**
   * The slots for the events of an ACTIVE schema, for a reader that finds the parts of an event by itself. It must set id,
   * accountId, timestamp, every declared attribute within S1.3 and every declared dimension, all within their bounds;
   * whatever it cannot read so goes through {@link add}.
   */
  readonly slotsOf: (schemaName: string) => EventSlots | undefined;
  /** Decides the event that was laid out in the slots of {@link slotsOf}. */
  readonly addSlots: (slots: EventSlots) => IngestOutcome;
  /** The timestamps of the first and the last event (inclusive) that were accepted so far. */
  span(): { readonly first: Instant; readonly last: Instant } | undefined;
  /** How many events had each status so far. */
  readonly counts: () => Readonly<Record<IngestStatus, number>>;
  readonly usage: Usage;
  /** Overage by account, feature (as meter) and UTC day (S11.3). */
  readonly overage: Usage;
  /** Feature credits as the events left them. */
  readonly features: FeatureLedger;
}

/** How long an id blocks a second event of the same id, after the first was ingested (S14.1). */
export const ID_MEMORY_MS = 45 * DAY_MS;

/** Starts a metering run over a book that was read and checked. */
export function createMeteringRun(book: MeteringRunBook, options: MeteringRunOptions = {}): MeteringRun {
  const program = compileMetering(book);
  const reader = createEventReader(program.schemas);
  const accountIds = book.accounts.map(({ id }) => id);
  const featureIds = book.features.map(({ id }) => id);
  const usage = createUsageTally(accountIds, program.meterIds);
  const features = createFeatureLedger(accountIds, featureIds, purchasedIn(book), options);
  const runs = new Map([...program.schemas].map(([name, schema]) => [name, stateOf(schema)]));
  const context: RunContext = {
    accounts: accountStates(book.accounts),
    runs,
    usage,
    features,
    ids: options.ids === false ? undefined : (options.ids ?? rememberIds()),
    options,
  };
  const tallies = new Map<IngestStatus, { count: number }>(INGEST_STATUSES.map((status) => [status, { count: 0 }]));
  let first = Infinity;
  let last = -Infinity;
  const counted = (outcome: IngestOutcome, at: Instant): IngestOutcome => {
    const tally = tallies.get(outcome.status);
    if (tally !== undefined) tally.count++;
    if (isCompleted(outcome.status)) {
      if (at < first) first = at;
      if (at > last) last = at;
    }
    return outcome;
  };
  const direct: ReadEvent = { ...reader.event };
  return {
    add(event) {
      const problem = reader.read(event);
      const outcome = problem === undefined ? decide(context, reader.event) : outcomeOf("INGESTION_REFUSED", problem);
      return counted(outcome, reader.event.timestamp);
    },
    slotsOf: (schemaName) => program.schemas.get(schemaName)?.slots,
    addSlots(slots) {
      direct.schemaName = slots.schemaName;
      direct.id = slots.id;
      direct.accountId = slots.accountId;
      direct.timestamp = slots.timestamp;
      direct.program = program.schemas.get(slots.schemaName);
      return counted(decide(context, direct), slots.timestamp);
    },
    span: () => (first <= last ? { first, last } : undefined),
    counts: () =>
      Object.fromEntries([...tallies].map(([status, { count }]) => [status, count])) as Record<IngestStatus, number>,
    usage,
    overage: features.overage,
    features,
  };
}

interface RunContext {
  /** By id and by alias; archived accounts by id only. */
  readonly accounts: ReadonlyMap<string, AccountState>;
  readonly runs: ReadonlyMap<string, SchemaState>;
  readonly usage: ReturnType<typeof createUsageTally>;
  readonly features: FeatureLedger;
  readonly ids: SeenIds | undefined;
  readonly options: MeteringRunOptions;
}

interface AccountState {
  readonly index: number;
  readonly id: string;
  readonly customerId: string;
  readonly archived: boolean;
  /** The period of the last event. */
  period: AccountPeriod;
}

interface SchemaState {
  readonly program: SchemaProgram;
  /** By account, once it has sent an event of the schema. */
  readonly dependencies: (AccountDependencies | undefined)[];
}

/** No plan anywhere: what holds until the hooks are asked. */
const NEVER: AccountPeriod = { start: 0, end: 0 };
const ALWAYS: AccountPeriod = { start: -Infinity, end: Infinity };

/** Every check of S14.1 after the envelope, in an order of our own that gives the outcome of the first in its order. */
function decide(context: RunContext, event: ReadEvent): IngestOutcome {
  const account = context.accounts.get(event.accountId);
  const failure = account === undefined ? noAccount(event) : failureOf(context, event, account);
  const { ids } = context;
  if (failure !== undefined || account === undefined || event.program === undefined) {
    // A repeated id comes before any other failure.
    if (ids?.has(event.id, event.timestamp) === true) return duplicate(event);
    return failure ?? noSchema(event);
  }
  const period = periodOf(context, account, event.timestamp);
  if (ids !== undefined) {
    const until = Math.max(event.timestamp + ID_MEMORY_MS, period.openUntil ?? -Infinity);
    if (!ids.admit(event.id, event.timestamp, until)) return duplicate(event);
  }
  const outcome = count(context, event, event.program, account, period);
  if (ids !== undefined && outcome.status.startsWith("INGESTION_FAILED")) ids.forget(event.id);
  return outcome;
}

/** What fails an event before it counts or consumes anything; fills the slots of its program. */
function failureOf(context: RunContext, event: ReadEvent, account: AccountState): IngestOutcome | undefined {
  const { program } = event;
  if (account.archived) {
    return outcomeOf("INGESTION_FAILED_ACCOUNT_NOT_FOUND", `The account ${shown(event.accountId)} is archived.`);
  }
  const schema = context.runs.get(event.schemaName);
  if (program === undefined || schema === undefined) return noSchema(event);
  if (event.fault !== undefined) return outcomeOf("INGESTION_FAILED", event.fault);
  const { slots, enrichment, measure, feature } = program;
  slots.id = event.id;
  slots.accountId = event.accountId;
  slots.timestamp = event.timestamp;
  slots.dependencies = schema.dependencies[account.index] ??= enrichment.dependenciesOf({
    accountId: account.id,
    customerId: account.customerId,
  });
  const unenriched = enrichment.run();
  if (unenriched !== undefined) return outcomeOf("INGESTION_FAILED_ENRICHMENT_FAILED", unenriched);
  const unmeasured = measure.run();
  if (unmeasured !== undefined) return outcomeOf("INGESTION_FAILED_UNITS_INVALID", unmeasured);
  if (feature === undefined) return undefined;
  const quantity = slots.values[feature.slot] ?? 0;
  if (compareExact(quantity, 0) >= 0) return undefined;
  const sentence = `The event would consume ${textOfExact(quantity)} of the feature ${shown(feature.featureId)}: expected 0 or more.`;
  return outcomeOf("INGESTION_FAILED_UNITS_INVALID", sentence);
}

/** Consumes feature credits, then adds to the tally. */
function count(
  context: RunContext,
  event: ReadEvent,
  { slots, measure, feature }: SchemaProgram,
  account: AccountState,
  period: AccountPeriod,
): IngestOutcome {
  const { meters, units } = measure;
  if (feature === undefined && meters.length === 0) return NO_METERS;
  let metered = false;
  if (feature !== undefined) {
    const quantity = slots.values[feature.slot] ?? 0;
    const consumed = context.features.consume(account.index, feature.featureId, quantity, event.timestamp);
    if (consumed.kind === "INSUFFICIENT") {
      const sentence = `The event needs ${textOfExact(quantity)} of the feature ${shown(feature.featureId)}: ${textOfExact(consumed.available)} are left.`;
      return outcomeOf("INGESTION_FAILED_INSUFFICIENT_CREDITS", sentence);
    }
    metered = consumed.allocations.length > 0 || consumed.overage !== 0;
  }
  const day = dayOf(event.timestamp);
  for (let place = 0; place < units.length; place++) {
    const quantity = units[place];
    if (quantity === undefined) continue;
    context.usage.add(account.index, meters[place] ?? -1, day, quantity);
    metered = true;
  }
  if (!metered) return NOT_METERED;
  return period.openUntil === undefined ? NOT_BILLED : METERED;
}

function periodOf(context: RunContext, account: AccountState, at: Instant): AccountPeriod {
  const { period } = account;
  if (at >= period.start && at < period.end) return period;
  return (account.period = context.options.periodAt?.(account.id, at) ?? ALWAYS);
}

function noAccount({ accountId }: ReadEvent): IngestOutcome {
  const sentence = `No account has the id or alias ${shown(accountId)}.`;
  return outcomeOf("INGESTION_FAILED_ACCOUNT_NOT_FOUND", sentence);
}

function noSchema({ schemaName }: ReadEvent): IngestOutcome {
  return outcomeOf("INGESTION_FAILED_SCHEMA_NOT_DEFINED", `No event schema ${shown(schemaName)} is active.`);
}

function duplicate({ id }: ReadEvent): IngestOutcome {
  const sentence = `An event with the id ${shown(id)} was accepted before.`;
  return outcomeOf("INGESTION_FAILED_DUPLICATE_EVENT", sentence);
}

function stateOf(program: SchemaProgram): SchemaState {
  return { program, dependencies: [] };
}

function accountStates(accounts: readonly MeteredAccount[]): ReadonlyMap<string, AccountState> {
  const states = new Map<string, AccountState>();
  for (const [index, { id, customerId, status, aliases }] of accounts.entries()) {
    const state: AccountState = { index, id, customerId, archived: status === "ARCHIVED", period: NEVER };
    states.set(id, state);
    // Archiving an account frees its aliases.
    if (!state.archived) for (const alias of aliases) if (!states.has(alias)) states.set(alias, state);
  }
  return states;
}

/** Entries that the book gives to accounts; where createdAt decides, the order in the book counts. */
function purchasedIn(book: MeteringRunBook): ReadonlyMap<string, readonly FeatureEntry[]> {
  return new Map(
    book.accounts.map(({ id, featureCredits }) => [
      id,
      featureCredits.map((credit, createdAt) => ({
        id: credit.id ?? `${id}.featureCredit.${createdAt}`,
        featureId: credit.featureId,
        granted: exactOfDecimal(credit.granted),
        balance: exactOfDecimal(credit.granted),
        effectiveFrom: credit.effectiveFrom,
        effectiveUntil: credit.effectiveUntil,
        createdAt,
        voided: false,
      })),
    ]),
  );
}
