import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Folder, folder, eventLine, ratebook, type CommandResult, SMALL_BOOK } from "../fake-io.ts";

let files: Folder;
beforeAll(() => {
  files = folder();
});
afterAll(() => files.remove());

/** The small book with a replacement in its JSON text. */
const replaceInBook = (from: string, to: string): string => {
  const text = JSON.stringify(SMALL_BOOK);
  expect(text).toContain(from);
  return files.file("book.json", text.replace(from, to));
};
const check = async (from: string, to: string): Promise<CommandResult> =>
  ratebook(["check", replaceInBook(from, to)], { folderPath: files.path });
const previewEvents = async (book: string, stdin: string): Promise<CommandResult> =>
  ratebook(["preview", book, "--events", "-"], { stdin, folderPath: files.path });

/** Without the source line below each problem. */
const withoutExcerpts = ({ err, ...ran }: CommandResult): CommandResult => ({
  ...ran,
  err: err.replace(/^ +\d+ \| .*\n/gm, ""),
});
/** Without line and column. */
const withoutPlaces = (ran: CommandResult): CommandResult => {
  const { err, ...rest } = withoutExcerpts(ran);
  return { ...rest, err: err.replace(/^book\.json:\d+:\d+: /gm, "book.json: ") };
};

const RULE = '{"var":"attribute.units"}';
const SLABS = JSON.stringify(SMALL_BOOK.pricePlans[0]?.pricePlanDetails.usageRateCards[0]?.ratePlan.slabs);
const RATES = JSON.stringify(SMALL_BOOK.pricePlans[0]?.pricePlanDetails.usageRateCards[0]?.rateValues[0]?.slabRates);

describe("a malicious book has a result or a clear error", () => {
  test("S3.6 a rule nested 10,000 levels deep is rejected", async () => {
    const ran = await check(RULE, `${'{"+":['.repeat(10_000)}1${"]}".repeat(10_000)}`);
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toMatch(
      /^book\.json: nested more than 200 levels deep at line 1, column \d+\nbook\.json: 1 problem\n$/,
    );
  });

  test("a duplicate key is rejected at the second one: in a book, a plan, a map and the text of a rule", async () => {
    const sentence = "the key is repeated";
    const text = JSON.stringify(SMALL_BOOK);
    const rate = text.replace('"rate":2}', '"rate":2,"rate":20}');
    const column = rate.indexOf('"rate":20') + 1;
    const twice = await ratebook(["check", files.file("book.json", rate)], { folderPath: files.path });
    expect(withoutExcerpts(twice)).toEqual({
      code: 1,
      out: "",
      err: `book.json:1:${column}: $.pricePlans[0].pricePlanDetails.usageRateCards[0].rateValues[0].slabRates[0].rate: ${sentence}\nbook.json: 1 problem\n`,
    });
    const book = files.file("good.json", text);
    const plan = files.file("plan.json", '{"id":"a","id":"b"}');
    expect((await ratebook(["check", book, "--plan", plan], { folderPath: files.path })).err).toContain(
      `plan.json:1:11: $.id: ${sentence}\n`,
    );
    const map = files.file("map.json", '{"id":{"value":"a","value":"b"}}');
    const events = files.file("events.csv", "a\n1\n");
    expect(await ratebook(["preview", book, "--events", events, "--map", map], { folderPath: files.path })).toEqual({
      code: 1,
      out: "",
      err: `ratebook: map.json:1:20: $.id.value: ${sentence}\n`,
    });
    expect(withoutPlaces(await check(RULE, JSON.stringify('{"+":[1],"+":[2]}'))).err).toBe(
      'book.json: $.usageMeters[0].computations[0].computation: the rule has the key "+" twice in one object, at column 10\nbook.json: 1 problem\n',
    );
  });

  test("S7.1 a slab table of 10,000 rows prices an event", async () => {
    const slabs = Array.from({ length: 10_000 }, (_, n) => ({ order: n + 1, startAfter: n, priceType: "PER_UNIT" }));
    const rates = slabs.map(({ order }) => ({ order, rate: 1 }));
    const text = JSON.stringify(SMALL_BOOK).replace(SLABS, JSON.stringify(slabs)).replace(RATES, JSON.stringify(rates));
    const argv = ["preview", files.file("slabs.json", text), "--events", "-", "--format", "csv"];
    const { code, out } = await ratebook(argv, { stdin: eventLine("a", "2024-01-05T00:00:00Z", 9_999.5) });
    expect(out).toMatch(/,USAGE_RATE_CARD_AMOUNT,um\.units,units,9999\.5,[^,]*,9999\.5,[^,]*$/m);
    expect(out.match(/_SLAB_AMOUNT,/g)).toHaveLength(10_000);
    expect(code).toBe(0);
  });

  test("S2.2 a cycle at the end of the year 9999 is rated like any other, and later ones are not", async () => {
    const late = JSON.stringify(SMALL_BOOK).replaceAll('"2024-01-01"', '"9998-11-01"');
    const book = files.file("late.json", late);
    const { code, out } = await previewEvents(book, eventLine("a", "9998-12-31T23:59:59Z", 1));
    expect(out).toContain("Invoice for 9998-12-01 to 9998-12-31");
    expect(code).toBe(0);
    // 9999-01-01 means "no end": no plan is in force from then on.
    expect(await previewEvents(book, eventLine("a", "9999-06-01T00:00:00Z", 1))).toEqual({
      code: 0,
      out: "",
      err:
        "note: nothing billed: no plan was in force in that period (see effectiveFrom), or none prices this usage\n" +
        "1 event read: 1 without a price plan; 0 invoices\n",
    });
  });

  test.each([
    [
      "30 February",
      '"effectiveFrom":"2024-01-01"',
      '"effectiveFrom":"2024-02-30"',
      '$.accounts[0].pricePlans[0].effectiveFrom: "2024-02-30" is not a date: 2024-02 has days 01 to 29, not 30',
    ],
    [
      "a rate of 1e400",
      '"rate":2000',
      '"rate":1e400',
      `$.pricePlans[0].pricePlanDetails.minimumCommitment.rateValues[0].rate: expected a decimal within bounds: "1${"0".repeat(59)}…" has more than 20 digits before the point or 20 after it`,
    ],
    ["a field __proto__", '"id":"prod"', '"__proto__":{},"id":"prod"', "$.accounts[0].__proto__: unknown field"],
    [
      "an unknown operator",
      RULE,
      '{"sum":[1,2]}',
      '$.usageMeters[0].computations[0].computation: in the rule: unknown operator "sum"',
    ],
  ])("%s is rejected", async (_, from, to, sentence) => {
    expect(withoutPlaces(await check(from, to))).toEqual({
      code: 1,
      out: "",
      err: `book.json: ${sentence}\nbook.json: 1 problem\n`,
    });
  });
});
