import { gzipSync } from "node:zlib";

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { parseInstant } from "../../../src/calendar/instant.ts";
import { TIME_FORMS } from "../../../src/event-files/cell-texts.ts";
import { type Folder, folder, eventLine, ratebook, type CommandResult, SMALL_BOOK } from "../fake-io.ts";

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

let files: Folder;
let book: string;
beforeAll(() => {
  files = folder();
  book = files.file("book.json", JSON.stringify(SMALL_BOOK));
});
afterAll(() => files.remove());

async function previewCsv(
  content: string | Uint8Array,
  map: unknown = MAP,
  name = "events.csv",
): Promise<CommandResult> {
  const text = typeof map === "string" ? map : JSON.stringify(map);
  const argv = ["preview", book, "--events", files.file(name, content), "--map", files.file("map.json", text)];
  return ratebook(argv, { folderPath: files.path });
}

describe("a CSV file of events", () => {
  test("is read with its map, and digits below milliseconds are cut off", async () => {
    const { code, out, err } = await previewCsv(`${HEADER}${ROW}"2024-01-16 18:17:04","c-1",4.5`);
    expect(out).toMatch(/^units +7\.5 +15\.00$/m);
    expect(err).toBe("2 events read: 2 metered; 1 invoice\n");
    expect(code).toBe(0);
  });

  test.each([
    ["semicolons", ";"],
    ["tabs", "\t"],
  ])("may have %s between its columns", async (_, separator) => {
    const rows = `${HEADER}${ROW}`.replaceAll(",", separator).replace("prod", '"prod"');
    const { out, err } = await previewCsv(rows);
    expect(out).toMatch(/^units +3 +6\.00$/m);
    expect(err).toBe("1 event read: 1 metered; 1 invoice\n");
  });

  test("with a comma in its header is comma-separated, whatever the names contain", async () => {
    const { out } = await previewCsv('"TIME;STAMP",Account,Units\n2024-01-16 18:17:03,prod,3\n', {
      ...MAP,
      timestamp: { column: "TIME;STAMP", zone: "UTC" },
    });
    expect(out).toMatch(/^units +3 +6\.00$/m);
  });

  test("may be compressed, begin with a byte order mark and end its lines in CRLF", async () => {
    const content = gzipSync(`\uFEFF${HEADER}${ROW}`.replaceAll("\n", "\r\n"));
    expect((await previewCsv(content, MAP, "events.csv.gz")).out).toMatch(/^units +3 +6\.00$/m);
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

  test.each([
    ["1705428309", '"form": "seconds", "zone": "UTC"}\n'],
    ["03/02/2024 18:05", '"form": "MM/DD/YYYY", "zone": "UTC"} (or "DD/MM/YYYY")\n'],
    ["16.01.2024 18:05", '"form": "DD.MM.YYYY", "zone": "UTC"}\n'],
  ])("with the time %s and no format in its map prints which one to set, once", async (text, remedy) => {
    const { err } = await previewCsv(`${HEADER}${`${text},prod,3\n`.repeat(3)}`);
    expect(err.split("some times have another format")).toHaveLength(2);
    expect(err).toContain(
      `some times have another format; set it in the map, as in "timestamp": {"column": "…", ${remedy}`,
    );
  });

  test("S1.2 may have decimal commas, with points between thousands", async () => {
    const map = { ...MAP, attributes: { units: { column: "Units", decimal: "," } } };
    const toCsvRows = (units: readonly string[]): string =>
      `TIMESTAMP;Account;Units\n${units.map((text) => `2024-01-16 18:17:03;prod;${text}\n`).join("")}`;
    // 1,250.5 and 0.25 and 1,000 and 7.
    const { out, code } = await previewCsv(toCsvRows(["1.250,5", "0,25", "1.000", "7"]), map);
    expect(out).toMatch(/^units +2,257\.75 /m);
    expect(code).toBe(0);
    const bad = await previewCsv(toCsvRows(["1.25", "1,2,5", "12.34.567"]), map);
    for (const text of ["1.25", "1,2,5", "12.34.567"])
      expect(bad.err).toContain(`"${text}" is not a number with a decimal comma, which the map sets`);
    expect(bad.code).toBe(1);
  });

  test("S1.2 may have commas, apostrophes or spaces between thousands", async () => {
    const map = { ...MAP, attributes: { units: { column: "Units", decimal: "." } } };
    const toCsvRows = (units: readonly string[]): string =>
      `TIMESTAMP;Account;Units\n${units.map((text) => `2024-01-16 18:17:03;prod;${text}\n`).join("")}`;
    // 1,250.5 and 2,000 and 3,000 and -1,000 and 7.25 are 5,257.75.
    const { out, code } = await previewCsv(toCsvRows(["1,250.5", "2'000", "3 000", "-1,000", "7.25"]), map);
    expect(out).toMatch(/^units +5,257\.75 /m);
    expect(code).toBe(0);
    const bad = await previewCsv(toCsvRows(["1,25", "1.250,5", "12,34,567"]), map);
    for (const text of ["1,25", "1.250,5", "12,34,567"])
      expect(bad.err).toContain(`"${text}" is not a number with a decimal point, which the map sets`);
    expect(bad.code).toBe(1);
  });

  test.each([
    [{ ...MAP, timestamp: { column: "TIMESTAMP", form: "secs" } }, /timestamp\.form: expected one of "YYYY-MM-DD", /],
    [
      { ...MAP, attributes: { units: { column: "Units", decimal: ";" } } },
      /attributes\.units\.decimal: expected "," or "\."/,
    ],
  ])("is rejected if its map has an unknown format", async (map, sentence) => {
    expect((await previewCsv(`${HEADER}${ROW}`, map)).err).toMatch(sentence);
  });

  test("S13.5 is merged with other files by time", async () => {
    const csv = files.file("late.csv", `${HEADER}${ROW}`);
    const ndjson = files.file("early.ndjson", eventLine("call-1", "2024-01-01T00:00:00Z", 5));
    const map = files.file("map.json", JSON.stringify(MAP));
    const { out } = await ratebook(["preview", book, "--events", csv, "--events", ndjson, "--map", map]);
    // The NDJSON event is older, so the CSV row with the same id is the duplicate.
    expect(out).toMatch(/^units +5 +10\.00$/m);
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

  test("reports bytes that are not text", async () => {
    const content = Buffer.concat([
      Buffer.from(`${HEADER}2024-01-16 18:17:03,pr`),
      Buffer.of(0xff),
      Buffer.from("od,3\n"),
    ]);
    expect((await previewCsv(content)).err).toContain("events.csv:2: the line is not valid UTF-8\n");
  });

  test("reads thousands of rows", async () => {
    const { out } = await previewCsv(HEADER + ROW.repeat(20_000));
    expect(out).toMatch(/^units +60,000 /m);
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

  test("counts rows in file order, including invalid ones", async () => {
    const bad = "2024-01-17 00:00:00,prod\n";
    const ndjson = files.file("same.ndjson", eventLine("call-3", "2024-01-01T00:00:00Z", 5));
    const csv = files.file("rows.csv", HEADER + ROW + bad + ROW);
    const map = files.file("map.json", JSON.stringify(MAP));
    // The third row is call-3, which is in the NDJSON file too.
    const { err } = await ratebook(["preview", book, "--events", ndjson, "--events", csv, "--map", map]);
    expect(err).toContain("1 duplicate");
  });

  test("may mix line ends in LF and CRLF", async () => {
    const { out, code } = await previewCsv(`${HEADER}${ROW.replace("\n", "\r\n")}${ROW}`);
    expect(out).toMatch(/^units +6 +12\.00$/m);
    expect(code).toBe(0);
  });

  test("stops the run if its header is not a CSV line", async () => {
    expect(await previewCsv(Buffer.from([0xff, 0x41, 0x0a]))).toEqual({
      code: 1,
      out: "",
      err: "ratebook: events.csv:1: expected a header: the line is not valid UTF-8\n",
    });
  });

  test("reports UTF-16 and lines that end in carriage returns alone by name", async () => {
    expect((await previewCsv(Buffer.from("\ufeffa,b\n", "utf16le"))).err).toBe(
      "ratebook: events.csv: the file is UTF-16; save it as UTF-8\n",
    );
    expect((await previewCsv(`${HEADER}${ROW}`.replaceAll("\n", "\r"))).err).toBe(
      "ratebook: events.csv: lines end with CR only; use LF or CRLF line endings\n",
    );
  });

  test("rejects a mapped column that the header has twice", async () => {
    expect(await previewCsv(`Account,${HEADER}${ROW}`)).toEqual({
      code: 1,
      out: "",
      err: 'ratebook: events.csv: the map uses the column "Account", but the header has it twice\n',
    });
  });

  test.each<readonly [string, unknown, string]>([
    [
      "a missing column",
      { ...MAP, accountId: { column: "Who" } },
      'events.csv: the map uses the column "Who", but the header has "TIMESTAMP", "Account", "Units"',
    ],
    [
      "a template with such a column",
      { ...MAP, id: { template: "x-{Nr}" } },
      'events.csv: the map uses the column "Nr", but the header has "TIMESTAMP", "Account", "Units"',
    ],
    [
      "an origin of two kinds",
      { ...MAP, id: { column: "A", value: "b" } },
      'map.json: $.id: expected {"column": "…"}, {"value": "…"} or {"template": "…"}',
    ],
    [
      "a misspelt kind of origin",
      { ...MAP, id: { tmplate: "e-{row}" } },
      'map.json: $.id.tmplate: unknown field: did you mean "template"?',
    ],
    [
      "a part that an event does not have",
      { ...MAP, attribute: {} },
      'map.json: $.attribute: unknown field: did you mean "attributes"?',
    ],
    [
      "a column with a similar name",
      { ...MAP, accountId: { column: "Acount" } },
      'events.csv: the map uses the column "Acount", but the header has "TIMESTAMP", "Account", "Units": did you mean "Account"?',
    ],
    ["a list", [MAP], "map.json:1:1: expected an object, got a list"],
    [
      "a field that no map keeps",
      { ...MAP, dimensions: JSON.parse('{"__proto__":{"value":"eu"}}') as object },
      "map.json: $.dimensions.__proto__: this key cannot be stored: rename it",
    ],
    [
      "an unknown zone",
      { ...MAP, timestamp: { column: "TIMESTAMP", zone: "Mars" } },
      'map.json: $.timestamp.zone: no zone "Mars": expected "UTC", an offset such as "+05:30" or a name such as "Europe/Berlin"',
    ],
    [
      "a misspelt zone",
      { ...MAP, timestamp: { column: "TIMESTAMP", zone: "Europe/Berln" } },
      'map.json: $.timestamp.zone: no zone "Europe/Berln": expected "UTC", an offset such as "+05:30" or a name such as "Europe/Berlin": did you mean "Europe/Berlin"?',
    ],
  ])("%s is rejected with a one-sentence message", async (_, map, sentence) => {
    const { err, ...ran } = await previewCsv(`${HEADER}${ROW}`, map);
    expect(ran).toEqual({ code: 1, out: "" });
    // The path inside the map comes before the file.
    expect(err.replace(/map\.json:1:\d+: \$/, "map.json: $")).toBe(`ratebook: ${sentence}\n`);
  });

  test("a map that is not JSON is rejected with a one-sentence message", async () => {
    const { code, err } = await previewCsv(`${HEADER}${ROW}`, "{");
    expect(err).toMatch(/^ratebook: map\.json:1:2: not JSON: .*\n$/);
    expect(code).toBe(1);
  });
});
