/**
 * The law of S13.5: a preview decides every event like an engine that loaded the same book before the first event and
 * whose clock moves to each event's timestamp and never back; and both calculate the same invoices.
 */
import { expect } from "vitest";

import { readBook } from "../../../src/book/book.ts";
import { formatInstant, type Instant, toInstant, tryParseInstant } from "../../../src/calendar/instant.ts";
import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import type { Invoice, InvoiceLine } from "../../../src/invoicing/invoice.ts";
import { noChanges } from "../../../src/ledger/decision.ts";
import { isCompleted } from "../../../src/ledger/outcome.ts";
import { rememberIds } from "../../../src/ledger/preview/accepted-ids.ts";
import { type EventRun, startEventRun } from "../../../src/ledger/preview/preview-run.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import type { EntryRecord } from "../../../src/ledger/records.ts";
import type { SkippedAccount } from "../../../src/ledger/refusals.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";
import { addExact, type Exact, isZeroExact, formatExact } from "../../../src/numbers/exact.ts";
import type { Store } from "../../../src/store/store.ts";
import { ACTIVE } from "./books.ts";

const LOADED = toInstant("2024-01-01");

/** The state of one account as text, without zeros. */
interface EngineState {
  readonly usage: readonly string[];
  readonly draws: readonly string[];
  readonly overage: readonly string[];
}

async function engineState(store: Store, accountId: string): Promise<EngineState> {
  const { read } = store;
  const listCells = async (kind: "usage" | "overage"): Promise<readonly string[]> =>
    (await read[kind]([accountId], -1_000_000, 1_000_000))
      .map(({ meterOrFeatureId, day, quantity }) => `${meterOrFeatureId} ${day} ${formatDecimal(quantity)}`)
      .toSorted();
  const entries = await read.entries([accountId]);
  return { usage: await listCells("usage"), overage: await listCells("overage"), draws: listDraws(entries) };
}

function previewState({ accounts, usage }: EventRun, accountId: string): EngineState {
  const work = accounts.findById(accountId)?.state;
  const changes = noChanges();
  work?.addTo(changes);
  const overage = new Map<string, Exact>();
  for (const { meterOrFeatureId, day, quantity } of changes.overage) {
    const key = `${meterOrFeatureId} ${day}`;
    overage.set(key, addExact(overage.get(key) ?? 0, quantity));
  }
  return {
    usage: [...usage.cellsOf(accountId)]
      .filter(({ quantity }) => !quantity.isZero())
      .map(({ meterId, day, quantity }) => `${meterId} ${day} ${formatDecimal(quantity)}`)
      .toSorted(),
    overage: [...overage]
      .filter(([, quantity]) => !isZeroExact(quantity))
      .map(([key, quantity]) => `${key} ${formatExact(quantity)}`)
      .toSorted(),
    draws: listDraws(work?.entries() ?? []),
  };
}

/** Consumed entries: which, and how much is left. */
function listDraws(entries: readonly EntryRecord[]): readonly string[] {
  return entries
    .filter(({ granted, balance }) => !granted.eq(balance))
    .map(({ id, granted, balance }) => `${id} ${formatDecimal(granted)} ${formatDecimal(balance)}`)
    .toSorted();
}

/** All fields of entries. */
function shownEntries(entries: readonly EntryRecord[]): readonly string[] {
  return entries
    .map(
      ({ id, featureId, granted, balance, effectiveFrom, effectiveUntil, voided }) =>
        `${id} ${featureId} ${formatDecimal(granted)} ${formatDecimal(balance)} ${effectiveFrom} ${effectiveUntil} ${voided}`,
    )
    .toSorted();
}

interface ClockedEngine {
  readonly engine: Engine;
  readonly store: Store;
  /** Advances the clock of the engine. */
  readonly at: (time: Instant) => Engine;
  /** Sends one event when it happens. */
  readonly sendEvent: (event: unknown) => ReturnType<Engine["ingest"]>;
}

/** An engine over an empty store that loaded a book before anything else, and whose clock is never set back. */
export async function loadedWith(book: object, store: Store, loadedAt = LOADED): Promise<ClockedEngine> {
  let now = loadedAt;
  const engine = createEngine({ store, clock: () => now });
  await engine.load(book);
  return {
    engine,
    store,
    at(time) {
      now = Math.max(now, time);
      return engine;
    },
    sendEvent(event) {
      const { timestamp } = (event ?? {}) as { readonly timestamp?: unknown };
      const at = typeof timestamp === "string" ? tryParseInstant(timestamp) : undefined;
      if (at !== undefined) now = Math.max(now, at);
      return engine.ingest([event as EventInput]);
    },
  };
}

