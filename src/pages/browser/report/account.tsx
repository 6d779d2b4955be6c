/**
 * One account with its invoices and usage.
 *
 * @module
 */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import type { AccountData, InvoiceData, LineData, ReportData } from "../../report/report-data.ts";
import { DayChart, type DaySeries } from "../common/day-chart.tsx";
import { formatMoney } from "../common/format.ts";
import { findSlabChanges, Invoice } from "./invoice.tsx";
import { UsageCharts } from "./usage-charts.tsx";

export function Account({ account, data }: { readonly account: AccountData; readonly data: ReportData }): JSX.Element {
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
