/**
 * The events behind the lines of a preview, with what each added and what rules saw of it (S13.6).
 *
 * @module
 */
import { didYouMean } from "../../book/did-you-mean.ts";
import type { Book } from "../../book/model/book.ts";
import type { Computation } from "../../book/model/metering.ts";
import { DAY_MS, dayOf, type Instant } from "../../calendar/instant.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import type { SchemaProgram } from "../../metering/compile-metering.ts";
import type { EventEnvelope } from "../../metering/event-envelope.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import type { UsageCell } from "../../metering/usage.ts";
import { type Decimal, ZERO } from "../../numbers/decimal.ts";
import { decimalOfExact } from "../../numbers/exact.ts";
import { type ChargedLine, sumByDay, findLines } from "../charged-line.ts";
import type { EventDecision } from "../events/decide-event.ts";
import { quoteText } from "../refusals.ts";
import { noChanges } from "../workspace.ts";
import type { PreviewAccount } from "./preview-account.ts";
import { invalidOption } from "./preview-range.ts";
import type { ScenarioResult } from "./preview-scenario.ts";

/** An event behind a line, as rules saw it. */
export interface TracedEvent {
  /** The id that it was sent with. */
  readonly id: string;
  readonly schemaName: string;
  readonly schemaVersion: number;
  readonly timestamp: Instant;
  /** The attributes that were sent, then the enriched ones (S4.3). */
  readonly attributes: readonly { readonly name: string; readonly value: Decimal }[];
  readonly dimensions: Readonly<Record<string, string>>;
  /** The units that it added to the line's quantity; those of a meter may be below 0 (S5.2). */
  readonly quantity: Decimal;
}

/**
 * How the quantity of a line came about: the quantities of events add up to those of days, and these to the line's. A sum below
 * 0 is priced as 0 (S7.5).
 */
export interface LineTrace extends Omit<ChargedLine, "of"> {
  readonly accountId: string;
  /** The meter, or the feature whose overage it charges. */
  readonly id: string;
  /** The steps of the meter, each with its rules (S5.1); none of a feature, of which an event takes its attribute (S11.2). */
  readonly computations: readonly Computation[];
  /** The days on which something was added, in order. */
  readonly days: readonly { readonly date: string; readonly quantity: Decimal }[];
  /** In order of time; of one instant, as they came. */
  readonly events: readonly TracedEvent[];
}

/** Keeps the events behind the lines of a meter or a feature. */
export interface Tracer {
  /** Notes an accepted event, which is in its program's slots. */
  note(account: PreviewAccount, event: EventEnvelope, program: SchemaProgram, decision: EventDecision): void;
  /** The traces of invoices, which carry explanations, by account. */
  tracesOf(scenario: ScenarioResult, invoices: readonly Invoice[]): readonly LineTrace[];
}

/** An event with the quantity that it added to the usage or the overage. */
interface Contribution extends TracedEvent {
  readonly of: ChargedLine["of"];
  /** The referenceId that the preview gives it, if it consumed a feature: its place among those of its account. */
  readonly consumptionId: string;
}

/**
 * Starts to trace.
 *
 * @param lineId the id of a meter or a feature
 * @throws {RatebookError} ERR_OPTION_INVALID for an id that the book has not
 */
