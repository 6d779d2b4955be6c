import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { formatRows, type TableRow, formatTableRow } from "../../../src/cli/table/format-rows.ts";

const WIDTHS = [24, 8, 8, 10];
const letters = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...Array.from("aZ09 .,:–—…·×é©®µß漢字😀─│\u00ad\u0301\u200d")), maxLength: 30 }),
);
/** Single-line texts, as they are printed. */
const cell = letters.map((text) => text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, " "));
const row: fc.Arbitrary<TableRow> = fc.oneof(
  fc.tuple(cell, cell, cell, cell),
  fc.array(cell, { minLength: 1, maxLength: 3 }).map((lines) => ({ text: lines.join("\n") })),
);

describe("rows of a table", () => {
  test("have the same layout as with the library, whatever their cells contain", () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 4 }), (rows) => {
        expect(formatRows(rows, WIDTHS)).toBe(rows.map((each) => formatTableRow(each, WIDTHS)).join("\n"));
      }),
    );
  });
});
