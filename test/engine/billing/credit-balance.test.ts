/** An account's monetary credits as one sum (S12). Figures are calculated by hand. */
import { describe, expect, test } from "vitest";

import type { Engine } from "../../../src/index.ts";
import { loadedAt } from "../support.ts";
import { countEvent, teamBook } from "../team-book.ts";

/** A balance with its amounts as texts. */
async function balanceOf(engine: Engine, accountId = "prod"): Promise<Readonly<Record<string, unknown>>> {
  const { lastUpdatedAt, ...balance } = await engine.creditBalance(accountId);
  const texts = Object.entries(balance).map(([name, value]) => [name, String(value)]);
  return { ...Object.fromEntries(texts), at: new Date(lastUpdatedAt).toISOString().slice(0, 10) };
}

const credit = { accountId: "prod", purpose: "welcome", priority: 1, effectiveFrom: "2024-01-01" };

describe("the credit balance", () => {
  test("S12.4 subtracts the amounts held by drafts, and then those consumed by final invoices", async () => {
    const { at } = await loadedAt("2024-01-01", teamBook());
    await at("2024-01-02").credits.create([
      { ...credit, creditAmount: 100 },
      { ...credit, creditAmount: 50, applicableEntityIds: ["um.calls"] },
    ]);
    await at("2024-01-05").ingest([countEvent("e1", "2024-01-04T00:00:00Z", 10)]);
    // The draft of January: usage 20, fee 30. Both credits are equal except for their ids, created at the same instant:
    // the order of the ids decides which pays the usage, so only the sums are certain.
    const during = await balanceOf(at("2024-01-05"));
    expect(during).toMatchObject({ activeCredits: "150", availableBalance: "100", at: "2024-01-02" });
    // Final on 1 February, when February's draft begins to hold its fee of 30, which only the first credit pays.
    await at("2024-02-01").finalize();
    const after = await balanceOf(at("2024-02-01"));
    expect(after).toMatchObject({ activeCredits: "100", availableBalance: "70", at: "2024-02-01" });
  });

  test("S12.2 separates credits for any line from those for only some lines", async () => {
    const { at } = await loadedAt("2024-01-01", teamBook());
    await at("2024-01-02").credits.create([
      { ...credit, creditAmount: 100, priority: 2 },
      { ...credit, creditAmount: 50, applicableEntityIds: ["um.calls"] },
    ]);
    await at("2024-01-05").ingest([countEvent("e1", "2024-01-04T00:00:00Z", 10)]);
    // The one for calls first pays the usage of 20, the other the fee of 30.
    expect(await balanceOf(at("2024-01-05"))).toMatchObject({
      activeCredits: "150",
      availableBalance: "100",
      runningBalance: "70",
      inapplicableCredits: "30",
    });
  });

  test("S12.5 excludes credits that are voided, not started or expired", async () => {
    const { at } = await loadedAt("2024-01-01", teamBook());
    const [voided] = await at("2024-01-02").credits.create([
      { ...credit, creditAmount: 1 },
      { ...credit, creditAmount: 200, effectiveFrom: "2024-02-15" },
      { ...credit, creditAmount: 400, effectiveUntil: "2024-01-20", applicableEntityIds: ["um.writes"] },
    ]);
    await at("2024-01-03").credits.void(voided?.credit.id ?? "");
    const balances: unknown[] = [];
    for (const day of ["2024-01-19", "2024-01-20", "2024-02-15"]) {
      balances.push((await balanceOf(at(day)))["activeCredits"]);
    }
    expect(balances).toEqual(["400", "0", "200"]);
  });
});
