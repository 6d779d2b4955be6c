/** CSV files of events: separators, times, numbers, invalid lines, and what a map can say wrong. */
import { gzipSync } from "node:zlib";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { parseInstant } from "../../../src/calendar/instant.ts";
import { TIME_FORMS } from "../../../src/event-files/cell-texts.ts";
import { type CommandResult, eventLine, failure, SMALL_BOOK, testFolder } from "../fake-io.ts";

const MAP = {
  schemaName: { value: "call" },
  accountId: { column: "Account" },
  id: { template: "call-{row}" },
  timestamp: { column: "TIMESTAMP", zone: "UTC" },
  attributes: { units: { column: "Units" } },
  dimensions: { region: { template: "eu-{Account}" } },
};
const HEADER = "TIMESTAMP,Account,Units\n";
const ROW = "2024-01-16 18:17:03.9799600,prod,3\n";

const files = testFolder();
const book = files.file("book.json", SMALL_BOOK);

async function previewCsv(
  content: string | Uint8Array,
  map: unknown = MAP,
  name = "events.csv",
): Promise<CommandResult> {
  return files.run(["preview", book, "--events", files.file(name, content), "--map", files.file("map.json", map)]);
}

describe("a CSV file of events", () => {
  test("is read with its map, and digits below milliseconds are cut off", async () => {
    const { code, out, err } = await previewCsv(`${HEADER}${ROW}"2024-01-16 18:17:04","c-1",4.5`);
    expect(out).toMatch(/^units +7\.5 +15\.00$/m);
    expect(err).toBe("2 events read: 2 metered; 1 invoice\n");
    expect(code).toBe(0);
  });

  const withSeparator = (separator: string): string =>
    `${HEADER}${ROW}`.replaceAll(",", separator).replace("prod", '"prod"');

  test.each<[string, string | Uint8Array, object?, string?]>([
    ["semicolons between its columns", withSeparator(";")],
    ["tabs between its columns", withSeparator("\t")],
    [
      "a comma in its header, which separates columns whatever the names contain",
      '"TIME;STAMP",Account,Units\n2024-01-16 18:17:03,prod,3\n',
      { timestamp: { column: "TIME;STAMP", zone: "UTC" } },
    ],
    [
      "a byte order mark and line ends in CRLF, compressed",
      gzipSync(`\uFEFF${HEADER}${ROW}`.replaceAll("\n", "\r\n")),
      {},
      "events.csv.gz",
    ],
    ["line ends in LF and CRLF", `${HEADER}${ROW.replace("\n", "\r\n")}`],
  ])("may have %s", async (_, content, map, name) => {
    expect(await previewCsv(content, { ...MAP, ...map }, name)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^units +3 +6\.00$/m),
      err: "1 event read: 1 metered; 1 invoice\n",
    });
  });

  // All are 16 January 2024, 18:05:09 or its midnight, in UTC; 1705428309 is 19,738 days of 86,400 s and 65,109 s.
  test.each([
    ["YYYY-MM-DD", "2024-01-16", "2024-01-16T00:00:00"],
    ["YYYY-MM-DD", "2024-1-16 18:05:09", "2024-01-16T18:05:09"],
    ["YYYY/MM/DD", "2024/01/16 18:05:09", "2024-01-16T18:05:09"],
    ["YYYY/MM/DD", "2024/1/16T18:05:09Z", "2024-01-16T18:05:09"],
    ["DD.MM.YYYY", "16.01.2024 18:05:09", "2024-01-16T18:05:09"],
    ["DD.MM.YYYY", "16.1.2024", "2024-01-16T00:00:00"],
    ["DD/MM/YYYY", "16/01/2024 18:05:09.000", "2024-01-16T18:05:09"],
    ["MM/DD/YYYY", "1/16/2024 18:05:09", "2024-01-16T18:05:09"],
    ["seconds", "1705428309", "2024-01-16T18:05:09"],
    ["seconds", "1705428309.9996", "2024-01-16T18:05:09.999"],
    ["milliseconds", "1705428309999.6", "2024-01-16T18:05:09.999"],
  ])("may have times in the format %s: %s", async (form, text, expected) => {
    const map = { ...MAP, timestamp: { ...MAP.timestamp, form } };
    const { out, code } = await previewCsv(`${HEADER}${text},prod,3\n`, map);
    expect(out).toMatch(/^Invoice for 2024-01-01 to 2024-01-31 /m);
    expect(code).toBe(0);
    const time = TIME_FORMS.get(form)?.(text) ?? "";
    expect(parseInstant(time, 0)).toBe(parseInstant(expected, 0));
  });

  test("S2.2 the milliseconds and seconds of every instant are read as that instant", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999_999_999_999 }), (instant) => {
        const seconds = `${Math.floor(instant / 1000)}.${String(instant % 1000).padStart(3, "0")}`;
        expect(TIME_FORMS.get("milliseconds")?.(String(instant))).toBe(new Date(instant).toISOString());
        expect(TIME_FORMS.get("seconds")?.(seconds)).toBe(new Date(instant).toISOString());
      }),
    );
  });

  test.each([
    ["YYYY/MM/DD", "16.01.2024 18:05", /in the form YYYY\/MM\/DD, which the map sets$/m],
    ["MM/DD/YYYY", "16/01/2024 18:05", /there is no month 16/],
    ["seconds", "1.7e9", /"1\.7e9" is not a time in the form seconds, which the map sets$/m],
    ["DD.MM.YYYY", "16.01.24", /"16\.01\.24" is not a time in the form DD\.MM\.YYYY/],
  ])("whose map sets the time format %s rejects %s", async (form, text, sentence) => {
    const map = { ...MAP, timestamp: { ...MAP.timestamp, form } };
    const { err, code } = await previewCsv(`${HEADER}${text},prod,3\n`, map);
    expect(err).toMatch(sentence);
    expect(code).toBe(1);
  });

  // The times, the units, and the remedy.
  test.each([
    ["1705428309", "3", "some times", '"timestamp": {"column": "…", "form": "seconds", "zone": "UTC"}\n'],
    ["03/02/2024 18:05", "3", "some times", '"form": "MM/DD/YYYY", "zone": "UTC"} (or "DD/MM/YYYY")\n'],
    ["16.01.2024 18:05", "3", "some times", '"form": "DD.MM.YYYY", "zone": "UTC"}\n'],
    ["2024-01-01 00:00:00", "3", "no time zone", '"timestamp": {"column": "…", "zone": "UTC"} or "Europe/Berlin"\n'],
    ["2024-01-01T00:00:00Z", '"1,250.5"', "some numbers", '{"…": {"column": "…", "decimal": "."}}\n'],
  ])("with %s and %s and no format in its map prints what to set, once", async (text, units, what, remedy) => {
    const map = { ...MAP, timestamp: { column: "TIMESTAMP" } };
    const { err } = await previewCsv(`${HEADER}${`${text},prod,${units}\n`.repeat(3)}`, map);
    expect(err.split(what)).toHaveLength(2);
    expect(err).toMatch(/; set it in the map, as in /);
    expect(err).toContain(remedy);
  });

  test.each([
    // 1,250.5 and 0.25 and 1,000 and 7; 1,250.5 and 2,000 and 3,000 and -1,000 and 7.25.
    [",", "comma", ["1.250,5", "0,25", "1.000", "7"], /^units +2,257\.75 /m, ["1.25", "1,2,5", "12.34.567"]],
    [
      ".",
      "point",
      ["1,250.5", "2'000", "3 000", "-1,000", "7.25"],
      /^units +5,257\.75 /m,
      ["1,25", "1.250,5", "12,34,567"],
    ],
  ])(
    "S1.2 may have %j before decimals, and other characters between thousands",
    async (mark, name, good, line, bad) => {
      const map = { ...MAP, attributes: { units: { column: "Units", decimal: mark } } };
      const previewUnits = async (units: readonly string[]): Promise<CommandResult> => {
        const rows = units.map((text) => `2024-01-16 18:17:03;prod;${text}\n`);
        return previewCsv(`TIMESTAMP;Account;Units\n${rows.join("")}`, map);
      };
      expect(await previewUnits(good)).toMatchObject({ code: 0, out: expect.stringMatching(line) });
      const { code, err } = await previewUnits(bad);
      for (const text of bad)
        expect(err).toContain(`"${text}" is not a number with a decimal ${name}, which the map sets`);
      expect(code).toBe(1);
    },
  );

  test("S13.5 is merged with other files by time, and rows count in file order, including invalid ones", async () => {
    files.file("early.ndjson", eventLine("call-1", "2024-01-01T00:00:00Z", 5));
    files.file("third.ndjson", eventLine("call-3", "2024-01-01T00:00:00Z", 5));
    files.file("late.csv", `${HEADER}${ROW}2024-01-17 00:00:00,prod\n${ROW}`);
    files.file("map.json", MAP);
    // The NDJSON event is older, so the first or third CSV row with the same id is the duplicate.
    for (const name of ["early", "third"]) {
      const { out, err } = await files.run(
        `preview book.json --events late.csv --events ${name}.ndjson --map map.json`,
      );
      expect(out).toMatch(/^units +8 +16\.00$/m);
      expect(err).toContain("1 duplicate");
    }
  });

  test("S1.2 distinguishes the replacement character from bytes that are not UTF-8, per line and in records of several lines", async () => {
    const map = { ...MAP, id: { column: "Id" } };
    const rows = [
      "Id,TIMESTAMP,Account,Units\n",
      "a\uFFFDb,2024-01-16 00:00:00,prod,1\n",
      "a\u0001,2024-01-16 00:00:00,prod,2\n",
      '"c\nd\uFFFD\ne",2024-01-16 00:00:00,prod,4\n',
      '"f\ng\u0001\nh",2024-01-16 00:00:00,prod,8\n',
      "i,2024-01-16 00:00:00,prod,16\n",
    ];
    // The byte 0xFF never occurs in UTF-8.
    const bytes = Buffer.from(rows.join("")).map((byte) => (byte === 1 ? 0xff : byte));
    const { out, err } = await previewCsv(bytes, map);
    expect(err).toBe(
      "events.csv:3: the line is not valid UTF-8\n" +
        "events.csv:9: the line is not valid UTF-8\n" +
        "5 events read: 3 metered, 2 unreadable; 1 invoice\n",
    );
    expect(out).toMatch(/^units +21 +42\.00$/m);
  });

  test("names the column and the field of an empty or invalid value", async () => {
    const rows = ["2024-01-17 00:00:00,,1", ",prod,1", "yesterday,prod,1", "2024-01-17 00:00:00,prod,"];
    const { err } = await previewCsv(`${HEADER}${ROW}${rows.map((row) => `${row}\n`).join("")}`);
    expect(err.split("\n").slice(0, 4)).toEqual([
      "events.csv:3: Account (accountId) is empty",
      "events.csv:4: TIMESTAMP (timestamp) is empty; expected a date-time such as 2024-01-02T03:04:05Z",
      expect.stringMatching(/^events\.csv:5: TIMESTAMP \(timestamp\): "yesterday" is not a date-time: /),
      "events.csv:6: Units (units) is empty; expected a number",
    ]);
  });

  test("reports invalid lines with their number and continues", async () => {
    const content = `${HEADER}${ROW}2024-01-17 00:00:00,prod\n2024-01-18 00:00:00,prod,many\n2024-01-19 00:00:00,prod,1\n`;
    const { code, out, err } = await previewCsv(content);
    expect(out).toMatch(/^units +4 +8\.00$/m);
    expect(err).toBe(
      "events.csv:3: the line and the header have different numbers of columns\n" +
        'events.csv:4: Units (units): "many" is not a number\n' +
        "4 events read: 2 metered, 2 rejected, of which 1 invalid, 1 unreadable; 1 invoice\n",
    );
    expect(code).toBe(1);
  });

  test("S14.4 reports a line that is too long once, and loses nothing after it", async () => {
    const long = `2024-01-17 00:00:00,prod,${"1".repeat(3 << 20)}\n`;
    const { out, err } = await previewCsv(HEADER + ROW + long + ROW + ROW);
    expect(out).toMatch(/^units +9 +18\.00$/m);
    expect(err).toBe(
      "events.csv:3: the line is longer than 1 MiB\n4 events read: 3 metered, 1 unreadable; 1 invoice\n",
    );
  });

  test("an unclosed quote affects at most 1 MiB, and is reported where it opens", async () => {
    const rows = 60_000;
    const { err } = await previewCsv(`${HEADER}${ROW}2024-01-17 00:00:00,"prod,1\n${ROW.repeat(rows)}`);
    const [problem, summary = ""] = err.split("\n");
    expect(problem).toBe("events.csv:3: the row is longer than 1 MiB; check for a missing closing quote");
    const meteredCount = Number(/([\d,]+) metered/.exec(summary)?.[1]?.replaceAll(",", ""));
    // A row has 35 bytes: of 1 MiB, 29,959 rows and a part of one.
    expect(rows + 1 - meteredCount).toBeGreaterThanOrEqual(29_959);
    expect(rows + 1 - meteredCount).toBeLessThanOrEqual(29_961);
  });

  test.each([
    [":1: expected a header: the line is not valid UTF-8", Buffer.from([0xff, 0x41, 0x0a])],
    [": the file is UTF-16; save it as UTF-8", Buffer.from("\ufeffa,b\n", "utf16le")],
    [": lines end with CR only; use LF or CRLF line endings", `${HEADER}${ROW}`.replaceAll("\n", "\r")],
    [': the map uses the column "Account", but the header has it twice', `Account,${HEADER}${ROW}`],
  ])("stops the run with %j", async (sentence, content) => {
    expect(await previewCsv(content)).toEqual(failure(`events.csv${sentence}`));
  });

  const COLUMNS = 'but the header has "TIMESTAMP", "Account", "Units"';
  const ZONES = 'expected "UTC", an offset such as "+05:30" or a name such as "Europe/Berlin"';

  test.each<readonly [object, string]>([
    [{ accountId: { column: "Who" } }, `events.csv: the map uses the column "Who", ${COLUMNS}`],
    [{ id: { template: "x-{Nr}" } }, `events.csv: the map uses the column "Nr", ${COLUMNS}`],
    [
      { accountId: { column: "Acount" } },
      `events.csv: the map uses the column "Acount", ${COLUMNS}: did you mean "Account"?`,
    ],
    [{ id: { column: "A", value: "b" } }, '$.id: expected {"column": "…"}, {"value": "…"} or {"template": "…"}'],
    [{ id: { tmplate: "e-{row}" } }, '$.id.tmplate: unknown field: did you mean "template"?'],
    [{ attribute: {} }, '$.attribute: unknown field: did you mean "attributes"?'],
    [
      { dimensions: JSON.parse('{"__proto__":{"value":"eu"}}') as object },
      "$.dimensions.__proto__: this key cannot be stored: rename it",
    ],
    [
      { timestamp: { column: "TIMESTAMP", form: "secs" } },
      '$.timestamp.form: expected one of "YYYY-MM-DD", "YYYY/MM/DD", "DD.MM.YYYY", "MM/DD/YYYY", "DD/MM/YYYY", "seconds", "milliseconds"',
    ],
    [{ attributes: { units: { column: "Units", decimal: ";" } } }, '$.attributes.units.decimal: expected "," or "."'],
    [{ timestamp: { column: "TIMESTAMP", zone: "Mars" } }, `$.timestamp.zone: no zone "Mars": ${ZONES}`],
    [
      { timestamp: { column: "TIMESTAMP", zone: "Europe/Berln" } },
      `$.timestamp.zone: no zone "Europe/Berln": ${ZONES}: did you mean "Europe/Berlin"?`,
    ],
  ])("is rejected with %j in its map", async (change, sentence) => {
    const { err, ...ran } = await previewCsv(`${HEADER}${ROW}`, { ...MAP, ...change });
    expect({ ...ran, err: err.replace(/map\.json:1:\d+: \$/, "$") }).toEqual(failure(sentence));
  });

  test("is rejected if its map is a list or not JSON", async () => {
    expect(await previewCsv(`${HEADER}${ROW}`, [MAP])).toEqual(failure("map.json:1:1: expected an object, got a list"));
    expect((await previewCsv(`${HEADER}${ROW}`, "{")).err).toMatch(/^ratebook: map\.json:1:2: not JSON: .*\n$/);
  });
});
