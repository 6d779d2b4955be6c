/** Maps of tables of external usage: the server selects rows by the names of the book, and reads no named zones. */
import { expect, test } from "vitest";

import { clickhouseUsage, type EventColumns } from "../../src/warehouse.ts";

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
