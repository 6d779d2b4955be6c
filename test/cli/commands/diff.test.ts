import { describe, expect, test } from "vitest";

import { eventLine, SMALL_BOOK, testFolder } from "../fake-io.ts";

const files = testFolder();

/** A file with the invoice of this many units in June 2024. */
const writeInvoice = async (name: string, units: number, ...more: readonly string[]): Promise<string> => {
  files.file("book.json", SMALL_BOOK);
  files.file("events.ndjson", eventLine("e", "2024-06-20T12:00:00Z", units));
  const { out } = await files.run(["preview", "book.json", "--events", "events.ndjson", "--format", "json", ...more]);
  return files.file(name, out);
};

describe("ratebook diff", () => {
  test("prints what changed and why: 90 at 2, then 100 at 2 and 20 at 1, and the commitment of 2,000", async () => {
    const [a, b] = [await writeInvoice("a.json", 90, "--explain"), await writeInvoice("b.json", 120, "--explain")];
    const { code, out } = await files.run(["diff", a, b]);
    expect({ code, lines: out.split("\n") }).toEqual({
      code: 0,
      lines: [
        "prod: 1,950.00 → 1,950.00 USD (+0.00)",
        "  units: 180.00 → 220.00 (+40.00)",
        "    usage: +40",
        "  Minimum commitment: 1,820.00 → 1,780.00 (-40.00)",
        "    usage: -40",
        "",
      ],
    });
    const { accounts } = JSON.parse((await files.run("diff a.json b.json --format json")).out) as { accounts: unknown };
    expect(accounts).toMatchObject([{ accountId: "prod", total: { difference: 0 } }]);
  });

  test("uses the book for a slab that was not reached, and without it applies rates before usage", async () => {
    const [a, b] = [await writeInvoice("a.json", 120, "--explain"), await writeInvoice("b.json", 90, "--explain")];
    const text = files.read("b.json").replaceAll('"pricePlanVersion": 1', '"pricePlanVersion": 2');
    const other = text.replaceAll('"rate": 2', '"rate": 3').replaceAll(": 180", ": 270").replaceAll(": 1820", ": 1730");
    // 90 × 3 = 270 and 90 × 2 = 180; then 100 × 2 and 20 × 1 are 220.
    const { code, out } = await files.run(["diff", files.file("b2.json", other), a]);
    expect({ code, lines: out.split("\n").slice(1, 4) }).toEqual({
      code: 0,
      lines: ["  units: 270.00 → 220.00 (-50.00)", "    usage: +40", "    rates: -90"],
    });
    expect((await files.run(["diff", b, a, "--book", "book.json"])).out).toContain("    usage: +40\n");
  });

  test("rejects a single file, and prints the problems of all books", async () => {
    const plain = await writeInvoice("plain.json", 1);
    const diffError = async (...argv: readonly string[]) => (await files.run(["diff", ...argv])).err;
    expect(await diffError(plain)).toBe("ratebook: expected two files of invoices, got 1\n");
    const [one, two] = [files.file("one.json", "{"), files.file("two.json", '{"accounts": 1}')];
    const problems = await diffError(plain, plain, "--book", one, "--book", two);
    expect(problems.match(/^(?:one|two)\.json: .*$/gm)).toEqual(["one.json: 1 problem", "two.json: 1 problem"]);
  });
});
