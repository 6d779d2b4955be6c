/**
 * Finds events that can be counted in parallel and in any order, and measures them like the engine does (S17.3).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import {
  compileMetering,
  featureQuantity,
  type MeteringBook,
  type SchemaProgram,
} from "../../metering/compile-metering.ts";
import { createEnvelopeReader, type EventEnvelope } from "../../metering/event-envelope.ts";
import { createFieldReader, type FieldsRead } from "../../metering/event-fields.ts";
import type { AccountDependencies, EventSlots } from "../../metering/event-slots.ts";
import type { Units } from "../../metering/measure-units.ts";
import { measureEvent } from "../events/decide-event.ts";
import { isNarrow } from "./preview-account.ts";

/** An account whose events may be counted in any order. */
export interface PlainAccount {
  readonly accountId: string;
  readonly customerId: string;
  /** Its id and its aliases, which events may use. */
  readonly names: readonly string[];
}

/**
 * The kind of an event. `plain`: accepted, whatever the order of events. `wide`: its account may reject later events,
 * so all its events must be decided in order. `other`: must be decided in order.
 */
export type EventKind = "plain" | "wide" | "other";

/** Classifies and measures events one at a time. */
export interface PlainEvents {
  /** The schemas, by program index. */
  readonly programs: readonly SchemaProgram[];
  readonly accounts: readonly PlainAccount[];
  /** See `EventRun.slotsOf`. */
  readonly slotsOf: (schemaName: string) => EventSlots | undefined;
  /** Classifies the event in the slots of {@link slotsOf}. */
  readonly ofSlots: (slots: EventSlots) => EventKind;
  /** Classifies an event as sent. */
  readonly of: (event: unknown) => EventKind;
  /** The last event that was plain or wide. */
  readonly last: Readonly<MeasuredEvent>;
}

/** A measured event. */
interface MeasuredEvent {
  /** The index of its account in {@link PlainEvents.accounts}. */
  account: number;
  /** The index of its program. */
  program: number;
  at: Instant;
  units: Units;
}

/** Creates the classifier for a book. @param accounts those whose events may be counted in any order */
export function openPlainEvents(book: MeteringBook, accounts: readonly PlainAccount[]): PlainEvents {
  const { schemas } = compileMetering(book);
  const indexes = new Map(accounts.flatMap(({ names }, index) => names.map((name) => [name, index] as const)));
  const readEnvelope = createEnvelopeReader();
  const readFields = createFieldReader(schemas);
  const inSlots = new Map<string, FieldsRead>(
    [...schemas].map(([name, program]) => [name, { program, problem: undefined, fault: undefined }]),
  );
  const last: MeasuredEvent = { account: -1, program: -1, at: 0, units: [] };
  const dependencies = accounts.map((): AccountDependencies[] => []);
  const owner = {
    dependenciesOf: ({ index, enrichment }: SchemaProgram): AccountDependencies => {
      const known = dependencies[last.account] ?? [];
      return (known[index] ??= enrichment.findDependencies(accounts[last.account] ?? NOBODY));
    },
  };
  const look = (event: EventEnvelope, { program, problem, fault }: FieldsRead): EventKind => {
    const account = indexes.get(event.accountId);
    if (account === undefined || program === undefined || problem !== undefined || fault !== undefined) return "other";
    last.account = account;
    last.program = program.index;
    last.at = event.timestamp;
    const units = measureEvent(event, program, owner);
    if ("status" in units) return "other";
    last.units = units;
    const { feature } = program;
    for (const quantity of units) if (quantity !== undefined && !isNarrow(quantity)) return "wide";
    if (feature === undefined) return "plain";
    // The order of events matters if they consume a feature.
    return isNarrow(featureQuantity(feature, program.slots)) ? "other" : "wide";
  };
  return {
    programs: [...schemas.values()],
    accounts,
    slotsOf: (schemaName) => schemas.get(schemaName)?.slots,
    ofSlots: (slots) => look(slots, inSlots.get(slots.schemaName) ?? UNKNOWN),
    of: (event) => {
      const incoming = readEnvelope(event);
      return "code" in incoming ? "other" : look(incoming, readFields(incoming));
    },
    last,
  };
}

const NOBODY = { accountId: "", customerId: "" };
const UNKNOWN: FieldsRead = { program: undefined, problem: undefined, fault: undefined };
