/** The events behind a line of an invoice, with the quantity that each added (S13.6). */
import type { Computation, UsageMeter } from "../../book/resources/event-schema.ts";
import { type Day, dayOf, type Instant, ceilToDay } from "../../calendar/instant.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { listMatchingIds } from "../../ledger/account/record-ids.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import {
  type ChargedLine,
  sumByDay,
  type EventLineType,
  findLines,
  listUsageDays,
} from "../../ledger/preview/line-trace.ts";
import type { EventRecord, LedgerCell } from "../../ledger/records.ts";
import { invalidInputError, notFoundError } from "../../ledger/refusals.ts";
import type { LedgerView, PageKey } from "../../ledger/view.ts";
import type { AccountParts } from "../../ledger/working-records.ts";
import { readsFrom } from "../../metering/keyed-usage.ts";
import { measuredQuantity } from "../../metering/measure-units.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import { decimalOfExact } from "../../numbers/exact.ts";
import { quoteText } from "../../problem-table.ts";
import { createYielder, runWithPauses } from "../../store/yielder.ts";
import { usageCells } from "../external-usage.ts";
import type { EngineContext } from "../methods.ts";
import { lockAccounts, openCaughtUp, runOperation } from "../operation.ts";
import { type Page, type PagedOptions, pageRequest } from "../pages.ts";
import { listSnapshots, readInvoice } from "./invoices.ts";

/** Identifies a line of an invoice. */
export interface LineTarget {
  readonly invoiceId: string;
  /** The id of the line: of its meter, or of the feature whose overage it charges. */
  readonly lineId: string;
  /** Required only if a meter and a feature of one invoice have the same id. */
  readonly type?: EventLineType | undefined;
}

/** An event, and the quantity that it added to a line. */
export interface LineEvent {
  readonly event: EventRecord;
  /** Units; those of a meter may be negative (S5.2). */
  readonly quantity: Decimal;
}

/**
 * A page of the events behind a line, the latest ingested first. The quantities of all pages add up to those of the
 * days, and these to the line, unless events have been deleted since. A page may have fewer events than its limit, or
 * none; there are more as long as it has `next`.
 */
export interface LineEvents extends Page<LineEvent> {
  readonly accountId: string;
  readonly type: EventLineType;
  /** The line's quantity. A negative sum is priced as 0 (S7.5). */
  readonly quantity: Decimal;
  /** The events' timestamps, `[from, until)`. */
  readonly from: Instant;
  readonly until: Instant;
  /** The current steps of the meter with their rules (S5.1); none for a feature. */
  readonly computations: readonly Computation[];
  /** The days with quantities, in order; the same on each page. */
  readonly days: readonly { readonly date: string; readonly quantity: Decimal }[];
}

/** Maximum number of stored events read for a page: other events of the account may lie between those of the line. */
const CHUNK = 200;
const READ_MAX = 1000;

/** @throws {RatebookError} as the method of an engine */
export async function lineEvents(
  context: EngineContext,
  target: LineTarget,
  options: PagedOptions = {},
): Promise<LineEvents> {
  const page = pageRequest(options.page ?? {});
  const { id, invoice } = await readInvoice(context, target.invoiceId);
  const { accountId } = invoice;
  // Read again under the lock of its account, so that the lines of a draft match the events read.
  return runOperation<LineEvents, CurrentLine | undefined>(context, {
    scope: lockAccounts([accountId]),
    isReadOnly: true,
    async needs({ view, catalog }) {
      const storedInvoice = await view.invoice(id);
      if (storedInvoice === undefined) return { accountIds: [accountId], decisionInput: undefined };
      const line = requireLine(storedInvoice.invoice, target);
      const days = usageDays(catalog, target.lineId, line);
      return { accountIds: line.of === "overage" ? [] : [accountId], days, decisionInput: { line } };
    },
    async decide({ catalog, view, accounts, now }, finalLine) {
      const current = finalLine ?? (await findDraftLine(catalog, accounts, target, { id, now }));
      const { line } = current;
      const { from, until } = line;
      const days = usageDays(catalog, target.lineId, line);
      const cells =
        line.of === "overage"
          ? [...(await view.overage([accountId], days.from, days.until)), ...(current.overageDeltas ?? [])]
          : accounts.flatMap((account) => usageCells(account, days));
      const lineCells = listUsageDays(
        line,
        cells.filter(({ meterOrFeatureId }) => meterOrFeatureId === target.lineId),
        line.of === "usage" ? catalog.billing.keyedMeters.get(target.lineId) : undefined,
        finalLine === undefined ? dayOf(now) : undefined,
      );
      const contribution = (event: EventRecord): Decimal | undefined =>
        contributionTo(line.of, event, target.lineId, catalog.billing.keyedMeters);
      const { changedEvents = new Map() } = current;
      const events = await pageOfEvents(view, { accountId, from, until, changedEvents, contribution }, page);
      const { of, ...charged } = line;
      const meter = of === "usage" ? catalog.book.usageMeters.find(({ id }) => id === target.lineId) : undefined;
      const computations = meter?.computations ?? [];
      return { result: { accountId, ...charged, computations, days: sumByDay(lineCells), ...events } };
    },
  });
}

