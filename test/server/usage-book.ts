/** Calls are metered and priced; chats consume a feature of which the account has 10. */
import type { BookInput } from "../../src/book/resources/book.ts";
import type { EngineOptions } from "../../src/engine/engine.ts";
import { monthlyWithGrace, perUnit, planOfMonths, sumMeter } from "../book/builder.ts";
import { anyCaller, type Calls, startApi, type TestApi } from "./support.ts";

export const USAGE_BOOK = {
  organization: { id: "default", baseCurrency: "USD" },
  eventSchemas: [
    { name: "api calls", attributes: [{ name: "n" }], dimensions: [{ name: "region" }], status: "ACTIVE" },
    { name: "chat", attributes: [{ name: "tokens" }], status: "ACTIVE" },
  ],
  features: [{ id: "ft-chat", name: "chat", schemaAssociations: ["chat"] }],
  usageMeters: [sumMeter("um-calls", "api calls", "n", { name: "calls" })],
  pricePlans: [
    planOfMonths("pp", {
      ...monthlyWithGrace(3),
      usageRateCards: [{ displayName: "Calls", usageMeterId: "um-calls", ...perUnit(0.5) }],
    }),
  ],
  customers: [{ id: "acme", name: "Acme" }],
  accounts: [
    {
      id: "acme",
      name: "Acme",
      customerId: "acme",
      aliases: ["acme-eu"],
      pricePlans: [{ pricePlanId: "pp", effectiveFrom: "2024-05-01" }],
      featureCredits: [
        { id: "fc", featureId: "ft-chat", granted: 10, effectiveFrom: "2024-06-01", effectiveUntil: "2024-07-01" },
      ],
    },
  ],
};

/** An API with the book, loaded on 1 May 2024, at noon of 15 June. */
export async function startWithUsage(options?: Pick<EngineOptions, "keepEventsMs">): Promise<TestApi> {
  const api = await startApi("2024-05-01T09:00:00Z", anyCaller(), options);
  await api.engine.load(USAGE_BOOK as BookInput);
  api.at("2024-06-15T12:00:00Z");
  return api;
}

/** An event of calls on 10 June. */
export function callEvent(id: string, n: number | string = 2, more: object = {}): object {
  return {
    schemaName: "api calls",
    id,
    accountId: "acme",
    timestamp: "2024-06-10T08:00:00Z",
    attributes: [{ name: "n", value: n }],
    dimensions: { region: "eu" },
    ...more,
  };
}

/** Ingests an event of calls, which must count. */
export async function ingestCalls(api: TestApi, id: string, n: number | string, more: object = {}): Promise<void> {
  const { success } = await api.send("POST /ingest", { event: callEvent(id, n, more) });
  if (success !== true) throw new Error(`the event ${id} failed`);
}

type Answer = ReturnType<Calls["send"]>;

/** Sends an event, or several in one request. */
export function bindIngest(send: Calls["send"]): {
  readonly ingest: (event: object) => Answer;
  readonly ingestBatch: (events: readonly unknown[]) => Answer;
} {
  return {
    ingest: async (event) => send("POST /ingest", { event }),
    ingestBatch: async (events) => send("POST /ingestBatch", { events }),
  };
}

/** An event of a chat of so many tokens. */
export function chatEvent(id: string, tokens: number): object {
  const attributes = [{ name: "tokens", value: tokens }];
  return callEvent(id, 0, { schemaName: "chat", attributes, dimensions: undefined });
}

/** How the outcome of an event that counted is written. */
export const METERED = {
  status: "INGESTION_COMPLETED_EVENT_METERED",
  statusDescription: "The event was metered.",
};

/** `id status` of each stored event of a list. */
export async function listEvents(send: Calls["send"], query = ""): Promise<readonly string[]> {
  const { events } = await send(`GET /events${query}`);
  return events.map(
    ({ eventPayload, status }: { readonly eventPayload: { readonly id: string }; readonly status: string }) =>
      `${eventPayload.id} ${status}`,
  );
}
