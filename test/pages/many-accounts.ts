/** A seeded random book of many accounts and a month of their usage, for reports of a given size. */
import { join } from "node:path";

import type { Locator } from "playwright-core";
import { expect } from "vitest";

import { sumMeter } from "../book/builder.ts";
import { type Folder, ratebook, SMALL_BOOK } from "../cli/fake-io.ts";
import type { OpenPage } from "../support/browser.ts";

const METERS = ["calls", "storage", "tokens"] as const;

/** Deterministic numbers from 0 to 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
}

/** The small book's slabs with a rate. */
function cardsAt(rate: number | string): readonly object[] {
  const ratePlan = SMALL_BOOK.pricePlans[0]?.pricePlanDetails.usageRateCards[0]?.ratePlan;
  return METERS.map((meter) => ({
    usageMeterId: `um.${meter}`,
    ratePlan,
    rateValues: [
      {
        currency: "USD",
        slabRates: [
          { order: 1, rate },
          { order: 2, rate: "0.35" },
        ],
      },
    ],
  }));
}

/** A plan of three cards. */
export function planAt(id: string, rate: number | string): object {
  const [plan] = SMALL_BOOK.pricePlans;
  const { minimumCommitment: _, ...details } = plan?.pricePlanDetails ?? { minimumCommitment: undefined };
  return { ...plan, id, name: id, pricePlanDetails: { ...details, usageRateCards: cardsAt(rate) } };
}

/**
 * The book.
 *
 * @param nameOf the name of an account
 */
export function bookOfMany(accounts: number, nameOf = (index: number): string => `Customer ${index + 1}`): object {
  return {
    ...SMALL_BOOK,
    eventSchemas: METERS.map((name) => ({ name, attributes: [{ name: "units" }] })),
    usageMeters: METERS.map((name) => sumMeter(`um.${name}`, name, "units")),
    pricePlans: [planAt("pp.small", 1)],
    accounts: Array.from({ length: accounts }, (_, index) => ({
      id: `account-${index + 1}`,
      name: nameOf(index),
      customerId: "contoso",
      pricePlans: [{ pricePlanId: "pp.small", effectiveFrom: "2024-01-01" }],
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
 * A report of many accounts, as a file in a folder.
 *
 * @returns its path
 */
export async function reportOfMany(
  files: Folder,
  accounts: number,
  nameOf?: (index: number) => string,
): Promise<string> {
  const path = join(files.path, `many-${accounts}.html`);
  const { code, err } = await ratebook([
    "report",
    files.file(`book-${accounts}.json`, JSON.stringify(bookOfMany(accounts, nameOf))),
    "--usage",
    files.file(`usage-${accounts}.csv`, usageOfMany(accounts)),
    "--plan",
    files.file("dear.json", JSON.stringify(planAt("pp.dear", 2))),
    "-o",
    path,
  ]);
  expect(`${code} ${err}`).toContain("0 ");
  return path;
}

/** The rows of the table after a heading. */
export const tableOf = ({ page }: OpenPage, name: string): Locator =>
  page.getByRole("region", { name }).locator("tbody tr");
