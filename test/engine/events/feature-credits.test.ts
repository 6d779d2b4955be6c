/** Feature credits that events consume: windows of overage (S11.7), and transactions that a store repeats (S11.3). */
import { expect, test } from "vitest";

import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import type { Store } from "../../../src/store/store.ts";
import { loadedAt } from "../support.ts";

const BOOK = {
  eventSchemas: [{ name: "use", attributes: ["tokens"] }],
  features: [{ id: "tokens", name: "Tokens", schemaAssociations: [{ schemaName: "use", attributeName: "tokens" }] }],
};
const OF = { accountId: "prod", featureId: "tokens" };
const useTokens = (id: string, timestamp: string, tokens: number): EventInput => ({
  schemaName: "use",
  id,
  accountId: "prod",
  timestamp,
  attributes: { tokens },
});

/** Runs the work of each transaction twice, as a store does that loses a race. */
function losingRaces(inner: Store): Store {
  return {
    ...inner,
    transact: (scope, work) =>
      inner.transact(scope, async (view) => {
        await work(view);
        return work(view);
      }),
  };
}

test("S11.3 the first event after a change of the configuration finds its feature credits, also if it is decided again", async () => {
  const store = losingRaces(memoryStore());
  const [effectiveFrom, effectiveUntil] = ["2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z"];
  const featureCredits = [{ featureId: "tokens", granted: 5, effectiveFrom, effectiveUntil }];
  const { engine } = await loadedAt("2024-01-10", { ...BOOK, accounts: [{ id: "prod", featureCredits }] }, { store });
  const [outcome] = await engine.ingest([useTokens("e1", "2024-01-09T00:00:00Z", 2)]);
  expect(outcome?.status).toBe("INGESTION_COMPLETED_EVENT_NOT_BILLED");
  expect((await engine.entries.balance(OF)).balance.toFixed()).toBe("3");
});

test("S11.3 S11.7 usage of a closed month before startOffset counts against the limit of the following months", async () => {
  // Ten tokens of overage are allowed in the first three months together, free of charge.
  const overages = [{ feature: "tokens", max: 10, afterCycles: 3, rate: 1 }];
  const { engine, at } = await loadedAt("2024-01-01", {
    ...BOOK,
    pricePlans: [{ id: "trial", cycle: "MONTHLY", overages }],
    accounts: [{ id: "prod", plan: "trial", from: "2024-01-01" }],
  });
  const ingestTokens = async (id: string, date: string, tokens: number): Promise<string | undefined> =>
    (await at(date).ingest([useTokens(id, `${date}T00:00:00Z`, tokens)]))[0]?.status;
  expect(await ingestTokens("e1", "2024-01-10", 8)).toBe("INGESTION_COMPLETED_EVENT_METERED");
  // January is closed here, and March begins with an event.
  await at("2024-02-05").finalize();
  expect(await ingestTokens("e2", "2024-03-10", 9)).toBe("INGESTION_FAILED_INSUFFICIENT_CREDITS");
  expect(await ingestTokens("e3", "2024-03-10", 2)).toBe("INGESTION_COMPLETED_EVENT_METERED");
  const { overageLimit, usedOverage } = await engine.entries.balance(OF);
  expect([overageLimit?.toFixed(), usedOverage?.toFixed()]).toEqual(["10", "10"]);
});
