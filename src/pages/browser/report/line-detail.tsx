/**
 * The calculation of a line: its exact amount, and what each day added.
 *
 * @module
 */
import type { JSX } from "preact";

import type { EventsOfDay, LineData, LineDays } from "../../report/report-data.ts";
import { formatCount, formatDay, formatMoney, formatNumber } from "../common/format.ts";
import { findSlabChanges } from "./slab-changes.ts";

/** The expanded details of a line. */
export function LineDetail({ line, digits }: { readonly line: LineData; readonly digits: number }): JSX.Element {
  const { amount, exact, days } = line;
  return (
    <>
      {exact !== undefined && (
        <p>
          Exactly {formatNumber(exact)}, rounded once to {formatMoney(amount, { digits })}.
        </p>
      )}
      {days !== undefined && <DaysTable days={days} digits={digits} />}
    </>
  );
}

function DaysTable({ days, digits }: { readonly days: LineDays; readonly digits: number }): JSX.Element {
  const { from, quantities, amounts, slabs, events = [] } = days;
  const eventsByDay = new Map(events.map((each) => [each.day, each]));
  const marks = findSlabChanges(slabs);
  const daysWithUsage = quantities
    .map((quantity, day) => ({ day, quantity }))
    .filter(({ quantity }) => quantity !== "0");
  if (daysWithUsage.length === 0) return <p class="soft">Nothing was used.</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Days with usage">
      <table class="days">
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col" class="number">
              Used
            </th>
            <th scope="col" class="number">
              Amount so far
            </th>
          </tr>
        </thead>
        <tbody>
          {daysWithUsage.map(({ day, quantity }) => (
            <tr key={day}>
              <th scope="row">
                {formatDay(from, day)}
                {marks.has(day) && <span class="soft small">{` enters ${marks.get(day) ?? ""}`}</span>}
                <Events dayEvents={eventsByDay.get(day)} />
              </th>
              <td class="number">{formatNumber(quantity)}</td>
              <td class="number">{formatMoney(amounts[day] ?? "0", { digits })}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The events of a day's usage; if there are many, the largest. */
function Events({ dayEvents }: { readonly dayEvents: EventsOfDay | undefined }): JSX.Element | null {
  if (dayEvents === undefined) return null;
  const { count, largest } = dayEvents;
  return (
    <details class="events">
      <summary>
        {count === largest.length
          ? formatCount(count, "event")
          : `${formatCount(count, "event")}, the largest ${largest.length}`}
      </summary>
      <ul>
        {largest.map(({ id, time, quantity }, index) => (
          <li key={index}>
            {time} UTC, <bdi>{id}</bdi>: {formatNumber(quantity)}
          </li>
        ))}
      </ul>
    </details>
  );
}
