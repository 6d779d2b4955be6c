/** A seeded random book of many accounts and a month of their usage, for reports of a given size. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

import { type Folder, ratebook } from "../cli/fake-io.ts";

const METERS = ["calls", "storage", "tokens"] as const;

/** Deterministic numbers from 0 to 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
}

/** A plan of three meters, with a rate for the first hundred units. */
export function planAt(id: string, rate: number | string): object {
  const tiers = [{ upTo: 100, rate }, { rate: "0.35" }];
  return { id, currencies: ["USD"], cycle: "MONTHLY", usage: METERS.map((name) => ({ meter: `um.${name}`, tiers })) };
}

/**
 * The book.
 *
 * @param nameOf the name of an account
 */
export function bookOfMany(accounts: number, nameOf = (index: number): string => `Customer ${index + 1}`): object {
  return {
    eventSchemas: METERS.map((name) => ({ name, attributes: ["units"] })),
    usageMeters: METERS.map((name) => ({ id: `um.${name}`, name, schema: name, sum: "units" })),
    pricePlans: [planAt("pp.small", 1)],
    accounts: Array.from({ length: accounts }, (_, index) => ({
      id: `account-${index + 1}`,
      name: nameOf(index),
      plan: "pp.small",
      from: "2024-01-01",
    })),
  };
}

/** The accounts' usage on the days of June, as a file of cells. */
export function usageOfMany(accounts: number): string {
  const next = createRandom(accounts);
  const lines = ["accountId,meterId,date,quantity"];
  for (let account = 1; account <= accounts; account++) {
    const size = Math.exp(next() * 4);
    for (let day = 1; day <= 30; day++)
      for (const meter of METERS)
        lines.push(
          `account-${account},um.${meter},2024-06-${String(day).padStart(2, "0")},${(size * next()).toFixed(3)}`,
        );
  }
  return `${lines.join("\n")}\n`;
}

/**
 * A page of many accounts.
 *
 * @param more the rate of a draft, and the names of accounts
 */
export async function pageOfMany(
  command: "report" | "backtest",
  files: Folder,
  accounts: number,
  { rate, nameOf }: { readonly rate?: number | string; readonly nameOf?: (index: number) => string } = {},
): Promise<string> {
  const { code, out } = await ratebook([
    command,
    files.file(`book-${accounts}.json`, JSON.stringify(bookOfMany(accounts, nameOf))),
    "--usage",
    files.file(`usage-${accounts}.csv`, usageOfMany(accounts)),
    ...(rate === undefined ? [] : ["--plan", files.file("draft.json", JSON.stringify(planAt("pp.draft", rate)))]),
    ...(command === "backtest" ? ["--format", "html"] : []),
  ]);
  expect(code).toBe(0);
  return out;
}

/** The rows of the table after a heading. */
export const tableOf = (page: Page, name: string): Locator => page.getByRole("region", { name }).locator("tbody tr");
