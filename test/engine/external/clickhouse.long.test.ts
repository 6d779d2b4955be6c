/** An engine whose events are in a ClickHouse table shows the same as one that ingested them (S17.4, S17.5). */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { type ClickHouseClient, ClickHouseLogLevel, createClient } from "@clickhouse/client";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { DAY_MS, formatInstant, toInstant, parseInstant } from "../../../src/calendar/instant.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { type EventInput, toEventWithAttributeList } from "../../../src/metering/event-envelope.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { listAccountIds, eventRange, type GeneratedEvent } from "../../../src/testing/events-arbitrary.ts";
import { clickhouseUsage } from "../../../src/warehouse.ts";
import { chDbOfTests } from "../../warehouse/chdb.ts";
import { describeRefusal, engineAt } from "../support.ts";
import { countEvent, teamBook } from "../team-book.ts";
import { cases, LAST_DAY, play, snapshotPlay } from "./scenario.ts";

const chDb = chDbOfTests();

/** Creates the table anew, with a column for each field of events. */
async function recreateTable(
  events: readonly EventInput[],
  more: readonly string[] = [],
  time = "DateTime64(3, 'UTC')",
): Promise<void> {
  const names = new Set(more);
  const rows = events.map(toEventWithAttributeList).map(({ attributes, dimensions, ...envelope }) => {
    const parts = Object.fromEntries([
      ...(attributes ?? []).map(({ name, value }) => [name, String(value)] as const),
      ...Object.entries(dimensions ?? {}),
    ]);
    for (const name of Object.keys(parts)) names.add(name);
    const instant = formatInstant(parseInstant(envelope.timestamp));
    const timestamp =
      time === "String"
        ? instant
        : instant.replace("T", " ").slice(0, time.startsWith("Date3") || time === "Date" ? 10 : -1);
    return { ...envelope, timestamp, ...parts };
  });
  const envelopeColumns = ["schemaName", "accountId", "id"].map((name) => `${name} String`);
  const parts = [...names].map((name) => `"${name}" Nullable(String)`);
  await chDb.client.command({
    query: `create or replace table events (${[...envelopeColumns, `timestamp ${time}`, ...parts].join(", ")}) engine = MergeTree order by (schemaName, accountId, timestamp, id)`,
  });
  if (rows.length > 0) await chDb.client.insert({ table: "events", format: "JSONEachRow", values: rows });
}

/** Some events are sent again later, with the same or another quantity. */
const repeatedEvents = (events: readonly GeneratedEvent[]): fc.Arbitrary<readonly GeneratedEvent[]> =>
  fc
    .array(fc.tuple(fc.nat(Math.max(events.length - 1, 0)), fc.integer({ min: 1, max: 70 * 24 }), fc.boolean()), {
      maxLength: 6,
    })
    .map((again) =>
      again.flatMap(([place, hours, isOther]) => {
        const event = events[place];
        if (event === undefined) return [];
        const attributes = isOther ? event.attributes.map((each) => ({ ...each, value: 3 })) : event.attributes;
        // A minute apart, so that no two events of an account have the same instant.
        const at = parseInstant(event.timestamp) + hours * 3_600_000 + 60_000;
        return [{ ...event, attributes, timestamp: formatInstant(at) }];
      }),
    );

test("S17.4 events in ClickHouse give the same result as ingested ones, also if they are sent again", async () => {
  const stories = cases.chain((story) =>
    repeatedEvents(story.events).map((again) => ({ ...story, events: [...story.events, ...again] })),
  );
  await fc.assert(
    fc.asyncProperty(stories, fc.boolean(), async (story, isText) => {
      const [some = [], others = []] = story.runs;
      const internal = await play(story, some, undefined);
      await recreateTable(story.events, ["units", "region"], isText ? "String" : undefined);
      const read = await play(story, others, clickhouseUsage(chDb.client, { table: "events" }));
      expect(await snapshotPlay(read, story.book)).toEqual(await snapshotPlay(internal, story.book));
      const from = eventRange(story.book).from;
      const until = formatInstant(toInstant(from) + LAST_DAY * DAY_MS);
      expect(await read.engine.lateUsage({ accountIds: listAccountIds(story.book), from, until })).toEqual([]);
    }),
    { numRuns: 3, endOnFailure: true },
  );
}, 300_000);

