/**
 * Retention changes nothing except which old events exist: the same history has the same result with and without it.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { ShortBookInput } from "../../../src/book/resources/book.ts";
import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import { RatebookError } from "../../../src/errors.ts";
import type { IngestResult } from "../../../src/ledger/events/ingest.ts";
import type { UndoFilter } from "../../../src/ledger/events/undo.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { runs } from "../../support/runs.ts";
import { stepArbitrary, type StepOf } from "../../support/step-kinds.ts";

const DAY = 86_400_000;
const START = Date.parse("2024-01-01T00:00:00Z");
const KEPT = 45 * DAY;

const tokens = (quantity: number, max: number) => ({
  entitlements: [{ feature: "f.tokens", quantity, for: "P2M", rate: 0.01 }],
  overages: [{ feature: "f.tokens", max, rate: 0.01 }],
});
const usage = [{ meter: "sum", rate: 0.01 }];
const BOOK: ShortBookInput = {
  eventSchemas: ["call", "token"].map((name) => ({ name, attributes: ["count"] })),
  usageMeters: [{ id: "sum", schema: "call", sum: "count" }],
  features: [{ id: "f.tokens", name: "Tokens", schemaAssociations: [{ schemaName: "token", attributeName: "count" }] }],
  pricePlans: [
    { id: "monthly", cycle: { interval: "MONTHLY", gracePeriod: 5 }, usage, ...tokens(20, 30) },
    { id: "annual", cycle: "ANNUALLY", usage, ...tokens(50, 10) },
    // Only overage is paid in arrears: most of its cycles have no STANDARD invoice.
    { id: "prepaid", cycle: "WEEKLY", ...tokens(30, 5) },
  ],
  customers: [{ id: "c", name: "Customer" }],
  accounts: [
    { id: "a", name: "Account A", customerId: "c", plan: "monthly", from: "2024-01-01" },
    { id: "b", name: "Account B", customerId: "c", plan: "prepaid", from: "2024-01-10" },
    { id: "n", name: "Account N", customerId: "c" },
  ],
};

const accountId = fc.constantFrom("a", "b", "n");
const sentEvent = fc.record({
  schemaName: fc.constantFrom("call", "token", "token", "unknown"),
  id: fc.nat(9),
  accountId: fc.constantFrom("a", "b", "n", "nobody"),
  // Days before now.
  ago: fc.oneof(fc.constantFrom(0, -1), fc.nat(20), fc.nat(120)),
  count: fc.integer({ min: -1, max: 15 }),
});
type SentEvent = typeof sentEvent extends fc.Arbitrary<infer Drawn> ? Drawn : never;

const kinds = {
  wait: { days: fc.integer({ min: 1, max: 40 }) },
  ingest: { events: fc.array(sentEvent, { minLength: 1, maxLength: 6 }) },
  undo: { event: sentEvent, by: fc.nat(5) },
  retry: { place: fc.nat(20) },
  run: {},
  group: { accountId, gracePeriod: fc.constantFrom(0, 20, 400, 400, undefined) },
  grant: { accountId, from: fc.integer({ min: -90, max: 5 }), days: fc.integer({ min: 1, max: 200 }) },
  patch: { accountId, place: fc.nat(20), until: fc.integer({ min: -120, max: 60 }) },
  plan: {
    accountId,
    planId: fc.constantFrom("monthly", "annual", "prepaid", undefined),
    days: fc.integer({ min: -100, max: 10 }),
  },
};
type Step = StepOf<typeof kinds>;
const step = stepArbitrary(kinds, { wait: 4, ingest: 6, undo: 3, retry: 2, run: 4, patch: 6 });

/** Steps after which old events are deleted, followed by steps that might reopen their cycles or accept them again. */
const { patch: _, ...attacks } = kinds;
const attackSteps: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.array(
      stepArbitrary({ ingest: kinds.ingest, wait: kinds.wait, group: kinds.group, plan: kinds.plan }, { ingest: 9 }),
      { minLength: 2, maxLength: 6 },
    ),
    fc.array(stepArbitrary(attacks, { retry: 5, group: 2 }), { minLength: 4, maxLength: 15 }),
  )
  .map(([before, after]) => [
    // On the first day no plan of the account has begun.
    { kind: "wait", days: 12 },
    ...before,
    { kind: "wait", days: 60 },
    { kind: "run" },
    ...after,
  ]);

