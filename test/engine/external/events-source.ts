/** A usage source over events in memory, each decided by the core (S17.2). */
import { dayOf, parseDate, parseInstant } from "../../../src/calendar/instant.ts";
import type { UsageSource } from "../../../src/ledger/external-usage.ts";
import { createMeter } from "../../../src/ledger/preview/preview-run.ts";
import { parseDecimal } from "../../../src/numbers/decimal.ts";
import type { GeneratedEvent } from "../../../src/testing/events-arbitrary.ts";
import { createRequestBook } from "../../../src/warehouse/reading/database-cursors.ts";

/** Events that arrive in files or a warehouse over time. */
export function eventsSource(events: () => readonly GeneratedEvent[]): UsageSource {
  return {
    name: "events of a test",
    async *cells(query) {
      const arrivals = events()
        .filter(
          ({ schemaName, timestamp }) => query.schemas.includes(schemaName) && parseInstant(timestamp) <= query.upTo,
        )
        .toSorted((a, b) => parseInstant(a.timestamp) - parseInstant(b.timestamp) || (a.id < b.id ? -1 : 1));
      const run = createMeter(createRequestBook(query));
      for (const event of arrivals) run.add(event);
      const { usage } = run.finish();
      for (const { id } of query.accounts) {
        const cells = usage
          .filter(({ accountId }) => accountId === id)
          .map(({ accountId, meterId, group, date, quantity }) => ({
            accountId,
            meterId,
            ...(group && { group: Object.values(group) }),
            day: dayOf(parseDate(date)),
            quantity: parseDecimal(quantity),
          }))
          .filter(({ day }) => day >= query.from && day < query.until);
        yield cells;
      }
    },
  };
}
