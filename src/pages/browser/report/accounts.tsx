/** The accounts: each with its plan, charges by day and largest items, and a row that opens to the lines of its invoices. */
import type { JSX } from "preact";

import { ENGLISH } from "../../../invoicing/invoice-words.ts";
import type { AccountData, LineData, ReportData } from "../../report/report-data.ts";
import { Sparkline } from "../common/charts.tsx";
import { Aligned, type Column, compareNames, DataTable } from "../common/data-table.tsx";
import {
  compareDecimals,
  countDays,
  formatCount,
  formatDayRange,
  formatMoney,
  formatNumber,
} from "../common/format.ts";
import { InvoiceLines } from "./invoice.tsx";

/** The table of accounts. */
export function Accounts({ data }: { readonly data: ReportData }): JSX.Element {
  const { accounts, leftOut, detailed } = data;
  const digits = new Map(data.totals.map((total) => [total.currency, total.digits]));
  return (
    <section class="panel screen-only" aria-labelledby="accounts">
      <h2 id="accounts">Accounts</h2>
      {leftOut > 0 && (
        <p>{`The ${formatCount(accounts.length, "account")} with the largest amounts are listed. ${formatCount(leftOut, "more account")} left out: page too large. The totals include them.`}</p>
      )}
      {detailed < accounts.length && (
        <p>{`The ${formatCount(detailed, "account")} with the largest amounts have invoices here. Other invoices left out: page too large.`}</p>
      )}
      <DataTable
        rowNoun="account"
        label="Accounts with invoices"
        rows={accounts}
        columns={createColumns(data)}
        rowKey={({ id }) => id}
        searchText={({ id, name, customer, plan }) => `${id} ${name} ${customer} ${plan}`}
        placeholder="Search by name, id, customer or plan"
        initialSort="amount"
        pageSize={25}
        detail={{
          label: ({ name }) => `Invoices of ${name}`,
          canOpen: ({ detail }) => detail !== undefined,
          render: (account) => <AccountLines account={account} digits={digits.get(account.currency) ?? 0} />,
        }}
      />
    </section>
  );
}

function createColumns(data: ReportData): readonly Column<AccountData>[] {
  const { totals, accounts } = data;
  const digits = new Map(totals.map((total) => [total.currency, total.digits]));
  const most = Math.max(...digits.values());
  const renderMoney = (amount: string, { currency }: AccountData): JSX.Element => {
    const shown = digits.get(currency) ?? 0;
    return <Aligned text={formatMoney(amount, { digits: shown, currency })} shown={shown} most={most} />;
  };
  const [onlyTotal, ...otherTotals] = totals;
  const itemLabels = onlyTotal !== undefined && otherTotals.length === 0 ? onlyTotal.cards : [];
  const columns: (Column<AccountData> | false)[] = [
    { name: "name", label: "Account", cell: renderAccountName, compare: (a, b) => compareNames(a.name, b.name) },
    new Set(accounts.map(({ customer }) => customer)).size > 1 &&
      accounts.some(({ customer, name }) => customer !== name) && {
        name: "customer",
        label: "Customer",
        isWideOnly: true,
        cell: ({ customer }) => <bdi>{customer}</bdi>,
        compare: (a, b) => compareNames(a.customer, b.customer),
      },
    {
      name: "plan",
      label: "Plan",
      isWideOnly: true,
      cell: ({ plan }) => <bdi class="soft">{plan}</bdi>,
      compare: (a, b) => compareNames(a.plan, b.plan),
    },
    data.charges.length > 0 && {
      name: "days",
      label: "Charged by day",
      isWideOnly: true,
      cell: (account) => <AccountSparkline account={account} period={data.period} />,
    },
    ...(accounts[0]?.items ?? []).map(
      (_, index) =>
        itemLabels[index] !== undefined && {
          name: `item ${index}`,
          label: itemLabels[index].label,
          isNumber: true,
          isWideOnly: true,
          cell: (row: AccountData) => renderMoney(row.items[index] ?? "0", row),
          compare: (a: AccountData, b: AccountData) => compareDecimals(a.items[index] ?? "0", b.items[index] ?? "0"),
        },
    ),
    accounts.some(({ invoices }) => invoices > 1) && {
      name: "invoices",
      label: "Invoices",
      isNumber: true,
      isWideOnly: true,
      cell: ({ invoices }) => formatNumber(invoices),
      compare: (a, b) => a.invoices - b.invoices,
    },
    {
      name: "amount",
      label: "Amount",
      isNumber: true,
      cell: (row) => <strong>{renderMoney(row.amount, row)}</strong>,
      compare: (a, b) => compareNames(a.currency, b.currency) || compareDecimals(a.amount, b.amount),
    },
  ];
  return columns.filter((column) => column !== false);
}

function renderAccountName({ id, name, detail }: AccountData): JSX.Element {
  return (
    <>
      {detail === undefined ? (
        <bdi>{name}</bdi>
      ) : (
        <a href={toAccountAddress(id)}>
          <bdi>{name}</bdi>
        </a>
      )}
      {name !== id && <bdi class="id soft small">{id}</bdi>}
    </>
  );
}

/** The URL that opens an account. */
function toAccountAddress(accountId: string): string {
  return `#${new URLSearchParams({ account: accountId }).toString()}`;
}

function AccountSparkline({
  account: { detail },
  period,
}: {
  readonly account: AccountData;
  readonly period: ReportData["period"];
}): JSX.Element | null {
  const lines = (detail?.invoices ?? []).flatMap((invoice) => findLinesWithDays(invoice.lines));
  if (period === undefined || lines.length === 0) return null;
  const values = Array.from({ length: countDays(period.from, period.until) }, () => 0);
  for (const { days } of lines) {
    const start = days === undefined ? 0 : countDays(period.from, days.from);
    for (const [day, amount] of (days?.amounts ?? []).entries())
      values[start + day] = (values[start + day] ?? 0) + Number(amount) - Number(days?.amounts[day - 1] ?? 0);
  }
  return <Sparkline values={values} />;
}

/** The lines with daily charges, which are those of usage cards. */
export function findLinesWithDays(lines: readonly LineData[]): readonly LineData[] {
  return lines.flatMap((line) => (line.days === undefined ? findLinesWithDays(line.lines ?? []) : [line]));
}

/** The invoices of an account below its row. */
function AccountLines({ account, digits }: { readonly account: AccountData; readonly digits: number }): JSX.Element {
  const { id, currency, detail } = account;
  return (
    <>
      {detail?.invoices.map((invoice, index) => (
        <div key={index}>
          <h3>{`${ENGLISH.titles[invoice.type]} for ${formatDayRange(invoice.from, invoice.until)}`}</h3>
          <InvoiceLines lines={invoice.lines} money={{ currency, digits }} isCompact />
        </div>
      ))}
      <p>
        <a href={toAccountAddress(id)}>All of this account: charts, usage by day, print</a>
      </p>
    </>
  );
}
