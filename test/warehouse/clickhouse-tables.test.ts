/** Addresses of ClickHouse tables, and maps of their columns: the server selects rows by the names of the book. */
import { describe, expect, test } from "vitest";

import { clickhouseUsage, type EventColumns } from "../../src/warehouse.ts";
import { readTableAddress } from "../../src/warehouse/clickhouse/table.ts";

const shownOf = (address: string): string => {
  const { server, name } = readTableAddress(address, { CLICKHOUSE_USER: "reader" });
  return [server.url, server.username, server.password, name.database, name.table].map(String).join(" ");
};

describe("the address of a table", () => {
  test.each([
    ["clickhouse://h?table=t", "http://h:8123 reader undefined default t"],
    ["clickhouse://h:9000/usage?table=t", "http://h:9000 reader undefined usage t"],
    ["clickhouse://h:8443/usage?table=t", "https://h:8443 reader undefined usage t"],
    ["clickhouse://h:8443/usage?table=t&secure=false", "http://h:8443 reader undefined usage t"],
    ["clickhouse://[::1]/usage?secure=true&table=t", "https://[::1]:8443 reader undefined usage t"],
    ["clickhouse://a%40b:50%25@h/us%2Fage?table=a%22b%5C%23", 'http://h:8123 a@b 50% us/age a"b\\#'],
  ])("%s", (address, expected) => {
    expect(shownOf(address)).toBe(expected);
  });

  test.each([
    "clickhouse://",
    "clickhouse://h",
    "clickhouse://h?table=",
    "clickhouse://h:99999/usage?table=t",
    // A part of the name would be lost.
    "clickhouse://h/usage?table=t#1",
    "clickhouse://h/usage?table=t&table=u",
    "clickhouse://h/usage?table=t&secure=no",
    "clickhouse://h/usage?table=t&password=hidden-7",
    // A % that is not followed by two hexadecimal digits.
    "clickhouse://h/us%age?table=t",
    "clickhouse://someone:hidden-7%@h/usage?table=t",
  ])("%s is invalid, and its text is not printed", (address) => {
    let printedText = "";
    try {
      readTableAddress(address, {});
    } catch (error) {
      printedText = String(error);
    }
    expect(printedText).toMatch(/expected "clickhouse:\/\/host\[:port\]\/database\?table=name"/);
    expect(printedText).not.toContain("hidden-7");
  });
});

const COLUMNS: EventColumns = {
  schemaName: { value: "call" },
  id: { column: "id" },
  accountId: { column: "account" },
  timestamp: { column: "at" },
  attributes: { units: { column: "units" } },
};
const client = {} as Parameters<typeof clickhouseUsage>[0];

test.each([
  [
    { accountId: { column: "account", values: { Globex: "globex" } } },
    /t: remove "values" of schemaName and accountId/,
  ],
  [{ schemaName: { column: "kind", values: { a: "call" } } }, /t: remove "values" of schemaName and accountId/],
  [{ attributes: { units: { column: "u", valuesFrom: "n.csv" } } }, /t: write the names of "valuesFrom" into "values"/],
  [{ timestamp: { column: "at", zone: "Europe/Berlin" } }, /t: the zone "Europe\/Berlin" can only be used with CSV/],
])("the columns %j are rejected", (columns, message) => {
  expect(() => clickhouseUsage(client, { table: "t", columns: { ...COLUMNS, ...columns } })).toThrow(message);
});

test("attributes may have values and defaults", () => {
  const attributes = { units: { column: "units", default: "0", values: { none: "0" } } };
  expect(clickhouseUsage(client, { table: "t", columns: { ...COLUMNS, attributes } }).name).toContain(
    "t of ClickHouse",
  );
});
