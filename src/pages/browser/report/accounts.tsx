/** The accounts: each with its plan, charges by day and largest items, and a row that opens to the lines of its invoices. */
import type { JSX } from "preact";

import { minorUnitDigits } from "../../../numbers/currency.ts";
import type { AccountData, ReportData } from "../../report/report-data.ts";
import { Sparkline } from "../common/charts.tsx";
import { Aligned, type Column, compareNames, DataTable } from "../common/data-table.tsx";
import { compareDecimals, countDays, formatCount, formatMoney, formatNumber } from "../common/format.ts";
import { describeInvoice, flattenLines, InvoiceLines } from "./invoice.tsx";

/** The table of accounts. */
export function Accounts({ data }: { readonly data: ReportData }): JSX.Element {
  const { accounts, leftOut, detailed } = data;
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
        initialSort="Amount"
        pageSize={25}
        detail={{
          label: ({ name }) => `Invoices of ${name}`,
          canOpen: ({ detail }) => detail !== undefined,
          render: (account) => <AccountLines account={account} />,
        }}
      />
    </section>
  );
}

function createColumns(data: ReportData): readonly Column<AccountData>[] {
  const { totals, accounts } = data;
  const most = Math.max(...totals.map(({ currency }) => minorUnitDigits(currency)));
  const renderMoney = (amount: string, { currency }: AccountData): JSX.Element => (
    <Aligned text={formatMoney(amount, currency)} shown={minorUnitDigits(currency)} most={most} />
  );
  const [onlyTotal, ...otherTotals] = totals;
  const itemLabels = onlyTotal !== undefined && otherTotals.length === 0 ? onlyTotal.cards : [];
  const columns: (Column<AccountData> | false)[] = [
    { label: "Account", cell: renderAccountName, compare: (a, b) => compareNames(a.name, b.name) },
    new Set(accounts.map(({ customer }) => customer)).size > 1 &&
      accounts.some(({ customer, name }) => customer !== name) && {
        label: "Customer",
        class: "wide-only",
        cell: ({ customer }) => <bdi>{customer}</bdi>,
        compare: (a, b) => compareNames(a.customer, b.customer),
      },
    {
      label: "Plan",
      class: "wide-only",
      cell: ({ plan }) => <bdi class="soft">{plan}</bdi>,
      compare: (a, b) => compareNames(a.plan, b.plan),
    },
    data.charges.length > 0 && {
      label: "Charged by day",
      class: "wide-only",
      cell: (account) => <AccountSparkline account={account} period={data.period} />,
    },
    ...(accounts[0]?.items ?? []).map(
      (_, index) =>
        itemLabels[index] !== undefined && {
          label: itemLabels[index].label,
          class: "number wide-only",
          cell: (row: AccountData) => renderMoney(row.items[index] ?? "0", row),
          compare: (a: AccountData, b: AccountData) => compareDecimals(a.items[index] ?? "0", b.items[index] ?? "0"),
        },
    ),
    accounts.some(({ invoices }) => invoices > 1) && {
      label: "Invoices",
      class: "number wide-only",
      cell: ({ invoices }) => formatNumber(invoices),
      compare: (a, b) => a.invoices - b.invoices,
    },
    {
      label: "Amount",
      class: "number",
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

interface AccountSparklineProps {
  readonly account: AccountData;
  readonly period: ReportData["period"];
}

function AccountSparkline({ account: { detail }, period }: AccountSparklineProps): JSX.Element | null {
  const lines = (detail?.invoices ?? []).flatMap((invoice) => flattenLines(invoice.lines)).filter(({ days }) => days);
  if (period === undefined || lines.length === 0) return null;
  const values = Array.from({ length: countDays(period.from, period.until) }, () => 0);
  for (const { days } of lines) {
    const start = days === undefined ? 0 : countDays(period.from, days.from);
    for (const [day, amount] of (days?.amounts ?? []).entries())
      values[start + day] = (values[start + day] ?? 0) + Number(amount) - Number(days?.amounts[day - 1] ?? 0);
  }
  return <Sparkline values={values} />;
}

/** The invoices of an account below its row. */
function AccountLines({ account: { id, currency, detail } }: { readonly account: AccountData }): JSX.Element {
  return (
    <>
      {detail?.invoices.map((invoice, index) => (
        <div key={index}>
          <h3>{describeInvoice(invoice)}</h3>
          <InvoiceLines lines={invoice.lines} currency={currency} isCompact />
        </div>
      ))}
      <p>
        <a href={toAccountAddress(id)}>All of this account: charts, usage by day, print</a>
      </p>
    </>
  );
}