/** A step, with the filter of its undo, and its events as sent. */
type RunRequest =
  | Exclude<Step, { kind: "undo" | "ingest" | "retry" }>
  | { readonly kind: "undo"; readonly filter: UndoFilter }
  | { readonly kind: "ingest"; readonly events: readonly EventInput[] };

interface RetentionRun {
  readonly engine: Engine;
  readonly clock: { now: number };
}

async function openRun(keepEventsMs?: number): Promise<RetentionRun> {
  const clock = { now: START };
  let idCount = 0;
  const engine = createEngine({
    store: memoryStore(),
    clock: () => clock.now,
    ids: (prefix) => `${prefix}.${String(++idCount).padStart(6, "0")}`,
    ...(keepEventsMs === undefined ? {} : { keepEventsMs }),
  });
  await engine.load(BOOK);
  return { engine, clock };
}

const timeOf = (instant: number): string => new Date(instant).toISOString();
const dayOfInstant = (instant: number): string => timeOf(instant).slice(0, 10);

function toEventInput({ ago, id, count, ...event }: SentEvent, now: number): EventInput {
  const timestamp = timeOf(now - ago * DAY);
  return { ...event, id: `e${id}`, timestamp, attributes: [{ name: "count", value: count }], dimensions: {} };
}

/** What is done and answered, as text; for an undo, what it reverted. */
async function runRequest({ engine, clock }: RetentionRun, request: RunRequest): Promise<unknown> {
  const { now } = clock;
  try {
    switch (request.kind) {
      case "wait":
        clock.now += request.days * DAY;
        return undefined;
      case "ingest":
        return await engine.ingest(request.events);
      case "undo": {
        const undone = await engine.undo(request.filter);
        return undone.filter(({ status }) => status === "REVERTED").map(({ event }) => event.referenceId);
      }
      case "run":
        return await engine.finalize();
      case "grant":
        return await engine.entries.grant(
          { accountId: request.accountId, featureId: "f.tokens" },
          {
            granted: 10,
            effectiveFrom: timeOf(now + request.from * DAY),
            effectiveUntil: timeOf(now + (request.from + request.days) * DAY),
          },
        );
      case "patch": {
        const { items } = await engine.entries.list({ accountId: request.accountId, featureId: "f.tokens" });
        const entry = items[request.place % Math.max(1, items.length)];
        if (entry === undefined) return undefined;
        const target = { accountId: request.accountId, featureId: "f.tokens", entryId: entry.id };
        return await engine.entries.update(target, { effectiveUntil: timeOf(now + request.until * DAY) });
      }
      case "group":
        return await regroup(engine, request.accountId, request.gracePeriod);
      case "plan": {
        const effectiveFrom = dayOfInstant(now + request.days * DAY);
        return request.planId === undefined
          ? await engine.dissociate(request.accountId, { effectiveFrom })
          : await engine.associate(request.accountId, { pricePlanId: request.planId, effectiveFrom });
      }
    }
  } catch (error) {
    if (error instanceof RatebookError) return `${error.code} ${error.message}`;
    throw error;
  }
}

/** Removes the account from its group, and adds it to a new one if a grace period is given. */
async function regroup(engine: Engine, id: string, gracePeriod: number | undefined): Promise<unknown> {
  const { invoiceGroupId } = await engine.accounts.get(id);
  if (invoiceGroupId !== undefined) await engine.invoiceGroups.removeAccounts(invoiceGroupId, [id]);
  if (gracePeriod === undefined) return undefined;
  const group = { name: "Group", email: "group@example.com", dailyInvoiceConsolidation: false };
  return engine.invoiceGroups.create({ ...group, gracePeriod, accountIds: [id] });
}

