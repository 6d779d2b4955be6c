/** Builds the data of a report from a preview. */
import type { Backtest } from "../../analysis/backtest/backtest.ts";
import { type ChargedDay, computeDailyCharges } from "../../analysis/daily-charges.ts";
import { createBookPlanSource, type PlanSource, resolveAccountPlans } from "../../analysis/diff/account-plans.ts";
import type { Book } from "../../book/resources/book.ts";
import { hasKeys, mayBeProrated, NO_GROUP } from "../../book/resources/event-schema.ts";
import { type Day, dayOf, formatDate, parseDay, parseInstant, instantOfDay } from "../../calendar/instant.ts";
import { allLines, CARD_LINE_TYPES, type Invoice, type InvoiceLine, netTotal } from "../../invoicing/invoice.ts";
import type { PreviewRun } from "../../ledger/preview/preview.ts";
import { aggregateGroups } from "../../metering/keyed-usage.ts";
import type { UsageCell } from "../../metering/usage.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { add, type Decimal, formatDecimal, sum, ZERO } from "../../numbers/decimal.ts";
import {
  addFractions,
  type Fraction,
  roundFraction,
  subtractFractions,
  ZERO_FRACTION,
} from "../../numbers/fraction.ts";
import { toPrintable } from "../printable.ts";
import { countDataBytes } from "../self-contained-page.ts";
import { createDrafts } from "./draft-data.ts";
import { removeEvents, toInvoiceData } from "./invoice-data.ts";
import type {
  AccountData,
  AccountDetail,
  ChargeDays,
  CurrencyTotal,
  LineFault,
  NamedAmount,
  ReportData,
  UsageDays,
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
  const reportAccounts = listAccounts(book, invoices);
  const usage = createUsageSums(book);
  const charges = createChargeSums();
  const plans = createBookPlanSource(book);
  const bytesLeft = { details: limits.details, rows: limits.rows };
  const accounts: AccountData[] = [];
  const detailsWithEvents: AccountDetail[] = [];
  for (const account of reportAccounts) {
    const detail = buildDetail({ book, cellsOf, eventsOf, plans, usage, charges }, account);
    bytesLeft.rows -= countDataBytes(account.row);
    if (bytesLeft.rows < 0) continue;
    const detailWithoutEvents = removeEvents(detail);
    bytesLeft.details -= bytesLeft.details < 0 ? 0 : countDataBytes(detailWithoutEvents);
    if (bytesLeft.details >= 0) detailsWithEvents.push(detail);
    accounts.push(bytesLeft.details < 0 ? account.row : { ...account.row, detail: detailWithoutEvents });
  }
  addEvents(accounts, detailsWithEvents, Math.max(0, bytesLeft.details));
  return {
    ...findPeriod(invoices),
    totals: sumByCurrency(reportAccounts),
    events,
    problems: { first: problems.first.map(toPrintableFault), count: problems.count },
    notBilled,
    notices: notices.map(toPrintable),
    usage: usage.all(findPeriod(invoices).period),
    charges: charges.all(),
    accounts,
    leftOut: reportAccounts.length - accounts.length,
    detailed: detailsWithEvents.length,
    drafts: backtest === undefined ? [] : createDrafts(book, backtest, draftNames ?? [], limits.drafts),
  };
}

/** Adds events as far as there is space, to the largest accounts first. @param maxBytes the space in bytes */
function addEvents(accounts: AccountData[], details: readonly AccountDetail[], maxBytes: number): void {
  let bytesLeft = maxBytes;
  for (const [index, detail] of details.entries()) {
    const row = accounts[index];
    if (row?.detail === undefined) return;
    bytesLeft -= countDataBytes(detail) - countDataBytes(row.detail);
    if (bytesLeft < 0) return;
    accounts[index] = { ...row, detail };
  }
}

/** An account and its invoices. */
interface ReportAccount {
  readonly id: string;
  readonly row: AccountData;
  readonly amount: Decimal;
  readonly invoices: readonly Invoice[];
}

