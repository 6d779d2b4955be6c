/**
 * Daily usage, with one chart per meter because their units differ.
 *
 * @module
 */
import type { JSX } from "preact";

import type { ChargeDays, ReportData, UsageDays } from "../../report/report-data.ts";
import { DayChart } from "../common/day-chart.tsx";
import { formatMoney, formatNumber } from "../common/format.ts";

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
