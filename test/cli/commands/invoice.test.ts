/** `ratebook invoice`: which invoices it writes, their details and numbers. */
import { join } from "node:path";

import { beforeAll, describe, expect, test } from "vitest";

import { examplePath } from "../../support/examples.ts";
import { type CommandResult, testFolder } from "../fake-io.ts";

const files = testFolder();
const invoicesPath = join(files.path, "invoices.json");
beforeAll(async () => {
  const [book, events] = ["book.json", "events.ndjson"].map((name) => examplePath("seats-and-usage", name));
  const { code } = await files.run(`preview ${book} --events ${events} --explain --format json -o invoices.json`);
  expect(code).toBe(0);
});

const run = (...args: readonly string[]): Promise<CommandResult> => files.run(["invoice", ...args]);
const numbersIn = ({ out }: CommandResult): readonly string[] =>
  [...out.matchAll(/<dt>Invoice number<\/dt><dd>([^<]*)<\/dd>/g)].map(([, number = ""]) => number);

const DETAILS = `{
  // What all invoices have in common.
  "seller": { "name": "Acme GmbH", "address": ["Hafen 1"] },
  "taxes": [{ "name": "USt.", "rate": "19" }],
  "notes": "Danke.",
  "accounts": {
    "acme-main": { "buyer": { "name": "Acme Customer" }, "locale": "de" },
  },
}`;

describe("ratebook invoice", () => {
  test("writes all invoices of a file, or those of an account or one of them", async () => {
    const all = await run(invoicesPath);
    const numbers = numbersIn(all);
    expect([all.code, all.err]).toEqual([0, ""]);
    expect(numbers.length).toBe((JSON.parse(files.read("invoices.json")) as { invoices: [] }).invoices.length);
    const ofAccount = numbersIn(await run(invoicesPath, "--account", "acme-main"));
    expect(ofAccount.length).toBeGreaterThan(1);
    expect(ofAccount.length).toBeLessThan(numbers.length);
    const one = await run(invoicesPath, "--invoice", numbers[1] ?? "");
    expect(numbersIn(one)).toEqual([numbers[1]]);
    const [, id = ""] = /<footer>([^<]*)<\/footer>/.exec(one.out) ?? [];
    expect(numbersIn(await run(invoicesPath, "--invoice", id))).toEqual([numbers[1]]);
  });

  test("takes details from a file with comments; those of an account take precedence, then options", async () => {
    const details = files.file("details.jsonc", DETAILS);
    const { out } = await run(invoicesPath, "--details", details, "--account", "acme-main", "--status", "due");
    expect(out).toContain("<h2>Rechnungsempfänger</h2><address><span>Acme Customer</span></address>");
    // 133.00 × 19 % = 25.27
    expect(out.replaceAll("\u00A0", " ")).toContain('USt. 19 % auf 133,00 $</th><td class="a">25,27 $</td>');
    expect(out.replaceAll("\u00A0", " ")).toContain("158,27 $ fällig am 1. Juli 2024");
    const others = await run(invoicesPath, "--details", details, "--account", "initech-main");
    expect(others.out).toContain("Acme GmbH");
    expect(others.out).not.toContain("Rechnungsempfänger");
    const french = await run(invoicesPath, "--details", details, "--account", "acme-main", "--locale", "fr");
    expect(french.out).toContain("<h2>Facturé à</h2>");
  });

  test("numbers invoices in a sequence, and refuses a number twice", async () => {
    const account = [invoicesPath, "--account", "initech-main"];
    const numbers = numbersIn(await run(...account, "--number", "R-2026-099"));
    expect(numbers.slice(0, 2)).toEqual(["R-2026-099", "R-2026-100"]);
    const words = await run(...account, "--number", "next");
    expect([words.code, words.err]).toEqual([2, expect.stringContaining('--number: "next" must end with digits')]);
    const details = files.file("number.json", '{ "number": "7" }');
    const twice = await run(...account, "--details", details);
    expect([twice.code, twice.err]).toEqual([2, expect.stringContaining('several invoices have the number "7"')]);
  });

  test("shows the logo of a file beside the details", async () => {
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADBwIAMCbHYQAAAABJRU5ErkJggg==",
      "base64",
    );
    files.file("logo.png", png);
    const details = files.file("with-logo.json", '{ "logo": "logo.png" }');
    const [number = ""] = numbersIn(await run(invoicesPath));
    const { out } = await run(invoicesPath, "--details", details, "--invoice", number);
    expect(out).toContain(`src="data:image/png;base64,${png.toString("base64")}"`);
    const text = files.file("text-logo.json", '{\n  "logo": "number.json" }');
    const refused = await run(invoicesPath, "--details", text);
    expect(refused.err).toContain("text-logo.json:2:11: logo: expected a data URI of a PNG");
  });

  test.each([
    ['{ "seler": {} }', "1:12: seler: unknown field; known are seller"],
    ['{ "taxes": [\n{ "name": "x", "rate": 101 }] }', "2:24: taxes[0].rate: expected 0 to 100 percent"],
    ['{ "accounts": { "a b": { "locale": 7 } } }', "1:36: locale: expected a text"],
    ['{ "accounts": [] }', "1:15: accounts: expected an object"],
    ['{ "__proto__": { "locale": "de" } }', "1:16: __proto__: unknown field"],
    ['{ "locale": "de", "locale": "fr" }', "1:19: "],
    ["[]", "1:1: expected an object"],
    ['{ "locale" }', "not JSON"],
  ])("refuses the details %s with their place", async (text, message) => {
    const { code, out, err } = await run(invoicesPath, "--details", files.file("bad.json", text));
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(message);
  });

  test.each([
    ["without explanations", '{ "invoices": [{}] }', "expected an invoice written by preview --explain"],
    ["no JSON", "x", "not JSON"],
  ])("refuses a file %s", async (_, text, message) => {
    const { code, err } = await run(files.file("other.json", text));
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
  });

  test.each([
    ["invoices.json --account x", 1, "none of"],
    ["invoices.json --status x", 2, "--status"],
    ["inv.x --database none --account x", 2, "--database takes the ID"],
    ["inv.0123456789ABCDEF --database none", 1, "no database in"],
  ])("refuses %s", async (words, code, message) => {
    expect(await run(...words.split(" "))).toMatchObject({ code, err: expect.stringContaining(message) });
  });
});