/** The accounts with invoices, largest amount first. */
function listAccounts(book: Book, invoices: readonly Invoice[]): readonly ReportAccount[] {
  const names = new Map(book.accounts.map(({ id, name }) => [id, name]));
  const customers = new Map(book.customers.map(({ id, name }) => [id, name]));
  const byAccount = new Map<string, [Invoice, ...Invoice[]]>();
  for (const invoice of invoices) {
    const accountInvoices = byAccount.get(invoice.accountId);
    if (accountInvoices === undefined) byAccount.set(invoice.accountId, [invoice]);
    else accountInvoices.push(invoice);
  }
  const reportAccounts = [...byAccount].map(([id, accountInvoices]): ReportAccount => {
    const [{ customerId, currency }] = accountInvoices;
    const amount = netTotal(accountInvoices);
    const row = {
      id: toPrintable(id),
      name: toPrintable(names.get(id) ?? id),
      customer: toPrintable(customers.get(customerId) ?? customerId),
      currency,
      amount: formatDecimal(amount),
      invoices: accountInvoices.length,
    };
    return { id, row, amount, invoices: accountInvoices };
  });
  return reportAccounts.sort((a, b) => b.amount.comparedTo(a.amount));
}

interface DetailContext extends Pick<ReportInput, "book" | "cellsOf" | "eventsOf"> {
  readonly plans: PlanSource;
  readonly usage: UsageSums;
  readonly charges: ChargeSums;
}

/** The details of an account. Adds its usage and charges to the totals. */
function buildDetail(
  { book, cellsOf, eventsOf, plans, usage, charges }: DetailContext,
  { id: accountId, invoices }: ReportAccount,
): AccountDetail {
  const accountUsage = createUsageSums(book);
  for (const cell of listReportCells(book, [...cellsOf(accountId)], invoices)) {
    accountUsage.addCell(cell);
    usage.addCell(cell);
  }
  const accountPlans = resolveAccountPlans(plans, accountId, invoices);
  return {
    usage: accountUsage.all(findPeriod(invoices).period),
    invoices: invoices.map((invoice) => {
      const daysByLine = new Map<InvoiceLine, readonly ChargedDay[] | undefined>();
      for (const line of allLines(invoice.revenueInfo)) {
        if (line.type !== "USAGE_RATE_CARD_AMOUNT") continue;
        const days = computeDailyCharges(accountPlans, invoice, line, accountUsage.ofMeter(line.id ?? ""));
        daysByLine.set(line, days);
        if (days !== undefined) charges.addLine(invoice, line, days);
      }
      return toInvoiceData(invoice, (line) => {
        const days = daysByLine.get(line);
        return days && { days, eventsOn: (day) => eventsOf?.(accountId, line.id ?? "", day) };
      });
    }),
  };
}

/** The cells of sums, and for meters with keys the changes of their quantity in the cycle of each invoice (S19.3). */
function listReportCells(
  { usageMeters }: Book,
  cells: readonly UsageCell[],
  invoices: readonly Invoice[],
): readonly Pick<UsageCell, "meterId" | "day" | "quantity">[] {
  const keyedMeters = usageMeters.filter(hasKeys);
  const keyedIds = new Set(keyedMeters.map(({ id }) => id));
  const cycles = invoices.filter(({ usageInfo }) => usageInfo !== undefined);
  const changes = keyedMeters.flatMap((meter) => {
    const stored = cells
      .filter(({ meterId }) => meterId === meter.id)
      .map((cell) => ({ ...cell, group: cell.group ?? NO_GROUP }));
    return cycles.flatMap(({ startDate, endDate }) => {
      const period = { from: dayOf(parseInstant(startDate)), until: dayOf(parseInstant(endDate)) };
      return aggregateGroups(meter, stored, period).map((change) => ({ ...change, meterId: meter.id }));
    });
  });
  return [...cells.filter(({ meterId }) => !keyedIds.has(meterId)), ...changes];
}

/** Usage summed by meter and day. */
interface UsageSums {
  readonly addCell: (cell: Pick<UsageCell, "meterId" | "day" | "quantity">) => void;
  readonly ofMeter: (meterId: string) => ReadonlyMap<Day, Decimal>;
  /** By meter in book order, over a period and all other days with usage. */
  readonly all: (period: ReportData["period"]) => readonly UsageDays[];
}

function createUsageSums({ usageMeters }: Book): UsageSums {
  const sums = new Map<string, Map<Day, Decimal>>();
  return {
    addCell({ meterId, day, quantity }) {
      let days = sums.get(meterId);
      if (days === undefined) sums.set(meterId, (days = new Map<Day, Decimal>()));
      days.set(day, add(days.get(day) ?? ZERO, quantity));
    },
    ofMeter: (meterId) => sums.get(meterId) ?? new Map<Day, Decimal>(),
    all: (period) =>
      usageMeters.flatMap((meter) => {
        const { id, name } = meter;
        const days = sums.get(id);
        if (days === undefined || days.size === 0) return [];
        let [first, last] =
          period === undefined ? [Infinity, -Infinity] : [parseDay(period.from), parseDay(period.until) - 1];
        for (const day of days.keys()) [first, last] = [Math.min(first, day), Math.max(last, day)];
        const quantities = Array.from({ length: last - first + 1 }, (_, index) =>
          formatDecimal(days.get(first + index) ?? ZERO),
        );
        const label = toPrintable(mayBeProrated(meter) ? `${name}, change by day` : name);
        return [{ label, from: formatDate(instantOfDay(first)), quantities }];
      }),
  };
}

