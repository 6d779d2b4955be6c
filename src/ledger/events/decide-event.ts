/**
 * Decides the outcome of one event (S14.1), for the engine and previews, single events and batches. {@link decideEvent}
 * changes nothing; callers apply its decision. They also check duplicate ids, because engines and previews store ids
 * differently.
 */
import { carriesOver, findGroupLimit, hasKeys, type UsageMeter } from "../../book/resources/event-schema.ts";
import { dayOf, formatDate, type Instant, formatInstant } from "../../calendar/instant.ts";
import { consume, type FeatureConsumption } from "../../credits/feature-credits.ts";
import { featureQuantity, type FeatureProgram, type SchemaProgram } from "../../metering/compile-metering.ts";
import type { EventEnvelope } from "../../metering/event-envelope.ts";
import { DIMENSION_LENGTH_MAX, type FieldsResult } from "../../metering/event-fields.ts";
import type { GroupTexts } from "../../metering/grouped-cells.ts";
import type { Units } from "../../metering/measure-units.ts";
import { compareExact, type Exact, isWithinPlaces, isZeroExact, formatExact } from "../../numbers/exact.ts";
import { createProblem, type Problem, type ProblemCode, type ProblemParams } from "../../problem-table.ts";
import type { AccountState } from "../account-state.ts";
import type { AccountPeriod, Catalog } from "../catalog.ts";
import {
  createOutcome,
  type IngestOutcome,
  type IngestStatus,
  isUnmetered,
  METERED,
  NO_METERS,
  NOT_BILLED,
  NOT_METERED,
} from "../outcome.ts";

/** The account of an event, as the decision reads it. */
export type AccountAtEvent = Pick<
  AccountState,
  | "id"
  | "isArchived"
  | "billFault"
  | "dependenciesOf"
  | "hasRoomForAnyGroup"
  | "hasRoomForGroup"
  | "periodAt"
  | "closedReasonAt"
  | "levelsEnd"
  | "spendableEntries"
  | "overageAllowanceAt"
>;

/** The decision on an event. */
export interface EventDecision {
  readonly outcome: IngestOutcome;
  /** Whether the event is counted, consumes credits and reserves its id: its status is one of INGESTION_COMPLETED (S14.2). */
  readonly isAccepted: boolean;
  /** The units of each meter of the schema, in order; undefined if a meter's matcher does not match. Empty for a rejected event. */
  readonly units: Units;
  /** Undefined if the schema has no feature. */
  readonly consumption: FeatureConsumption | undefined;
}

/** The instant at which an event is decided. */
export interface DecisionTime {
  readonly now: Instant;
  /** How far after `now` an event may be dated, in milliseconds (S6.6). */
  readonly futureMs: number;
}

/** The outcome of an event with a malformed envelope; it is not stored. */
export function refuse(problem: Problem): IngestOutcome {
  return createOutcome("INGESTION_REFUSED", problem);
}

/** The outcome of an event of an external schema; it is not stored and does not reserve its id (S17.4). */
export function refuseExternal({ schemaName }: Pick<EventEnvelope, "schemaName">): IngestOutcome {
  return failure("INGESTION_REFUSED", "$.schemaName", "EXTERNAL_SCHEMA", { name: schemaName });
}

/** The outcome of an event whose id an accepted event reserves. */
export function refuseDuplicate({ id }: Pick<EventEnvelope, "id">): IngestOutcome {
  return failure("INGESTION_FAILED_DUPLICATE_EVENT", "$.id", "DUPLICATE_EVENT", { id });
}

/**
 * Until when an accepted event reserves its id, exclusive: for a time after its ingest, and while its cycle is open
 * (S14.1).
 *
 * @param period that of the event's timestamp, by the current plans of its account
 */
export function idReservedUntil(
  { idMemoryMs }: Pick<Catalog["options"], "idMemoryMs">,
  ingestedAt: Instant,
  period: AccountPeriod | undefined,
): Instant {
  return Math.max(ingestedAt + idMemoryMs, period?.openUntil ?? Number.NEGATIVE_INFINITY);
}

