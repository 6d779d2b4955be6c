import { expect, test } from "vitest";

import { type CommandResult, failure, SMALL_BOOK, testFolder } from "../fake-io.ts";

const files = testFolder();

/** The small book with a replacement in its JSON text. */
const replaceInBook = (from: string, to: string): string => {
  const text = JSON.stringify(SMALL_BOOK);
  expect(text).toContain(from);
  return files.file("book.json", text.replace(from, to));
};
const check = async (from: string, to: string): Promise<CommandResult> => files.run(["check", replaceInBook(from, to)]);

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
  const twice = await files.run(["check", files.file("book.json", rate)]);
  expect(withoutExcerpts(twice)).toEqual({
    code: 1,
    out: "",
    err: `book.json:1:${column}: $.pricePlans[0].pricePlanDetails.usageRateCards[0].rateValues[0].slabRates[0].rate: ${sentence}\nbook.json: 1 problem\n`,
  });
  const book = files.file("good.json", text);
  const plan = files.file("plan.json", '{"id":"a","id":"b"}');
  expect((await files.run(["check", book, "--plan", plan])).err).toContain(`plan.json:1:11: $.id: ${sentence}\n`);
  const map = files.file("map.json", '{"id":{"value":"a","value":"b"}}');
  const events = files.file("events.csv", "a\n1\n");
  expect(await files.run(["preview", book, "--events", events, "--map", map])).toEqual(
    failure(`map.json:1:20: $.id.value: ${sentence}`),
  );
  expect(withoutPlaces(await check(RULE, JSON.stringify('{"+":[1],"+":[2]}'))).err).toBe(
    'book.json: $.usageMeters[0].computations[0].computation: the rule has the key "+" twice in one object, at column 10\nbook.json: 1 problem\n',
  );
});
