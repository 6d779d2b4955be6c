/** Builds the data of a report from a preview. */
import type { Backtest } from "../../analysis/backtest/compare-invoices.ts";
import { computeDailyCharges } from "../../analysis/daily-charges.ts";
import { createBookPlanSource, type PlanSource, resolveAccountPlans } from "../../analysis/diff/account-plans.ts";
import type { Book } from "../../book/resources/book.ts";
import { type GroupUsage, hasKeys, mayBeProrated, NO_GROUP } from "../../book/resources/event-schema.ts";
import { type Day, dayOf, formatDate, parseDay, parseInstant, instantOfDay } from "../../calendar/instant.ts";
import { allLines, CARD_LINE_TYPES, type Invoice, invoiceParts, netTotal } from "../../invoicing/invoice.ts";
import type { DayEvents } from "../../ledger/preview/event-sampler.ts";
import type { PreviewRun } from "../../ledger/preview/preview.ts";
import { aggregateGroups } from "../../metering/keyed-usage.ts";
import type { UsageCell } from "../../metering/usage.ts";
import { add, type Decimal, formatDecimal, sum, ZERO } from "../../numbers/decimal.ts";
import { groupBy } from "../../numbers/ids.ts";
import { createTableFinder, type FindTable } from "../../rating/rated-table.ts";
import { countDataBytes, createRoom } from "../page-file.ts";
import { toPrintable } from "../printable.ts";
import { addCharge, type Charges, findRange, listChargeDays } from "./charge-days.ts";
import { createDrafts } from "./draft-data.ts";
import { type BookNames, createBookNames, removeEvents, toInvoiceData, toLineDays, toShare } from "./invoice-data.ts";
import {
  ITEM_COLUMNS,
  type AccountData,
  type AccountDetail,
  type CurrencyTotal,
  type ItemTotal,
  type LineDays,
  type ReportData,
  type UsageDays,
} from "./report-data.ts";

/** The inputs of a report. */
export interface ReportInput {
  readonly book: Book;
  /** With explanations. */
  readonly invoices: readonly Invoice[];
  /** The usage of an account. */
  readonly cellsOf: (accountId: string) => Iterable<UsageCell>;
  /** The events of a day's usage, if available. */
  readonly eventsOf?: PreviewRun["eventsOf"] | undefined;
  readonly events: Readonly<Record<string, number>>;
  readonly problems: ReportData["problems"];
  /** Default: none. */
  readonly notBilled?: ReportData["notBilled"];
  readonly notices: readonly string[];
  /** The effect of drafts, with the causes of each line. */
  readonly backtest?: Backtest | undefined;
  /** The names of the drafts, in order. Default: their plans. */
  readonly draftNames?: readonly string[];
}

/** Size limits of a report's parts, in bytes of JSON. */
interface ReportSizeLimits {
  /** The invoices and usage of accounts. */
  readonly details: number;
  /** The rows of accounts. */
  readonly rows: number;
  /** The accounts of all drafts together. */
  readonly drafts: number;
}

/** The rest of ten megabytes is for the page itself and the totals of all accounts. */
const DEFAULT_SIZE_LIMITS: ReportSizeLimits = { details: 6_000_000, rows: 1_700_000, drafts: 1_800_000 };

