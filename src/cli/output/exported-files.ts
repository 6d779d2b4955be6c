/**
 * The contents of a database as files that other commands read: usage cells, events and invoices, and whether these
 * files reproduce the database's invoices.
 */
import type { Book } from "../../book/resources/book.ts";
import {
  formatDate,
  formatInstant,
  type Instant,
  parseInstant,
  addDays,
  startOfUtcDay,
} from "../../calendar/instant.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Invoice, InvoiceLine } from "../../invoicing/invoice.ts";
import { billedCells, mergeCells } from "../../ledger/account-usage.ts";
import { featuresByMeter } from "../../ledger/catalog.ts";
import { sentDimensions } from "../../ledger/events/new-event.ts";
import { createPreview } from "../../ledger/preview/preview.ts";
import type { EventRecord } from "../../ledger/records.ts";
import type { PageRequest } from "../../ledger/view.ts";
import type { EventInput } from "../../metering/event-envelope.ts";
import { toUsageRow, type UsageRow } from "../../metering/usage-rows.ts";
import { formatDecimal } from "../../numbers/decimal.ts";
import { groupBy } from "../../numbers/ids.ts";
import { quoteText } from "../../problem-table.ts";

/** The number of accounts or events per read. */
const CHUNK = 500;
/** All days in the years 0000 to 9999. */
const [DAY_FIRST, DAY_END] = [-719_528, 2_932_897];
const ALL_DAYS = { from: "0000-01-01", until: "9999-12-31T23:59:59.999Z" } as const;

/**
 * The usage cells of meters whose events don't consume a feature, by account and without undone events.
 *
 * @param isComplete false to export only stored usage, which includes external usage only if it is in a final invoice
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE
 */
export function exportUsage(engine: Engine, book: Book, isComplete = true): AsyncGenerator<UsageRow> {
  const features = featuresByMeter(book);
  return readMeterUsage(engine, book, isComplete, (id) => !features.has(id));
}

/**
 * The usage of meters whose events consume a feature. It can't be priced, because the order of events matters (S17.1),
 * but invoices can be verified with it.
 */
export function exportFeatureUsage(engine: Engine, book: Book): AsyncGenerator<UsageRow> {
  const features = featuresByMeter(book);
  // Such events are never external.
  return readMeterUsage(engine, book, false, (id) => features.has(id));
}