/**
 * Decides one event: every check of S14.1 in order, except that of its id.
 *
 * @param read its fields; those of a known schema are in the program's slots, where the enriched ones are written too
 * @param account undefined if no account has the event's name
 * @param knownUnits the event's units if it was already measured for the same account with other plans: units do not
 * depend on plans
 */
export function decideEvent(
  event: EventEnvelope,
  read: FieldsResult,
  account: AccountAtEvent | undefined,
  time: DecisionTime,
  knownUnits?: Units,
): EventDecision {
  const { program } = read;
  if (read.problem !== undefined) return failWith(refuse(read.problem));
  if (account === undefined || account.isArchived) {
    const code = account === undefined ? "UNKNOWN_ACCOUNT" : "ARCHIVED_ACCOUNT";
    const { accountId } = event;
    return failWith(failure("INGESTION_FAILED_ACCOUNT_NOT_FOUND", "$.accountId", code, { accountId }));
  }
  if (program === undefined) {
    const { schemaName: name } = event;
    return failWith(failure("INGESTION_FAILED_SCHEMA_NOT_DEFINED", "$.schemaName", "UNKNOWN_SCHEMA", { name }));
  }
  if (read.fault !== undefined) return failWith(createOutcome("INGESTION_FAILED", read.fault));
  if (account.billFault !== undefined) {
    const params = { accountId: account.id, reason: account.billFault };
    return failWith(failure("INGESTION_FAILED", "$.accountId", "BILL_FAILED", params));
  }
  const period = account.periodAt(event.timestamp);
  const timingFailure = findTimingFailure(event, period, account, time);
  if (timingFailure !== undefined) return failWith(timingFailure);
  const units = knownUnits ?? measureEvent(event, program, account, time.now);
  if ("status" in units) return failWith(units);
  const groupFailure = program.hasGroups ? findGroupFailure(event, program, units, account) : undefined;
  if (groupFailure !== undefined) return failWith(groupFailure);
  return program.feature === undefined
    ? countEvent(program, period, units, undefined)
    : consumeFeature(program.feature, { event, program, account, period, units, now: time.now });
}

/** Why no meter counts an accepted event. */
export interface UnmeteredExplanation {
  /** The values that explain it, by dimension; absent if a meter counts the event or its schema allows it. */
  readonly unmetered?: { readonly schemaName: string; readonly values: Readonly<Record<string, string>> };
}

/** Explains a decision on the event in the slots. */
export function explainUnmetered({ program }: FieldsResult, { outcome }: EventDecision): UnmeteredExplanation {
  if (program === undefined || !isUnmetered(outcome) || program.schema.allowUnmetered === true) return {};
  return { unmetered: { schemaName: program.schema.name, values: Object.fromEntries(program.findUnmatchedValues()) } };
}

/** Why the event is too far in the future (S6.6), or its cycle accepts no more events (S6.5). */
function findTimingFailure(
  { timestamp: at }: EventEnvelope,
  period: AccountPeriod,
  account: AccountAtEvent,
  { now, futureMs }: DecisionTime,
): IngestOutcome | undefined {
  if (at > now + futureMs) {
    const params = { timestamp: formatInstant(at), now: formatInstant(now) };
    return failure("INGESTION_FAILED", "$.timestamp", "EVENT_TOO_EARLY", params);
  }
  if (period.openUntil === undefined) return undefined;
  const reason = account.closedReasonAt(period, at, now);
  if (reason === undefined) return undefined;
  const timestamp = formatInstant(at);
  return reason === "FINAL_INVOICE"
    ? failure("INGESTION_FAILED_PAST_GRACE_PERIOD", "$.timestamp", "INVOICE_FINAL", { timestamp })
    : failure("INGESTION_FAILED_PAST_GRACE_PERIOD", "$.timestamp", "EVENT_TOO_LATE", {
        timestamp,
        openUntil: formatInstant(period.openUntil),
      });
}