/** The days of which usage decides the quantity of a line, `[from, until)`. */
function usageDays(
  { billing }: Catalog,
  lineId: string,
  line: ChargedLine,
): { readonly from: Day; readonly until: Day } {
  const meter = line.of === "usage" ? billing.keyedMeters.get(lineId) : undefined;
  const from = dayOf(line.from);
  return { from: meter === undefined ? from : readsFrom(meter, from), until: ceilToDay(line.until) };
}

/** A line of an invoice, and what processing everything due by now changes; nothing for a final invoice. */
interface CurrentLine {
  readonly line: ChargedLine;
  /** By referenceId, the events whose overage a grant covers (S11.5). */
  readonly changedEvents?: ReadonlyMap<string, EventRecord>;
  readonly overageDeltas?: readonly Pick<LedgerCell, "meterOrFeatureId" | "day" | "quantity">[];
}

/** Finds the line of a draft. */
async function findDraftLine(
  catalog: Catalog,
  accounts: readonly AccountParts[],
  target: LineTarget,
  { id, now }: { readonly id: string; readonly now: Instant },
): Promise<CurrentLine> {
  const workspace = await openCaughtUp(catalog, accounts, now, createYielder());
  const [accountId = ""] = accounts.map(({ record }) => record.id);
  const [snapshot] = await runWithPauses(
    listSnapshots(catalog, workspace.account(accountId), now, { ids: listMatchingIds(accountId, id) }),
  );
  if (snapshot === undefined) throw notFoundError("invoice", id);
  const line = requireLine(snapshot.invoice, target);
  const { events = [], overage = [] } = workspace.changes();
  return {
    line,
    changedEvents: new Map(events.map((event) => [event.referenceId, event])),
    overageDeltas: overage.map((delta) => ({ ...delta, quantity: decimalOfExact(delta.quantity) })),
  };
}

/** The requested line. @throws {RatebookError} as {@link lineEvents} */
function requireLine(invoice: Invoice, { lineId, type }: Omit<LineTarget, "invoiceId">): ChargedLine {
  const { types, charged } = findLines(invoice, lineId);
  if (types.length === 0) throw notFoundError("invoice line", lineId);
  const linesOfType = charged.filter((line) => (type ?? line.type) === line.type);
  const [first] = linesOfType;
  if (first === undefined) {
    const expected = type === undefined ? "a line of a meter's usage or a feature's overage" : `of the type ${type}`;
    throw invalidInputError(
      "lineId",
      "NOT_SUPPORTED",
      `${quoteText(lineId)} is of the type ${types.join(", ")}, not ${expected}`,
    );
  }
  if (linesOfType.some((line) => line.of !== first.of)) {
    throw invalidInputError(
      "type",
      "NOT_SUPPORTED",
      `add a type: ${quoteText(lineId)} is the id of both a meter and a feature on this invoice`,
    );
  }
  return first;
}

/**
 * The quantity that an event added to the usage of a meter or the overage of a feature, or the value that it measured;
 * undefined for none.
 */
function contributionTo(
  of: ChargedLine["of"],
  { units, feature }: EventRecord,
  id: string,
  keyedMeters: ReadonlyMap<string, UsageMeter>,
): Decimal | undefined {
  const measured = units.find(({ meterId }) => meterId === id);
  const [quantity, meter] = [of === "overage" ? feature?.overage : measured?.quantity, keyedMeters.get(id)];
  if (of === "usage" && measured !== undefined && meter !== undefined) return measuredQuantity(meter, measured);
  const isOther = of === "overage" && feature?.featureId !== id;
  return isOther || quantity?.isZero() ? undefined : quantity;
}

interface EventsRequest {
  readonly accountId: string;
  readonly from: Instant;
  readonly until: Instant;
  readonly changedEvents: ReadonlyMap<string, EventRecord>;
  readonly contribution: (event: EventRecord) => Decimal | undefined;
}

/** The next events of an account that added something. */
async function pageOfEvents(
  view: LedgerView,
  { accountId, from, until, changedEvents, contribution }: EventsRequest,
  { limit, after: start }: { readonly limit: number; readonly after?: PageKey },
): Promise<Page<LineEvent>> {
  const filter = { accountId, accepted: true, reverted: false, timestamp: { from, until } };
  const items: LineEvent[] = [];
  let after = start;
  for (let readCount = 0; readCount < READ_MAX; readCount += CHUNK) {
    const events = await view.events(filter, { limit: CHUNK, ...(after && { after }) });
    for (const eventRecord of events) {
      const event = changedEvents.get(eventRecord.referenceId) ?? eventRecord;
      const quantity = event.reverted ? undefined : contribution(event);
      if (quantity !== undefined) {
        if (items.length === limit) return { items, ...(after && { next: after }) };
        items.push({ event, quantity });
      }
      after = { createdAt: event.createdAt, id: event.referenceId };
    }
    if (events.length < CHUNK) return { items };
  }
  return { items, ...(after && { next: after }) };
}
