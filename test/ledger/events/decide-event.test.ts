/** The checks of an event that depend on its arrival time, and that a decision changes none of its inputs. */
import { describe, expect, test } from "vitest";

import { toInstant } from "../../../src/calendar/instant.ts";
import { createCatalog } from "../../../src/ledger/catalog.ts";
import { type AccountAtEvent, decideEvent, type EventDecision } from "../../../src/ledger/events/decide-event.ts";
import { readEnvelope } from "../../../src/metering/event-envelope.ts";
import { bookWithParts, type BookParts, requestEvent, requestSchema } from "../support.ts";

const DAY_MS = 86_400_000;
const march = {
  start: toInstant("2024-03-01"),
  end: toInstant("2024-04-01"),
  openUntil: toInstant("2024-04-11"),
};

/** An account in the cycle of March 2024, open until 11 April. */
function accountAt(more: Partial<AccountAtEvent> = {}): AccountAtEvent {
  return {
    id: "prod",
    isArchived: false,
    billFault: undefined,
    dependenciesOf: () => ({ values: [], rules: [], faults: [] }) as never,
    periodAt: () => march,
    closedReasonAt: (period, _, now) => (now < (period.openUntil ?? Infinity) ? undefined : "PAST_GRACE_PERIOD"),
    levelsEnd: (at) => at,
    spendableEntries: () => [],
    hasRoomForAnyGroup: true,
    hasRoomForGroup: () => true,
    overageAllowanceAt: () => 0,
    ...more,
  };
}

function decide(
  event: unknown,
  now: string,
  { account, parts = {} }: { readonly account?: AccountAtEvent | undefined; readonly parts?: BookParts } = {},
): EventDecision {
  const catalog = createCatalog(bookWithParts(parts));
  const incoming = readEnvelope(event);
  if ("code" in incoming) throw new Error(incoming.message);
  const time = { now: toInstant(now), futureMs: DAY_MS };
  return decideEvent(incoming, catalog.readFields(incoming), account ?? accountAt(), time);
}

const eventWithTokens = (value: unknown, timestamp = "2024-03-05T10:00:00Z"): unknown =>
  requestEvent({ timestamp, attributes: [{ name: "tokens", value }] });
/** A field that no event has. */
const unmade = {
  eventSchemas: [
    {
      ...requestSchema,
      enrichments: {
        dependencies: [],
        fields: [{ name: "made", type: "ATTRIBUTE", order: 1, value: { "/": [1, 0] } }],
      },
    },
  ],
};

describe("S14.1 an event is rejected by its arrival time", () => {
  test("after the grace period (S6.5), whatever else is wrong with it", () => {
    expect(decide(eventWithTokens(1), "2024-04-11", { parts: unmade }).outcome).toMatchObject({
      status: "INGESTION_FAILED_PAST_GRACE_PERIOD",
      description: "The billing period of 2024-03-05T10:00:00.000Z closed on 2024-04-11T00:00:00.000Z.",
    });
    expect(decide(eventWithTokens(1), "2024-04-10T23:59:59.999Z", { parts: unmade }).outcome.status).toBe(
      "INGESTION_FAILED_ENRICHMENT_FAILED",
    );
  });

  test("after the bill of its account failed, unless it fails an earlier check (S13.5)", () => {
    const account = accountAt({ billFault: "a result needs more than 100 significant digits" });
    expect(decide(eventWithTokens(1), "2024-03-05", { account }).outcome).toMatchObject({
      status: "INGESTION_FAILED",
      description:
        'The account "prod" cannot be billed, so its events are rejected: a result needs more than 100 significant digits.',
    });
    const archivedAccount = accountAt({ ...account, isArchived: true });
    expect(decide(eventWithTokens(1), "2024-03-05", { account: archivedAccount }).outcome.status).toBe(
      "INGESTION_FAILED_ACCOUNT_NOT_FOUND",
    );
    expect(decide(eventWithTokens("many"), "2024-03-05", { account }).outcome.description).toContain(
      "has an invalid value",
    );
  });
});
