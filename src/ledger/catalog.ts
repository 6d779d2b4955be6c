/**
 * The configuration that decisions are made by: a book, compiled once (design: functional core).
 *
 * @module
 */
import type { Book } from "../book/book.ts";
import { DAY_MS } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import type { BillingCatalog } from "../invoicing/account-view.ts";
import type { PlanDecision } from "../invoicing/timeline.ts";
import { compileMetering, type MeteringProgram } from "../metering/program.ts";
import { createEventReader, type EventReader } from "../metering/read-event.ts";
import { decimalOfExact, type Exact } from "../numbers/exact.ts";
import { type RuleBudget, RULE_BUDGET } from "../rules/budget.ts";
import { type FindPlan, findPlanIn } from "./account/account-plans.ts";
import { catalogOf, type GroupTerms, termsOfGroup } from "./account/book-views.ts";
import type { PlanClock } from "./account/plan-clock.ts";
import { type EventGathering, gatherEvents } from "./events/gathered-events.ts";
import type { Seats } from "./events/seats.ts";
import type { AccountRecord, EventRecord } from "./records.ts";

/** What an engine may set for all of its accounts. */
export interface CatalogOptions {
  /** Whole days, 1 or more: the least grace of cycles that had ended when their association was made (S6.5). Default 1. */
  readonly graceAfterAssociationDays?: number;
  /** How far ahead of the clock an event may be dated, in milliseconds, 0 or more (S6.6). Default one day. */
  readonly futureMs?: number;
  /** How long after its ingest an event blocks its id, in milliseconds, 0 or more (S14.1). Default 45 days. */
  readonly idMemoryMs?: number;
  /** What one evaluation of a rule may do, where it goes through lists or makes text (S3.8). */
  readonly ruleBudget?: RuleBudget;
}

/** The plans of one account: what was decided, and a clock over it. */
export interface AccountPlan {
  /** In the order of decision. */
  readonly decisions: readonly PlanDecision[];
  readonly clock: PlanClock;
}

/**
 * A compiled book. It holds the event that is being metered, so one catalog makes one decision at a time; decisions are
 * synchronous.
 */
export interface Catalog {
  /** Its accounts are ignored: those of the ledger count. */
  readonly book: Book;
  readonly options: Required<CatalogOptions>;
  readonly metering: MeteringProgram;
  readonly reader: EventReader;
  readonly findPlan: FindPlan;
  readonly billing: BillingCatalog;
  /** What invoice groups set for their accounts, by the group's id (S16.7). */
  readonly groupTerms: ReadonlyMap<string, GroupTerms>;
  /** The plans worked out so far: whoever lays out an account's plans keeps them here. */
  readonly plans: WeakMap<AccountRecord["associations"], AccountPlan & { readonly groupId: string | undefined }>;
  /** Small whole quantities of meters, which most events count: made once, kept by all of them. */
  readonly smallUnits: Map<number, EventRecord["units"][number]>;
  /** What events asked of accounts so far: see `seatOf`. */
  readonly seats: Seats;
  /** The events of the decision that is being made. */
  readonly gathering: EventGathering;
}

const DEFAULTS: Required<CatalogOptions> = {
  graceAfterAssociationDays: 1,
  futureMs: DAY_MS,
  idMemoryMs: 45 * DAY_MS,
  ruleBudget: RULE_BUDGET,
};

/**
 * Compiles a book for decisions.
 *
 * @param book read and checked
 * @throws {RatebookError} ERR_OPTION_INVALID for an option out of its bounds
 */
export function createCatalog(book: Book, options: CatalogOptions = {}): Catalog {
  const metering = compileMetering(book, options);
  return {
    book,
    options: checked({ ...DEFAULTS, ...options }),
    metering,
    reader: createEventReader(metering.schemas),
    findPlan: findPlanIn(book.pricePlans),
    billing: catalogOf(book),
    groupTerms: new Map(book.invoiceGroups.map((group) => [group.id, termsOfGroup(group)])),
    plans: new WeakMap(),
    smallUnits: new Map(),
    seats: { byId: new Map(), times: new Float64Array(), periods: new Map() },
    gathering: gatherEvents(metering),
  };
}

/** What the account's invoice group sets for it; nothing where it is in none. */
export function groupTermsFor(catalog: Catalog, record: Pick<AccountRecord, "invoiceGroupId">): GroupTerms {
  return catalog.groupTerms.get(record.invoiceGroupId ?? "") ?? {};
}

/** Quantities from 0 up to here are small. */
const SMALL_END = 1024;
/** Small quantities that are remembered at once: more are made for each event. */
const SMALL_UNITS_MAX = 65_536;

/** What a meter measured, as it is kept: an event that counts as much as another one shares it. */
export function unitsIn(
  { metering, smallUnits }: Catalog,
  meter: number,
  quantity: Exact,
): EventRecord["units"][number] {
  const isSmall = typeof quantity === "number" && quantity >= 0 && quantity < SMALL_END;
  const key = isSmall ? meter * SMALL_END + quantity : -1;
  const known = isSmall ? smallUnits.get(key) : undefined;
  if (known !== undefined) return known;
  const units = { meterId: metering.meterIds[meter] ?? "", quantity: decimalOfExact(quantity) };
  if (isSmall && smallUnits.size < SMALL_UNITS_MAX) smallUnits.set(key, units);
  return units;
}

function checked(options: Required<CatalogOptions>): Required<CatalogOptions> {
  for (const [option, least] of [
    ["graceAfterAssociationDays", 1],
    ["futureMs", 0],
    ["idMemoryMs", 0],
  ] as const) {
    const value = options[option];
    if (Number.isSafeInteger(value) && value >= least) continue;
    const message = `${option}: expected a whole number, ${least} or more, got ${String(value).slice(0, 60)}`;
    throw new RatebookError("ERR_OPTION_INVALID", message, { option });
  }
  return options;
}
