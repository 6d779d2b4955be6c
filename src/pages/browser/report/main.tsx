/**
 * The report in a browser: summary, drafts, usage and accounts, or a single account. In print, each invoice is on its own page.
 */
import "../common/common.css";
import "./report.css";
import { type JSX, render } from "preact";
import { useEffect, useState, useRef } from "preact/hooks";

import type { ReportData, AccountData, InvoiceData } from "../../report/report-data.ts";
import { DayChart, type DaySeries } from "../common/charts.tsx";
import { useIsPrinting } from "../common/data-table.tsx";
import { formatAxisValue, formatDayRange, formatMoney } from "../common/format.ts";
import { Accounts } from "./accounts.tsx";
import { Draft, Impact } from "./draft.tsx";
import { findTierChanges, flattenLines, Invoice } from "./invoice.tsx";
import { CurrencyCharges, Facts, NotBilled, Problems, UsageCharts } from "./summary.tsx";

function Report({ data }: { readonly data: ReportData }): JSX.Element {
  const openAccountId = useAccountInAddress();
  const account = data.accounts.find(({ id }) => id === openAccountId);
  return (
    <>
      {account === undefined ? <Overview data={data} /> : <Account account={account} />}
      <PrintedInvoices accounts={data.accounts} />
    </>
  );
}

function Overview({ data }: { readonly data: ReportData }): JSX.Element {
  const { period, totals, accounts, drafts, usage, charges } = data;
  const isEmpty = accounts.length === 0 && drafts.length === 0;
  return (
    <>
      <header class="page-head">
        <h1>Usage and invoices</h1>
        {period !== undefined && <p class="soft">{formatDayRange(period.from, period.until)}</p>}
      </header>
      <main class="stack">
        <Facts data={data} />
        <NotBilled data={data} />
        {isEmpty && <NothingInvoiced />}
        {totals.map((total) => (
          <CurrencyCharges
            key={total.currency}
            total={total}
            charges={charges.find(({ currency }) => currency === total.currency)}
            suffix={totals.length === 1 ? "" : ` in ${total.currency}`}
          />
        ))}
        {drafts.map((draft, index) => (
          <Draft key={index} draft={draft} id={`draft-${index + 1}`} />
        ))}
        {accounts.length > 0 && <Accounts data={data} />}
        {usage.length > 0 && <Usage usage={usage} />}
        <Problems problems={data.problems} />
      </main>
    </>
  );
}

function NothingInvoiced(): JSX.Element {
  return (
    <section class="panel">
      <h2>Nothing was invoiced</h2>
      <p>
        No billing period of an account with a price plan ends within the time of the report. Check the dates of the
        plans in the book, or choose other days with <code>--from</code> and <code>--until</code>.
      </p>
    </section>
  );
}

function Usage({ usage }: Pick<ReportData, "usage">): JSX.Element {
  return (
    <section aria-labelledby="usage">
      <h2 id="usage">Usage by day</h2>
      <UsageCharts usage={usage} />
    </section>
  );
}

function readAccountInAddress(): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get("account") ?? undefined;
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

function Account({ account }: { readonly account: AccountData }): JSX.Element {
  const { id, name, customer, plan, currency, amount, detail } = account;
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
          <bdi>{id}</bdi>, customer <bdi>{customer}</bdi>, plan <bdi>{plan}</bdi>
        </p>
        <p class="sum">{formatMoney(amount, currency)}</p>
      </header>
      <main>
        {detail === undefined ? (
          <p>Invoices left out: page too large.</p>
        ) : (
          <div class="stack screen-only">
            {detail.invoices.map((invoice, index) => (
              <div class="stack" key={index}>
                <Invoice invoice={invoice} account={account} />
                <DailyAmounts invoice={invoice} currency={currency} />
              </div>
            ))}
            {detail.usage.length > 0 && <Usage usage={detail.usage} />}
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
}: {
  readonly invoice: InvoiceData;
  readonly currency: string;
}): JSX.Element | null {
  const cards = flattenLines(invoice.lines).flatMap(({ label, amount, days }) =>
    days === undefined || Number(amount) === 0 ? [] : [{ label, ...days }],
  );
  const [first] = cards;
  if (first === undefined) return null;
  const { from } = first;
  const series = cards
    .filter((card) => card.from === from)
    .map(({ label, amounts, tiers }): DaySeries => ({ label, values: amounts, marks: findTierChanges(tiers) }));
  return (
    <DayChart
      title="Amount so far"
      from={from}
      series={series}
      formatValue={(value) => formatMoney(value, currency)}
      formatTick={(value) => formatAxisValue(value, currency)}
    />
  );
}

/** The invoices of all accounts, or of the open one, after the summary on paper. */
function PrintedInvoices({ accounts }: Pick<ReportData, "accounts">): JSX.Element | null {
  const openAccountId = readAccountInAddress();
  if (!useIsPrinting()) return null;
  return (
    <div id="print-area">
      {accounts
        .filter(({ id }) => openAccountId === undefined || id === openAccountId)
        .flatMap((account) =>
          (account.detail?.invoices ?? []).map((invoice, index) => (
            <Invoice key={`${account.id} ${index}`} invoice={invoice} account={account} isPrinted />
          )),
        )}
    </div>
  );
}

const page = document.getElementById("page");
if (page !== null) {
  const data = JSON.parse(document.getElementById("data")?.textContent ?? "null") as ReportData;
  const isBacktest = data.accounts.length === 0 && data.drafts.length > 0;
  render(isBacktest ? <Impact data={data} /> : <Report data={data} />, page);
}