function sumByCurrency(accounts: readonly ReportAccount[]): readonly CurrencyTotal[] {
  const currencies = [...new Set(accounts.map(({ row }) => row.currency))];
  const totals = currencies.map((currency) => {
    const currencyAccounts = accounts.filter(({ row }) => row.currency === currency);
    return {
      currency,
      digits: minorUnitDigits(currency),
      amount: formatDecimal(sum(currencyAccounts.map(({ amount }) => amount))),
      accounts: currencyAccounts.length,
      invoices: currencyAccounts.reduce((count, { row }) => count + row.invoices, 0),
      cards: sumByCard(currencyAccounts.flatMap(({ invoices }) => invoices)),
    };
  });
  return totals.sort((a, b) => b.invoices - a.invoices);
}

/** The total of each card and true-up over all invoices, largest first. */
function sumByCard(invoices: readonly Invoice[]): readonly NamedAmount[] {
  const sums = new Map<string, Decimal>();
  for (const line of invoices.flatMap(({ revenueInfo }) => allLines(revenueInfo))) {
    if (!CARD_LINE_TYPES.has(line.type) && line.type !== "TRUE_UP_AMOUNT") continue;
    const label = toPrintable(line.description ?? line.id ?? line.type);
    sums.set(label, add(sums.get(label) ?? ZERO, line.value));
  }
  return [...sums]
    .filter(([, amount]) => !amount.isZero())
    .sort(([, a], [, b]) => b.comparedTo(a))
    .map(([label, amount]) => ({ label, amount: formatDecimal(amount) }));
}

/** From the first day of all invoices to the last. */
function findPeriod(invoices: readonly Invoice[]): Pick<ReportData, "period"> {
  let [first, last] = [Infinity, -Infinity];
  for (const { startDate, endDate } of invoices)
    [first, last] = [Math.min(first, parseInstant(startDate)), Math.max(last, parseInstant(endDate))];
  return first > last ? {} : { period: { from: formatDate(first), until: formatDate(last) } };
}

function toPrintableFault({ place, message }: LineFault): LineFault {
  return { place: toPrintable(place), message: toPrintable(message) };
}

interface ChargeSums {
  readonly addLine: (invoice: Invoice, line: InvoiceLine, days: readonly ChargedDay[]) => void;
  /** The cumulative charges by day, from the first day of all. */
  readonly all: () => readonly ChargeDays[];
}

interface Charge {
  readonly label: string;
  readonly currency: string;
  /** The amount that each day added. */
  readonly amountsByDay: Map<Day, Fraction>;
}

function createChargeSums(): ChargeSums {
  const charges = new Map<string, Charge>();
  return {
    addLine({ currency }, { id = "", description }, days) {
      const key = `${currency} ${id}`;
      let charge = charges.get(key);
      if (charge === undefined)
        charges.set(
          key,
          (charge = { label: toPrintable(description ?? id), currency, amountsByDay: new Map<Day, Fraction>() }),
        );
      let before = ZERO_FRACTION;
      for (const { day, amountSoFar } of days) {
        const increase = subtractFractions(amountSoFar, before);
        charge.amountsByDay.set(day, addFractions(charge.amountsByDay.get(day) ?? ZERO_FRACTION, increase));
        before = amountSoFar;
      }
    },
    all: () => [...charges.values()].map(toChargeDays),
  };
}

function toChargeDays({ label, currency, amountsByDay }: Charge): ChargeDays {
  const digits = minorUnitDigits(currency);
  const days = [...amountsByDay.keys()].sort((a, b) => a - b);
  const [first = 0, last = first] = [days[0], days.at(-1)];
  const amounts: string[] = [];
  let soFar = ZERO_FRACTION;
  for (let day = first; day <= last; day++) {
    soFar = addFractions(soFar, amountsByDay.get(day) ?? ZERO_FRACTION);
    amounts.push(formatDecimal(roundFraction(soFar, digits, "HALF_UP")));
  }
  return { label, currency, from: formatDate(instantOfDay(first)), amounts };
}