/** Builds the data of a report. @param limits data beyond them is left out and counted */
export function buildReport(
  { book, invoices, cellsOf, eventsOf, events, problems, notBilled = [], notices, backtest, draftNames }: ReportInput,
  limits = DEFAULT_SIZE_LIMITS,
): ReportData {
  const names = createBookNames(book);
  const reportAccounts = listAccounts(book, invoices, names);
  const totals = sumByCurrency(reportAccounts, names);
  const itemColumns = new Map(
    totals.map(({ currency, cards }) => [currency, cards.slice(0, ITEM_COLUMNS).map(({ label }) => label)]),
  );
  const [usage, charges]: [UsageSums, Charges] = [new Map(), new Map()];
  const findTable = createTableFinder(new Map(book.usageMeters.map(({ id, groupBy = [] }) => [id, groupBy])));
  const context = { book, names, cellsOf, eventsOf, plans: createBookPlanSource(book), findTable, usage, charges };
  const [hasRoomForRow, hasRoomForDetail] = [createRoom(limits.rows), createRoom(limits.details)];
  const accounts: AccountData[] = [];
  const detailsWithEvents: AccountDetail[] = [];
  let withoutUsage = 0;
  for (const account of reportAccounts) {
    const detail = buildDetail(context, account);
    if (detail.usage.length === 0) withoutUsage++;
    const row = { ...account.row, items: listItemAmounts(account, itemColumns.get(account.row.currency) ?? [], names) };
    if (!hasRoomForRow(countDataBytes(row))) continue;
    const detailWithoutEvents = removeEvents(detail);
    const isDetailed = hasRoomForDetail(countDataBytes(detailWithoutEvents));
    if (isDetailed) detailsWithEvents.push(detail);
    accounts.push(isDetailed ? { ...row, detail: detailWithoutEvents } : row);
  }
  addEvents(accounts, detailsWithEvents, hasRoomForDetail);
  const ranges = invoices.length === 0 && backtest?.period !== undefined ? [backtest.period] : invoices;
  return {
    period: findPeriod(ranges),
    totals,
    events,
    problems,
    notBilled,
    notices,
    usage: listUsageDays(book, usage, invoices),
    charges: listChargeDays(charges),
    accounts,
    leftOut: reportAccounts.length - accounts.length,
    withoutUsage,
    detailed: detailsWithEvents.length,
    drafts: backtest === undefined ? [] : createDrafts(book, backtest, draftNames ?? [], limits.drafts),
  };
}

/** A report as JSON, in which every text is printable. */
export function serializeReport(report: ReportData): string {
  return JSON.stringify(report, (_, value: unknown) => (typeof value === "string" ? toPrintable(value) : value));
}

/** Adds events as far as there is room, to the largest accounts first. */
function addEvents(
  accounts: AccountData[],
  details: readonly AccountDetail[],
  hasRoom: ReturnType<typeof createRoom>,
): void {
  for (const [index, detail] of details.entries()) {
    const row = accounts[index];
    if (row?.detail === undefined || !hasRoom(countDataBytes(detail) - countDataBytes(row.detail))) return;
    accounts[index] = { ...row, detail };
  }
}

/** An account and its invoices. */
interface ReportAccount {
  readonly id: string;
  readonly row: Omit<AccountData, "items">;
  readonly amount: Decimal;
  readonly invoices: readonly Invoice[];
}

/** The accounts with invoices, largest amount first. */
function listAccounts(book: Book, invoices: readonly Invoice[], { describePlan }: BookNames): readonly ReportAccount[] {
  const names = new Map(book.accounts.map(({ id, name }) => [id, name]));
  const customers = new Map(book.customers.map(({ id, name }) => [id, name]));
  const byAccount = groupBy(invoices, ({ accountId }) => accountId);
  const reportAccounts = [...byAccount].flatMap(([id, accountInvoices]): readonly ReportAccount[] => {
    const last = accountInvoices.at(-1);
    if (last === undefined) return [];
    const { customerId, currency, pricePlanId, pricePlanVersion } = last;
    const amount = netTotal(accountInvoices);
    const row = {
      id,
      name: names.get(id) ?? id,
      customer: customers.get(customerId) ?? customerId,
      currency,
      plan: describePlan(pricePlanId, pricePlanVersion),
      amount: formatDecimal(amount),
      invoices: accountInvoices.length,
    };
    return [{ id, row, amount, invoices: accountInvoices }];
  });
  return reportAccounts.sort((a, b) => b.amount.comparedTo(a.amount));
}

interface DetailContext extends Pick<ReportInput, "book" | "cellsOf" | "eventsOf"> {
  readonly names: BookNames;
  readonly plans: PlanSource;
  readonly findTable: FindTable;
  readonly usage: UsageSums;
  readonly charges: Charges;
}

