import { describe, expect, test } from "vitest";

import { SMALL_BOOK, smallPlan, testFolder } from "../fake-io.ts";

const files = testFolder();

/** The small book, at 2 per unit up to 100 and `rate` beyond. */
const bookAtRate = (rate: number, more: object = {}): string =>
  JSON.stringify({ ...SMALL_BOOK, pricePlans: [smallPlan("pp.small", 2, rate)], ...more }, null, 1);
const lint = async (content: string, ...more: readonly string[]) =>
  files.run(["lint", files.file("book.json", content), ...more]);

describe("ratebook lint", () => {
  test("reports nothing for a good book", async () => {
    expect(await lint(bookAtRate(1))).toEqual({ code: 0, out: "book.json: 0 warnings, 0 notes\n", err: "" });
  });

  test("prints where a finding is, what it is, and how to check it", async () => {
    const { code, out } = await lint(bookAtRate(-1));
    expect(out).toMatch(/^book\.json:\d+:\d+: warning PRICE_FALLS pp\.small@1\/usage\/um\.units\/slab\/2: /);
    expect(out).toContain('\n  100 of "units" cost 200.00 USD, 101 cost 199.00 USD\n');
    expect(out).toMatch(/\nbook\.json: 1 warning, 0 notes\n$/);
    expect(code).toBe(1);
  });

  test("accepts findings that the book silences, and shows them with --all", async () => {
    const book = bookAtRate(-1, { lint: [{ code: "PRICE_FALLS", at: "pp.small@1", reason: "a rebate, agreed" }] });
    expect(await lint(book)).toEqual({ code: 0, out: "book.json: 0 warnings, 0 notes, 1 silenced\n", err: "" });
    expect((await lint(book, "--all")).out).toContain("\n  silenced: a rebate, agreed\n");
  });

  test("prints findings as JSON", async () => {
    const { out } = await lint(bookAtRate(-1), "--format", "json");
    expect(JSON.parse(out)).toMatchObject({
      findings: [{ code: "PRICE_FALLS", path: "$.pricePlans[0].usage[0].tiers[1]", searched: false }],
    });
  });

  test("prints findings as SARIF, with silenced ones as suppressed", async () => {
    const { out } = await lint(
      bookAtRate(-1, { lint: [{ code: "PRICE_FALLS", reason: "agreed" }] }),
      "--format",
      "sarif",
    );
    const { version, runs } = JSON.parse(out) as { version: string; runs: readonly { results: unknown }[] };
    expect(version).toBe("2.1.0");
    expect(runs[0]?.results).toMatchObject([
      { ruleId: "PRICE_FALLS", level: "warning", suppressions: [{ kind: "inSource", justification: "agreed" }] },
    ]);
  });

  test.each([
    ["x", '--jump-share: "x" is not a decimal'],
    ["-1", "--jump-share: expected 0 or more, got -1"],
  ])("rejects --jump-share=%s", async (share, message) => {
    expect(await lint(bookAtRate(1), `--jump-share=${share}`)).toMatchObject({
      code: 2,
      err: `ratebook: ${message}\n`,
    });
  });
});