export function startTrace({ usageMeters, features }: Book, lineId: string): Tracer {
  const ids = [...usageMeters, ...features].map(({ id }) => id);
  if (!ids.includes(lineId)) {
    const hint = didYouMean(lineId, ids);
    throw invalidOption("trace", `no usage meter and no feature has the id ${quoteText(lineId)}${hint}`);
  }
  const computations = usageMeters.find(({ id }) => id === lineId)?.computations ?? [];
  const byAccount = new Map<string, Contribution[]>();
  return {
    note({ seen: { id }, consumptions }, event, program, { units, consumption }) {
      const known = byAccount.get(id);
      const contributions = findContributions(lineId, event, program, { units, consumption }).map((each) => ({
        ...each,
        consumptionId: String(consumptions),
      }));
      if (contributions.length === 0) return;
      if (known === undefined) byAccount.set(id, contributions);
      else known.push(...contributions);
    },
    tracesOf: (scenario, invoices) =>
      [...new Set(invoices.map(({ accountId }) => accountId))].flatMap((accountId) => {
        const account = scenario.accounts.of(accountId);
        const all = account === undefined ? [] : applyMoves(byAccount.get(accountId) ?? [], account, lineId);
        const events = all.toSorted((a, b) => a.timestamp - b.timestamp);
        const cells = [...scenario.usage.cellsOf(accountId)].filter(({ meterId }) => meterId === lineId);
        const own = invoices.filter((each) => each.accountId === accountId);
        return own.flatMap((invoice) =>
          firstLineOfEachKind(findLines(invoice, lineId).charged).map((line): LineTrace => {
            const steps = line.of === "usage" ? computations : [];
            return { accountId, id: lineId, computations: steps, ...traceLine(line, events, cells) };
          }),
        );
      }),
  };
}

/** The days and events behind one line, among those of all lines of its account. */
function traceLine(
  { of, ...line }: ChargedLine,
  contributions: readonly Contribution[],
  cells: readonly UsageCell[],
): Omit<LineTrace, "accountId" | "id" | "computations"> {
  const isWithin = (at: Instant): boolean => at >= line.from && at < line.until;
  const events = contributions.filter((each) => each.of === of && isWithin(each.timestamp));
  const days =
    of === "usage"
      ? cells.filter(({ day }) => isWithin(day * DAY_MS))
      : events.map(({ timestamp, quantity }) => ({ day: dayOf(timestamp), quantity }));
  return { ...line, days: sumByDay(days), events: events.map(({ of: _of, consumptionId: _id, ...event }) => event) };
}

/** One line for usage and one for overage: the card's line says what the line of its usage does. */
function firstLineOfEachKind(lines: readonly ChargedLine[]): readonly ChargedLine[] {
  return (["usage", "overage"] as const).flatMap((of) => lines.filter((line) => line.of === of).slice(0, 1));
}

/** The quantities that an event adds to the usage of a meter, and to the overage of a feature. */
function findContributions(
  lineId: string,
  { id, schemaName, timestamp }: EventEnvelope,
  { schema: { version }, meterIds, slots }: SchemaProgram,
  { units, consumption }: Pick<EventDecision, "units" | "consumption">,
): Omit<Contribution, "consumptionId">[] {
  const found = {
    usage: units[meterIds.indexOf(lineId)],
    overage: consumption?.featureId === lineId ? consumption.overage : undefined,
  };
  return (["usage", "overage"] as const).flatMap((of) => {
    const quantity = found[of];
    const exact = quantity === undefined ? ZERO : decimalOfExact(quantity);
    if (exact.isZero()) return [];
    return [{ of, id, schemaName, schemaVersion: version, timestamp, ...readEventFields(slots), quantity: exact }];
  });
}

/** The fields of the event in the slots. */
function readEventFields({
  attributeSlots,
  dimensionSlots,
  values,
  texts,
}: EventSlots): Pick<TracedEvent, "attributes" | "dimensions"> {
  return {
    attributes: [...attributeSlots].map(([name, slot]) => ({ name, value: decimalOfExact(values[slot] ?? 0) })),
    dimensions: Object.fromEntries([...dimensionSlots].map(([name, slot]) => [name, texts[slot] ?? ""])),
  };
}

/** The events with their overage as it is now: some may have moved onto a grant that was decided later (S11.5). */
function applyMoves(
  contributions: readonly Contribution[],
  { seen }: PreviewAccount,
  lineId: string,
): readonly Contribution[] {
  const changes = noChanges();
  seen.work.addTo(changes);
  const now = new Map(changes.events.map(({ referenceId, feature }) => [referenceId, feature]));
  return contributions.flatMap((each) => {
    const feature = each.of === "overage" ? now.get(each.consumptionId) : undefined;
    if (feature?.featureId !== lineId) return [each];
    return feature.overage.isZero() ? [] : [{ ...each, quantity: feature.overage }];
  });
}
