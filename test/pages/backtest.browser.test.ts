/** The page of a backtest in a browser: its figures are those of the terminal and of the guide. */
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";

import { folder, ratebook } from "../cli/fake-io.ts";
import { DESK, DESK_AND_PHONE, openSoundPage } from "../support/browser.ts";
import { traceArguments } from "../support/examples.ts";
import { pageOfMany, tableOf } from "./many-accounts.ts";

const files = folder();
afterAll(() => files.remove());

const openTraces = async (options: BrowserContextOptions, ...drafts: readonly string[]): Promise<Page> => {
  const { code, out } = await ratebook([...traceArguments("backtest", ...drafts), "--format", "html"]);
  expect(code).toBe(0);
  return openSoundPage(out, options);
};
const openMany = async (rate: number | string): Promise<Page> =>
  openSoundPage(await pageOfMany("backtest", files, 40, { rate }));
const readFact = async (page: Page, name: string): Promise<string> =>
  page.getByText(name, { exact: true }).first().locator("..").innerText();

describe("the page of a backtest", () => {
  test.each(DESK_AND_PHONE)(
    "%s: is headed by what it is, and has totals, items and accounts with their causes",
    async (_, options) => {
      const page = await openTraces(options, "lower-fee");
      expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe(
        "Impact of the price change, November 2023",
      );
      expect(await page.title()).toBe("Impact of the price change, November 2023");
      expect(await page.locator(".page-head p").innerText()).toBe(
        "28,185 events, priced with the current plans and with Model API version 2 (lower-fee.json)",
      );
      const facts = await page.locator(".facts").innerText();
      expect(facts.split(/\s*\n\s*/)).toEqual([
        "Now",
        "$113.10",
        "With the draft",
        "$68.34",
        "Difference",
        "−$44.76",
        "−39.6%",
        "Accounts",
        "2",
        "2 pay less",
      ]);
      const items = page.getByRole("region", { name: /^What changes the total/ }).locator("tbody tr");
      expect(await items.locator("th > :first-child").allInnerTexts()).toEqual([
        "Minimum commitment",
        "Platform fee",
        "Requests",
        "6 unchanged items",
        "Total",
      ]);
      expect(await items.nth(2).innerText()).toMatch(/new prices[^]*\+\$1\.45/);
      await page.getByRole("button", { name: "Why Contoso code assistant pays more or less" }).press("Enter");
      // The causes of the guide, whose `diff` has −35.7553104 and −0.0046896.
      expect(await page.locator(".row-detail .cause").first().innerText()).toBe(
        "new prices +$9.55, new minimum commitment −$35.7553, rounding −$0.0047",
      );
    },
  );

  test("of several drafts: begins with a list of them, whose links lead to each", async () => {
    const page = await openTraces(DESK, "one-rate", "volume");
    const drafts = page.getByRole("navigation", { name: "Drafts compared" });
    expect(await drafts.locator("tbody tr").allInnerTexts()).toEqual([
      expect.stringMatching(/^one-rate\.json\s+1 pays more, 1 pays less\s+\$113\.10\s+\$93\.73\s+−\$19\.37\s+−17\.1%$/),
      expect.stringMatching(/^volume\.json\s+2 pay less\s+\$113\.10\s+\$78\.69\s+−\$34\.41\s+−30\.4%$/),
    ]);
    await drafts.getByRole("link", { name: "volume.json" }).press("Enter");
    await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(0);
    expect(await page.getByRole("heading", { name: "Draft volume.json" }).isVisible()).toBe(true);
    await page.getByRole("button", { name: "Pay more 1" }).click();
    const rows = tableOf(page, "Changes in USD by one-rate.json");
    expect(await rows.count()).toBe(1);
    // A line that goes up, as the account's total does.
    expect(await rows.first().innerText()).toMatch(/Context tokens, standard \(millions\) \+\$1\.24 and 1 more/);
  });

  test("of many accounts: charts, and no account left out, also on paper", async () => {
    const page = await openMany("0.8");
    expect(await readFact(page, "Accounts")).toMatch(/^Accounts\s+40\s/);
    const bars = await page.locator(".bar title").allTextContents();
    expect(bars.reduce((count, title) => count + Number.parseInt(title, 10), 0)).toBe(40);
    const plot = page.getByRole("img", { name: /^Each account's difference/ });
    const paths = await plot.locator("path").evaluateAll((all) => all.map((each) => each.getAttribute("d")).join(""));
    const points = [...paths.matchAll(/M([\d.]+) ([\d.]+)/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) }));
    expect(points).toHaveLength(40);
    await plot.hover({ position: points[0] ?? { x: 0, y: 0 } });
    expect(await page.locator(".day-values").innerText()).toMatch(
      /^Customer \d+\s+now\s+\$[\d.,]+\s+draft\s+\$[\d.,]+\s+difference\s+−\$[\d.,]+$/,
    );
    const rows = tableOf(page, "Changes in USD by draft.json");
    expect(await rows.count()).toBe(10);
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    await expect.poll(() => rows.count()).toBe(40);
    await page.evaluate("dispatchEvent(new Event('afterprint'))");
    await expect.poll(() => rows.count()).toBe(10);
  });

  test("of a draft that changes nothing: says so", async () => {
    const page = await openMany(1);
    expect(await readFact(page, "Accounts")).toMatch(/40 pay the same$/);
    expect(await readFact(page, "Difference")).toMatch(/\$0\.00$/);
    expect(await page.getByRole("heading", { name: "No account pays more or less" }).count()).toBe(1);
    expect(await page.locator("svg[role=img]").count()).toBe(0);
  });
});
