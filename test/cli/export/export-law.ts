/** The law of exports: previewing the exported files of a database gives its invoices, which verify. */
import fc from "fast-check";
import { expect } from "vitest";

import { toInstant } from "../../../src/calendar/instant.ts";
import type { BookInput } from "../../../src/index.ts";
import type { Store } from "../../../src/store/store.ts";
import { bookArbitrary, historyArbitrary } from "../../../src/testing.ts";
import { findDayBefore, type HistoryStep, startHistoryIn } from "../../../src/testing/history.ts";
import { verify } from "../../../src/verify.ts";
import { listFigures, isTerm, withOtherDigit } from "../../verify/figures.ts";
import { type ExportedParts, exportParts } from "./read-export.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Counts of the cases that the law was tested on. */
export interface LawCounts {
  invoices: number;
  /** Accounts whose invoices the files must all reproduce. */
  exact: number;
  /** Exports whose files reproduce every invoice. */
  same: number;
  runs: number;
}

/** A book and the history of its accounts. */
export interface Case {
  readonly book: BookInput;
  readonly steps: readonly HistoryStep[];
}

/**
 * The exported files reproduce every invoice, if the book was loaded before anything else. The files are incomplete
 * only in these cases, in which an invoice may differ and the difference is reported: a plan was removed from an
 * account; an event that consumes a feature was late or undone (what remained for others depended on it); another event
 * was late, or a license changes on future days of an open cycle, which may change what credits pay, but not what is
 * charged.
 */
export function exportLaw(makeStore: () => Promise<Store>, counts: LawCounts): fc.IAsyncProperty<[Case]> {
  const cases = fc
    .record({ book: bookArbitrary(), isLate: fc.boolean() })
    .chain(({ book, isLate }) =>
      historyArbitrary(book).map((steps) => ({ book, steps: isLate ? steps : steps.flatMap(withoutLateEvents) })),
    );
  return fc.asyncProperty(cases, async (testCase) => tryExport(await makeStore(), testCase, counts));
}

/** Runs a case and exports it. Fails if an invoice differs without one of the reasons in {@link exportLaw}. */
export async function tryExport(store: Store, { book, steps }: Case, counts: LawCounts): Promise<void> {
  const history = await startHistoryIn(store, book, findDayBefore(book));
  history.waitUntil(toInstant("2024-03-01"));
  for (const step of steps) {
    await history.play(step);
    // Decisions are visible to later milliseconds, but not to the same one.
    history.waitUntil(history.now() + MINUTE_MS);
  }
  history.waitUntil(history.now() + 20 * DAY_MS);
  const parts = await exportParts(history);
  const { differences, notes, invoices } = parts;
  expectVerified(parts, counts);
  const accountsWithoutPlan = notes.flatMap((note) => /^account "([^"]+)": its plan was removed/.exec(note)?.[1] ?? []);
  if (!steps.some((step) => step.kind === "plan" && step.pricePlanId === undefined)) expect(notes).toEqual([]);
  const featureSchemas = new Set(
    (book.features ?? []).flatMap(({ schemaAssociations }) => (schemaAssociations ?? []).map(schemaNameOf)),
  );
  for (const { id, aliases, licenseUpdates } of book.accounts ?? []) {
    const isAhead = (licenseUpdates ?? []).some(({ effectiveFrom }) => toInstant(effectiveFrom) > history.now());
    const lateSchemaNames = steps.flatMap((step) => lateSchemas(step, [id, ...(aliases ?? []).map(String)]));
    const difference = differences.find((each) => each.startsWith(`account ${JSON.stringify(id)}:`));
    if (
      accountsWithoutPlan.includes(id) ||
      lateSchemaNames.some((name) => name === undefined || featureSchemas.has(name))
    )
      continue;
    counts.exact++;
    if (lateSchemaNames.length === 0 && !isAhead) expect(difference).toBeUndefined();
    else expect(difference ?? "only in credits").toContain("only in credits");
  }
  counts.runs++;
  counts.invoices += invoices.length;
  if (differences.length === 0) counts.same++;
}

/**
 * S13.6: the files of an export verify, with all usage and with only the usage that can be priced; a changed figure is
 * detected.
 */
function expectVerified(
  { invoices: parts, usage, featureUsage, parsedBook: book }: ExportedParts,
  counts: LawCounts,
): void {
  const invoices = JSON.parse(JSON.stringify(parts)) as unknown;
  const toRows = (of: ExportedParts["usage"]): readonly unknown[] => JSON.parse(JSON.stringify(of)) as unknown[];
  for (const usageRows of [toRows(usage), toRows([...usage, ...featureUsage])])
    expect(verify({ invoices, usage: usageRows, book }).differences).toEqual([]);
  const figures = listFigures(invoices).filter((path) => !isTerm(path, invoices));
  const path = figures[(counts.invoices * 7919) % figures.length];
  if (path === undefined) return;
  const withError = withOtherDigit(invoices, path, counts.runs, counts.invoices);
  expect(verify({ invoices: withError }).differences).not.toEqual([]);
}

function schemaNameOf(association: string | { readonly schemaName: string }): string {
  return typeof association === "string" ? association : association.schemaName;
}

/** The schemas of events that were late or early for an account; undefined for an undo. */
function lateSchemas(step: HistoryStep, names: readonly string[]): readonly (string | undefined)[] {
  if (step.kind === "undo") return names.includes(step.accountId) ? [undefined] : [];
  if (step.kind !== "ingest") return [];
  return step.events
    .filter(({ accountId, hoursAgo }) => names.includes(accountId) && hoursAgo !== 0)
    .map(({ schemaName }) => schemaName);
}

/** A step without late events and undos. */
function withoutLateEvents(step: HistoryStep): readonly HistoryStep[] {
  if (step.kind === "undo") return [];
  if (step.kind !== "ingest") return [step];
  return [{ ...step, events: step.events.map((event) => ({ ...event, hoursAgo: 0 })) }];
}
