/**
 * The report in a browser: summary, drafts, usage and accounts, or a single account. In print, each invoice is on its own page.
 */
import "../common/common.css";
import "./report.css";
import { type JSX, render } from "preact";
import { useEffect, useState, useRef } from "preact/hooks";

import type { ReportData, AccountData, InvoiceData, LineData } from "../../report/report-data.ts";
import { DayChart, type DaySeries } from "../common/charts.tsx";
import { type Column, compareNames, DataTable } from "../common/data-table.tsx";
import { compareDecimals, formatCount, formatDayRange, formatMoney, formatNumber } from "../common/format.ts";
import { Draft } from "./draft.tsx";
import { Invoice, findSlabChanges } from "./invoice.tsx";
import { CardShares, NotBilledAlert, Problems, Summary, Charges, UsageCharts } from "./summary.tsx";

function Report({ data }: { readonly data: ReportData }): JSX.Element {
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
        {period !== undefined && <p class="soft">{formatDayRange(period.from, period.until)}</p>}
        {period === undefined && drafts.length === 0 && <p class="soft">Nothing was invoiced</p>}
      </header>
      <main>
        <NotBilledAlert notBilled={data.notBilled} />
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

function readAccountInAddress(): string | undefined {
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

function Account({ account, data }: { readonly account: AccountData; readonly data: ReportData }): JSX.Element {
  const { id, name, customer, currency, amount, detail } = account;
  const digits = data.totals.find((total) => total.currency === currency)?.digits ?? 0;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [id]);
  return (
    <div class="account">
      <header class="page-head screen-only">
        <p>
          <a href="#">All accounts</a>
        </p>
        <h1 tabIndex={-1} ref={heading}>
          <bdi>{name}</bdi>
        </h1>
        <p class="soft">
          <bdi>{id}</bdi>, customer <bdi>{customer}</bdi>
        </p>
        <p class="sum">{formatMoney(amount, { digits, currency })}</p>
      </header>
      <main>
        {detail === undefined ? (
          <p>Invoices left out: page too large.</p>
        ) : (
          <div class="screen-only">
            {detail.invoices.map((invoice, index) => (
              <div key={index}>
                <Invoice invoice={invoice} account={account} digits={digits} />
                <DailyAmounts invoice={invoice} currency={currency} digits={digits} />
              </div>
            ))}
            {detail.usage.length > 0 && (
              <section aria-labelledby="usage">
                <h2 id="usage">Usage by day</h2>
                <UsageCharts usage={detail.usage} />
              </section>
            )}
          </div>
        )}
      </main>
    </div>
  );
}

/** The cumulative charges of an invoice's cards. */
function DailyAmounts({
  invoice,
  currency,
  digits,
}: {
  readonly invoice: InvoiceData;
  readonly currency: string;
  readonly digits: number;
}): JSX.Element | null {
  const cards = findLinesWithDays(invoice.lines).filter(({ amount }) => Number(amount) !== 0);
  const [first] = cards;
  if (first?.days === undefined) return null;
  const { from } = first.days;
  const series = cards.flatMap(({ label, days }): DaySeries[] =>
    days === undefined || days.from !== from
      ? []
      : [{ label, values: days.amounts, marks: findSlabChanges(days.slabs) }],
  );
  return (
    <DayChart
      title={`Amount by day in ${currency}`}
      from={from}
      series={series}
      formatValue={(value) => formatMoney(value, { digits })}
    />
  );
}

function findLinesWithDays(lines: readonly LineData[]): readonly LineData[] {
  return lines.flatMap((line) => (line.days === undefined ? findLinesWithDays(line.lines ?? []) : [line]));
}

const page = document.getElementById("page");
if (page !== null) {
  const data = JSON.parse(document.getElementById("data")?.textContent ?? "null") as ReportData;
  const printArea = document.createElement("div");
  printArea.id = "print-area";
  document.body.append(printArea);
  render(<Report data={data} />, page);
  addEventListener("beforeprint", () =>
    render(<PrintedInvoices data={data} accountId={readAccountInAddress()} />, printArea),
  );
  addEventListener("afterprint", () => render(null, printArea));
}

/** The invoices after the summary. */
function PrintedInvoices({
  data,
  accountId,
}: {
  readonly data: ReportData;
  readonly accountId: string | undefined;
}): JSX.Element {
  const digits = new Map(data.totals.map((total) => [total.currency, total.digits]));
  const printedAccounts = data.accounts.filter(({ id }) => accountId === undefined || id === accountId);
  return (
    <>
      {printedAccounts.flatMap((account) =>
        (account.detail?.invoices ?? []).map((invoice, index) => (
          <Invoice
            key={`${account.id} ${index}`}
            invoice={invoice}
            account={account}
            digits={digits.get(account.currency) ?? 0}
            isPrinted
          />
        )),
      )}
    </>
  );
}
