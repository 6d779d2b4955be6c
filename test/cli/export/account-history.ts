/** A history of two accounts that uses everything an export must preserve. */
import type { Engine } from "../../../src/index.ts";
import { perUnit, planOfMonths, sumMeter } from "../../book/builder.ts";

/**
 * Calls have cells, chats consume a feature and are counted by a meter without a price; seats are paid in advance,
 * cycles are anniversaries; a group has its own grace period.
 */
const DETAILS = {
  supportedCurrencies: ["USD"],
  pricingCycleConfig: { interval: "MONTHLY" as const, anniversaryCycle: true, gracePeriod: 5 },
  licenseRateCards: [{ id: "seat", invoiceTiming: "IN_ADVANCE" as const, enableProration: true, ...perUnit(10) }],
  billingEntitlementRateCards: [
    { featureId: "ft", featureConfigs: [{ featureCreditLimit: 20, effectiveUntil: "P1M" }], ...perUnit(0) },
  ],
  entitlementOverageRateCards: [{ featureId: "ft", ...perUnit(2) }],
};
const usageCards = (rate: number) => ({ usageRateCards: [{ usageMeterId: "um", ...perUnit(rate) }] });
const BOOK = {
  eventSchemas: [
    { name: "call", attributes: [{ name: "n" }], status: "ACTIVE" as const },
    { name: "chat", attributes: [{ name: "tokens" }], status: "ACTIVE" as const },
  ],
  features: [{ id: "ft", name: "Chats", schemaAssociations: ["chat"] }],
  usageMeters: [sumMeter("um", "call", "n"), sumMeter("um.tokens", "chat", "tokens")],
  addOns: [{ id: "seat", name: "Seats", type: "LICENSE" as const }],
  pricePlans: [
    planOfMonths("one", { ...DETAILS, ...usageCards(3) }),
    planOfMonths("two", { ...DETAILS, ...usageCards(4) }),
  ],
  customers: [{ id: "acme", name: "Acme" }],
  accounts: [
    {
      id: "a",
      name: "Acme a",
      customerId: "acme",
      aliases: ["acme-a"],
      pricePlans: [{ pricePlanId: "one", effectiveFrom: "2024-01-10" }],
    },
    { id: "b", name: "Acme b", customerId: "acme" },
  ],
};
const createEvent = (schemaName: "call" | "chat", id: string, accountId: string, timestamp: string, value: number) => ({
  schemaName,
  id,
  accountId,
  timestamp,
  attributes: [{ name: schemaName === "call" ? "n" : "tokens", value }],
});

/** Runs a history on an engine: successive plans, licenses, credits, a group, late and undone events. */
export async function playHistory(engine: Engine, at: (instant: string) => void): Promise<void> {
  await engine.load(BOOK);
  at("2024-01-12T09:00:00Z");
  await engine.licenses.update("a", {
    licenseId: "seat",
    updateType: "ABSOLUTE",
    quantity: 3,
    effectiveFrom: "2024-01-12T09:00:00Z",
  });
  await engine.ingest([
    createEvent("call", "c1", "acme-a", "2024-01-11T00:00:00Z", 7),
    createEvent("chat", "h1", "a", "2024-01-12T00:00:00Z", 15),
  ]);
  at("2024-01-20T09:00:00Z");
  await engine.associate("b", {
    pricePlanId: "two",
    effectiveFrom: "2024-01-20",
    pricePlanDetailsOverride: usageCards(5),
  });
  const group = { name: "Group", email: "bills@acme.test", dailyInvoiceConsolidation: false, accountIds: ["b"] };
  await engine.invoiceGroups.create({ ...group, gracePeriod: 9, netTermDays: 30 });
  await engine.credits.create([
    { accountId: "a", purpose: "welcome", creditAmount: 40, priority: 1, effectiveFrom: "2024-02-10" },
    { accountId: "b", purpose: "gone", creditAmount: 4000, priority: 1, effectiveFrom: "2024-01-20" },
  ]);
  await engine.entries.grant(
    { accountId: "b", featureId: "ft" },
    { granted: 5, effectiveFrom: "2024-01-20T00:00:00Z", effectiveUntil: "2024-06-01T00:00:00Z" },
  );
  await engine.ingest([
    createEvent("call", "c2", "b", "2024-01-20T08:00:00Z", 2),
    createEvent("chat", "h2", "a", "2024-01-19T00:00:00Z", 9),
  ]);
  const [undoneEvent] = await engine.ingest([createEvent("call", "c3", "a", "2024-01-20T08:00:00Z", 1000)]);
  await engine.undo({ account: "a", referenceId: undoneEvent?.referenceId ?? "" });
  at("2024-02-15T09:00:00Z");
  await engine.migrate({
    sourceId: "one",
    sourceVersion: 1,
    targetId: "two",
    targetVersion: 1,
    mode: "IMMEDIATE",
    retainStartOffsets: true,
  });
  await engine.ingest([
    createEvent("call", "c4", "a", "2024-02-15T08:00:00Z", 11),
    createEvent("chat", "h3", "b", "2024-02-14T00:00:00Z", 40),
  ]);
  at("2024-03-01T09:00:00Z");
  await engine.finalize();
}
