/** Events, what undoing them does, and the states of resources. */
import { expect } from "vitest";

import { accounts } from "./account.cases.ts";
import { type Api, type Json, oncePerServer, startContract, unique } from "./api.ts";
import { type Case, expectRefused, ruleCases, tableCases } from "./case.ts";
import { addOns, meters, schemas } from "./catalog.cases.ts";
import { anEntry, migrations } from "./holdings.cases.ts";
import { plans } from "./price-plan.cases.ts";
import { figureIn, type Row } from "./reference.ts";
import { aMeter, anAccount, anEvent, aPlannedAccount, aSchema, PER_UNIT } from "./resources.ts";
import { valuesIn } from "./types.ts";

const DAY_MS = 86_400_000;

/**
 * Ingests events.
 *
 * @returns their records
 */
async function ingestBatch(api: Api, events: readonly Json[]): Promise<readonly Json[]> {
  const { data } = await api.callOk("POST /ingestBatch", { events });
  return data;
}

const undoEvents = async (api: Api, query: Readonly<Record<string, string>>) => api.ask("DELETE /events", { query });

/** Texts and numbers; a text that is a number is returned as text. */
const SENT_DIMENSIONS = { region: "eu", zone: 3, share: 0.25, code: "007" };

/** Undone events: one that counts, and one that no longer counts on a server whose cycle has ended since. */
const undone = oncePerServer(async (api): Promise<readonly Json[]> => {
  const schema = await aSchema(api);
  await aMeter(api, schema);
  // It counts, but no plan bills it.
  const free = await anAccount(api);
  await ingestBatch(api, [anEvent(free, schema, { dimensions: SENT_DIMENSIONS })]);
  const { json } = await undoEvents(api, { account_id: free });
  const later = await (await startContract())();
  const paying = await aPlannedAccount(later);
  await ingestBatch(later, [anEvent(paying, await aSchema(later), { timestamp: "2024-06-10T00:00:00Z" })]);
  // Until 5 July: the three days of grace are over.
  later.server.pass(20 * DAY_MS);
  const past = await undoEvents(later, { account_id: paying });
  return [...json.data, ...past.json.data];
});

/** Every state that a row names occurs, and if it names all of them, no other. */
const states =
  (samples: (api: Api) => Promise<readonly Json[]>) =>
  async (api: Api, { type }: Row): Promise<void> => {
    const statuses = new Set((await samples(api)).map(({ status }) => status));
    const documentNames = valuesIn(type);
    expect(documentNames.filter((state) => !statuses.has(state))).toEqual([]);
    if (!type.includes("seen")) expect([...statuses].filter((state) => !documentNames.includes(state))).toEqual([]);
  };

