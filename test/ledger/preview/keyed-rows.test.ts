/** Rows of usage of meters that do not sum (S19.2): the value of an event is in `$key`. */
import { describe, expect, test } from "vitest";

import { type UsageRowInput, preview, readBook } from "../../../src/index.ts";

const book = readBook({
  eventSchemas: [{ name: "sample", attributes: ["value"], dimensions: ["user", "region"] }],
  usageMeters: [
    { id: "peak", schema: "sample", max: "value", groupBy: ["region"] },
    { id: "users", schema: "sample", unique: "user" },
    { id: "last", schema: "sample", latest: "value" },
    { id: "disk", schema: "sample", level: "value" },
    { id: "seats", schema: "sample", change: "value" },
  ],
  pricePlans: [{ id: "p", cycle: "MONTHLY", usage: [{ meter: "peak", rate: 1 }] }],
  accounts: [{ id: "contoso", plan: "p", from: "2026-10-01" }],
});

function row(meterId: string, group: UsageRowInput["group"], quantity: number | string = 1): UsageRowInput {
  return { accountId: "contoso", meterId, date: "2026-10-02", quantity, group };
}

/** Why a row is rejected: a path and a message. */
function rejectionOf(usage: UsageRowInput): string | undefined {
  try {
    preview(book, { usage: [usage] });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return undefined;
}

const at = Date.parse("2026-10-02T10:00:00Z");
/** What a last value or a level needs. @param got the key, as text */
const expectTimed = (meterId: string, got: string): string =>
  `$key of the usage meter "${meterId}": expected a time on 2026-10-02, an id and a value as in [1790899200000,"event","5"], got ${JSON.stringify(got)}`;
const DECIMAL = "expected a decimal with at most 40 digits before and after the point, got";
const COUNT = "count events: expected a whole number from 0, got";
const NEED = 'need "group.$key": take rows that ratebook meter writes';

describe("S19.2 rejects", () => {
  const timedKey = (day: number, value: unknown): string => JSON.stringify([at + day * 86_400_000, "e", value]);
  const refusals: Readonly<Record<string, UsageRowInput>> = {
    [`rows of the usage meter "users" ${NEED}`]: row("users", undefined),
    [`rows of the usage meter "peak" ${NEED}`]: row("peak", { region: "eu" }),
    'the usage meter "users" has no groups by "key": did you mean "$key"?': row("users", { key: "ann" }),
    [`$key of the usage meter "peak": ${DECIMAL} "many"`]: row("peak", { region: "eu", $key: "many" }),
    [`$key of the usage meter "peak": ${DECIMAL} "1e400"`]: row("peak", { region: "eu", $key: "1e400" }),
    [expectTimed("disk", timedKey(0, "1e40"))]: row("disk", { $key: timedKey(0, "1e40") }),
    [expectTimed("disk", timedKey(0, 5))]: row("disk", { $key: timedKey(0, 5) }),
    [expectTimed("last", "5")]: row("last", { $key: "5" }),
    [expectTimed("last", timedKey(1, "5"))]: row("last", { $key: timedKey(1, "5") }),
    [`rows of the usage meter "peak" ${COUNT} -1`]: row("peak", { region: "eu", $key: 5 }, -1),
    [`rows of the usage meter "users" ${COUNT} 0.5`]: row("users", { $key: "ann" }, "0.5"),
    [`$key of the usage meter "users": expected at most 256 characters, got "${"x".repeat(60)}"`]: row("users", {
      $key: "x".repeat(257),
    }),
    [`$key of the usage meter "disk": expected a level of 0 or more, got ${JSON.stringify(timedKey(0, "-5"))}`]: row(
      "disk",
      { $key: timedKey(0, "-5") },
    ),
    '$key of the usage meter "seats": expected "change" or "moment", got "5"': row("seats", { $key: "5" }),
  };
  test.each(Object.entries(refusals))("%s", (message, usage) => {
    const path = message.includes(COUNT) ? "$.usage[0].quantity: quantity: " : "$.usage[0].group: ";
    expect(rejectionOf(usage)).toBe(path + message.replace(/^\$key/, "group.$key"));
  });
});

test.each<[title: string, usage: UsageRowInput]>([
  ["a peak as a number", row("peak", { region: "eu", $key: 5.5 })],
  ["no event", row("users", { $key: "ann" }, 0)],
  ["a negative last value", row("last", { $key: JSON.stringify([at, "e", "-5"]) })],
  ["a key with a long event id", row("last", { $key: JSON.stringify([at, '"'.repeat(512), "5"]) })],
  ["a negative change", row("seats", { $key: "change" }, -5)],
])("S19.2 accepts %s", (_, usage) => {
  expect(rejectionOf(usage)).toBeUndefined();
});

test("S19.1 a peak of 5 and of 5.0 are one value", () => {
  const usage = [row("peak", { region: "eu", $key: "5" }), row("peak", { region: "eu", $key: "5.0" })];
  const { invoices } = preview(book, { usage });
  expect(invoices[0]?.revenueInfo.value.toFixed(2)).toBe("5.00");
});