/** A step as both engines get it; an event that is sent again is unchanged. */
async function toRequest(run: RetentionRun, step: Step, sentBefore: EventInput[]): Promise<RunRequest> {
  switch (step.kind) {
    case "undo":
      return { kind: "undo", filter: await toUndoFilter(run, step) };
    case "ingest": {
      const events = step.events.map((event) => toEventInput(event, run.clock.now));
      sentBefore.push(...events);
      return { kind: "ingest", events };
    }
    case "retry":
      return { kind: "ingest", events: sentBefore.slice(step.place, step.place + 1) };
    default:
      return step;
  }
}

/** The undo of a step, for an event that may have been deleted. */
async function toUndoFilter(
  { engine, clock }: RetentionRun,
  { event, by }: Extract<Step, { kind: "undo" }>,
): Promise<UndoFilter> {
  const account = event.accountId;
  const eventId = `e${event.id}`;
  const timestamp = clock.now - event.ago * DAY;
  const [stored] = (await engine.events.list({ filter: { eventId } })).items;
  const filters: readonly UndoFilter[] = [
    { account },
    { account, eventId },
    { account, timestamp: stored?.timestamp ?? timestamp },
    { account, eventId, timestamp: stored?.timestamp ?? timestamp },
    { account, eventId, createdAt: stored?.createdAt ?? timestamp },
    { account, referenceId: stored?.referenceId ?? "ev.none" },
  ];
  return filters[by] ?? { account };
}

async function readState({ engine }: RetentionRun): Promise<object> {
  const accountIds = ["a", "b", "n"];
  const range = { accountIds, from: "2022-01-01", until: "2028-01-01" };
  const entries = [];
  for (const account of accountIds) {
    entries.push(
      (await engine.entries.list({ accountId: account, featureId: "f.tokens" }, { page: { limit: 1000 } })).items,
    );
  }
  return {
    usage: await engine.usage(range),
    overage: await engine.overage(range),
    invoices: (await engine.invoices.list({ page: { limit: 1000 } })).items,
    entries,
  };
}

/** As JSON; the end of a cycle's ingest may be the one before or after a change of grace. */
const inWords = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null).replaceAll(/closed on [^"]+/g, "is past its grace"));

/** Records which events were metered; fails if one that was not undone is metered again. */
function meteredOnce(): (request: RunRequest, answer: unknown) => void {
  const meteredEvents = new Map<string, EventInput>();
  return (request, answer) => {
    if (request.kind === "undo" && Array.isArray(answer)) for (const id of answer) meteredEvents.delete(String(id));
    if (request.kind !== "ingest" || !Array.isArray(answer)) return;
    for (const [place, { status, referenceId }] of (answer as readonly IngestResult[]).entries()) {
      const event = request.events[place];
      if (status !== "INGESTION_COMPLETED_EVENT_METERED" || event === undefined) continue;
      const knownEvents = [...meteredEvents.values()];
      const again = knownEvents.filter((each) => each.id === event.id && each.timestamp === event.timestamp);
      expect(again.filter(({ accountId: id }) => id === event.accountId)).toEqual([]);
      meteredEvents.set(referenceId ?? "", event);
    }
  };
}

/** Does the same steps with and without retention; after each, everything that can be deleted is deleted. */
async function compareWithout(steps: readonly Step[]): Promise<void> {
  const pruning = await openRun(KEPT);
  const whole = await openRun();
  const sentBefore: EventInput[] = [];
  const note = meteredOnce();
  for (const [place, each] of steps.entries()) {
    const request = await toRequest(whole, each, sentBefore);
    const [answer, expected] = [await runRequest(pruning, request), await runRequest(whole, request)];
    expect([place, inWords(answer)]).toEqual([place, inWords(expected)]);
    note(request, answer);
    await pruning.engine.pruneEvents();
  }
  expect(inWords(await readState(pruning))).toEqual(inWords(await readState(whole)));
}

describe("a history with retention", () => {
  test("S14.1 S15.2 S11.8 has the same answers, usage, entries and invoices as without it", async () => {
    const steps = fc.array(step, { minLength: 5, maxLength: 40 });
    await fc.assert(fc.asyncProperty(steps, compareWithout), { numRuns: runs(30) });
  });

  test("S6.5 S14.1 meters no event twice and reopens no cycle, whatever groups, plans and retries follow", async () => {
    await fc.assert(fc.asyncProperty(attackSteps, compareWithout), { numRuns: runs(40) });
  });
});