const STATE_CASES: readonly Case[] = [
  ...ruleCases("State sets", {
    "Usage meter": states(meters),
    "Event schema": states(schemas),
    "Add-on": states(addOns),
    Account: states(accounts),
    "Price plan": states(plans),
    "Ingested event record": states(undone),
    Migration: states(migrations),
  }),
  ...ruleCases("Moves that are shown", {
    "ingested event": async (api) => {
      // Usage and revenue.
      const schema = await aSchema(api);
      const usageMeterId = await aMeter(api, schema);
      const accountId = await aPlannedAccount(api, { usageRateCards: [{ usageMeterId, ...PER_UNIT }] });
      const totalAmount = async () => (await api.callOk(`GET /invoices?account_id=${accountId}`)).data[0].totalAmount;
      const [first] = await ingestBatch(api, [anEvent(accountId, schema), anEvent(accountId, schema)]);
      expect(await totalAmount()).toBe(20);
      const { json } = await undoEvents(api, { account_id: accountId, id: first.referenceId });
      expect(json.data).toMatchObject([{ status: "REVERTED", referenceId: first.referenceId }]);
      expect(await totalAmount()).toBe(10);
      // Feature credits.
      const entryId = await anEntry(api);
      const event = anEvent(entryId.accountId, entryId.schema);
      await api.callOk("POST /entitled", { event });
      const balance = async () => (await api.callOk(`GET ${entryId.path}`)).data[0].balance;
      expect(await balance()).toBe(7.5);
      await undoEvents(api, { account_id: entryId.accountId, event_id: event.id });
      expect(await balance()).toBe(12.5);
      // One of a closed cycle.
      const failure = (await undone(api)).find(({ status }) => status === "FAILED");
      expect(failure.reason).not.toBe("");
    },
  }),
  ...ruleCases("States and transitions", {
    "rule 1": async (api) => {
      const [draft, active] = await plans(api);
      const body = { description: "Another" };
      expect((await api.callOk(`PATCH /price_plans/${draft.id}`, body)).description).toBe("Another");
      const { status } = await api.ask(`PATCH /price_plans/${active.id}`, { body });
      expect(status).toBe(400);
      expect(await api.callOk(`GET /price_plans/${active.id}`)).toEqual(active);
    },
    "rule 2": async (api) => {
      const name = await aSchema(api);
      const patchSchema = async (body: Json) => api.ask(`PATCH /event_schema/${name}`, { body });
      for (const list of ["attributes", "dimensions"]) {
        const { [list]: own } = await api.callOk(`GET /event_schema/${name}`);
        await patchSchema({ [list]: [] });
        await patchSchema({ [list]: [{ ...own[0], displayName: "Changed" }] });
        await patchSchema({ [list]: [{ name: unique("new") }] });
        const { [list]: after } = await api.callOk(`GET /event_schema/${name}`);
        expect(after[0]).toEqual(own[0]);
        expect(after).toHaveLength(own.length + 1);
      }
      expect((await patchSchema({ description: "Another" })).json).toMatchObject({
        description: "Another",
        status: "ACTIVE",
      });
    },
  }),
];

/** Events of one account, each at its own minute, with the time of ingest. */
async function someEvents(api: Api, count = 3): Promise<Json> {
  const accountId = await anAccount(api);
  const schema = await aSchema(api);
  const events = Array.from({ length: count }, (_, at) =>
    anEvent(accountId, schema, { timestamp: `2024-06-15T11:0${at}:00.250Z` }),
  );
  const records = await ingestBatch(api, events);
  const { events: found } = await api.callOk(`GET /events/${events[0].id}`);
  return { accountId, events, records, createdAt: found[0].createdAt };
}

/** Which events an undo reverts, by the ids of the callers. */
async function takenBy(api: Api, query: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { status, json } = await undoEvents(api, query);
  expect(status).toBe(200);
  return json.data.map(({ eventPayload }: Json) => eventPayload.id);
}

/** The document's description of a filter. */
function filterOf(api: Api, name: string): Json {
  return api.document.paths["/events"].delete.parameters.find((parameter: Json) => parameter.name === name);
}

