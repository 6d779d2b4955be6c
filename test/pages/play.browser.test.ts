/** The playground in a browser, used like by a person; its invoices equal those of the command line. */
import { afterAll, describe, expect, test } from "vitest";

import { createLink } from "../../src/pages/browser/play/session.ts";
import { readPage } from "../../src/pages/page-file.ts";
import { createStateFromRecipe } from "../../src/pages/play-state.ts";
import { computeBill, withEvenUsage } from "../../src/pages/play/play-bill.ts";
import { eventLine, folder, ratebook } from "../cli/fake-io.ts";
import { DESK_AND_PHONE, openSoundPage, PHONE } from "../support/browser.ts";
import { exampleText } from "../support/examples.ts";
import { chooseFiles, openPlayground, readTotals, SMALL, STATE, typeUnits } from "../support/playground.ts";
import { recipes } from "../support/recipes.ts";
import { tableBook } from "../support/table-book.ts";

const files = folder();
afterAll(() => files.remove());

/** Events of calls with tokens, as lines. */
const callLines = (...calls: readonly (readonly [model: string, kind: string, tokens: number])[]): string =>
  calls
    .map(([model, kind, tokens], index) =>
      eventLine(`e${index}`, "2024-06-20T00:00:00Z", 0, { attributes: { tokens }, dimensions: { model, kind } }),
    )
    .join("");

