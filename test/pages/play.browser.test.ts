/** The playground in a browser, walked as a person would; its invoices are those of the command line. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { pageFile, readPage } from "../../src/pages/page-file.ts";
import { bookOf, eventsOf, type Recipe } from "../../src/pages/play/recipes.ts";
import { withData } from "../../src/pages/self-contained.ts";
import { type Folder, folder, line, ratebook, SMALL_BOOK } from "../cli/fake-io.ts";
import { DESK, expectSound, openPage, PHONE } from "../support/browser.ts";
import { recipes } from "../support/recipes.ts";

let files: Folder;
let playground: string;
beforeAll(async () => {
  files = folder();
  playground = await readPage("play");
});
afterAll(() => files.remove());

const SMALL = JSON.stringify(SMALL_BOOK, null, 2);
const JUNE = { usage: [], seats: [], events: "", from: "2024-06-01", until: "2024-07-01" };
const stateful = (state: object): string => withData(playground, JSON.stringify({ state: { ...JUNE, ...state } }));
const used = (quantity: string) => ({ of: "um.units", date: "2024-06-20", quantity });

const totalsOn = async (page: Page): Promise<readonly string[]> =>
  page.locator("section[aria-labelledby=invoices] tr.total .number").allInnerTexts();

describe("the playground", () => {
  test("is one file of less than 300 kB as it is sent", () => {
    expect(gzipSync(readFileSync(pageFile("play"))).length).toBeLessThan(300_000);
    expect(statSync(pageFile("play")).size).toBeGreaterThan(100_000);
  });

  test.each([
    ["on a desk", DESK],
    ["on a phone", PHONE],
    ["in the dark", { ...DESK, colorScheme: "dark" as const }],
  ])("%s: a slab is edited, and the invoice changes", async (_, options) => {
    const open = await openPage(stateful({ book: SMALL, usage: [used("1500")] }), options);
    const { page } = open;
    // 100 × 2 + 1,400 × 1 is raised to 2,000; 50 are credited.
    await expect.poll(() => totalsOn(page)).toEqual(["1,950.00"]);
    await page.getByLabel("um.units, slab 2: rate").fill("1.5");
    // 100 × 2 + 1,400 × 1.5
    await expect.poll(() => totalsOn(page)).toEqual(["2,250.00"]);
    await page.getByLabel("um.units, row 1: quantity").first().fill("2500");
    await expect.poll(() => totalsOn(page)).toEqual(["3,750.00"]);
    expect(await page.getByRole("img").getAttribute("alt")).toContain("above 100: 1.50 each");
    expect(await page.locator(".cycles").innerText()).toContain("1 to 30 June 2024: the whole cycle of 30 days");
    await expectSound(open);
    await open.close();
  });

  test("its link holds all of it; one that was cut is told", async () => {
    const open = await openPage(stateful({ book: SMALL, usage: [used("3000")] }));
    const { page } = open;
    await expect.poll(() => totalsOn(page)).toEqual(["3,050.00"]);
    await expect.poll(() => page.url()).toContain("#v1.");
    const url = page.url();
    const again = await page.context().newPage();
    await again.goto(url);
    await expect.poll(() => totalsOn(again)).toEqual(["3,050.00"]);
    const cut = await page.context().newPage();
    await cut.goto(url.slice(0, -40));
    await cut.getByRole("alert").waitFor();
    expect(await cut.getByRole("alert").innerText()).toContain("The link was cut");
    await open.close();
  });

  test("says what is wrong with the book and where, and keeps what was typed", async () => {
    const broken = SMALL.replace('"rate": 2', '"rate": "two"');
    const open = await openPage(stateful({ book: broken, usage: [used("1")] }));
    const { page } = open;
    await page.getByText("The book as JSON").click();
    const at = broken.slice(0, broken.indexOf('"two"')).split("\n").length;
    await page.getByRole("button", { name: `line ${at}: ` }).click();
    expect(await page.getByLabel("The book as JSON").inputValue()).toBe(broken);
    expect(
      await page
        .getByLabel("The book as JSON")
        .evaluate((text) => (text as { selectionStart?: number }).selectionStart),
    ).toBe(broken.indexOf('"two"'));
    await page.getByLabel("um.units, slab 1: rate").fill("2");
    await expect.poll(() => totalsOn(page)).toEqual(["1,950.00"]);
    await expectSound(open);
    await open.close();
  });

  test("a file of events is priced by a worker, and comes to what the command line says", async () => {
    const book = files.file("book.json", SMALL);
    const events = files.file(
      "events.ndjson",
      `${Array.from({ length: 3000 }, (_, index) => line(`e${index}`, "2024-06-20T00:00:00Z", "1.25")).join("")}not json\n`,
    );
    const open = await openPage(stateful({ book: SMALL }));
    const { page } = open;
    await page.locator("input[type=file]").setInputFiles(events);
    await page.getByText("3,001 events, 1 invoice").waitFor();
    const section = page.locator("section[aria-labelledby=file]");
    expect(await section.innerText()).toContain("line 3001: not JSON");
    const { out } = await ratebook(["preview", book, "--events", events, "--format", "json"]);
    const [invoice] = (JSON.parse(out) as { invoices: { revenueInfo: { value: number } }[] }).invoices;
    // 100 × 2 + 3,650 × 1 − 50
    expect(invoice?.revenueInfo.value).toBe(3800);
    expect(await section.locator("tr.total .number").innerText()).toBe("3,800.00");
    await expectSound(open);
    await open.close();
  });

  test("nothing of a name or a text runs", async () => {
    const name = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202E';
    const book = JSON.parse(SMALL) as typeof SMALL_BOOK;
    const nasty = {
      ...book,
      pricePlans: book.pricePlans.map((plan) => ({ ...plan, name })),
      accounts: book.accounts.map((account) => ({ ...account, name })),
    };
    const open = await openPage(
      stateful({ book: JSON.stringify(nasty), usage: [used("1e100"), used("7")], events: name }),
    );
    await open.page.getByRole("alert").waitFor();
    const fixed = await openPage(stateful({ book: JSON.stringify(nasty), usage: [used("7")] }));
    await expect.poll(() => totalsOn(fixed.page)).toEqual(["1,950.00"]);
    for (const each of [open, fixed]) {
      expect(await each.page.title()).toBe("ratebook playground");
      expect(await each.page.locator("main script, main img:not([src^='data:image/svg'])").count()).toBe(0);
      expect(each.faults).toEqual([]);
      await each.close();
    }
  });

  test("every recipe of the cookbook comes to the invoices of the command line", async () => {
    const open = await openPage(playground);
    const { page } = open;
    for (const [index, { title, recipe }] of recipes.entries()) {
      const read = JSON.parse(recipe) as Recipe;
      const book = files.file("recipe.json", JSON.stringify(bookOf(read)));
      const events = join(files.path, "recipe.ndjson");
      writeFileSync(
        events,
        eventsOf(read)
          .map((event) => `${JSON.stringify(event)}\n`)
          .join(""),
      );
      const range = ["--from", "2026-01-01", "--until", read.until ?? "2026-02-01"];
      const { out } = await ratebook(["preview", book, "--events", events, "--format", "json", ...range]);
      const { invoices } = JSON.parse(out) as { invoices: { revenueInfo: { value: number } }[] };
      const expected = invoices.map(({ revenueInfo }) => revenueInfo.value);
      await page.getByLabel("Begin from").selectOption(String(index));
      const shown = async (): Promise<readonly number[]> =>
        (await totalsOn(page)).map((total) => Number(total.replaceAll(",", "")));
      await expect.poll(shown, { message: title }).toEqual(expected);
    }
    await expectSound(open);
    await open.close();
  });
});
