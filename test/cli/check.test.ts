import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Folder, folder, ratebook, SMALL_BOOK } from "./fake-io.ts";

let files: Folder;
beforeAll(() => {
  files = folder();
});
afterAll(() => files.remove());

const check = async (content: string, ...more: readonly string[]) =>
  ratebook(["check", files.file("book.json", content), ...more], { cut: files.path });

describe("ratebook check", () => {
  test("says what a good book holds", async () => {
    expect(await check(JSON.stringify(SMALL_BOOK))).toEqual({
      code: 0,
      out: "book.json: ok, 1 event schema, 1 usage meter, 1 price plan, 1 account\n",
      err: "",
    });
  });

  test("prints every problem with its path, and how many there are", async () => {
    const bad = { ...SMALL_BOOK, organization: { id: "acme", baseCurrency: "XYZ" }, customers: [] };
    const { code, out, err } = await check(JSON.stringify(bad));
    expect(err).toMatch(/^book\.json: \$\.organization\.baseCurrency: .*\n(?:.*\n)*book\.json: [2-9] problems\n$/);
    expect(err).toMatch(/^book\.json: \$\.accounts\[0\]\.customerId: /m);
    expect({ code, out }).toEqual({ code: 1, out: "" });
  });

  test("checks a plan against the book", async () => {
    const plan = files.file("plan.json", JSON.stringify(SMALL_BOOK.pricePlans[0]));
    expect(await check(JSON.stringify(SMALL_BOOK), "--plan", plan)).toEqual({
      code: 0,
      out: "plan.json: ok, price plan pp.small version 1\n",
      err: "",
    });
    const empty = files.file("empty.json", "{}");
    const { code, err } = await check(JSON.stringify(SMALL_BOOK), "--plan", empty);
    expect(err).toMatch(/^empty\.json: \$\.id: /m);
    expect(code).toBe(1);
  });

  test.each([
    ["a book that is no JSON", "{", /^book\.json: \$: not JSON: .*\nbook\.json: 1 problem\n$/],
    [
      "a book nested 100,000 deep",
      `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
      /^book\.json: \$[^\n]*\nbook\.json: 1 problem\n$/,
    ],
    ["a book that is a list", "[]", /^book\.json: \$: [^\n]*\nbook\.json: 1 problem\n$/],
    ["__proto__ in a book", '{"__proto__":{"a":1}}', /^book\.json: \$[^\n]*__proto__[^\n]*\nbook\.json: 1 problem\n$/],
  ])("refuses %s", async (_, content, expected) => {
    const { code, out, err } = await check(content);
    expect(err).toMatch(expected);
    expect({ code, out }).toEqual({ code: 1, out: "" });
  });

  test("refuses a book that is no text", async () => {
    const path = files.file("bytes.json", Uint8Array.of(0xff, 0xfe, 0));
    expect(await ratebook(["check", path], { cut: files.path })).toEqual({
      code: 1,
      out: "",
      err: "ratebook: bytes.json: the file is not valid UTF-8\n",
    });
  });
});

describe("ratebook", () => {
  test("without a command prints what there is, exit 2", async () => {
    const { code, out, err } = await ratebook([]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("Usage: ratebook COMMAND");
  });

  test("--help and --version answer on standard output", async () => {
    expect(await ratebook(["--version"])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect((await ratebook(["--help"])).out).toContain("preview");
    expect((await ratebook(["preview", "--help"])).out).toMatch(/--no-dedupe +do without the memory of ids/);
    expect(await ratebook(["preview", "-h"])).toEqual(await ratebook(["preview", "--help"]));
  });

  test.each([
    [["previw"], 'unknown command "previw": did you mean preview?'],
    [["__proto__"], 'unknown command "__proto__": expected preview, check, load, serve, or keys'],
    [["check"], "expected a BOOK: the path of a rate book"],
    [["check", "x", "--__proto__"], "unknown option --__proto__: see --help"],
    [["check", "/none/book.json"], "/none/book.json: no such file"],
  ])("%j is refused in one sentence", async (argv, sentence) => {
    expect((await ratebook(argv)).err).toBe(`ratebook: ${sentence}\n`);
  });

  test("prints a stack with --debug only", async () => {
    expect((await ratebook(["check", "/none/book.json"])).err).not.toContain("    at ");
    expect((await ratebook(["check", "/none/book.json", "--debug"])).err).toContain("    at ");
  });
});
