/** The completions of a book editor at the caret, marked as `|` here, also while the text is not valid JSON. */
import { describe, expect, test } from "vitest";

import { toDescribedSchema } from "../../src/book/describing/json-schema.ts";
import { bookSchema } from "../../src/book/resources/book.ts";
import {
  type CompletionSchema,
  findCaretContext,
  findCompletions,
  findDescription,
} from "../../src/pages/play/json-completions.ts";

const SCHEMA: CompletionSchema = toDescribedSchema(bookSchema, "book");

const placeOf = (textWithCaret: string) => findCaretContext(textWithCaret.replace("|", ""), textWithCaret.indexOf("|"));

function labelsAt(textWithCaret: string): readonly string[] | undefined {
  const place = placeOf(textWithCaret);
  return place && findCompletions(SCHEMA, place).map(({ label }) => label);
}

describe("the path of the caret", () => {
  test.each([
    ['{"a": [{"b|": 1}]}', { kind: "key", path: ["a", 0], prefix: "b", start: 8, end: 11, keys: [] }],
    ['{"a": 1, |, "z": 2}', { kind: "key", path: [], prefix: "", start: 9, end: 9, keys: ["a", "z"] }],
    ['{"a": [1, "x|', { kind: "value", path: ["a", 1], prefix: "x", start: 10, end: 12, keys: [] }],
    ['{"a": t|r}', { kind: "value", path: ["a"], prefix: "t", start: 6, end: 8, keys: [] }],
    ['{"a": |', { kind: "value", path: ["a"], prefix: "", start: 6, end: 6, keys: [] }],
    ['{"{[": {"\\"|": 1}}', { kind: "key", path: ["{["], prefix: '\\"', start: 8, end: 12, keys: [] }],
  ])("%s", (textWithCaret, place) => expect(placeOf(textWithCaret)).toEqual(place));

  test.each(["|", '{"a": 1}|', '{"a" |: 1}', '{"a": 1 |}', "{ // a |\n}", '{"a": "b"|}', "]]|}"])(
    "does not exist at %s",
    (textWithCaret) => expect(placeOf(textWithCaret)).toBeUndefined(),
  );
});

describe("completions", () => {
  test("are missing keys of the object, those with the same prefix first", () => {
    expect(labelsAt('{"customers": [], "acc|"}')).toEqual(["accounts"]);
    expect(labelsAt('{"pricePlans": [{"pricePlanDetails": {"usageRateCards": [{"rate|')).toEqual([
      "ratePlan",
      "rateValues",
      "rateTable",
    ]);
    expect(labelsAt('{"accounts": [{|, "id": "a"}]}')).not.toContain("id");
  });

  test("are the values of an enumeration", () => {
    const plan = '{"pricePlans": [{"pricePlanDetails": {"pricingCycleConfig": {"interval": ';
    expect(labelsAt(`${plan}"|`)).toEqual(["WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY"]);
    expect(labelsAt(`${plan}"ly|`)).toEqual(
      ["WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY", "ANNUALLY"].filter((each) => each.includes("LY")),
    );
    expect(labelsAt('{"pricePlans": [{"pricePlanDetails": {"fixedFeeRateCards": [{"enableProration": |')).toEqual([
      "true",
      "false",
    ]);
  });

  test("are empty where the schema has none", () => {
    expect(labelsAt('{"nowhere": {"|')).toEqual([]);
    expect(labelsAt('{"constructor": {"__proto__": {"|')).toEqual([]);
  });

  test("include the description of a field", () => {
    expect(findDescription(SCHEMA, ["pricePlans", 0, "pricePlanDetails", "minimumCommitment"])).toContain(
      "The minimum charge of a cycle",
    );
    expect(findDescription(SCHEMA, ["accounts", 3])).toBe(findDescription(SCHEMA, ["accounts"]));
    expect(findDescription(SCHEMA, ["no", "such"])).toBe("");
  });
});
