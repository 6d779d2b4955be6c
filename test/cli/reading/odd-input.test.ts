import { afterAll, beforeAll, expect, test } from "vitest";

import { type Folder, folder, ratebook, type CommandResult, SMALL_BOOK } from "../fake-io.ts";

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
