/** Usage rows in CSV, NDJSON and JSON have the same exact values; invalid rows are reported with their location. */
import { Writable } from "node:stream";
import { gzipSync } from "node:zlib";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { Book } from "../../../src/book/resources/book.ts";
import { type UsageLine, readUsageLines, writeUsage } from "../../../src/cli/usage/usage-files.ts";
import { InputError } from "../../../src/event-files/input-error.ts";
import { Decimal } from "../../../src/numbers/decimal.ts";
import { testFolder } from "../fake-io.ts";

const files = testFolder();

async function readLines(name: string, content: string | Uint8Array): Promise<readonly UsageLine[]> {
  const path = files.file(name, content);
  const lines: UsageLine[] = [];
  for await (const each of readUsageLines(path, { stdin: () => process.stdin })) lines.push({ ...each, file: name });
  return lines;
}

const ROW = { accountId: "a", meterId: "um.x", date: "2026-01-31", quantity: "12345678901234567.000000001" };
const CSV = `date,accountId,quantity,meterId\n${ROW.date},${ROW.accountId},${ROW.quantity},${ROW.meterId}\n`;

describe("S1.2 a quantity is the decimal of its text", () => {
  test.each([
    ["CSV", CSV, 2],
    ["CSV with a byte order mark and CRLF", `\uFEFF${CSV.replaceAll("\n", "\r\n")}`, 2],
    ["CSV with semicolons", CSV.replaceAll(",", ";"), 2],
    ["CSV with tabs", CSV.replaceAll(",", "\t"), 2],
    ["NDJSON with a text", `\n${JSON.stringify(ROW)}\n`, 2],
    ["NDJSON with a number", JSON.stringify(ROW).replace(`"${ROW.quantity}"`, ROW.quantity), 1],
    ["a JSON list", `[${JSON.stringify(ROW).replace(`"${ROW.quantity}"`, ROW.quantity)}]`, 1],
  ])("in %s", async (_, content, line) => {
    expect(await readLines("rows", content)).toEqual([{ file: "rows", line, row: ROW }]);
  });

  test("in gzip", async () => {
    expect(await readLines("rows.csv.gz", gzipSync(CSV))).toEqual([{ file: "rows.csv.gz", line: 2, row: ROW }]);
  });

  test("for every decimal, equally in all three formats", async () => {
    const digits = fc.tuple(fc.bigInt({ min: -(10n ** 19n), max: 10n ** 19n }), fc.integer({ min: 0, max: 19 }));
    await fc.assert(
      fc.asyncProperty(fc.array(digits, { minLength: 1, maxLength: 5 }), async (numbers) => {
        const quantities = numbers.map(([mantissa, scale]) => `${mantissa}${scale === 0 ? "" : `e-${scale}`}`);
        const rows = quantities.map((quantity) => ({ ...ROW, quantity }));
        const ndjson = await readLines("p.ndjson", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
        const bare = rows.map((row) => JSON.stringify(row).replace(`"${row.quantity}"`, row.quantity));
        const csv = rows.map(({ accountId, meterId, date, quantity }) =>
          [accountId, meterId, date, quantity].join(","),
        );
        const rowsIn = (lines: readonly UsageLine[]): readonly unknown[] => lines.map(({ row }) => row);
        expect(rowsIn(await readLines("p.json", `[${bare.join(",")}]`))).toEqual(rowsIn(ndjson));
        expect(rowsIn(await readLines("p.csv", `accountId,meterId,date,quantity\n${csv.join("\n")}\n`))).toEqual(
          rowsIn(ndjson),
        );
        for (const [index, { row }] of ndjson.entries()) {
          const [mantissa = 0n, scale = 0] = numbers[index] ?? [];
          const [integer = "", fraction = ""] = (row?.quantity ?? "").replace("-", "").split(".");
          const digits = BigInt(`${integer}${fraction.padEnd(scale, "0")}`);
          expect(digits).toBe(mantissa < 0n ? -mantissa : mantissa);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe("groups", () => {
  const usageMeters = [
    { groupBy: ["model", 'a "b", c'] },
    { groupBy: ["region"] },
    {},
  ] as unknown as Book["usageMeters"];
  const rows = [{ group: { model: "nova, large", 'a "b", c': "x\ny" } }, { group: { region: "eu" } }, {}].map(
    (more) => ({ accountId: "a", meterId: "um.x", date: "2026-01-31", quantity: new Decimal("1.5"), ...more }),
  );

  test.each(["csv", "ndjson", "json"] as const)("S18.1 are read as they were written, in %s", async (format) => {
    const chunks: Buffer[] = [];
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        chunks.push(chunk);
        done();
      },
    });
    expect(await writeUsage(rows, format, stream, { usageMeters })).toBe(3);
    const lines = await readLines("groups", Buffer.concat(chunks));
    expect(lines.map(({ row }) => row)).toEqual(rows.map((row) => ({ ...row, quantity: "1.5" })));
  });

  test("of CSV have a column for each dimension", async () => {
    const [first, second] = await readLines(
      "x.csv",
      "accountId,meterId,date,quantity,group.model\na,m,2026-01-31,1,2\na,m,2026-01-31,1,\n",
    );
    expect([first?.row?.group, second?.row?.group]).toEqual([{ model: "2" }, undefined]);
  });
});

test("an invalid row is reported with its line, and reading continues", async () => {
  const content = [
    JSON.stringify({ ...ROW, date: "2026-02-30" }),
    "not json",
    JSON.stringify({ ...ROW, quantity: "1,000" }),
    JSON.stringify({ ...ROW, quantity: undefined }),
    JSON.stringify({ ...ROW, amount: 1, accountid: 1 }),
    JSON.stringify({ ...ROW, meterId: 5 }),
    "[]",
    JSON.stringify({ ...ROW, quantity: -1 }),
  ].join("\n");
  const lines = await readLines("bad.ndjson", `${JSON.stringify(ROW)}\n${content}`);
  expect(lines.map(({ line, problem, row }) => `${line}: ${problem ?? row?.quantity}`)).toEqual([
    `1: ${ROW.quantity}`,
    '2: "2026-02-30" is not a date: 2026-02 has days 01 to 28, not 30',
    expect.stringMatching(/^3: not JSON: /),
    '4: "1,000" is not a decimal',
    "5: quantity: expected a decimal",
    '6: unknown field "amount"',
    "7: meterId: expected a string of 1 to 512 characters",
    "8: expected a row {accountId, meterId, date, quantity}",
    "9: -1",
  ]);
});

test.each([
  [
    "a column is missing",
    "accountId,meter_Id,date,quantity\n",
    /bad\.csv:1: .*meterId is missing from .*: did you mean "meter_Id"\?$/,
  ],
  [
    "a column is duplicated",
    "accountId,meterId,date,date,quantity\n",
    /the header has the column "date" more than once$/,
  ],
  ["it is empty", "", /the file is empty$/],
])("a file is rejected if %s", async (_, content, sentence) => {
  await expect(readLines("bad.csv", content)).rejects.toThrow(sentence);
  await expect(readLines("bad.csv", content)).rejects.toBeInstanceOf(InputError);
});

test("rows of a JSON list have the numbers of the lines where they begin", async () => {
  const list = `[\n  ${JSON.stringify(ROW)},\n  { "accountId": "a,[\\"{",\n    "meterId": [1, {}] },\n\n  7, 8\n]`;
  expect((await readLines("list.json", list)).map(({ line }) => line)).toEqual([2, 3, 6, 6]);
  await expect(readLines("open.json", "[\n  1,\n")).rejects.toThrow(/open\.json:2:5: not JSON: /);
});

test.each([
  ["CSV", `accountId,meterId,date,quantity\n?,um.x,2026-01-31,1\n"a"b,um.x,2026-01-31,1\n`],
  ["NDJSON", `{}\n{ "accountId": "?" }\n"a"b\n`],
])("a line of %s that cannot be read is reported, and reading continues", async (_, text) => {
  const bytes = Buffer.from(text);
  bytes[text.indexOf("?")] = 0xff;
  const lines = await readLines("broken", bytes);
  expect(lines.filter(({ line }) => line === 2 || line === 3)).toEqual([
    { file: "broken", line: 2, problem: "the line is not valid UTF-8" },
    { file: "broken", line: 3, problem: expect.stringMatching(/^not JSON: |^a closing quote is followed by text/) },
  ]);
});

test("an empty NDJSON file has no rows, as written by export", async () => {
  expect(await readLines("usage.ndjson", "")).toEqual([]);
  expect(await readLines("usage.ndjson.gz", gzipSync(""))).toEqual([]);
});

test("a row of another length is reported", async () => {
  expect(await readLines("short.csv", "accountId,meterId,date,quantity\na,b\n")).toEqual([
    { file: "short.csv", line: 2, problem: "the line and the header have different numbers of columns" },
  ]);
});
