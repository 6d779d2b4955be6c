/**
 * Exports of any engine are verified: accounts with all kinds of cards, in several currencies, whose plans, versions,
 * credits, seats and groups change between events, some of them late or undone.
 */
import fc from "fast-check";
import { expect, test } from "vitest";

import { DAY_MS, formatDate, formatInstant, toInstant } from "../../src/calendar/instant.ts";
import { RatebookError } from "../../src/errors.ts";
import type { BookInput } from "../../src/index.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { historyArbitrary } from "../../src/testing.ts";
import { findDayBefore, type HistoryStep, type HistoryRun, startHistoryIn } from "../../src/testing/history.ts";
import { verify } from "../../src/verify.ts";
import { exportParts } from "../cli/export/read-export.ts";
import { ACTIVE, books } from "../engine/preview-law/books.ts";
import { runs } from "../support/runs.ts";
import { stepArbitrary, type StepOf } from "../support/step-kinds.ts";
import { asJson, digitChoices, expectDigitFound } from "./figures.ts";

const accountId = fc.constantFrom(...ACTIVE);
/** Commands in addition to the steps of a history. */
const commands = {
  credit: {
    accountId,
    creditAmount: fc.constantFrom(1, 20, "33.335", 500),
    priority: fc.integer({ min: -2, max: 2 }),
    daysAgo: fc.nat(60),
  },
  void: { place: fc.nat() },
  seats: { accountId, quantity: fc.nat(20), hours: fc.integer({ min: -300, max: 300 }) },
  group: { accountId, gracePeriod: fc.constantFrom(0, 10, 60) },
  leave: { accountId },
  version: { accountId, version: fc.constantFrom(1, 2), daysAhead: fc.constantFrom(0, 0, 3, 20) },
};
const command = stepArbitrary(commands);
type Command = StepOf<typeof commands>;
type Step = HistoryStep | Command;
const isCommand = (step: Step): step is Command => step.kind in commands;

const rates = fc.constantFrom<number | string>(0, 1, "0.005", 10, "33.333", 50, "9.99", -2);
const cases = books(rates).chain((randomBook) => {
  const book = randomBook as BookInput;
  return fc.record({
    book: fc.constant(book),
    /** Undefined: before anything begins. Otherwise what began before is history that is loaded late. */
    loadedOn: fc.constantFrom(undefined, "2024-02-20", "2024-03-01", "2024-04-12"),
    steps: fc
      .tuple(historyArbitrary(book), fc.array(fc.record({ place: fc.nat(10), command }), { maxLength: 8, size: "max" }))
      .map(([steps, commands]): readonly Step[] =>
        commands.reduce<Step[]>((all, { place, command: each }) => all.toSpliced(place, 0, each), [...steps]),
      ),
    daysAfter: fc.integer({ min: 0, max: 60 }),
  });
});

/** Runs a command. A rejected command changes nothing. */
async function doHistoryStep({ engine, now }: HistoryRun, step: Command): Promise<void> {
  const dayFromNow = (days: number): string => formatDate(now() + days * DAY_MS);
  const runStep = async (): Promise<unknown> => {
    switch (step.kind) {
      case "credit": {
        const { accountId: id, creditAmount, priority, daysAgo } = step;
        const credit = { accountId: id, purpose: "Sorry", creditAmount, priority, effectiveFrom: dayFromNow(-daysAgo) };
        return engine.credits.create([credit]);
      }
      case "void": {
        const { items } = await engine.credits.list();
        const credit = items[step.place % items.length];
        return credit && engine.credits.void(credit.credit.id);
      }
      case "seats": {
        const effectiveFrom = formatInstant(now() + (step.hours * DAY_MS) / 24);
        const update = { licenseId: "addon.seats", updateType: "ABSOLUTE" as const, quantity: step.quantity };
        return engine.licenses.update(step.accountId, { ...update, effectiveFrom });
      }
      case "group": {
        const group = { name: "Late group", email: "bills@acme.test", dailyInvoiceConsolidation: true };
        return engine.invoiceGroups.create({ ...group, gracePeriod: step.gracePeriod, accountIds: [step.accountId] });
      }
      case "leave": {
        const { invoiceGroupId } = await engine.accounts.get(step.accountId);
        return invoiceGroupId && engine.invoiceGroups.removeAccounts(invoiceGroupId, [step.accountId]);
      }
      case "version": {
        const association = {
          pricePlanId: "plan.one",
          version: step.version,
          effectiveFrom: dayFromNow(step.daysAhead),
        };
        return engine.associate(step.accountId, association);
      }
    }
  };
  try {
    await runStep();
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
  }
}

test("S13.6 the export of any history is verified, and a changed figure in it is detected", async () => {
  const counts = { invoices: 0, credits: 0 };
  await fc.assert(
    fc.asyncProperty(cases, digitChoices, async ({ book, loadedOn, steps, daysAfter }, digit) => {
      const begin = loadedOn === undefined ? findDayBefore(book) : toInstant(loadedOn);
      const history = await startHistoryIn(memoryStore(), book, begin);
      history.waitUntil(toInstant("2024-02-20"));
      for (const step of steps) {
        await (isCommand(step) ? doHistoryStep(history, step) : history.play(step));
        history.waitUntil(history.now() + 60_000);
      }
      history.waitUntil(history.now() + daysAfter * DAY_MS);
      const exportedParts = await exportParts(history);
      const text = JSON.stringify(exportedParts.invoices);
      const invoices = JSON.parse(text) as unknown;
      const [usage, featureUsage] = asJson([exportedParts.usage, exportedParts.featureUsage]) as unknown[][];
      for (const rows of [usage ?? [], [usage ?? [], featureUsage ?? []].flat()]) {
        const { differences } = verify({ invoices, usage: rows, book });
        expect(differences).toEqual([]);
      }
      expectDigitFound(invoices, (changed) => verify({ invoices: changed }).differences, digit);
      counts.invoices += exportedParts.invoices.length;
      counts.credits += text.split('"takenBefore"').length - 1;
    }),
    { numRuns: runs(40) },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
});
