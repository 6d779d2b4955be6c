/** Kinds of field: what their schemas say to clients is what is read. */
import { expect, test } from "vitest";
import * as z from "zod";

import { readInput } from "../../../src/book/requests/requests.ts";
import { decimal } from "../../../src/book/resources/fields.ts";

test.each([
  ["1", true],
  ["-1.50", true],
  ["+1", true],
  [".5", true],
  ["1.", true],
  ["1e5", true],
  ["1.5E-3", true],
  [" 1", false],
  ["1 ", false],
  ["", false],
  ["1,5", false],
  ["0x1", false],
  ["NaN", false],
])("S1.2 the pattern of a decimal and its reader agree on %j", (text, isDecimal) => {
  const { anyOf } = z.toJSONSchema(decimal, { io: "input", unrepresentable: "any" });
  const pattern = anyOf?.flatMap((kind) => (typeof kind === "object" && "pattern" in kind ? [kind.pattern] : [])) ?? [];
  expect(pattern.map((each) => new RegExp(each, "u").test(text))).toEqual([isDecimal]);
  expect(decimal.safeParse(text).success).toBe(isDecimal);
});

test("a thousand times more unknown fields than a request may have are refused in seconds, the first of them named", () => {
  const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, 1]));
  const start = performance.now();
  expect(() => readInput(z.strictObject({ id: z.string() }), many)).toThrow(/^k0: unknown field$/);
  expect(performance.now() - start).toBeLessThan(10_000);
});
