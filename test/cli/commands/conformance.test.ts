/** `ratebook conformance`: runs the vectors against programs that are right, wrong, or print unreadable output. */
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { vectors } from "../../../src/vectors.ts";
import { ratebook } from "../fake-io.ts";

const adapter = join(import.meta.dirname, "../../vectors/adapter.mjs");
const runConformance = async (fault = "") => ratebook(["conformance", "--command", `node ${adapter} ${fault}`]);

const knownCount = vectors.filter(({ kind }) => ["price", "cycles", "invoices"].includes(kind)).length;
const prices = vectors.filter(({ kind }) => kind === "price").length;

describe("ratebook conformance", () => {
  test("S7 ratebook agrees with every vector that its adapter supports, and prints how many it skips", async () => {
    expect(await runConformance()).toEqual({
      code: 0,
      out: `${knownCount} of ${knownCount} vectors agree, ${vectors.length - knownCount} left out\n`,
      err: "",
    });
  });

  test("reports each price that is a cent off, with the expected value and the reason", async () => {
    const { code, out } = await runConformance("price");
    const lines = out.trimEnd().split("\n");
    expect(code).toBe(1);
    expect(lines).toHaveLength(prices + 1);
    for (const line of lines.slice(0, -1))
      expect(line).toMatch(/^\S+ \(S\d+\.\d+\): amount: expected "\S+", found "\S+"; \S/);
    expect(lines.at(-1)).toBe(
      `${knownCount - prices} of ${knownCount} vectors agree, ${vectors.length - knownCount} left out`,
    );
  });

  test("counts a vector without an answer as a difference", async () => {
    const { code, out } = await runConformance("dumb");
    expect(code).toBe(1);
    expect(out.match(/: no answer; /g)).toHaveLength(prices);
  });

  test.each([
    ["twice", /^ratebook: answer \d+: "[\w-]+" has a duplicate answer\n$/],
    ["text", /^ratebook: answer 1: expected \{"id", "result"\}, .* got invalid JSON: "ready"\n$/],
  ])("stops at invalid answers: %s", async (fault, err) => {
    expect(await runConformance(fault)).toEqual({ code: 1, out: "", err: expect.stringMatching(err) });
  });

  test("reports a program that fails", async () => {
    const { code, err } = await ratebook(["conformance", "--command", "exit 3"]);
    expect({ code, err }).toEqual({ code: 1, err: "ratebook: the program ended with the exit code 3\n" });
    expect(await ratebook(["conformance"])).toMatchObject({ code: 2, out: "" });
  });
});
