/** Numbers of files with any decimal mark and grouping are read as written, or refused, and never as others. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { hasCode } from "../../src/errors.ts";
import { createMarkCheck, findDecimalMark } from "../../src/event-files/cell-texts.ts";
import { createEventMaker, eventFileMap } from "../../src/event-files/event-file-map.ts";
import { InputError } from "../../src/event-files/input-error.ts";
import { parseValue } from "../../src/numbers/decimal.ts";

/** A number, and how a spreadsheet writes it. */
interface WrittenNumber {
  readonly units: bigint;
  readonly digits: number;
}

interface Style {
  readonly mark: "," | ".";
  readonly group: string;
}

const styles: fc.Arbitrary<Style> = fc.oneof(
  fc.record({ mark: fc.constant("," as const), group: fc.constantFrom("", ".", " ", "\u00A0", "\u202F") }),
  fc.record({ mark: fc.constant("." as const), group: fc.constantFrom("", ",", " ", "'", "\u00A0") }),
);
const numbers: fc.Arbitrary<WrittenNumber> = fc.record({
  units: fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
  digits: fc.constantFrom(0, 0, 1, 2, 3, 3, 3, 6),
});

function toPlainText({ units, digits }: WrittenNumber): string {
  const text = String(units < 0n ? -units : units).padStart(digits + 1, "0");
  const [whole, fraction] = [text.slice(0, text.length - digits), text.slice(text.length - digits)];
  return `${units < 0n ? "-" : ""}${whole}${digits === 0 ? "" : `.${fraction}`}`;
}

function writeNumber(number: WrittenNumber, { mark, group }: Style): string {
  const [whole = "", fraction] = toPlainText(number).split(".");
  const grouped = whole.replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, group);
  return fraction === undefined ? grouped : `${grouped}${mark}${fraction}`;
}

/** The numbers of a column, undefined for a rejected one; or "refused" for the whole file. */
function readColumn(texts: readonly string[], decimal?: string): readonly (string | undefined)[] | "refused" {
  const map = eventFileMap.parse({
    schemaName: { value: "call" },
    accountId: { value: "a" },
    id: { template: "{row}" },
    timestamp: { value: "2024-01-01T00:00:00Z" },
    attributes: { units: { column: "Units", ...(decimal === undefined ? {} : { decimal }) } },
  });
  const marks = createMarkCheck("file.csv");
  const makeEvent = createEventMaker<string>(map, () => (record) => record, { marks });
  try {
    const values = texts.map((text, row) => {
      const event = makeEvent(text, row + 1);
      if ("code" in event) return undefined;
      const { attributes } = event as unknown as { readonly attributes: readonly { readonly value: string }[] };
      return tryParse(attributes[0]?.value ?? "");
    });
    marks.end();
    return values;
  } catch (error) {
    if (error instanceof InputError) return "refused";
    throw error;
  }
}

function tryParse(text: string): string | undefined {
  try {
    return parseValue(text).toFixed();
  } catch (error) {
    if (hasCode(error, "ERR_NUMBER_INVALID")) return undefined;
    throw error;
  }
}

test("a column read with its decimal mark has the numbers that were written", () => {
  fc.assert(
    fc.property(styles, fc.array(numbers, { maxLength: 20 }), (style, column) => {
      const texts = column.map((number) => writeNumber(number, style));
      expect(readColumn(texts, style.mark)).toEqual(column.map((number) => tryParse(toPlainText(number))));
    }),
  );
});

test("a column read without one has the numbers that were written, or is refused, or rejects a number", () => {
  fc.assert(
    fc.property(styles, fc.array(numbers, { minLength: 1, maxLength: 6 }), (style, column) => {
      const read = readColumn(column.map((number) => writeNumber(number, style)));
      if (read === "refused") return;
      for (const [row, value] of read.entries()) {
        const number = column[row];
        expect([undefined, number && tryParse(toPlainText(number))]).toContain(value);
      }
    }),
    { numRuns: 2000 },
  );
});

test.each([
  [["1.234"]],
  [["12.500", "7", "100"]],
  [["1,234"]],
  [["-1.234"]],
  [["+1.234"]],
  [["999.999", "1.000"]],
  [["1,5"]],
  [["0.5", "1,5", "1.234"]],
  [["1.234", "1,5", "0.5"]],
  [["1.234.567"]],
  [["0,123"]],
  [["1 234,567"]],
])("%j is refused without a decimal mark", (texts) => {
  expect(readColumn(texts)).toBe("refused");
});

test("a number with a comma among numbers with a point is rejected alone", () => {
  expect(readColumn(["0.5", "1,5", "12.25"])).toEqual(["0.5", undefined, "12.25"]);
});

test.each([
  [
    ["1.234", "0.5"],
    ["1.234", "0.5"],
  ],
  [["0.123"], ["0.123"]],
  [
    ["1.25", "12.500"],
    ["1.25", "12.5"],
  ],
  [["1234.567"], ["1234.567"]],
  [["1.2345"], ["1.2345"]],
  [["1.234e3"], ["1234"]],
  [
    ["7", "100", "", "no"],
    ["7", "100", undefined, undefined],
  ],
  // The comma separates thousands, as the other number shows; without "decimal" only that row is rejected.
  [
    ["1,234", "0.5"],
    [undefined, "0.5"],
  ],
] as const)("%j is read without a decimal mark", (texts, expected) => {
  expect(readColumn(texts)).toEqual(expected);
});

test("a number that begins with 0 has no separators of thousands, whatever the map says", () => {
  expect(readColumn(["0.123"], ",")).toEqual([undefined]);
  expect(readColumn(["0,123"], ".")).toEqual([undefined]);
});

test("both readings of an ambiguous number differ by a factor of a thousand", () => {
  expect(findDecimalMark("12,500")).toEqual({ text: "12,500", readings: { ",": "12.500", ".": "12500" } });
  expect(findDecimalMark("12500")).toBeUndefined();
  expect(findDecimalMark("a.b")).toBeUndefined();
});
