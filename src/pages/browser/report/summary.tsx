/** The summary: amounts, accounts, events, problems, and usage by day. */
import type { JSX } from "preact";

import { describeEventCount } from "../../event-counts.ts";
import type { ReportData, ChargeDays, UsageDays } from "../../report/report-data.ts";
import { ShareBar, DayChart } from "../common/charts.tsx";
import { formatCount, formatMoney, formatNumber } from "../common/format.ts";

/** Usage that is not billed, and why. */
export function NotBilledAlert({ notBilled }: Pick<ReportData, "notBilled">): JSX.Element | null {
  if (notBilled.length === 0) return null;
  return (
    <section class="alert" aria-label="Not billed">
      {notBilled.map(({ title, items, others }) => (
        <div key={title}>
          <p class="notice">
            <bdi>{title}</bdi>
          </p>
          <ul>
            {items.map(({ label, amount }) => (
              <li key={label}>
                <bdi>{label}</bdi> ({amount})
              </li>
            ))}
            {others > 0 && <li>{`and ${formatCount(others, "other")}`}</li>}
          </ul>
        </div>
      ))}
    </section>
  );
}

/** The figures at the top. */
export function Summary({ data: { totals, events, problems, notices } }: { readonly data: ReportData }): JSX.Element {
  const { read = 0, ...statuses } = events;
  return (
    <section aria-label="Summary">
      <dl class="cards">
        {totals.map(({ currency, digits, amount, accounts, invoices }) => (
          <div class="figure" key={currency}>
            <dt>Total in {currency}</dt>
            <dd>{formatMoney(amount, { digits })}</dd>
            <dd>{`${formatCount(accounts, "account")}, ${formatCount(invoices, "invoice")}`}</dd>
          </div>
        ))}
        {read > 0 && (
          <div class="figure">
            <dt>Events read</dt>
            <dd>{formatNumber(read)}</dd>
            {Object.entries(statuses).map(([status, count]) => (
              <dd key={status}>{describeEventCount(status, count, formatNumber)}</dd>
            ))}
          </div>
        )}
        {problems.count > 0 && (
          <div class="figure bad">
            <dt>Problems</dt>
            <dd>{formatNumber(problems.count)}</dd>
            <dd>
              <a href="#problems" onClick={(event) => scrollToProblems(event)}>
                the first of them
              </a>
            </dd>
          </div>
        )}
      </dl>
      {notices.map((notice) => (
        <p class="notice" key={notice}>
          <bdi>{notice}</bdi>
        </p>
      ))}
    </section>
  );
}

/** Scrolls without changing the URL, which selects the account. */
function scrollToProblems(event: Event): void {
  event.preventDefault();
  document.getElementById("problems")?.scrollIntoView();
}

/** The first invalid lines and events. */
export function Problems({ problems: { first, count } }: Pick<ReportData, "problems">): JSX.Element | null {
  if (count === 0) return null;
  const more = count - first.length;
  return (
    <section aria-labelledby="problems">
      <h2 id="problems">{formatCount(count, "problem")}</h2>
      <ul class="problems">
        {first.map(({ place, message }, index) => (
          <li key={index}>
            <bdi>{place}</bdi>: <bdi>{message}</bdi>
          </li>
        ))}
      </ul>
      {more > 0 && <p class="soft">{`and ${formatNumber(more)} more`}</p>}
    </section>
  );
}

/** Each card's share of the total in its currency. */
export function CardShares({ data: { totals } }: { readonly data: ReportData }): JSX.Element {
  return (
    <>
      {totals.map(({ currency, digits, cards }) => {
        const largest = Math.max(...cards.map(({ amount }) => Math.abs(Number(amount))), Number.MIN_VALUE);
        return (
          cards.length > 0 && (
            <section key={currency} aria-label={`What is charged in ${currency}`}>
              <h2>
                {totals.length === 1
                  ? "What is charged, before credits"
                  : `What is charged in ${currency}, before credits`}
              </h2>
              <table class="shares">
                <tbody>
                  {cards.map(({ label, amount }) => (
                    <tr key={label}>
                      <th scope="row">
                        <bdi>{label}</bdi>
                        <ShareBar share={Math.abs(Number(amount)) / largest} />
                      </th>
                      <td class="number">{formatMoney(amount, { digits, currency })}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          )
        );
      })}
    </>
  );
}

export function UsageCharts({ usage }: { readonly usage: readonly UsageDays[] }): JSX.Element {
  return (
    <div class="charts">
      {usage.map(({ label, from, quantities }, index) => (
        <DayChart
          key={index}
          title={label}
          from={from}
          series={[{ label, values: quantities }]}
          formatValue={formatNumber}
          hasBars
        />
      ))}
    </div>
  );
}

/** One chart for each currency and start day. */
export function Charges({
  charges,
  totals,
}: {
  readonly charges: readonly ChargeDays[];
  readonly totals: ReportData["totals"];
}): JSX.Element {
  const groups = new Map<string, ChargeDays[]>();
  for (const charge of charges) {
    const key = `${charge.currency} ${charge.from}`;
    groups.set(key, [...(groups.get(key) ?? []), charge]);
  }
  return (
    <section aria-labelledby="charges">
      <h2 id="charges">Amount by day</h2>
      <p class="soft">Cumulative charges by item, without fees and credits.</p>
      <div class="charts">
        {[...groups].map(([key, groupCharges]) => {
          const [{ currency, from } = { currency: "", from: "" }] = groupCharges;
          const digits = totals.find((total) => total.currency === currency)?.digits ?? 0;
          return (
            <DayChart
              key={key}
              title={currency}
              from={from}
              series={groupCharges.map(({ label, amounts }) => ({ label, values: amounts }))}
              formatValue={(value) => formatMoney(value, { digits })}
            />
          );
        })}
      </div>
    </section>
  );
}