/** The details of an account. Adds its usage and charges to the totals. */
function buildDetail(
  { book, names, cellsOf, eventsOf, plans, findTable, usage, charges }: DetailContext,
  { id: accountId, invoices }: ReportAccount,
): AccountDetail {
  const accountUsage: UsageSums = new Map();
  const cells = listReportCells(book, [...cellsOf(accountId)], invoices);
  for (const cell of cells) for (const sums of [accountUsage, usage]) addUsage(sums, cell);
  const cellsByMeter = groupBy(cells, ({ meterId }) => meterId);
  const accountPlans = resolveAccountPlans(plans, accountId, invoices);
  return {
    usage: listUsageDays(book, accountUsage, invoices),
    invoices: invoices.map((invoice) => {
      const daysByLine = new Map<object, LineDays>();
      for (const line of allLines(invoice.revenueInfo)) {
        const { type, id: meterId = "", explanation } = line;
        if (type !== "USAGE_RATE_CARD_AMOUNT" || explanation?.of !== "CARD") continue;
        const grouped = { groups: cellsByMeter.get(meterId) ?? [], findTable };
        const days = computeDailyCharges(accountPlans, invoice, line, accountUsage.get(meterId) ?? new Map(), grouped);
        if (days === undefined) continue;
        addCharge(charges, invoice, line, days);
        const eventsOn = (day: Day): DayEvents | undefined => eventsOf?.(accountId, meterId, day);
        daysByLine.set(line, toLineDays(days, explanation.rounding, eventsOn));
      }
      return toInvoiceData(invoice, (line) => daysByLine.get(line), names);
    }),
  };
}

/** The cells of sums, and for meters with keys the changes of their quantity in the cycle of each invoice (S19.3). */
function listReportCells(
  { usageMeters }: Book,
  cells: readonly UsageCell[],
  invoices: readonly Invoice[],
): readonly (GroupUsage & Pick<UsageCell, "meterId">)[] {
  const keyedMeters = usageMeters.filter(hasKeys);
  const keyedIds = new Set(keyedMeters.map(({ id }) => id));
  const cycles = invoices.filter(({ usageInfo }) => usageInfo !== undefined);
  const groupCells = cells.map((cell) => ({ ...cell, group: cell.group ?? NO_GROUP }));
  const changes = keyedMeters.flatMap((meter) => {
    const stored = groupCells.filter(({ meterId }) => meterId === meter.id);
    return cycles.flatMap(({ startDate, endDate }) => {
      const period = { from: dayOf(parseInstant(startDate)), until: dayOf(parseInstant(endDate)) };
      return aggregateGroups(meter, stored, period).map((change) => ({ ...change, meterId: meter.id }));
    });
  });
  return [...groupCells.filter(({ meterId }) => !keyedIds.has(meterId)), ...changes];
}

/** Usage by meter and day. */
type UsageSums = Map<string, Map<Day, Decimal>>;

function addUsage(sums: UsageSums, { meterId, day, quantity }: Pick<UsageCell, "meterId" | "day" | "quantity">): void {
  const days = sums.get(meterId) ?? new Map<Day, Decimal>();
  sums.set(meterId, days.set(day, add(days.get(day) ?? ZERO, quantity)));
}

/** The usage by meter in book order, over the period of invoices and all other days with usage. */
function listUsageDays({ usageMeters }: Book, sums: UsageSums, invoices: readonly Invoice[]): readonly UsageDays[] {
  const period = findPeriod(invoices);
  const invoicedDays = period === undefined ? [] : [parseDay(period.from), parseDay(period.until) - 1];
  return usageMeters.flatMap((meter) => {
    const days = sums.get(meter.id);
    if (days === undefined) return [];
    const [first, last] = findRange([...invoicedDays, ...days.keys()]);
    const quantities = Array.from({ length: last - first + 1 }, (_, index) =>
      formatDecimal(days.get(first + index) ?? ZERO),
    );
    const label = mayBeProrated(meter) ? `${meter.name}, change by day` : meter.name;
    return [{ label, from: formatDate(instantOfDay(first)), quantities }];
  });
}

