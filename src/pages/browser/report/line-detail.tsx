/**
 * How a line was made: its exact amount, and what each day added.
 *
 * @module
 */
import type { JSX } from "preact";

import type { EventsOfDay, LineData, LineDays } from "../../report/report-data.ts";
import { counted, dayText, moneyText, numberText } from "../look/figures.ts";
import { slabChanges } from "./slab-changes.ts";

/** The details that a line opens. */
export function LineDetail({ line, digits }: { readonly line: LineData; readonly digits: number }): JSX.Element {
  const { amount, exact, days } = line;
  return (
    <>
      {exact !== undefined && (
        <p>
          Exactly {numberText(exact)}, rounded once to {moneyText(amount, { digits })}.
        </p>
      )}
      {days !== undefined && <Days days={days} digits={digits} />}
    </>
  );
}

function Days({ days, digits }: { readonly days: LineDays; readonly digits: number }): JSX.Element {
  const { from, quantities, amounts, slabs, events = [] } = days;
  const eventsOn = new Map(events.map((each) => [each.day, each]));
  const marks = slabChanges(slabs);
  const used = quantities.map((quantity, day) => ({ day, quantity })).filter(({ quantity }) => quantity !== "0");
  if (used.length === 0) return <p class="soft">Nothing was used.</p>;
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
          {used.map(({ day, quantity }) => (
            <tr key={day}>
              <th scope="row">
                {dayText(from, day)}
                {marks.has(day) && <span class="soft small">{` enters ${marks.get(day) ?? ""}`}</span>}
                <Events of={eventsOn.get(day)} />
              </th>
              <td class="number">{numberText(quantity)}</td>
              <td class="number">{moneyText(amounts[day] ?? "0", { digits })}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The events behind a day's usage; of many, those that added most. */
function Events({ of }: { readonly of: EventsOfDay | undefined }): JSX.Element | null {
  if (of === undefined) return null;
  const { count, largest } = of;
  return (
    <details class="events">
      <summary>
        {count === largest.length
          ? counted(count, "event")
          : `${counted(count, "event")}, the largest ${largest.length}`}
      </summary>
      <ul>
        {largest.map(({ id, time, quantity }, index) => (
          <li key={index}>
            {time} UTC, <bdi>{id}</bdi>: {numberText(quantity)}
          </li>
        ))}
      </ul>
    </details>
  );
}
