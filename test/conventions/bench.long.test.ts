/** Every benchmark runs at its smallest size, where it compares its results with the alternative's. */
import { describe, expect, test } from "vitest";

import { BENCHES } from "../../bench/registry.ts";

describe("every benchmark", () => {
  test.each(BENCHES)("$name runs and prints its figures", async (bench) => {
    const lines = await bench.run("smoke");
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join("\n")).not.toMatch(/NaN|undefined|Infinity/);
  });

  test("has a unique name", () => {
    expect(new Set(BENCHES.map(({ name }) => name)).size).toBe(BENCHES.length);
  });
});