async function* readMeterUsage(
  engine: Engine,
  book: Book,
  isComplete: boolean,
  isWanted: (meterId: string) => boolean,
): AsyncGenerator<UsageRow> {
  const meterIds = new Set(book.usageMeters.map(({ id }) => id));
  for (const accountIds of splitIntoChunks(book.accounts.map(({ id }) => id))) {
    const rows = isComplete
      ? await engine.usage({ accountIds, ...ALL_DAYS })
      : await readStoredUsage(engine, book, accountIds);
    const meterRows = rows.filter(
      ({ meterId, quantity }) => meterIds.has(meterId) && isWanted(meterId) && !quantity.isZero(),
    );
    const byAccount = groupBy(meterRows, ({ accountId }) => accountId);
    for (const id of accountIds)
      yield* (byAccount.get(id) ?? []).toSorted((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
  }
}

/** Ingested usage, and external usage stored with final invoices. */
async function readStoredUsage(
  { store: { read } }: Engine,
  { usageMeters }: Book,
  accountIds: readonly string[],
): Promise<readonly UsageRow[]> {
  const ingestedUsage = await read.usage(accountIds, DAY_FIRST, DAY_END);
  const billedUsage = await read.billedUsage(accountIds, DAY_FIRST, DAY_END);
  const cells = mergeCells([...ingestedUsage, ...billedUsage.flatMap(billedCells)]);
  return cells.map(({ meterOrFeatureId: meterId, ...cell }) => toUsageRow({ meterId, ...cell }, usageMeters));
}

/**
 * Accepted events that were not undone, by account and in ingest order.
 *
 * @param isWanted whether to include a schema's events
 */
export async function* exportEvents(
  { store }: Engine,
  { accounts }: Book,
  isWanted: (schemaName: string) => boolean,
): AsyncGenerator<EventInput> {
  for (const { id: accountId, aliases } of accounts) {
    const accountEvents: EventRecord[] = [];
    let page: PageRequest = { limit: CHUNK };
    for (;;) {
      const events = await store.read.events({ accountId, accepted: true, reverted: false }, page);
      for (const event of events) if (isWanted(event.schemaName)) accountEvents.push(event);
      const last = events.at(-1);
      if (last === undefined || events.length < CHUNK) break;
      page = { limit: CHUNK, after: { createdAt: last.createdAt, id: last.referenceId } };
    }
    for (const event of accountEvents.toSorted((a, b) => a.number - b.number)) yield toEventInput(event, aliases);
  }
}

/** The event as it was sent; with the account's id if it named a deleted alias. */
function toEventInput(
  { schemaName, eventId, timestamp, accountId, payload }: EventRecord,
  aliases: readonly string[],
): EventInput {
  return {
    schemaName,
    id: eventId,
    timestamp: formatInstant(timestamp),
    accountId: aliases.includes(payload.accountId) ? payload.accountId : accountId,
    attributes: payload.attributes,
    dimensions: sentDimensions(payload),
  };
}

/** The invoices of a database, and differences from those that its files reproduce. */
export interface ExportedInvoices {
  /**
   * By account, in the order in which they use credits: final ones and, if usage is complete, drafts of begun cycles.
   */
  readonly invoices: readonly (Invoice & { readonly id: string })[];
  /** One sentence for each account whose invoices differ. */
  readonly differences: readonly string[];
}

/** Reads all invoices, and prices the files to compare them. */
export async function exportInvoices(
  engine: Engine,
  book: Book,
  {
    usage,
    events,
    now,
    isComplete = true,
  }: {
    readonly usage: AsyncIterable<UsageRow> | Iterable<UsageRow>;
    readonly events: AsyncIterable<EventInput>;
    readonly now: Instant;
    /** Whether the usage of open cycles is included; without it there are no drafts. */
    readonly isComplete?: boolean;
  },
): Promise<ExportedInvoices> {
  const ids = book.accounts.map(({ id }) => id);
  const features = featuresByMeter(book);
  const storedInvoices: (Invoice & { readonly id: string })[] = [];
  for (const accountIds of splitIntoChunks(ids)) {
    const invoices = isComplete
      ? (await engine.preview({ accountIds })).invoices
      : await engine.store.read.invoices(accountIds, Number.NEGATIVE_INFINITY);
    for (const { id, invoice } of invoices) storedInvoices.push({ id, ...withFeatures(invoice, features) });
  }
  const firstStart = storedInvoices.reduce((from, { startDate }) => Math.min(from, parseInstant(startDate)), now);
  const range = { from: formatDate(firstStart), until: formatDate(addDays(startOfUtcDay(now), 1)) };
  const run = createPreview(book, { ...range, accounts: ids, explain: true });
  for await (const row of usage) run.addUsage(row);
  for await (const event of events) run.add(event);
  const fileInvoices = ids.length === 0 ? [] : run.finish().invoices;
  const [storedByAccount, pricedByAccount] = [
    groupBy(storedInvoices, getAccountId),
    groupBy(fileInvoices, getAccountId),
  ];
  const accounts = ids.map((id) => {
    const stored = groupBy(storedByAccount.get(id) ?? [], invoiceLabel);
    const pricedInvoices = groupBy(pricedByAccount.get(id) ?? [], invoiceLabel);
    const priced = new Map([...pricedInvoices].filter(([label]) => isComplete || stored.has(label)));
    const order = [...new Set([...priced.keys(), ...stored.keys()])];
    return {
      invoices: order.flatMap((label) => stored.get(label) ?? []),
      differences: describeDifference(id, stored, priced),
    };
  });
  return {
    invoices: accounts.flatMap(({ invoices }) => invoices),
    differences: accounts.flatMap(({ differences }) => differences),
  };
}

function getAccountId({ accountId }: Invoice): string {
  return accountId;
}

/** An invoice with the current features of its meters, which may differ on an older final one. */
function withFeatures(invoice: Invoice, features: ReadonlyMap<string, string>): Invoice {
  if (invoice.usageInfo === undefined) return invoice;
  const lineItems = invoice.usageInfo.lineItems.map(({ type, id, description, quantity }) => {
    const featureId = features.get(id);
    return { type, id, description, quantity, ...(featureId !== undefined && { featureId }) };
  });
  return { ...invoice, usageInfo: { ...invoice.usageInfo, lineItems } };
}

/** Invoices by their label. */
type LabeledInvoices = ReadonlyMap<string, readonly Invoice[]>;

/** A sentence on an account whose invoices differ. */
function describeDifference(
  accountId: string,
  storedByLabel: LabeledInvoices,
  pricedByLabel: LabeledInvoices,
): readonly string[] {
  const labels = [...new Set([...storedByLabel.keys(), ...pricedByLabel.keys()])];
  const differingLabels = labels.filter(
    (label) => formatInvoiceLines(pricedByLabel.get(label)) !== formatInvoiceLines(storedByLabel.get(label)),
  );
  const [label] = differingLabels;
  if (label === undefined) return [];
  const chargesDiffer = differingLabels.some(
    (each) => formatCharges(pricedByLabel.get(each)) !== formatCharges(storedByLabel.get(each)),
  );
  const describe = (invoices: readonly Invoice[] = []): string =>
    invoices.map(({ revenueInfo, currency }) => `${formatDecimal(revenueInfo.value)} ${currency}`).join(" and ") ||
    "none";
  return [
    `account ${quoteText(accountId)}: ${differingLabels.length} of its ${labels.length} invoices differ when priced from these files${chargesDiffer ? "" : ", only in credits"}; the first, ${label}: ${describe(pricedByLabel.get(label))} from the files, ${describe(storedByLabel.get(label))} in the database`,
  ];
}

/** The type, period and plan of an account's invoice. */
function invoiceLabel({ invoiceType, startDate, endDate, invoiceDate, ...plan }: Invoice): string {
  const [start, end, date] = [startDate, endDate, invoiceDate].map((each) => each.slice(0, 10));
  return `${invoiceType} ${start} to ${end}, dated ${date}, ${plan.pricePlanId}@${plan.pricePlanVersion}`;
}

/** The charges of invoices before credits. */
function formatCharges(invoices: readonly Invoice[] | undefined): string {
  return formatInvoiceLines(invoices)
    .split("\n")
    .filter((line) => !/^(?:TOTAL_AMOUNT|NET_AMOUNT|TOTAL_CREDITS|SUB_CREDITS) /.test(line))
    .join("\n");
}

/** All lines and figures as one text. */
function formatInvoiceLines(invoices: readonly Invoice[] = []): string {
  const formatLine = ({ type, id = "", quantity, value, lineItems = [] }: InvoiceLine): readonly string[] => [
    [type, id, quantity === undefined ? "" : formatDecimal(quantity), formatDecimal(value)].join(" "),
    ...lineItems.flatMap(formatLine),
  ];
  const formatInvoice = ({ currency, usageInfo, revenueInfo }: Invoice): string => {
    const usage = (usageInfo?.lineItems ?? []).map(({ id, quantity }) => `${id} ${formatDecimal(quantity)}`);
    return [currency, ...usage, ...formatLine(revenueInfo)].join("\n");
  };
  return invoices.map(formatInvoice).toSorted().join("\n");
}

function* splitIntoChunks(ids: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < ids.length; at += CHUNK) yield ids.slice(at, at + CHUNK);
}
