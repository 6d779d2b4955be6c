import fc from "fast-check";
import { expect, test } from "vitest";

import { matchShape, toConstant, type LineShape } from "../../../src/cli/event-inputs/line-shape.ts";

/** Constants between texts: each ends with the quote before a text, or begins with the one after it. */
const pieces = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "{", ":", ","), maxLength: 9 }), {
  minLength: 2,
  maxLength: 4,
});
const texts = fc.array(fc.string({ unit: fc.constantFrom("x", "y", " "), maxLength: 6 }), {
  minLength: 3,
  maxLength: 3,
});

function constantTexts(parts: readonly string[]): readonly string[] {
  return parts.map((part, index) => {
    return `${index === 0 ? "" : '"'}${part}${index === parts.length - 1 ? "" : '"'}`;
  });
}

/** A changed byte of the line: its position and new value; no change beyond the line. */
const change = fc.tuple(fc.nat(60), fc.constantFrom("a", "x", '"', "\\", "\n", "\u00e9"));

test("a line matches a shape only if it consists of its constants, byte for byte, with plain texts between them", () => {
  fc.assert(
    fc.property(pieces, texts, fc.option(change), (parts, values, otherByte) => {
      const constants = constantTexts(parts);
      const shape: LineShape = {
        schemaName: "s",
        constants: constants.map(toConstant),
        slots: parts.slice(1).map(() => ({ kind: "unused", name: "", isQuoted: true })),
      };
      let line = constants.map((text, index) => text + (index < parts.length - 1 ? values[index] : "")).join("");
      if (otherByte !== null && otherByte[0] < line.length) {
        line = line.slice(0, otherByte[0]) + otherByte[1] + line.slice(otherByte[0] + 1);
      }
      const pattern = constants
        .map((text) => text.replaceAll(/[{:,]/g, String.raw`\$&`))
        .join(String.raw`([ !#-[\]-~]*)`);
      const match = new RegExp(`^(${pattern})`).exec(line);
      // Where a buffer ends right after a short constant, the line may be left to the full parser: here none is.
      const bytes = Buffer.from(`before\n${line}\nzzz`, "latin1");
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const spans = new Int32Array(16);
      const end = matchShape(shape, bytes, view, 7, spans);
      expect(end).toBe(match === null ? -1 : 7 + (match[1] ?? "").length);
      if (match === null) return;
      const read = shape.slots.map((_slot, index) => bytes.toString("latin1", spans[2 * index], spans[2 * index + 1]));
      expect(read).toEqual(match.slice(2));
    }),
    { numRuns: 500 },
  );
});
