/** The tables of the guide to aggregations show what the meters and cards in them result in. */
import { describe, expect, test } from "vitest";

import { type EventInput, parseBook, preview } from "../../src/index.ts";
import { readGuide } from "../support/guides.ts";

const guide = readGuide("guide/aggregations.md");
const [, eventLines = ""] = /```json events.ndjson\n([^]*?)\n```/.exec(guide) ?? [];
const events = eventLines.split("\n").map((line) => JSON.parse(line) as EventInput);

/** The rows of the table whose header begins with these columns. */
function rowsUnder(...columns: readonly string[]): readonly (readonly string[])[] {
  const [, table = ""] = guide.split(`\n| ${columns.join(" | ")}`);
  const [rows = ""] = table.split("\n\n");
  return rows
    .split("\n")
    .slice(2)
    .map((row) => row.split(" | ").map((cell) => cell.replaceAll(/^\| | \|$|`/g, "")));
}

interface Priced {
  readonly fields: object;
  readonly card?: object;
  readonly samples: readonly EventInput[];
  readonly from: string;
  readonly until: string;
  /** The day of a change from the plan to itself. */
  readonly change?: string;
}

/** The quantity and amount of each part of the period. */
function bill({ fields, card = { rate: 1 }, samples, from, until, change }: Priced) {
  const schemas = new Set(samples.map(({ schemaName }) => schemaName));
  const plans = [
    { plan: "plan", from: "2026-06-01", until: change },
    ...(change ? [{ plan: "plan", from: change }] : []),
  ];
  const book = parseBook({
    eventSchemas: [...schemas].map((name) => ({ name, ...fieldsOf(samples.find((each) => each.schemaName === name)) })),
    usageMeters: [{ id: "used", schema: samples[0]?.schemaName, ...fields }],
    pricePlans: [{ id: "plan", cycle: "MONTHLY", usage: [{ meter: "used", ...card }] }],
    accounts: [{ id: "acme", plans }],
  });
  const { invoices, problems } = preview(book, samples, { from, until });
  expect(problems).toEqual([]);
  return invoices.map(({ usageInfo, revenueInfo }) => ({
    quantity: usageInfo?.lineItems[0]?.quantity.toFixed(2),
    amount: revenueInfo.value.toFixed(2),
  }));
}

function fieldsOf(event: EventInput | undefined): { attributes: string[]; dimensions: string[] } {
  return { attributes: Object.keys(event?.attributes ?? {}), dimensions: Object.keys(event?.dimensions ?? {}) };
}

const parseFields = (text: string): object => JSON.parse(`{${text}}`) as object;

describe("the guide to aggregations", () => {
  test("S19.1 lists meters that a book may have", () => {
    const rows = rowsUnder("you charge for", "meter");
    expect(rows).toHaveLength(8);
    for (const [, fields = ""] of rows) {
      const schema = { name: "sample", attributes: ["tokens", "connections", "gigabytes"], dimensions: ["user"] };
      expect(
        parseBook({ eventSchemas: [schema], usageMeters: [{ id: "m", schema: "sample", ...parseFields(fields) }] })
          .usageMeters,
      ).toHaveLength(1);
    }
  });

  test("S19.1 shows the quantities of October, and of its days", () => {
    const rows = rowsUnder("meter", "October");
    expect(rows).toHaveLength(4);
    for (const [fields = "", whole = "", daily = ""] of rows) {
      const name = Object.values(parseFields(fields))[0] as string;
      const samples = events.filter(({ attributes, dimensions }) =>
        [attributes, dimensions].some((each) => name in (each ?? {})),
      );
      const quantityOf = (more: object): string | undefined =>
        bill({ fields: { ...parseFields(fields), ...more }, samples, from: "2026-10-01", until: "2026-11-01" })[0]
          ?.quantity;
      const [expected, expectedDaily] = [whole, daily].map((text) =>
        Number.parseFloat(text.split("= ").at(-1) ?? "").toFixed(2),
      );
      expect([fields, quantityOf({}), quantityOf({ daily: true })]).toEqual([fields, expected, expectedDaily]);
    }
  });

  test("S19.4 shows the charges of both parts of a month that is split", () => {
    const rows = rowsUnder("June", "card");
    expect(rows).toHaveLength(3);
    for (const [usage = "", card = "", ...amounts] of rows) {
      const [, kind, value] = /^(peak|level) of (\d+)/.exec(usage) ?? [];
      const sample = (id: string, timestamp: string): EventInput => ({
        schemaName: "sample",
        id,
        accountId: "acme",
        timestamp,
        attributes: { value: Number(value) },
      });
      const isPeak = kind === "peak";
      const samples = isPeak
        ? [sample("first", "2026-06-05T10:00:00Z"), sample("second", "2026-06-20T10:00:00Z")]
        : [sample("only", "2026-06-01T00:00:00Z")];
      const fields = { [isPeak ? "max" : "level"]: "value" };
      const period = { from: "2026-06-01", until: "2026-07-01", change: "2026-06-16" };
      const parts = bill({ fields, card: parseFields(card), samples, ...period });
      expect(parts.map(({ amount }) => amount)).toEqual(amounts);
    }
  });
});
