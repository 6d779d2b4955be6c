/** The configuration for decisions: a compiled book. */
import type { InvoiceGroup } from "../book/resources/account.ts";
import type { Book } from "../book/resources/book.ts";
import { carriesOver } from "../book/resources/event-schema.ts";
import type { PricePlan } from "../book/resources/price-plan.ts";
import type { Cycle } from "../calendar/cycle.ts";
import { DAY_MS, type Instant } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import type { BillingCatalog, PlanDecision, Timeline } from "../invoicing/timeline.ts";
import { compileMeteringInSteps, type MeteringProgram } from "../metering/compile-metering.ts";
import { createFieldReader, type ReadFields } from "../metering/event-fields.ts";
import { findKeyedMeters } from "../metering/keyed-usage.ts";
import type { Decimal } from "../numbers/decimal.ts";
import { type Steps, runToCompletion } from "../numbers/steps.ts";
import { quoteText } from "../problem-table.ts";
import { createTableFinder } from "../rating/rated-table.ts";
import { type RuleBudget, RULE_BUDGET } from "../rules/budget.ts";
import type { AccountRecord } from "./records.ts";
import { refusedError } from "./refusals.ts";

/** Engine options that apply to all accounts. */
export interface CatalogOptions {
  /**
   * Whole days, 1 or more: the minimum grace period of cycles that had ended when their association was created (S6.5).
   * Default 1.
   */
  readonly graceAfterAssociationDays?: number;
  /** Whole years, 1 or more: how far `associate` can backdate an account's first plan (S16.1). Default: no limit. */
  readonly associationYearsMax?: number;
  /** How far in the future an event may be dated, in milliseconds, 0 or more (S6.6). Default: one day. */
  readonly futureMs?: number;
  /** How long after its ingest an event blocks its id, in milliseconds, 0 or more (S14.1). Default: 45 days. */
  readonly idMemoryMs?: number;
  /** The budget for one evaluation of a rule that iterates over lists or creates text (S3.8). */
  readonly ruleBudget?: RuleBudget;
}

/** Options for decisions: those of the engine, and the schemas with external usage. */
export interface DecisionOptions extends CatalogOptions {
  /** Event schemas with external usage: their events can't be ingested (S17.4). Default: none. */
  readonly externalSchemas?: readonly string[];
}

/** Account terms that an invoice group may set (S16.7). */
export interface GroupTerms {
  readonly groupGraceDays?: number;
  readonly groupNetTermDays?: number;
}

/** Finds one version of a plan. */
export type FindPlan = (planId: string, version: number) => PricePlan | undefined;

/** A lookup over a book's plans. */
export function findPlanIn(plans: readonly PricePlan[]): FindPlan {
  const byVersion = new Map(plans.map((plan) => [`${plan.id}|${plan.version}`, plan]));
  return (planId, version) => byVersion.get(`${planId}|${version}`);
}

/** A period with one cycle or no cycle in force: `[start, end)`, whole UTC days. */
export interface AccountPeriod {
  /** May be `-Infinity` before the first association. */
  readonly start: Instant;
  /** May be `Infinity` after the last one. */
  readonly end: Instant;
  /**
   * Until when events of this cycle are accepted, exclusive: its end plus the grace period (S6.5). Undefined without a
   * plan: such events are metered, not priced, and never too late.
   */
  readonly openUntil?: Instant | undefined;
}

/** The overage that the plan allows for a feature in one billing window (S11.3, S11.7). */
export interface OverageLimit {
  readonly window: Cycle;
  /** Absent: unlimited. */
  readonly maxQuantity?: Decimal | null | undefined;
}

/** Looks up an account's plans by instant. */
export interface PlanLookup {
  /** The cycle, or the period without one, that contains an instant, and until when it accepts events (S6.5). */
  periodAt(at: Instant): AccountPeriod;
  /**
   * The overage card in force at an instant by the plans known at `now`; if none was known, by a later decision that
   * covers the instant (S11.3). Undefined if there is none.
   */
  overageAt(featureId: string, at: Instant, now: Instant): OverageLimit | undefined;
}

/** The plans of one account: decisions and lookups by instant. */
export interface AccountPlan {
  /** In the order of decision. */
  readonly decisions: readonly PlanDecision[];
  /** Built from all decisions. */
  readonly timeline: Timeline;
  readonly lookup: PlanLookup;
}

/** The plans of an account, with the parts of its record that they depend on besides its associations. */
interface CachedPlan extends AccountPlan {
  readonly groupId: string | undefined;
  readonly groupedAt: Instant | undefined;
  readonly closedCycles: AccountRecord["closedCycles"];
}

/**
 * A compiled book. The slots of its schemas contain the event being decided, so a catalog makes one decision at a time;
 * decisions are synchronous.
 */
export interface Catalog {
  /** Its accounts are ignored; the ledger's accounts are used. */
  readonly book: Book;
  readonly options: Required<DecisionOptions>;
  readonly metering: MeteringProgram;
  /** Reads the fields of an event into the slots of its schema. */
  readonly readFields: ReadFields;
  readonly findPlan: FindPlan;
  readonly billing: BillingCatalog;
  /** Terms that invoice groups set for their accounts, by group id (S16.7). */
  readonly groupTerms: ReadonlyMap<string, GroupTerms>;
  /** A cache of account plans, filled by `findAccountPlan`. */
  readonly plans: WeakMap<AccountRecord["associations"], CachedPlan>;
}

/** Default time that an id stays blocked after its ingest (S14.1). */
export const ID_MEMORY_MS: number = 45 * DAY_MS;

const DEFAULTS: Required<DecisionOptions> = {
  graceAfterAssociationDays: 1,
  associationYearsMax: Number.POSITIVE_INFINITY,
  futureMs: DAY_MS,
  idMemoryMs: ID_MEMORY_MS,
  ruleBudget: RULE_BUDGET,
  externalSchemas: [],
};

