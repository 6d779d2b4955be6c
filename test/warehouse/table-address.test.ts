/** Addresses of ClickHouse tables. */
import { describe, expect, test } from "vitest";

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
