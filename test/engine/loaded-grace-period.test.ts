/** The end of ingest for loaded history, also if it was stored before that time was recorded (S6.5). */
import { expect, test } from "vitest";

import { type MemoryStore, memoryStore } from "../../src/store/memory/memory.ts";
import { callEvent, engineAt, monthly } from "./support.ts";

const LOADED = "2024-06-15T12:00:00Z";

/** A store into which history was loaded at {@link LOADED}: a monthly plan since January, without grace. */
async function loadHistory(): Promise<MemoryStore> {
  const { engine, store } = engineAt(LOADED);
  await engine.load({
    eventSchemas: [{ name: "call", attributes: [{ name: "count" }], dimensions: [{ name: "region" }] }],
    usageMeters: [
      {
        id: "um.a",
        name: "calls",
        aggregation: "COUNT",
        eventSchemaName: "call",
        computations: [{ order: 1, matcher: true }],
      },
    ],
    pricePlans: [{ id: "pp.a", name: "Team", status: "ACTIVE", pricePlanDetails: monthly("um.a") }],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [
      {
        id: "prod",
        name: "Acme prod",
        customerId: "acme",
        pricePlans: [{ pricePlanId: "pp.a", version: 1, effectiveFrom: "2024-01-01" }],
      },
    ],
  });
  return store;
}

/** The same as an earlier version stored it: an association was decided when it was loaded, without other times. */
function asFormerly(store: MemoryStore): MemoryStore {
  const text = store.snapshot();
  const former = text
    .replaceAll(/,"recordedAt":\d+/g, "")
    .replaceAll(/"decidedAt":\d+/g, `"decidedAt":${Date.parse(LOADED)}`);
  expect(text).toContain('"recordedAt"');
  expect(former).not.toContain('"recordedAt"');
  return memoryStore({ snapshot: former });
}

test.each([
  ["as stored by this version", async () => loadHistory()],
  ["stored without when it was recorded", async () => asFormerly(await loadHistory())],
])("S6.5 history accepts events for a day after it was loaded, %s", async (_, storeOf) => {
  const { engine, at } = engineAt(LOADED, await storeOf());
  const statusAt = async (id: string, now: string): Promise<string | undefined> => {
    at(now);
    return (await engine.ingest([callEvent(id, "2024-02-10T00:00:00Z")]))[0]?.status;
  };
  expect(await statusAt("a", LOADED)).toBe("INGESTION_COMPLETED_EVENT_METERED");
  expect(await statusAt("b", "2024-06-16T11:59:59.999Z")).toBe("INGESTION_COMPLETED_EVENT_METERED");
  expect(await statusAt("c", "2024-06-16T12:00:00Z")).toBe("INGESTION_FAILED_PAST_GRACE_PERIOD");
  // Two events at the rate of 1, final once the grace is over.
  const { items } = await engine.invoices.list({
    filter: { accountId: "prod", from: "2024-02-01", until: "2024-03-01" },
  });
  expect(items.map(({ invoice }) => [invoice.status, invoice.revenueInfo.value.toNumber()])).toEqual([["DUE", 2]]);
});