/**
 * Compiles a book for decisions.
 *
 * @param book a checked book
 * @throws {RatebookError} ERR_OPTION_INVALID for an option out of bounds; ERR_REFUSED for an external schema that
 * consumes a feature
 */
export function createCatalog(book: Book, options: DecisionOptions = {}): Catalog {
  return runToCompletion(createCatalogInSteps(book, options));
}

/**
 * Like {@link createCatalog}, with one event schema per step.
 *
 * @param before a catalog of a book that shares items, as the same objects, with this one; their compiled parts are
 * reused
 */
export function* createCatalogInSteps(book: Book, optionsInput: DecisionOptions, before?: Catalog): Steps<Catalog> {
  checkExternalSchemas(book, optionsInput.externalSchemas ?? []);
  const options = { ...DEFAULTS, ...optionsInput };
  const formerMetering = before?.options.ruleBudget === options.ruleBudget ? before.metering : undefined;
  const metering = yield* compileMeteringInSteps(book, options, formerMetering);
  return {
    book,
    options: validateOptions(options),
    metering,
    readFields: createFieldReader(metering.schemas),
    findPlan: findPlanIn(book.pricePlans),
    billing: createBillingCatalog(book),
    groupTerms: new Map(book.invoiceGroups.map((group) => [group.id, toGroupTerms(group)])),
    plans: new WeakMap(),
  };
}

/** The same catalog with one plan added or replaced. Metering is unchanged. */
export function withPlan(catalog: Catalog, plan: PricePlan): Catalog {
  const otherPlans = catalog.book.pricePlans.filter(({ id, version }) => id !== plan.id || version !== plan.version);
  const book = { ...catalog.book, pricePlans: [...otherPlans, plan] };
  return {
    ...catalog,
    book,
    findPlan: findPlanIn(book.pricePlans),
    billing: createBillingCatalog(book),
    plans: new WeakMap(),
  };
}

/** The terms of the account's invoice group; empty without one. */
export function groupTermsFor(catalog: Catalog, record: Pick<AccountRecord, "invoiceGroupId">): GroupTerms {
  return catalog.groupTerms.get(record.invoiceGroupId ?? "") ?? {};
}

/** The feature that each event schema consumes, by schema name; schemas without a feature are omitted. */
export function featuresBySchema({ eventSchemas }: Pick<Book, "eventSchemas">): ReadonlyMap<string, string> {
  return new Map(
    eventSchemas.flatMap(({ name, featureDetails }) => (featureDetails ? [[name, featureDetails.featureId]] : [])),
  );
}

/** The feature whose credits a meter's events consume, by meter id; other meters are omitted. */
export function featuresByMeter(book: Pick<Book, "eventSchemas" | "usageMeters">): ReadonlyMap<string, string> {
  const bySchema = featuresBySchema(book);
  return new Map(
    book.usageMeters.flatMap(({ id, eventSchemaName }) => {
      const featureId = bySchema.get(eventSchemaName);
      return featureId === undefined ? [] : [[id, featureId]];
    }),
  );
}

/** Why events that consume a feature can't be given as sums (S17.1). */
export function describeOrderDependence(featureId: string): string {
  return `it consumes credits of the feature ${quoteText(featureId)}, which requires events in order`;
}

function checkExternalSchemas(book: Book, externalSchemas: readonly string[]): void {
  const features = externalSchemas.length === 0 ? new Map<string, string>() : featuresBySchema(book);
  for (const name of externalSchemas) {
    const featureId = features.get(name);
    if (featureId === undefined) continue;
    const subject = `the usage of the event schema ${quoteText(name)} cannot be external`;
    throw refusedError("S17.1", `${subject}: ${describeOrderDependence(featureId)}`);
  }
}

function validateOptions(options: Required<DecisionOptions>): Required<DecisionOptions> {
  for (const [option, minimum] of [
    ["graceAfterAssociationDays", 1],
    ["associationYearsMax", 1],
    ["futureMs", 0],
    ["idMemoryMs", 0],
  ] as const) {
    const value = options[option];
    if (value === DEFAULTS[option] || (Number.isSafeInteger(value) && value >= minimum)) continue;
    const message = `${option}: expected a whole number, ${minimum} or more, got ${String(value).slice(0, 60)}`;
    throw new RatebookError("ERR_OPTION_INVALID", message, { option });
  }
  return options;
}

/** The parts of a book that invoicing needs. */
function createBillingCatalog(book: Book): BillingCatalog {
  const nameById = (
    items: readonly { readonly id: string; readonly displayName: string }[],
  ): ReadonlyMap<string, string> => new Map(items.map(({ id, displayName }) => [id, displayName]));
  return {
    rounding: book.organization.rounding,
    meters: nameById(book.usageMeters),
    featuresByMeter: featuresByMeter(book),
    keyedMeters: findKeyedMeters(book.usageMeters),
    levelMeters: findKeyedMeters(book.usageMeters.filter(carriesOver)),
    findTable: createTableFinder(
      new Map(book.usageMeters.flatMap(({ id, groupBy }) => (groupBy === undefined ? [] : [[id, groupBy]]))),
    ),
    addOns: nameById(book.addOns),
    features: nameById(book.features),
  };
}

/** The terms that an invoice group sets for its accounts. */
function toGroupTerms({ gracePeriod, netTermDays }: InvoiceGroup): GroupTerms {
  return {
    ...(typeof gracePeriod === "number" ? { groupGraceDays: gracePeriod } : {}),
    ...(typeof netTermDays === "number" ? { groupNetTermDays: netTermDays } : {}),
  };
}
