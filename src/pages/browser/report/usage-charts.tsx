/**
 * Daily usage, with one chart per meter because their units differ.
 *
 * @module
 */
import type { JSX } from "preact";

import type { UsageDays } from "../../report/report-data.ts";
import { DayChart } from "../common/day-chart.tsx";
import { formatNumber } from "../common/format.ts";

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