const UNDO_CASES: readonly Case[] = ruleCases("Undo ingested events", {
  account_id: async (api, { type }) => {
    const { required, schema } = filterOf(api, "account_id");
    expect([schema.type, required && "required"]).toEqual(type.split(", "));
    const { accountId, events } = await someEvents(api);
    await expectRefused(undoEvents(api, { event_id: events[0].id }), "account_id");
    expect((await takenBy(api, { account_id: await anAccount(api) })).length).toBe(0);
    expect((await takenBy(api, { account_id: accountId })).toSorted()).toEqual(
      events.map(({ id }: Json) => id).toSorted(),
    );
  },
  id: async (api, { type }) => {
    expect(filterOf(api, "id")).toMatchObject({ required: false, schema: { type } });
    const { accountId, events, records } = await someEvents(api);
    expect(await takenBy(api, { account_id: accountId, id: records[1].referenceId })).toEqual([events[1].id]);
  },
  event_id: async (api, { type }) => {
    expect(filterOf(api, "event_id")).toMatchObject({ required: false, schema: { type } });
    const { accountId, events } = await someEvents(api);
    expect(await takenBy(api, { account_id: accountId, event_id: events[2].id })).toEqual([events[2].id]);
  },
  event_source_time: async (api, { type }) => {
    expect(filterOf(api, "event_source_time")).toMatchObject({ required: false, schema: { type } });
    const { accountId, events } = await someEvents(api);
    const at = { account_id: accountId, event_source_time: events[1].timestamp };
    expect(await takenBy(api, at)).toEqual([events[1].id]);
    // Without a fraction it is the whole second.
    const second = { account_id: accountId, event_source_time: "2024-06-15T11:02:00Z" };
    expect(await takenBy(api, second)).toEqual([events[2].id]);
  },
  created_at: async (api, { type }) => {
    expect(filterOf(api, "created_at")).toMatchObject({ required: false, schema: { type } });
    const { accountId, events, createdAt } = await someEvents(api);
    const eventQuery = { account_id: accountId, event_id: events[0].id };
    expect(await takenBy(api, { ...eventQuery, created_at: "2024-06-01T00:00:00Z" })).toEqual([]);
    expect(await takenBy(api, { ...eventQuery, created_at: createdAt })).toEqual([events[0].id]);
  },
  "allowed combinations": async (api, { type }) => {
    const { accountId, events, records, createdAt } = await someEvents(api);
    const [event] = events;
    const values: Readonly<Record<string, string>> = {
      id: records[0].referenceId,
      event_id: event.id,
      event_source_time: event.timestamp,
      created_at: createdAt,
    };
    const [list = ""] = (type.split(": ")[1] ?? "").split(". ");
    const documentValues = new Set(
      list.split("; ").map((part) =>
        Object.keys(values)
          .filter((name) => new RegExp(`\\b${name}\\b`).test(part))
          .join(),
      ),
    );
    expect(documentValues.size).toBe(list.split("; ").length);
    for (const names of subsets(Object.keys(values))) {
      const query = Object.fromEntries(names.map((name) => [name, values[name] ?? ""]));
      // No events of the account remain after the first; which are reverted is tested above.
      const { status } = await undoEvents(api, { account_id: accountId, ...query });
      expect([names.join(), status]).toEqual([names.join(), documentValues.has(names.join()) ? 200 : 400]);
    }
    const seven = await someEvents(api, 7);
    const most = figureIn(/at most \d+/.exec(type)?.[0] ?? "");
    expect(await takenBy(api, { account_id: seven.accountId })).toHaveLength(most);
    expect(await takenBy(api, { account_id: seven.accountId })).toHaveLength(7 - most);
  },
});

function subsets(names: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: 2 ** names.length }, (_, bits) => names.filter((_, at) => (bits >> at) % 2 === 1));
}

/** Cases of events and states. */
export const EVENT_CASES: readonly Case[] = [
  ...tableCases({
    table: "Ingested event record",
    component: "IngestedEvent",
    samples: undone,
    fields: {
      referenceId: {
        says: async (api) => {
          const ids = (await undone(api)).map(({ referenceId }) => referenceId);
          expect(new Set(ids).size).toBe(ids.length);
        },
      },
      eventPayload: {
        says: async (api) => {
          const [{ eventPayload }] = await undone(api);
          expect(eventPayload.dimensions).toEqual(SENT_DIMENSIONS);
        },
      },
      source: {
        says: async (api) => {
          for (const { source } of await undone(api)) expect(source).toEqual({ id: "", type: "" });
        },
      },
      reason: {
        says: async (api) => {
          const [reverted, failure] = (await undone(api)).map(({ reason }) => reason);
          expect(reverted).not.toBe("");
          expect(failure).not.toBe(reverted);
        },
      },
    },
  }),
  ...STATE_CASES,
  ...UNDO_CASES,
];
