/** The cycles before an overage card's startOffset are one window, whichever of them are closed (S11.7). */
import { expect, test } from "vitest";

import type { BookInput } from "../../../src/book/resources/book.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { perUnit, planOfMonths } from "../../book/builder.ts";
import { engineAt } from "../support.ts";

/** Ten tokens of overage are allowed in the first three months together, free of charge. */
const TRIAL = {
  entitlementOverageRateCards: [
    { featureId: "feature.tokens", maxQuantity: 10, billingConfig: { startOffset: 3 }, ...perUnit(1) },
  ],
};
const BOOK: BookInput = {
  eventSchemas: [{ name: "use", status: "ACTIVE", attributes: [{ name: "tokens" }] }],
  features: [
    {
      id: "feature.tokens",
      name: "Tokens",
      schemaAssociations: [{ schemaName: "use", attributeName: "tokens" }],
    },
  ],
  pricePlans: [planOfMonths("trial", TRIAL)],
  customers: [{ id: "acme", name: "Acme" }],
  accounts: [
    {
      id: "prod",
      name: "Acme prod",
      customerId: "acme",
      pricePlans: [{ pricePlanId: "trial", effectiveFrom: "2024-01-01" }],
    },
  ],
};

async function ingestTokens(engine: Engine, id: string, timestamp: string, tokens: number): Promise<string> {
  const attributes = [{ name: "tokens", value: tokens }];
  const [outcome] = await engine.ingest([{ schemaName: "use", id, accountId: "prod", timestamp, attributes }]);
  return outcome?.status ?? "";
}

test("S11.3 S11.7 usage of a closed month before startOffset counts against the limit of the following months", async () => {
  const { engine, at } = engineAt("2024-01-01");
  await engine.load(BOOK);
  const [january, march] = ["2024-01-10T00:00:00Z", "2024-03-10T00:00:00Z"];
  expect(await ingestTokens(at(january), "e1", january, 8)).toBe("INGESTION_COMPLETED_EVENT_METERED");
  // January is closed here, and March begins with an event.
  await at("2024-02-05").finalize();
  expect(await ingestTokens(at(march), "e2", march, 9)).toBe("INGESTION_FAILED_INSUFFICIENT_CREDITS");
  expect(await ingestTokens(engine, "e3", march, 2)).toBe("INGESTION_COMPLETED_EVENT_METERED");
  const { overageLimit, usedOverage } = await engine.entries.balance({
    accountId: "prod",
    featureId: "feature.tokens",
  });
  expect([overageLimit?.toFixed(), usedOverage?.toFixed()]).toEqual(["10", "10"]);
});