const LAST_AT = toInstant("2024-07-04");

/** An account's due work is done with its next event: these events complete it on both sides. */
const LASTS = ACTIVE.map((accountId) => ({
  schemaName: "ping",
  id: `last.${accountId}`,
  accountId,
  timestamp: formatInstant(LAST_AT),
}));

/** Sends the events to both, one by one, and compares all results. */
export async function compareEvents(book: object, events: readonly unknown[], empty: Store): Promise<void> {
  const { store, sendEvent } = await loadedWith(book, empty);
  const run = startEventRun(readBook(book), { ids: rememberIds() });
  for (const each of [...events, ...LASTS]) {
    const [answer] = await sendEvent(each);
    const outcome = run.add(each);
    expect(outcome).toEqual({ status: answer?.status, description: answer?.description, problem: answer?.problem });
    if (!isCompleted(outcome.status)) continue;
    const [stored] = await store.read.events({ referenceId: answer?.referenceId ?? "" }, { limit: 1 });
    const accountId = stored?.accountId ?? "";
    expect(previewState(run, accountId)).toEqual(await engineState(store, accountId));
  }
  for (const accountId of ACTIVE) {
    expect(previewState(run, accountId)).toEqual(await engineState(store, accountId));
    expect(shownEntries(run.accounts.findById(accountId)?.state.entries() ?? [])).toEqual(
      shownEntries(await store.read.entries([accountId])),
    );
  }
}

/** From before the first plan of any account to the last event. */
const RANGE = { from: "2023-10-01", until: "2024-07-05" };
/** The cycles of the last event have ended by then, with their grace. */
const ALL_FINAL = toInstant("2024-10-01");

/**
 * Complete invoices, except for whether they are drafts and for the rest of a credit: an invoice in advance is final
 * before the invoice in arrears that consumes credits before it, which is open during its grace.
 */
export const normalizeInvoices = (invoices: readonly Invoice[]): readonly object[] =>
  invoices
    .toSorted((a, b) => headOf(a).localeCompare(headOf(b)))
    .map((invoice) => ({ ...invoice, status: undefined, revenueInfo: withoutLeft(invoice.revenueInfo) }));

function withoutLeft({ explanation, lineItems, ...line }: InvoiceLine): object {
  return {
    ...line,
    ...(explanation === undefined
      ? {}
      : { explanation: explanation.of === "CREDIT" ? { refund: explanation.refund } : explanation }),
    ...(lineItems === undefined ? {} : { lineItems: lineItems.map(withoutLeft) }),
  };
}

/** What an invoice is about. */
export const headOf = ({
  accountId,
  invoiceDate,
  invoiceType,
  startDate,
  dueSince,
  pricePlanVersion,
}: Invoice): string => [accountId, invoiceDate, invoiceType, startDate, dueSince, pricePlanVersion].join(" ");

/** The invoices of accounts in a preview. */
interface PreviewResult {
  readonly invoices: readonly object[];
  /** Accounts whose bill can't be calculated. */
  readonly skipped: readonly string[];
}

const skippedOf = ({ skipped = [] }: { readonly skipped?: readonly SkippedAccount[] }): readonly string[] =>
  skipped.map(({ accountId }) => accountId).toSorted();

async function previewInvoices(engine: Engine): Promise<PreviewResult> {
  const result = await engine.preview(RANGE);
  return { invoices: normalizeInvoices(result.invoices.map(({ invoice }) => invoice)), skipped: skippedOf(result) };
}

/**
 * Sends the events to both, and compares the invoices of all accounts, drafts and final ones, and which accounts have
 * none.
 */
export async function compareInvoices(book: object, events: readonly unknown[], empty: Store): Promise<void> {
  const { engine, at, sendEvent } = await loadedWith(book, empty);
  for (const each of events) await sendEvent(each);
  const offline = preview(readBook(book), events as EventInput[], { ...RANGE, explain: true });
  const expected = { invoices: normalizeInvoices(offline.invoices), skipped: skippedOf(offline) };
  at(LAST_AT);
  expect(await previewInvoices(engine)).toEqual(expected);
  await at(ALL_FINAL).finalize();
  expect(await previewInvoices(engine)).toEqual(expected);
}