/** Enriches and measures the event in the slots. @returns its units, or the outcome of its failure */
function measureEvent(
  event: EventEnvelope,
  program: SchemaProgram,
  account: Pick<AccountAtEvent, "dependenciesOf" | "levelsEnd">,
  now: Instant,
): Units | IngestOutcome {
  const { slots, enrichment, meters } = program;
  slots.id = event.id;
  slots.accountId = event.accountId;
  slots.timestamp = event.timestamp;
  if (enrichment.usesSettings) slots.dependencies = account.dependenciesOf(program);
  const fault = enrichment.run();
  if (fault !== undefined) return createOutcome("INGESTION_FAILED_ENRICHMENT_FAILED", fault);
  const units = program.measure.run();
  if ("code" in units) return createOutcome("INGESTION_FAILED_UNITS_INVALID", units);
  for (let index = 0; index < units.length; index++) {
    const quantity = units[index];
    if (quantity !== undefined && !isWithinPlaces(quantity, MEASURED_PLACES_MAX))
      return tooManyDigits("meter", meters[index]?.name ?? "", quantity);
  }
  return (program.carriesOver ? findLevelFailure(event, program, units, account, now) : undefined) ?? units;
}

/** Why the event would change a level that was billed (S6.5). */
function findLevelFailure(
  { timestamp: at }: EventEnvelope,
  { meters }: SchemaProgram,
  units: Units,
  account: Pick<AccountAtEvent, "levelsEnd">,
  now: Instant,
): IngestOutcome | undefined {
  if (!meters.some((meter, place) => units[place] !== undefined && carriesOver(meter))) return undefined;
  const end = account.levelsEnd(at, now);
  if (at >= end) return undefined;
  const params = { timestamp: formatInstant(at), closedUntil: formatInstant(end) };
  return failure("INGESTION_FAILED_PAST_GRACE_PERIOD", "$.timestamp", "LEVEL_TOO_LATE", params);
}

/** Why the units cannot be kept by group: a text is empty or too long, or the account has too many groups (S18.1). */
function findGroupFailure(
  { timestamp }: EventEnvelope,
  program: SchemaProgram,
  units: Units,
  account: Pick<AccountAtEvent, "hasRoomForAnyGroup" | "hasRoomForGroup">,
): IngestOutcome | undefined {
  if (account.hasRoomForAnyGroup && haveGroupTexts(program)) return undefined;
  for (let place = 0; place < units.length; place++) {
    const quantity = units[place];
    const [meter, group] = [program.meters[place], program.groups[place]];
    if (quantity === undefined || meter === undefined || group === undefined) continue;
    if (!hasGroupTexts(group, meter)) return invalidGroupFailure(meter, group);
    if (isZeroExact(quantity) || account.hasRoomForGroup(program, place, dayOf(timestamp))) continue;
    const what = hasKeys(meter) ? ("values" as const) : ("groups" as const);
    const params = { name: meter.name, date: formatDate(timestamp), maximum: findGroupLimit(meter), what };
    return failure("INGESTION_FAILED_UNITS_INVALID", "$", "TOO_MANY_GROUPS", params);
  }
  return undefined;
}

/** Whether all groups have valid texts, also those of meters that do not count the event. */
function haveGroupTexts({ groups, meters }: SchemaProgram): boolean {
  let checkedGroup: GroupTexts | undefined;
  for (let place = 0; place < groups.length; place++) {
    const group = groups[place];
    if (group === undefined || group === checkedGroup) continue;
    if (!hasGroupTexts(group, meters[place])) return false;
    checkedGroup = group;
  }
  return true;
}

/** Whether the texts of a meter's dimensions are valid; the meter itself makes its keys. */
function hasGroupTexts({ texts, slots }: GroupTexts, meter: UsageMeter | undefined): boolean {
  const count = meter?.groupBy?.length ?? 0;
  for (let index = 0; index < count; index++) if (!isGroupText(texts[slots[index] ?? -1])) return false;
  return true;
}

