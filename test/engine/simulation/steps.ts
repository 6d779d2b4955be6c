/** Steps of random sequences, and how a world applies them. */
import fc from "fast-check";

import { RatebookError } from "../../../src/errors.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { stepArbitrary } from "../../support/step-kinds.ts";
import { listEntries } from "./check.ts";
import {
  accountNumber,
  changedPlanOn,
  expectedFailure,
  isAccepted,
  type Operation,
  type GeneratedEvent,
} from "./model.ts";
import { formatDay, DAY, type Failure, HOUR, formatTime, type World } from "./simulated-engine.ts";

type Drawn<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;
type DrawnEvent = Drawn<typeof event>;

const account = fc.nat(1).map(accountNumber);
const event = fc.record({
  id: fc.nat(9).map((number) => `event-${number}`),
  accountId: account,
  halves: fc.nat(12),
  hoursAgo: fc.integer({ min: -30, max: 900 }),
  region: fc.constantFrom("n", "s"),
});
const eventId = fc.option(event.map(({ id }) => id));
const planId = fc.option(fc.constantFrom("pp.small", "pp.strict"));
const act = stepArbitrary(
  {
    ingest: { events: fc.array(event, { minLength: 1, maxLength: 5 }) },
    undo: { accountId: account, id: eventId },
    grant: {
      accountId: account,
      granted: fc.nat(10),
      daysAgo: fc.nat(30),
      days: fc.integer({ min: 1, max: 60 }),
    },
    void: { accountId: account, entry: fc.nat(5) },
    plan: { accountId: account, planId },
    seats: { accountId: account, quantity: fc.nat(6) },
    credit: { accountId: account, amount: fc.integer({ min: 1, max: 50 }) },
    finalize: {},
  },
  { ingest: 6, undo: 3, grant: 2, plan: 2 },
);
/** An operation that changes a ledger; it may fail in the store. */
export type Act = Drawn<typeof act>;
const step = stepArbitrary(
  {
    act: {
      act,
      failure: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, fc.constantFrom<Failure>("before", "after")),
    },
    wait: { hours: fc.integer({ min: 1, max: 600 }) },
    "there and back": { events: fc.array(event, { minLength: 1, maxLength: 1 }) },
  },
  { act: 10, wait: 4 },
);
/** An operation, or an advance of the clock. */
export type Step = Drawn<typeof step>;

/** Sequences of steps. */
export const steps: fc.Arbitrary<Step[]> = fc.array(step, { minLength: 1, maxLength: 14 });

/**
 * Applies an operation.
 *
 * @returns the record of it; undefined if it was rejected or changes nothing that the model knows
 */
export async function takeAct(
  world: World,
  act: Act,
  operations: readonly Operation[],
): Promise<Operation | undefined> {
  const at = world.now;
  const engine = world.next();
  switch (act.kind) {
    case "ingest": {
      const events = act.events.map((each) => sentEvent(each, at));
      const results = await engine.ingest(events.map(payloadOf) as EventInput[]);
      const references = results.map(({ referenceId = "" }) => referenceId);
      return { kind: "ingest", at, events, statuses: results.map(({ status }) => status), references };
    }
    case "undo": {
      const account = act.accountId;
      const undone = await engine.undo(act.id === null ? { account } : { account, eventId: act.id });
      const revertedIds = undone.flatMap(({ status, event: { referenceId } }) =>
        status === "REVERTED" ? [referenceId] : [],
      );
      return { kind: "undo", at, accountId: act.accountId, revertedIds };
    }
    case "grant": {
      const from = at - act.daysAgo * DAY;
      await engine.entries.grant(
        { accountId: act.accountId, featureId: "ft.calls" },
        { granted: act.granted, effectiveFrom: formatTime(from), effectiveUntil: formatTime(from + act.days * DAY) },
      );
      return undefined;
    }
    case "void": {
      const entry = (await listEntries(engine, act.accountId))[act.entry];
      if (entry !== undefined)
        await unlessRefused(engine.entries.void({ accountId: act.accountId, entryId: entry.id }));
      return undefined;
    }
    case "plan": {
      if (changedPlanOn(operations, act.accountId, at)) return undefined;
      const effectiveFrom = formatDay(at);
      if (act.planId === null) await engine.dissociate(act.accountId, { effectiveFrom });
      else await engine.associate(act.accountId, { pricePlanId: act.planId, effectiveFrom });
      return { kind: "plan", at, accountId: act.accountId, isGone: act.planId === null };
    }
    case "seats":
      await engine.licenses.update(act.accountId, {
        licenseId: "ao.seats",
        updateType: "ABSOLUTE",
        quantity: act.quantity,
      });
      return undefined;
    case "credit": {
      const credit = { purpose: "goodwill", priority: 1, effectiveFrom: formatDay(at) };
      await engine.credits.create([{ ...credit, accountId: act.accountId, creditAmount: act.amount }]);
      return undefined;
    }
    case "finalize":
      await engine.finalize();
      return undefined;
  }
}

/** An event with its instants. */
export function sentEvent(draw: DrawnEvent, now: number): GeneratedEvent {
  const { id, accountId, halves, hoursAgo, region } = draw;
  return { id, accountId, count: halves / 2, timestamp: now - hoursAgo * HOUR, region };
}

/** An event in the form that an engine accepts. */
export function payloadOf({ id, accountId, timestamp, count, region }: GeneratedEvent): object {
  const attributes = [{ name: "count", value: count }];
  return { schemaName: "call", id, accountId, timestamp: formatTime(timestamp), attributes, dimensions: { region } };
}

/** The outcome that the model expects for each event of a batch; where it has no expectation, the actual outcome. */
export function predictStatuses(
  operation: Extract<Operation, { kind: "ingest" }>,
  before: readonly Operation[],
): string[] {
  const takenIds = new Set<string>();
  return operation.events.map((event, index) => {
    const status = operation.statuses[index] ?? "";
    const failure = expectedFailure(before, event, operation.at, takenIds);
    if (failure !== undefined) return failure;
    if (isAccepted(status)) takenIds.add(event.id);
    return isAccepted(status) || status === "INGESTION_FAILED_INSUFFICIENT_CREDITS" ? status : "accepted";
  });
}

async function unlessRefused(operation: Promise<unknown>): Promise<void> {
  try {
    await operation;
  } catch (error) {
    if (!(error instanceof RatebookError && error.code === "ERR_REFUSED")) throw error;
  }
}
