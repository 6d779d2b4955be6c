/** A transaction that a store repeats after a lost race decides from what it reads then. */
import { expect, test } from "vitest";

import { createEngine } from "../../../src/engine/engine.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import type { Store } from "../../../src/store/store.ts";

/** Runs the work of each transaction twice, as a store does that loses a race. */
function losingRaces(inner: Store): Store {
  return {
    name: inner.name,
    read: inner.read,
    consistentView: () => inner.consistentView(),
    transact: (scope, work) =>
      inner.transact(scope, async (view) => {
        await work(view);
        return work(view);
      }),
    close: () => inner.close(),
  };
}

test("S11.3 the first event after a change of the configuration finds its feature credits, also if it is decided again", async () => {
  const engine = createEngine({ store: losingRaces(memoryStore()), clock: () => Date.UTC(2024, 0, 10) });
  const [effectiveFrom, effectiveUntil] = ["2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z"];
  await engine.load({
    eventSchemas: [{ name: "use", status: "ACTIVE", attributes: [{ name: "tokens" }] }],
    features: [{ id: "tokens", name: "Tokens", schemaAssociations: [{ schemaName: "use", attributeName: "tokens" }] }],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [
      {
        id: "prod",
        name: "Acme prod",
        customerId: "acme",
        featureCredits: [{ featureId: "tokens", granted: 5, effectiveFrom, effectiveUntil }],
      },
    ],
  });
  const attributes = [{ name: "tokens", value: 2 }];
  const event = { schemaName: "use", id: "e1", accountId: "prod", timestamp: "2024-01-09T00:00:00Z", attributes };
  const [outcome] = await engine.ingest([event]);
  expect(outcome?.status).toBe("INGESTION_COMPLETED_EVENT_NOT_BILLED");
  const { balance } = await engine.entries.balance({ accountId: "prod", featureId: "tokens" });
  expect(balance.toFixed()).toBe("3");
});
