/** `ratebook preview --trace`: the events behind a line. */
import { describe, expect, test } from "vitest";

import type { BookInput } from "../../../src/book/resources/book.ts";
import { anyCaller, startApi } from "../../server/support.ts";
import { USAGE_BOOK } from "../../server/usage-book.ts";
import { ratebook, testFolder } from "../fake-io.ts";

const files = testFolder();
const EVENTS = [
  ["first", 7, "2024-06-01T00:00:00Z"],
  ["back", -2, "2024-06-10T08:00:00Z"],
  ["more", 2.5, "2024-06-10T20:00:00Z"],
].map(([id, n, timestamp]) => ({
  schemaName: "api calls",
  id: String(id),
  accountId: "acme-eu",
  timestamp: String(timestamp),
  attributes: [{ name: "n", value: Number(n) }],
  dimensions: { region: "eu" },
}));
const book = files.file("book.json", USAGE_BOOK);
const events = files.file("events.ndjson", EVENTS.map((event) => `${JSON.stringify(event)}\n`).join(""));
const argv = ["preview", book, "--events", events];

describe("ratebook preview --trace", () => {
  test("S13.6 lists the line, the meter's rules, and each day with its events and what each added", async () => {
    const { code, out } = await ratebook([...argv, "--trace", "um-calls"]);
    expect(code).toBe(0);
    expect(out).toBe(`acme  usage of um-calls, 2024-06-01 to 2024-07-01: 7.5
  step 1: {"var":"attribute.n"}
  2024-06-01: 7
    2024-06-01T00:00:00.000Z  7  first  api calls n=7 region=eu
  2024-06-10: 0.5
    2024-06-10T08:00:00.000Z  -2  back  api calls n=-2 region=eu
    2024-06-10T20:00:00.000Z  2.5  more  api calls n=2.5 region=eu
`);
  });

  test("S19.1 lists the days of a level without events too: 30 on 29 of 30 days and 60 on one", async () => {
    const book = files.file("level.json", {
      eventSchemas: [{ name: "resized", attributes: ["size"] }],
      usageMeters: [{ id: "size", schema: "resized", level: "size" }],
      pricePlans: [{ id: "pp", cycle: "MONTHLY", usage: [{ meter: "size", rate: 1 }] }],
      accounts: [{ id: "acme", plan: "pp", from: "2024-06-01" }],
    });
    const toLine = (id: string, size: number, timestamp: string): string =>
      `${JSON.stringify({ schemaName: "resized", id, accountId: "acme", timestamp, attributes: { size } })}\n`;
    const events = [toLine("a", 30, "2024-06-01T00:00:00Z"), toLine("b", 60, "2024-06-30T00:00:00Z")];
    const path = files.file("level.ndjson", events.join(""));
    const { out } = await ratebook(["preview", book, "--events", path, "--trace", "size"]);
    const [heading, , reason, ...days] = out.trimEnd().split("\n");
    expect(heading).toBe("acme  usage of size, 2024-06-01 to 2024-07-01: 31");
    expect(reason).toBe(
      "  the average level in the billing period: 30 from 2024-06-01T00:00Z for 29 days; 60 from 2024-06-30T00:00Z for 1 day",
    );
    expect(days.slice(0, 3)).toEqual([
      "  2024-06-01: +1",
      "    2024-06-01T00:00:00.000Z  30  a  resized size=30",
      "  2024-06-02: +1",
    ]);
    expect(days).toHaveLength(32);
    expect(days.slice(-2)).toEqual(["  2024-06-30: +2", "    2024-06-30T00:00:00.000Z  60  b  resized size=60"]);
  });

  test("S13.6 prints JSON like the server's list behind the line, without the fields of stored events", async () => {
    const api = await startApi("2024-05-01T09:00:00Z", anyCaller());
    await api.engine.load(USAGE_BOOK as BookInput);
    for (const event of EVENTS) {
      api.at(event.timestamp);
      await api.engine.ingest([event]);
    }
    const list = await api.call("GET /invoices?account_id=acme&start_time=2024-06-01&end_time=2024-06-30");
    const { json } = await api.call(`GET /invoices/${list.json.data[0].id}/lines/um-calls/events`);
    const { invoiceId, ...line } = json.line;
    const events = json.events.toReversed().map(({ referenceId, createdAt, ...event }: Record<string, unknown>) => {
      expect([typeof referenceId, createdAt]).toEqual(["string", event["timestamp"]]);
      return event;
    });
    const { computations, days } = json;
    const { out } = await ratebook([...argv, "--trace", "um-calls", "--format", "json"]);
    expect(typeof invoiceId).toBe("string");
    expect(JSON.parse(out)).toEqual({ traces: [{ line, computations, days, events }] });
  });

  test("prints CSV with a row per event", async () => {
    const { out } = await ratebook([...argv, "--trace", "um-calls", "--format", "csv"]);
    expect(out.split("\r\n").slice(0, 3)).toEqual([
      "accountId,type,id,startDate,endDate,date,timestamp,eventId,schemaName,quantity,attributes,dimensions",
      "acme,USAGE_METER_USAGE,um-calls,2024-06-01T00:00:00.000Z,2024-07-01T00:00:00.000Z,2024-06-01,2024-06-01T00:00:00.000Z,first,api calls,7,n=7,region=eu",
      "acme,USAGE_METER_USAGE,um-calls,2024-06-01T00:00:00.000Z,2024-07-01T00:00:00.000Z,2024-06-10,2024-06-10T08:00:00.000Z,back,api calls,-2,n=-2,region=eu",
    ]);
  });

  test.each([
    [
      ["--trace", "um-cals"],
      2,
      'ratebook: no usage meter and no feature has the id "um-cals": did you mean "um-calls"?\n',
    ],
    [["--trace", "um-calls", "--summary"], 2, "ratebook: use either --trace or --summary\n"],
    [
      ["--trace", "um-calls", "--usage", "cells.csv"],
      2,
      "ratebook: --trace lists events, so it does not support --usage\n",
    ],
    [
      ["--trace", "ft-chat"],
      0,
      expect.stringContaining("note: no invoice of these periods has a line of this meter or feature\n"),
    ],
  ])("%j is rejected with a one-sentence message", async (more, code, err) => {
    expect(await ratebook([...argv, ...more])).toMatchObject({ code, err, out: "" });
  });
});