function sumByCurrency(accounts: readonly ReportAccount[], names: BookNames): readonly CurrencyTotal[] {
  const currencies = [...new Set(accounts.map(({ row }) => row.currency))];
  const totals = currencies.map((currency) => {
    const currencyAccounts = accounts.filter(({ row }) => row.currency === currency);
    const invoices = currencyAccounts.flatMap((account) => account.invoices);
    const amount = sum(currencyAccounts.map((account) => account.amount));
    const credits = sum(invoices.flatMap((invoice) => invoiceParts(invoice).credits.map(({ value }) => value)));
    return {
      currency,
      amount: formatDecimal(amount),
      accounts: currencyAccounts.length,
      invoices: invoices.length,
      credits: credits.isZero() ? undefined : formatDecimal(credits.neg()),
      largest: findLargestInvoice(currencyAccounts, amount),
      cards: listItems(invoices, names),
    };
  });
  return totals.sort((a, b) => b.invoices - a.invoices);
}

function findLargestInvoice(accounts: readonly ReportAccount[], total: Decimal): CurrencyTotal["largest"] {
  const values = accounts.flatMap(({ row, invoices }) =>
    invoices.map(({ revenueInfo }) => ({ label: row.name, value: revenueInfo.value })),
  );
  const { label, value } = values.reduce((largest, each) => (each.value.gt(largest.value) ? each : largest));
  return { label, amount: formatDecimal(value), share: toShare(value, total) };
}

interface ItemSum {
  readonly amount: Decimal;
  readonly quantity: Decimal | undefined;
  readonly unit: string | undefined;
}

/** The total of each card and true-up over all invoices, largest first. */
function listItems(invoices: readonly Invoice[], names: BookNames): readonly ItemTotal[] {
  const items = [...sumByItem(invoices, names)].filter(([, { amount }]) => !amount.isZero());
  const total = sum(items.map(([, { amount }]) => amount));
  return items
    .sort(([, a], [, b]) => b.amount.comparedTo(a.amount))
    .map(([label, { amount, quantity, unit }]) => ({
      label,
      amount: formatDecimal(amount),
      quantity: quantity && formatDecimal(quantity),
      unit,
      share: toShare(amount, total),
    }));
}

/** By the label on invoices. */
function sumByItem(invoices: readonly Invoice[], { findUnit }: BookNames): ReadonlyMap<string, ItemSum> {
  const items = new Map<string, ItemSum>();
  for (const { type, id = "", description, value, quantity } of invoices.flatMap((each) =>
    allLines(each.revenueInfo),
  )) {
    if (!CARD_LINE_TYPES.has(type) && type !== "TRUE_UP_AMOUNT") continue;
    const label = description ?? (id === "" ? type : id);
    const before = items.get(label);
    items.set(label, {
      amount: add(before?.amount ?? ZERO, value),
      quantity: quantity && add(before?.quantity ?? ZERO, quantity),
      unit: findUnit(id),
    });
  }
  return items;
}

/** What an account is charged for each of the named items. */
function listItemAmounts({ invoices }: ReportAccount, labels: readonly string[], names: BookNames): readonly string[] {
  const items = sumByItem(invoices, names);
  return labels.map((label) => formatDecimal(items.get(label)?.amount ?? ZERO));
}

/** From the first day of all invoices to the last. */
function findPeriod(invoices: readonly Pick<Invoice, "startDate" | "endDate">[]): ReportData["period"] {
  const [first, last] = findRange(
    invoices.flatMap(({ startDate, endDate }) => [startDate, endDate]).map((at) => parseInstant(at)),
  );
  return first > last ? undefined : { from: formatDate(first), until: formatDate(last) };
}
