/**
 * The report: summary, drafts, usage and accounts, or a single account.
 *
 * @module
 */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { AccountData, ReportData } from "../../report/report-data.ts";
import { type Column, compareNames, DataTable } from "../common/data-table.tsx";
import { compareDecimals, formatCount, formatDayRange, formatMoney, formatNumber } from "../common/format.ts";
import { Account } from "./account.tsx";
import { Draft } from "./draft.tsx";
import { CardShares, Problems, Summary } from "./summary.tsx";
import { Charges, UsageCharts } from "./usage-charts.tsx";

export function Report({ data }: { readonly data: ReportData }): JSX.Element {
  const openAccountId = useAccountInAddress();
  const account = data.accounts.find(({ id }) => id === openAccountId);
  return account === undefined ? <Overview data={data} /> : <Account account={account} data={data} />;
}

function Overview({ data }: { readonly data: ReportData }): JSX.Element {
  const { period, accounts, drafts, usage, charges } = data;
  return (
    <>
      <header class="page-head">
        <h1>{accounts.length === 0 && drafts.length > 0 ? "Impact of the price change" : "Usage and invoices"}</h1>
        <p class="soft">{period === undefined ? "Nothing was invoiced" : formatDayRange(period.from, period.until)}</p>
      </header>
      <main>
        <Summary data={data} />
        <CardShares data={data} />
        {drafts.map((draft) => (
          <Draft key={draft.name} draft={draft} />
        ))}
        {accounts.length > 0 && <Accounts data={data} />}
        {charges.length > 0 && <Charges charges={charges} totals={data.totals} />}
        {usage.length > 0 && (
          <section aria-labelledby="usage">
            <h2 id="usage">Usage by day</h2>
            <UsageCharts usage={usage} />
          </section>
        )}
        <Problems problems={data.problems} />
      </main>
    </>
  );
}

function Accounts({ data }: { readonly data: ReportData }): JSX.Element {
  const { accounts, leftOut, detailed } = data;
  return (
    <section class="screen-only" aria-labelledby="accounts">
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
        searchText={({ id, name, customer }) => `${id} ${name} ${customer}`}
        placeholder="Search by name, id or customer"
        initialSort="amount"
        pageSize={25}
      />
    </section>
  );
}

function createColumns({ totals }: ReportData): readonly Column<AccountData>[] {
  const digits = new Map(totals.map((total) => [total.currency, total.digits]));
  return [
    { name: "name", label: "Account", cell: renderAccountName, compare: (a, b) => compareNames(a.name, b.name) },
    {
      name: "customer",
      label: "Customer",
      isWideOnly: true,
      cell: ({ customer }) => <bdi>{customer}</bdi>,
      compare: (a, b) => compareNames(a.customer, b.customer),
    },
    {
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
      cell: ({ amount, currency }) => formatMoney(amount, { digits: digits.get(currency) ?? 0, currency }),
      compare: (a, b) => compareNames(a.currency, b.currency) || compareDecimals(a.amount, b.amount),
    },
  ];
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
      {name !== id && (
        <div class="soft small">
          <bdi>{id}</bdi>
        </div>
      )}
    </>
  );
}

export function readAccountInAddress(): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get("account") ?? undefined;
}

/** The URL that opens an account. */
function toAccountAddress(accountId: string): string {
  return `#${new URLSearchParams({ account: accountId }).toString()}`;
}

/** The open account, updated when it changes. */
function useAccountInAddress(): string | undefined {
  const [account, setAccount] = useState(readAccountInAddress);
  useEffect(() => {
    const update = (): void => {
      setAccount(readAccountInAddress());
      scrollTo(0, 0);
    };
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return account;
}