const TABLE_BOOK = tableBook(
  ["model", "kind"],
  {
    per: 1000,
    rows: [
      { when: { model: "large", kind: "input" }, rate: 5 },
      { when: { model: "mini" }, tiers: [{ upTo: 10, rate: 2 }, { rate: 1 }] },
    ],
  },
  { id: "prod", from: "2024-06-01" },
);
describe("the playground", () => {
  test("opens with the example that is chosen", async () => {
    const page = await openSoundPage(await readPage("play"));
    for (const recipe of recipes) {
      const state = createStateFromRecipe(recipe);
      const bill = computeBill(state);
      const [first] = bill.periods;
      const { periods } = computeBill(first === undefined ? state : withEvenUsage(state, bill, first));
      await page.getByLabel("Start with").selectOption(recipe.title);
      const total = page.locator(".grand-total strong");
      await expect.poll(() => total.innerText(), { message: recipe.title }).toBe(periods[0]?.totals[0]?.text ?? "–");
    }
  });

  test.each(DESK_AND_PHONE)("%s: editing a slab changes the invoice", async (_, options) => {
    const page = await openPlayground({ usage: [typeUnits("1500")] }, options);
    // 100 × 2 + 1,400 × 1 is raised to 2,000; 50 are credited.
    await expect.poll(() => readTotals(page)).toEqual(["$1,950.00"]);
    // As a spreadsheet copies it.
    await page.getByLabel("units, tier 2: rate").fill("$1.50");
    // 100 × 2 + 1,400 × 1.5
    await expect.poll(() => readTotals(page)).toEqual(["$2,250.00"]);
    await page.getByLabel("units: quantity", { exact: true }).fill("2500");
    await expect.poll(() => readTotals(page)).toEqual(["$3,750.00"]);
    expect(await page.locator(".curve [role=img]").getAttribute("aria-label")).toContain("above 100: 1.50 each");
    await page.getByText("Billing periods", { exact: true }).click();
    expect(await page.locator(".cycles").innerText()).toContain("1 to 30 June 2024: the whole cycle of 30 days");
  });

  test.each(DESK_AND_PHONE)("%s: a price table is a grid that takes cells of a spreadsheet", async (_, options) => {
    const events = callLines(["large", "input", 2000], ["small", "output", 1000]);
    const page = await openPlayground({ book: JSON.stringify(TABLE_BOOK, null, 2), events }, options);
    const cell = (row: string, column: string) => page.getByLabel(`Tokens, ${row}: ${column}`, { exact: true });
    const invoice = page.locator("section[aria-labelledby=invoices]");
    const undo = page.getByRole("button", { name: "Undo" });
    // 2,000 × 5 ÷ 1,000; no row prices the model small.
    await expect.poll(() => readTotals(page)).toEqual(["$10.00"]);
    expect(await invoice.innerText()).toContain("no row for small, output");
    await cell("new row", "model").pressSequentially("small");
    await page.getByText("rate USD: missing: expected a rate or tiers").waitFor();
    expect(await cell("row 3", "rate USD").getAttribute("aria-invalid")).toBe("true");
    await cell("row 3", "rate USD").fill("3");
    // 10 + 1,000 × 3 ÷ 1,000
    await expect.poll(() => readTotals(page)).toEqual(["$13.00"]);
    expect(await invoice.locator("tr.slab").allInnerTexts()).toEqual([
      expect.stringMatching(/^large, input\s*2,000 × \$0.005\s*\$10.00$/),
      expect.stringMatching(/^small\s*1,000 × \$0.003( \(changed\))?\s*\$3.00$/),
    ]);
    const cells = "large\tinput\t\t6\nmini\nsmall\t\t\t$4.00\ncode\t\t2024-06-15\t1\n";
    await cell("row 1", "model").focus();
    await page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", ${JSON.stringify(cells)});
      const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
      document.activeElement.dispatchEvent(paste);
    }`);
    await page.getByText("2 rows changed, 1 row added.").waitFor();
    // 2,000 × 6 ÷ 1,000 + 1,000 × 4 ÷ 1,000
    await expect.poll(() => readTotals(page)).toEqual(["$16.00"]);
    expect(await cell("row 4", "from").inputValue()).toBe("2024-06-15");
    expect(await cell("row 2", "rate USD").inputValue()).toBe("2 tiers");
    await undo.click();
    await expect.poll(() => readTotals(page)).toEqual(["$13.00"]);
    await page.getByLabel("Remove Tokens, row 1").click();
    await expect.poll(() => readTotals(page)).toEqual(["$3.00"]);
    await undo.click();
    await page.getByLabel("Tokens: free units").fill("500");
    // (2,000 − 500) × 5 ÷ 1,000 + 3
    await expect.poll(() => readTotals(page)).toEqual(["$10.50"]);
    await page.getByLabel("Tokens: free units").fill("");
    await expect.poll(() => readTotals(page)).toEqual(["$13.00"]);
  });

  test("its link contains everything; a truncated link is reported", async () => {
    const page = await openPlayground({ usage: [typeUnits("3000")] });
    await expect.poll(() => readTotals(page)).toEqual(["$3,050.00"]);
    await expect.poll(() => page.url()).toContain("#v1.");
    const url = page.url();
    const again = await page.context().newPage();
    await again.goto(url);
    await expect.poll(() => readTotals(again)).toEqual(["$3,050.00"]);
    // A billing period that is no date is ignored.
    const strange = await createLink({ ...STATE, usage: [typeUnits("3000")], shown: "2024-99-01" });
    await again.evaluate(`location.hash = ${JSON.stringify(strange)}`);
    await expect.poll(() => again.getByText("June 2024", { exact: true }).count()).toBe(1);
    const cut = await page.context().newPage();
    await cut.goto(url.slice(0, -40));
    await cut.getByRole("alert").waitFor();
    expect(await cut.getByRole("alert").innerText()).toContain("Broken link; showing an example");
  });

  test("reports what is wrong with the book and where, and keeps the typed text", async () => {
    const brokenBook = SMALL.replace('"rate": 2', '"rate": "two"');
    const page = await openPlayground({ book: brokenBook, usage: [typeUnits("1")] });
    const at = brokenBook.slice(0, brokenBook.indexOf('"two"')).split("\n").length;
    await page.getByRole("button", { name: `line ${at}: ` }).click();
    expect(await page.getByLabel("The book as JSON").inputValue()).toBe(brokenBook);
    expect(
      await page
        .getByLabel("The book as JSON")
        .evaluate((text) => (text as { selectionStart?: number }).selectionStart),
    ).toBe(brokenBook.indexOf('"two"'));
    // The numbers are beside their lines.
    const heights = '[".gutter", ".editor textarea"].map((part) => document.querySelector(part).scrollHeight)';
    const [numbers, lines] = (await page.evaluate(heights)) as readonly number[];
    expect(numbers).toBe(lines);
    await page.getByRole("button", { name: "book.jsonc" }).click();
    await page.getByLabel("units: quantity", { exact: true }).fill("3000");
    await page.getByLabel("units, tier 1: rate").fill("2");
    // 100 × 2 + 2,900 × 1 − 50
    await expect.poll(() => readTotals(page)).toEqual(["$3,050.00"]);
  });

  test("a worker prices a file of events, with the same result as the command line", async () => {
    const book = files.file("book.json", SMALL);
    const events = files.file(
      "events.ndjson",
      `${Array.from({ length: 3000 }, (_, index) => eventLine(`e${index}`, "2024-06-20T00:00:00Z", "1.25")).join("")}not json\n`,
    );
    const page = await openPlayground();
    await chooseFiles(page, events);
    await page.getByText("3,001 events, 1 invoice").waitFor();
    const section = page.locator("section[aria-labelledby=file]");
    expect(await section.innerText()).toContain("line 3001: not JSON");
    const { out } = await ratebook(["preview", book, "--events", events, "--format", "json"]);
    const [invoice] = (JSON.parse(out) as { invoices: { revenueInfo: { value: number } }[] }).invoices;
    // 100 × 2 + 3,650 × 1 − 50
    expect(invoice?.revenueInfo.value).toBe(3800);
    expect(await readTotals(page)).toEqual(["$3,800.00"]);
  });

  test("a plan with twelve items fits three screens, and begins with usage", async () => {
    const meters = Array.from({ length: 6 }, (_, index) => `meter${index}`);
    const book = {
      eventSchemas: meters.map((name) => ({ name, attributes: ["n"] })),
      usageMeters: meters.map((name) => ({ id: name, name, schema: name, sum: "n" })),
      pricePlans: [
        {
          id: "growth",
          cycle: "MONTHLY",
          fees: [1, 2, 3].map((rate) => ({ id: `fee${rate}`, rate })),
          licenses: [1, 2].map((rate) => ({ id: `seat${rate}`, rate })),
          usage: meters.map((meter) => ({
            meter,
            tiers: [{ upTo: 1000, rate: 0 }, { upTo: 9000, rate: 2 }, { rate: 1 }],
          })),
          commitment: 500,
        },
      ],
      accounts: [{ id: "contoso", plan: "growth", from: "2024-06-01", licenses: { seat1: 5 } }],
    };
    const page = await openPlayground({ book: JSON.stringify(book) }, { viewport: { width: 1280, height: 800 } });
    await expect.poll(() => page.locator(".plan-item").count()).toBe(12);
    expect(await page.evaluate("document.documentElement.scrollHeight")).toBeLessThanOrEqual(3 * 800);
    const quantity = page.getByLabel("meter0: quantity", { exact: true });
    expect(Number((await quantity.inputValue()).replaceAll(",", ""))).toBeGreaterThan(1000);
    await quantity.fill("1001");
    // One unit beyond the free ones, on the invoice and on its card.
    await expect
      .poll(() => page.getByRole("article", { name: "meter0" }).locator(".item-sum").innerText())
      .toBe("$2.00");
    expect(await page.locator("tr.changed").first().innerText()).toContain("meter0");
    await page.getByLabel("meter0: by day").click();
    await expect.poll(() => page.getByLabel(/^meter0, row \d+: quantity$/).count()).toBe(30);
  });

  test("undo restores usage, prices, billing period and text; the last change is marked", async () => {
    const page = await openPlayground({ book: `// prices\n${SMALL}`, usage: [typeUnits("3000")] });
    const undo = page.getByRole("button", { name: "Undo" });
    await expect.poll(() => readTotals(page)).toEqual(["$3,050.00"]);
    await page.getByLabel("units, tier 2: rate").fill("2");
    // 2,900 × 1 more
    await page.getByText("+ $2,900.00 by the last change").waitFor();
    expect(await page.locator("tr.changed th bdi").allInnerTexts()).toEqual([
      "units",
      "above 100, each",
      "Sub-total",
      "Total USD",
    ]);
    await page.getByLabel("units: quantity", { exact: true }).fill("3001");
    await page.getByText("+ $2.00 by the last change").waitFor();
    await page.getByRole("button", { name: "book.jsonc" }).click();
    expect(await page.getByLabel("The book as JSON").inputValue()).toMatch(/^\/\/ prices\n/);
    await page.getByLabel("The book as JSON").fill("{");
    await page.getByRole("alert").waitFor();
    await page.getByRole("button", { name: "book.jsonc" }).click();
    await undo.click();
    await expect.poll(() => readTotals(page)).toEqual(["$5,952.00"]);
    await page.getByRole("button", { name: "Later billing period" }).click();
    await page.getByText("July 2024").first().waitFor();
    await undo.click();
    await expect.poll(() => readTotals(page)).toEqual(["$5,952.00"]);
    await undo.click();
    await expect.poll(() => readTotals(page)).toEqual(["$5,950.00"]);
    await undo.click();
    await expect.poll(() => readTotals(page)).toEqual(["$3,050.00"]);
    expect(await undo.isDisabled()).toBe(true);
  });

  test("every control can be reached with the keyboard, and items can be added", async () => {
    const page = await openPlayground({ usage: [typeUnits("3000")] });
    await page.getByLabel("Add an item to Small").selectOption("Fee");
    // 3,050 and the fee of 10
    await expect.poll(() => readTotals(page)).toEqual(["$3,060.00"]);
    await page.getByLabel("Add an item to Small").selectOption("Usage");
    await page.getByRole("article", { name: "New usage" }).waitFor();
    await page.getByLabel("Add an item to Small").selectOption("License");
    await page.getByRole("button", { name: "Set a quantity" }).click();
    // One seat of 10
    await expect.poll(() => readTotals(page)).toEqual(["$3,070.00"]);
    const count = (await page.evaluate(`[...document.querySelectorAll("button, input, select, textarea, summary")]
      .filter((each) => !each.disabled && each.checkVisibility()).length`)) as number;
    const reached = new Set<unknown>();
    await page.evaluate("document.activeElement.blur(); scrollTo(0, 0)");
    for (let step = 0; step < 2 * count; step++) {
      await page.keyboard.press("Tab");
      reached.add(
        await page.evaluate(`[...document.querySelectorAll("button, input, select, textarea, summary")]
          .indexOf(document.activeElement)`),
      );
    }
    reached.delete(-1);
    expect(reached.size).toBe(count);
  });

  test("items can be removed; on a phone, the open invoice covers the plan", async () => {
    const page = await openPlayground({ book: `// prices\n${SMALL}`, usage: [typeUnits("3000")] }, PHONE);
    await expect.poll(() => page.locator(".dock strong").innerText()).toBe("$3,050.00");
    await page.getByRole("button", { name: "Show invoice" }).click();
    const isCovered = await page.evaluate(`document.elementFromPoint(20, innerHeight - 60).closest("#side") !== null`);
    expect(isCovered).toBe(true);
    await page.getByRole("button", { name: "Back to the plan" }).click();
    await page.getByRole("button", { name: "Remove units from the plan" }).click();
    // The commitment of 2,000 without the credits of 50
    await expect.poll(() => page.locator(".dock strong").innerText()).toBe("$1,950.00");
    await page.getByRole("button", { name: "Remove Minimum commitment from the plan" }).click();
    await page.getByText("The plan has no prices yet: add an item.").waitFor();
  });

  test("shows which values no meter matched, and which meters take events only", async () => {
    const book = {
      ...TABLE_BOOK,
      usageMeters: TABLE_BOOK.usageMeters?.map((meter) => ({ ...meter, where: { model: "large" } })),
    };
    const events = callLines(...["large", "lrage", "lrage", "mini"].map((model) => [model, "input", 1000] as const));
    const sentence =
      '3 events (75 %) of "call" were not billed: no meter matched model = "lrage" (2 events, 1 account), model = "mini" (1 event, 1 account)';
    const page = await openPlayground({ book: JSON.stringify(book), events });
    await expect.poll(async () => page.getByRole("alert").innerText()).toBe(sentence);
    await chooseFiles(page, files.file("events.ndjson", events));
    await page.getByText("4 events, 1 invoice").waitFor();
    expect(await page.locator("section[aria-labelledby=file]").innerText()).toContain(sentence);
    const credits = await openPlayground({ book: exampleText("llm-api", "book.json") });
    const requests = credits.getByRole("article", { name: "Requests" });
    expect(await requests.innerText()).toContain("Its events use feature credits: add a file or events below.");
    expect(await requests.getByRole("slider").count()).toBe(0);
  });

  test("shows the price of a quantity on a card: total, average, and the next unit", async () => {
    const page = await openPlayground({ usage: [typeUnits("150")] });
    await page.getByText("Costs at the tier boundaries").click();
    const costs = page.getByRole("region", { name: "units: cost" });
    const readRows = async (): Promise<readonly string[]> =>
      (await costs.locator("tbody tr").allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "));
    // 100 × 2 + 50 × 1; the whole month costs 2,000 at least.
    await expect.poll(readRows).toContain("150 $250.00 about $1.66666667 $1.00 $2,000.00");
    await page.getByLabel("units: cost at", { exact: true }).fill("100");
    await expect.poll(async () => (await readRows())[0]).toBe("100 $200.00 $2.00 $1.00 $2,000.00");
    expect((await readRows()).slice(1, 4)).toEqual([
      "1 $2.00 $2.00 $2.00 $2,000.00",
      "100 $200.00 $2.00 $1.00 $2,000.00",
      "101 $201.00 about $1.99009901 $1.00 $2,000.00",
    ]);
    await page.getByLabel("units: cost at", { exact: true }).fill("many");
    // A text that is no number is marked, and changes nothing.
    expect(await page.getByLabel("units: cost at", { exact: true }).getAttribute("aria-invalid")).toBe("true");
    expect((await readRows())[0]).toBe("100 $200.00 $2.00 $1.00 $2,000.00");
    await page.getByLabel("units: cost at", { exact: true }).fill("1e100");
    expect((await readRows())[0]).toMatch(/^1 × 10\^100 |^1 \$2.00/);
  });

  test("shows cycles: where they begin, what cuts them, and which part is prorated", async () => {
    const page = await openPlayground({ usage: [typeUnits("1")] });
    const cycles = page.locator("details", { hasText: "Billing periods" }).last();
    await page.getByText("Billing periods", { exact: true }).click();
    await page.getByText("Customers and their plans").click();
    await page.getByLabel("Contoso production, plan 1: from").fill("2024-06-16");
    await expect
      .poll(() => cycles.innerText())
      .toContain("16 to 30 June 2024: cut, because the plan begins on 16 June 2024; prorated charges are 15/30");
    // 15 of 30 days of the commitment of 2,000, less the credit of 50.
    await expect.poll(() => readTotals(page)).toEqual(["$950.00"]);
    await page.getByLabel("Starts on the signup date").check();
    await expect
      .poll(() => cycles.innerText())
      .toContain("a cycle begins on day 16 of each month, the anniversary of taking the plan");
    expect(await cycles.innerText()).toContain("16 June to 15 July 2024: the whole cycle of 30 days");
    await page.getByLabel("Starts on the signup date").uncheck();
    await page.getByLabel("Small: billing periods begin on day").fill("LAST");
    await expect.poll(() => cycles.innerText()).toContain("a cycle begins on the last day of each month");
    await page.getByLabel("Small: billing period", { exact: true }).selectOption("QUARTERLY");
    await page.getByLabel("Small: billing periods begin in month").fill("2");
    await page.getByLabel("Small: billing periods begin on day").fill("5");
    await expect.poll(() => cycles.innerText()).toContain("a cycle begins on day 5 of month 2 of each quarter");
  });

  test("completes the book's text from its schema, with descriptions of fields", async () => {
    const page = await openPlayground();
    await page.getByRole("button", { name: "book.jsonc" }).click();
    const text = page.getByLabel("The book as JSON");
    await text.fill('{\n  "accou');
    await page.getByRole("option", { name: "accounts" }).waitFor();
    await page.keyboard.press("Enter");
    expect(await text.inputValue()).toBe('{\n  "accounts": ');
    await text.fill('{"pricePlans": [{"pricePlanDetails": {"pricingCycleConfig": {"interval": "q');
    await page.getByRole("option", { name: "QUARTERLY" }).click();
    expect(await text.inputValue()).toMatch(/"interval": "QUARTERLY"$/);
    expect(await page.locator("#completions [role=option]").count()).toBe(0);
    await page.keyboard.press("ArrowLeft");
    await page.getByText("The length of a natural cycle.").waitFor();
    await page.keyboard.press("Control+Space");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator(".gutter mark").count()).toBe(1);
  });
});