function isGroupText(text = ""): boolean {
  return text.length > 0 && text.length <= DIMENSION_LENGTH_MAX;
}

function invalidGroupFailure({ name, groupBy = [] }: UsageMeter, { texts, slots }: GroupTexts): IngestOutcome {
  const index = slots.findIndex((slot) => !isGroupText(texts[slot]));
  const { length } = texts[slots[index] ?? -1] ?? "";
  const params = { name, dimension: groupBy[index] ?? "", length };
  return failure("INGESTION_FAILED_UNITS_INVALID", "$", "INVALID_GROUP", params);
}

/** Maximum digits before and after the decimal point of the units of one event (S1.6). */
const MEASURED_PLACES_MAX = 40;

function tooManyDigits(kind: "meter" | "feature", name: string, quantity: Exact): IngestOutcome {
  const params = { kind, name, quantity: formatExact(quantity) };
  return failure("INGESTION_FAILED_UNITS_INVALID", "$", "TOO_MANY_DIGITS", params);
}

interface ConsumptionInput {
  readonly event: EventEnvelope;
  readonly program: SchemaProgram;
  readonly account: AccountAtEvent;
  readonly period: AccountPeriod;
  readonly units: Units;
  readonly now: Instant;
}

/** Takes feature credits, and the rest as overage, all or nothing (S11.3). */
function consumeFeature(
  feature: FeatureProgram,
  { event: { timestamp }, program, account, period, units, now }: ConsumptionInput,
): EventDecision {
  const { featureId } = feature;
  const quantity = featureQuantity(feature, program.slots);
  if (compareExact(quantity, 0) < 0) {
    const params = { name: featureId, quantity: formatExact(quantity) };
    return failWith(failure("INGESTION_FAILED_UNITS_INVALID", "$", "NEGATIVE_QUANTITY", params));
  }
  if (!isWithinPlaces(quantity, MEASURED_PLACES_MAX)) return failWith(tooManyDigits("feature", featureId, quantity));
  const entries = account.spendableEntries(featureId);
  // Entries cover most events; only the others need the overage limit.
  let result = consume(entries, quantity, timestamp, 0);
  if (result.kind === "INSUFFICIENT") {
    result = consume(entries, quantity, timestamp, account.overageAllowanceAt(featureId, timestamp, now));
  }
  if (result.kind === "INSUFFICIENT") {
    const params = { name: featureId, quantity: formatExact(quantity), available: formatExact(result.available) };
    return failWith(failure("INGESTION_FAILED_INSUFFICIENT_CREDITS", "$", "INSUFFICIENT_CREDITS", params));
  }
  const { allocations, overage } = result;
  return countEvent(program, period, units, { featureId, quantity, allocations, overage });
}

function countEvent(
  program: SchemaProgram,
  period: AccountPeriod,
  units: Units,
  consumption: FeatureConsumption | undefined,
): EventDecision {
  return { outcome: countedOutcome(program, units, period, consumption), isAccepted: true, units, consumption };
}

function countedOutcome(
  { feature }: SchemaProgram,
  units: Units,
  { openUntil }: AccountPeriod,
  consumption: FeatureConsumption | undefined,
): IngestOutcome {
  if (units.length === 0 && feature === undefined) return NO_METERS;
  const isMetered = hasMatch(units) || (consumption !== undefined && !isZeroExact(consumption.quantity));
  if (!isMetered) return NOT_METERED;
  return openUntil === undefined ? NOT_BILLED : METERED;
}

function hasMatch(units: Units): boolean {
  for (let index = 0; index < units.length; index++) if (units[index] !== undefined) return true;
  return false;
}

const NO_UNITS: Units = [];

function failWith(outcome: IngestOutcome): EventDecision {
  return { outcome, isAccepted: false, units: NO_UNITS, consumption: undefined };
}

function failure<Code extends ProblemCode>(
  status: IngestStatus,
  path: string,
  code: Code,
  params: ProblemParams<Code>,
): IngestOutcome {
  return createOutcome(status, createProblem(path, code, params));
}
