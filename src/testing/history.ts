/** Random histories of accounts, and an engine to play them in. */
import type { Arbitrary } from "fast-check";

import { type BookSource, toBookInput } from "../book/book.ts";
import type { BookInput } from "../book/resources/book.ts";
import { DAY_MS, formatDate, formatInstant, type Instant, toInstant } from "../calendar/instant.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import { hasCode } from "../errors.ts";
import { type MemoryStore, memoryStore } from "../store/memory/memory.ts";
import type { Store } from "../store/store.ts";
import {
  listAccountIds,
  eventContentArbitrary,
  eventRange,
  type EventContent,
  type EventOptions,
  type GeneratedEvent,
} from "./events-arbitrary.ts";
import { fastCheck, withPrintedText, formatTable } from "./report.ts";

const HOUR_MS = DAY_MS / 24;

/** An event of a history. Its time is relative to the clock when it is sent. */
export interface HistoryEvent extends EventContent {
  /** One of a few values, so that some repeat. */
  readonly id: string;
  /** Negative for an event in the future. */
  readonly hoursAgo: number;
}

/** One step of a history. */
export type HistoryStep =
  | { readonly kind: "ingest"; readonly events: readonly HistoryEvent[] }
  /** Undoes up to five events of an account, or those with one id. */
  | { readonly kind: "undo"; readonly accountId: string; readonly eventId: string | undefined }
  /** Changes the account's plan from today on; undefined ends it. */
  | { readonly kind: "plan"; readonly accountId: string; readonly pricePlanId: string | undefined }
  | { readonly kind: "wait"; readonly hours: number };

/** Options of random histories. */
export interface HistoryOptions extends EventOptions {
  /** The maximum number of steps. Default 10. */
  readonly stepsMax?: number;
}

/** Batches of events for a step of a history. */
export function eventBatchArbitrary(book: BookInput, options: EventOptions = {}): Arbitrary<readonly HistoryEvent[]> {
  const fc = fastCheck();
  const event = fc
    .record({
      content: eventContentArbitrary(book, options),
      id: fc.nat(15).map((number) => `event-${number}`),
      // From one day ahead to five weeks back, so that some are late.
      hoursAgo: fc.integer({ min: -24, max: 900 }),
    })
    .map(({ content, ...more }) => ({ ...content, ...more }));
  return fc.array(event, { minLength: 1, maxLength: options.eventsMax ?? 4 });
}

/**
 * Histories of a book's accounts: batches of events, some late or duplicate, undos, plan changes and passing time.
 * {@link startHistory} creates an engine for them.
 *
 * @throws {RatebookError} ERR_REFUSED without fast-check
 */
export function historyArbitrary(source: BookSource, options: HistoryOptions = {}): Arbitrary<readonly HistoryStep[]> {
  const fc = fastCheck();
  const book = toBookInput(source);
  const accountId = fc.constantFrom(...listAccountIds(book));
  const eventId = fc.option(
    fc.nat(15).map((number) => `event-${number}`),
    { nil: undefined },
  );
  const planIds = (book.pricePlans ?? []).filter(({ status }) => status !== "ARCHIVED").map(({ id }) => id);
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant("ingest" as const), events: eventBatchArbitrary(book, options) }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("undo" as const), accountId, eventId }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("plan" as const),
        accountId,
        pricePlanId: fc.option(fc.constantFrom(...planIds), { nil: undefined }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("wait" as const), hours: fc.integer({ min: 1, max: 700 }) }),
    },
  );
  return fc
    .array(step, { maxLength: options.stepsMax ?? 10 })
    .map((steps) => withPrintedText(steps, (value) => formatHistory(value)));
}

/** One line for each step and for each event of a batch. */
export function formatHistory(steps: readonly HistoryStep[]): string {
  const rows = steps.flatMap((step, index): (readonly string[])[] => {
    const place = String(index + 1);
    switch (step.kind) {
      case "ingest":
        return step.events.map((event) => [
          place,
          "ingest",
          event.accountId,
          `${event.id} ${formatContent(event)}, ${formatAge(event.hoursAgo)}`,
        ]);
      case "undo":
        return [[place, "undo", step.accountId, step.eventId ?? "up to five events"]];
      case "plan":
        return [[place, "plan", step.accountId, step.pricePlanId ?? "none"]];
      case "wait":
        return [[place, "wait", "", `${step.hours} hours`]];
    }
  });
  return formatTable(["step", "what", "account", ""], rows);
}