describe("S17.5 an engine over a table", () => {
  /** An engine of {@link teamBook} with `call` in the table and a clock that the test sets. */
  async function engineOver(client: ClickHouseClient = chDb.client): Promise<ReturnType<typeof engineAt>> {
    const usage = { schemas: ["call"], source: clickhouseUsage(client, { table: "events" }) };
    const subject = engineAt("2024-01-01", memoryStore(), { usage });
    await subject.engine.load(teamBook());
    return subject;
  }
  const readUsage = async (engine: Engine): Promise<readonly string[]> =>
    (await engine.usage({ accountIds: ["prod"], from: "2024-01-01", until: "2024-03-01" })).map(
      ({ date, quantity }) => `${date} ${quantity.toFixed()}`,
    );
  const january = [
    countEvent("1", "2024-01-03T10:00:00Z", 5),
    countEvent("2", "2024-01-03T23:59:59.999Z", "100.5"),
    countEvent("1", "2024-01-20T10:00:00Z", 7),
    countEvent("3", "2024-01-20T12:00:00Z", 1),
    countEvent("x", "2024-01-20T12:00:00Z", 9, "save"),
  ];

  test("reads up to the instant of the query, within a day too", async () => {
    await recreateTable(january);
    const { engine, at } = await engineOver();
    for (const [time, expected] of [
      ["2024-01-02T00:00:00Z", []],
      ["2024-01-03T10:00:00Z", ["2024-01-03 5"]],
      ["2024-01-03T23:59:59.998Z", ["2024-01-03 5"]],
      ["2024-01-03T23:59:59.999Z", ["2024-01-03 105.5"]],
      ["2024-01-20T11:59:59.999Z", ["2024-01-03 105.5"]],
      ["2024-01-20T12:00:00Z", ["2024-01-03 105.5", "2024-01-20 1"]],
    ] as const) {
      at(time);
      expect(await readUsage(engine)).toEqual(expected);
    }
  });

  test("bills nothing while the connection is lost during an answer, and continues after it", async () => {
    await recreateTable(january);
    const { engine, store, at } = await engineOver();
    at("2024-02-02T00:00:00Z");
    const before = store.snapshot();
    chDb.server.cutAfter = 20;
    expect(await describeRefusal(engine.finalize())).toMatch(/^ERR_USAGE_UNAVAILABLE /);
    chDb.server.cutAfter = Infinity;
    expect(store.snapshot()).toBe(before);
    expect(await engine.finalize()).toMatchObject({ finalized: 1 });
    await recreateTable([...january, countEvent("late", "2024-01-05T00:00:00Z", 3)]);
    expect(await readUsage(engine)).toEqual(["2024-01-03 105.5", "2024-01-20 1"]);
    const [late] = await engine.lateUsage({ accountIds: ["prod"], from: "2024-01-01", until: "2024-02-01" });
    expect(late?.cells.map(({ date, late: units }) => [date, units.toFixed()])).toEqual([["2024-01-05", "3"]]);
  });

  test("retries once if a reused connection was closed before an answer, and only once", async () => {
    let resets = 0;
    const proxy = createServer((request, response) => {
      if (resets-- > 0) return void request.socket.destroy();
      void (async () => {
        const answer = await fetch(`${chDb.server.url}${request.url ?? "/"}`, {
          method: "POST",
          body: await text(request),
        });
        response
          .writeHead(answer.status, { "content-type": "text/plain" })
          .end(Buffer.from(await answer.arrayBuffer()));
      })();
    });
    await new Promise<void>((resolve) => {
      proxy.listen(0, "127.0.0.1", resolve);
    });
    const client = createClient({
      url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      keep_alive: { enabled: true },
      log: { level: ClickHouseLogLevel.OFF },
    });
    try {
      await recreateTable(january);
      const { engine, at } = await engineOver(client);
      at("2024-01-21T00:00:00Z");
      const expected = ["2024-01-03 105.5", "2024-01-20 1"];
      expect(await readUsage(engine)).toEqual(expected);
      resets = 1;
      expect(await readUsage(engine)).toEqual(expected);
      expect(resets).toBeLessThan(0);
      resets = 2;
      expect(await describeRefusal(readUsage(engine))).toMatch(/^ERR_USAGE_UNAVAILABLE /);
      expect(await readUsage(engine)).toEqual(expected);
    } finally {
      await client.close();
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  test("reports what is wrong with the table, and decides nothing", async () => {
    const { engine, at } = await engineOver();
    at("2024-01-20T00:00:00Z");
    await chDb.client.command({ query: "drop table if exists events" });
    expect(await describeRefusal(readUsage(engine))).toMatch(/^ERR_USAGE_UNAVAILABLE .*events does not exist/);
    await chDb.client.command({
      query: "create table events (schemaName String, id String, timestamp String) engine = Memory",
    });
    expect(await describeRefusal(readUsage(engine))).toMatch(/^ERR_USAGE_UNAVAILABLE .*expected a column "accountId"/);
    await chDb.client.command({ query: "alter table events add column accountId Array(String)" });
    expect(await describeRefusal(readUsage(engine))).toMatch(
      /^ERR_USAGE_UNAVAILABLE .*"accountId" has the type Array\(String\)/,
    );
    await recreateTable([], ["count"]);
    expect(await readUsage(engine)).toEqual([]);
    // No row can be an event, and an empty bill would tell nobody.
    await recreateTable(january.map((event) => ({ ...event, attributes: [] })));
    expect(await describeRefusal(readUsage(engine))).toMatch(
      /^ERR_USAGE_UNAVAILABLE .*"call" declares "count", but the table has no such column/,
    );
    for (const type of ["Date", "Date32"]) {
      await recreateTable(january, [], type);
      expect(await describeRefusal(readUsage(engine))).toMatch(
        /^ERR_USAGE_UNAVAILABLE .*the column "timestamp" has no times/,
      );
    }
  });

  test("answers concurrent queries, and thousands of accounts in one", async () => {
    const { engine, at } = await engineOver();
    at("2024-01-21T00:00:00Z");
    const ids = Array.from({ length: 2500 }, (_, n) => `it's-"${n}"-é𝒳`);
    await recreateTable([
      ...january,
      ...ids.map((id, n) => countEvent("1", "2024-01-20T00:00:00Z", n + 1, "call", id)),
    ]);
    const newCustomer = await engine.customers.create({ id: "many", name: "Many" });
    expect(newCustomer).toBeDefined();
    for (const id of ids) await engine.accounts.create({ id, name: id, customerId: "many" });
    const days = { from: "2024-01-01", until: "2024-02-01" };
    const parts = [ids.slice(0, 1000), ids.slice(1000, 2000), ids.slice(2000)];
    const answers = await Promise.all([
      ...parts.map(async (accountIds) => engine.usage({ accountIds, ...days })),
      engine.usage({ accountIds: ["prod"], ...days }),
    ]);
    const quantityOf = new Map(answers.flat().map(({ accountId, quantity }) => [accountId, quantity.toNumber()]));
    expect(ids.filter((id, n) => quantityOf.get(id) !== n + 1)).toEqual([]);
  });
});