function formatAge(hours: number): string {
  return hours < 0 ? `${-hours} hours ahead` : `${hours} hours ago`;
}

/** The content of an event in short. */
export function formatContent({ schemaName, attributes, dimensions }: EventContent): string {
  const fields = [...attributes.map(({ name, value }) => [name, value]), ...Object.entries(dimensions)];
  return [schemaName, ...fields.map(([name, value]) => `${String(name)}=${String(value)}`)].join(" ");
}

/** An engine loaded with a book, its store (in memory by default), and a clock that the history moves. */
export interface HistoryRun<StoreType extends Store = MemoryStore> {
  readonly engine: Engine;
  readonly store: StoreType;
  /** The time of the clock. */
  readonly now: () => Instant;
  /** Moves the clock forward, never back. */
  readonly waitUntil: (instant: Instant) => void;
  /** Gives an event of a history its time. */
  readonly toEvent: (event: HistoryEvent) => GeneratedEvent;
  /** Performs a step. Steps that the engine rejects, such as a second plan change on one day, change nothing. */
  readonly play: (step: HistoryStep) => Promise<void>;
}

/** A book with its draft plans made ACTIVE, so that an engine can associate them. */
export function activatePlans(book: BookInput): BookInput {
  if (book.pricePlans === undefined || book.pricePlans === null) return book;
  return {
    ...book,
    pricePlans: book.pricePlans.map((plan) => (plan.status === "ARCHIVED" ? plan : { ...plan, status: "ACTIVE" })),
  };
}

/** The day before anything in a book's accounts starts. */
export function findDayBefore(book: BookInput): Instant {
  const starts = (book.accounts ?? []).flatMap(({ pricePlans, credits, featureCredits, licenseUpdates }) =>
    [pricePlans, credits, featureCredits, licenseUpdates].flatMap((list) =>
      (list ?? []).map(({ effectiveFrom }) => toInstant(effectiveFrom)),
    ),
  );
  return Math.min(...starts, toInstant(eventRange(book).from)) - DAY_MS;
}

/**
 * Creates an engine with a book whose draft plans become ACTIVE.
 *
 * @param at the time of the clock; default the day before anything starts
 * @throws {RatebookError} ERR_BOOK_INVALID
 */
export async function startHistory(book: BookSource, at?: Instant): Promise<HistoryRun> {
  return startHistoryIn(memoryStore(), toBookInput(book), at);
}

/** Same as {@link startHistory}, with an empty store. */
export async function startHistoryIn<StoreType extends Store>(
  store: StoreType,
  book: BookInput,
  at?: Instant,
): Promise<HistoryRun<StoreType>> {
  let now = at ?? findDayBefore(book);
  const engine = createEngine({ store, clock: () => now });
  await engine.load(activatePlans(book));
  const toEvent = ({ hoursAgo, ...event }: HistoryEvent): GeneratedEvent => ({
    ...event,
    timestamp: formatInstant(now - hoursAgo * HOUR_MS),
  });
  return {
    engine,
    store,
    now: () => now,
    waitUntil: (instant) => void (now = Math.max(now, instant)),
    toEvent,
    async play(step) {
      switch (step.kind) {
        case "ingest":
          await engine.ingest(step.events.map(toEvent));
          return;
        case "undo":
          await engine.undo(
            step.eventId === undefined
              ? { account: step.accountId }
              : { account: step.accountId, eventId: step.eventId },
          );
          return;
        case "plan": {
          const { accountId, pricePlanId } = step;
          const effectiveFrom = formatDate(now);
          const change =
            pricePlanId === undefined
              ? engine.dissociate(accountId, { effectiveFrom })
              : engine.associate(accountId, { pricePlanId, effectiveFrom });
          await change.catch((error: unknown) => {
            if (!hasCode(error, "ERR_REFUSED") && !hasCode(error, "ERR_INPUT_INVALID")) throw error;
          });
          return;
        }
        case "wait":
          now += step.hours * HOUR_MS;
      }
    },
  };
}
