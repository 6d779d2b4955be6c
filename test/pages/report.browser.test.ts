/** The report in a browser, used like by a person: it shows the terminal's output. */
import { readFileSync } from "node:fs";

import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { pageFile, embedData } from "../../src/pages/page-file.ts";
import { eventLine, type Folder, folder, ratebook } from "../cli/fake-io.ts";
import { DESK, DESK_AND_PHONE, openPage, openSoundPage, PHONE } from "../support/browser.ts";
import { traceArguments } from "../support/examples.ts";
import { tableBook } from "../support/table-book.ts";
import { pageOfMany, tableOf } from "./many-accounts.ts";

let files: Folder;
let traces: string;
beforeAll(async () => {
  files = folder();
  const { code, out, err } = await ratebook(traceArguments("report", "one-rate", "volume"));
  expect(`${code} ${err}`).toBe("0 28,185 events read: 28,185 metered; 4 invoices\n");
  traces = out;
});
afterAll(() => files.remove());

const tracesOn = async (options?: BrowserContextOptions): Promise<Page> => openSoundPage(traces, options);

describe("the report of the request traces", () => {
  test.each(DESK_AND_PHONE)("%s: totals, and each account's amount", async (_, options) => {
    const page = await tracesOn(options);
    // 20 + 80 for the code assistant and 0 + 13.10 for the chat, as in the guide's invoices.
    expect(await page.getByText("Invoiced", { exact: true }).locator("..").innerText()).toContain("113.10");
    expect(await page.getByText("Events", { exact: true }).locator("..").innerText()).toContain("28,185");
    const rows = tableOf(page, "Accounts with invoices");
    await expect.poll(() => rows.count()).toBe(2);
    expect(await rows.nth(0).innerText()).toMatch(/Contoso code assistant[^]*\$100\.00/);
    await page.getByRole("searchbox", { name: "Search: Accounts with invoices" }).fill("chat");
    await expect.poll(() => rows.count()).toBe(1);
    expect(await rows.nth(0).innerText()).toMatch(/Contoso chat[^]*\$13\.10/);
  });

  test.each(DESK_AND_PHONE)(
    "%s: a click on an account shows its invoices, and on an amount its calculation",
    async (_, options) => {
      const page = await tracesOn(options);
      await page.getByRole("link", { name: "Contoso code assistant" }).click();
      await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Contoso code assistant");
      const invoice = page.getByRole("region", { name: "Invoice for Nov 1 – 30, 2023" });
      expect(await invoice.getByRole("row", { name: /^Total/ }).innerText()).toMatch(/80\.00$/);
      const amount = invoice.getByRole("button", { name: "49.34" });
      await amount.focus();
      await page.keyboard.press("Enter");
      // 10 at 3 and 8.059974 at 2.4.
      expect(await invoice.innerText()).toContain("Exactly $49.3439376, rounded once to $49.34.");
      expect(await invoice.getByRole("row", { name: /Nov 16, 2023/ }).innerText()).toMatch(
        /8,819 events, the largest 5\s+1 to 2\s+18\.059974\s+\$49\.34/,
      );
      await invoice.getByText("8,819 events, the largest 5").click();
      const events = await invoice.locator(".events li").allInnerTexts();
      expect(events).toHaveLength(5);
      expect(events[0]).toMatch(/^\d\d:\d\d:\d\d UTC, .+: 0\.007437$/);
      await page.getByRole("link", { name: "All accounts" }).click();
      await expect.poll(() => tableOf(page, "Accounts with invoices").count()).toBe(2);
    },
  );

  test("drafts: both sides, the largest changes, and their causes", async () => {
    const page = await tracesOn();
    const draft = page.getByRole("region", { name: /^Draft one-rate\.json/ });
    const { out } = await ratebook(traceArguments("backtest", "one-rate"));
    const [, now = "", then = ""] = /^2 accounts +([\d.,]+) +([\d.,]+)/m.exec(out) ?? [];
    const text = await draft.innerText();
    expect(now).toBe("113.10");
    expect(text).toContain(now);
    expect(text).toContain(then);
    await draft.getByRole("button", { name: "Why Contoso code assistant pays more or less" }).click();
    expect(await draft.locator(".row-detail tbody th").first().innerText()).toMatch(
      /^Minimum commitment\s+new prices −\$4\.9737, new minimum commitment −\$21\.2316, rounding −\$0\.0047$/,
    );
    await page.getByRole("img", { name: /^Charged by day; the same as a table/ }).hover();
    await page.getByText("As a table").first().click();
  });

  test("numbers and money are formatted in the reader's locale, and days in English", async () => {
    const page = await tracesOn({ ...DESK, locale: "de-DE" });
    expect(await page.getByText("Events", { exact: true }).locator("..").innerText()).toContain("28.185");
    expect(await page.getByText("Invoiced", { exact: true }).locator("..").innerText()).toContain("113,10");
    expect(await page.locator("h1 + p").innerText()).toContain("1–30 Nov 2023");
    await page.getByRole("link", { name: "Contoso code assistant" }).click();
    const invoice = page.locator(".invoice").nth(1);
    expect(await invoice.innerText()).toContain("18,059974");
    expect(await invoice.innerText()).toContain("all units, per 1.000");
  });

  test("on paper each invoice begins a page, for all accounts or the open one", async () => {
    const page = await tracesOn();
    const readPrinted = async (): Promise<unknown> => {
      await page.emulateMedia({ media: "print" });
      await page.evaluate("dispatchEvent(new Event('beforeprint'))");
      const printed = await page.evaluate(`[...document.querySelectorAll("#print-area .invoice")].map((each) =>
        getComputedStyle(each).breakBefore + " " + each.querySelector("h2 + p").innerText.split(" (")[0])`);
      await page.evaluate("dispatchEvent(new Event('afterprint'))");
      await page.emulateMedia({ media: "screen" });
      return printed;
    };
    expect(await readPrinted()).toEqual([
      "page Contoso code assistant",
      "page Contoso code assistant",
      "page Contoso chat",
      "page Contoso chat",
    ]);
    await page.getByRole("link", { name: "Contoso chat" }).click();
    await page.locator(".account").first().waitFor();
    expect(await readPrinted()).toEqual(["auto Contoso chat", "page Contoso chat"]);
    await expect.poll(() => page.locator("#print-area .invoice").count()).toBe(0);
  });
});

test.each(DESK_AND_PHONE)(
  "%s: on paper the summary shows its charts and items within the sheet, and no bars of invoices",
  async (_, options) => {
    const page = await tracesOn(options);
    const chartCount = await page.locator("main .chart > svg").count();
    // A4 less its margins. The page reacts to a new width later than print does, so it still shows the first drawing.
    await page.emulateMedia({ media: "print" });
    await page.evaluate("document.body.style.width = '703px'");
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    const wide = (selector: string): Promise<readonly number[]> =>
      page.evaluate(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.getBoundingClientRect().right)`,
      );
    const charts = await wide("main .chart > svg");
    expect(charts).toHaveLength(chartCount);
    expect(Math.min(...charts)).toBeGreaterThan(0);
    expect(Math.max(...charts)).toBeLessThanOrEqual(703);
    expect(Math.max(...(await wide(".items td")))).toBeLessThanOrEqual(703);
    expect(Math.min(...(await wide(".items td:last-child")))).toBeGreaterThan(0);
    expect((await wide("#print-area .lines tr")).length).toBeGreaterThan(0);
    expect(await wide("#print-area .share")).toEqual([]);
    await page.emulateMedia({ media: "screen" });
    await page.evaluate("document.body.style.width = ''; dispatchEvent(new Event('afterprint'))");
  },
);

test("a price table: rates for a million units, and names with digits as they are, in any locale", async () => {
  const book = tableBook(
    ["model"],
    { per: 1_000_000, allowance: { quantity: 1000 }, rows: [{ when: { model: "gpt-4-32000" }, rate: "2.5" }] },
    { id: "prod", from: "2024-06-01" },
  );
  const attributes = [{ name: "tokens", value: 401_000 }];
  const event = eventLine("e1", "2024-06-20T00:00:00Z", 0, { attributes, dimensions: { model: "gpt-4-32000" } });
  const path = files.file("table.json", JSON.stringify(book));
  const { out } = await ratebook(["report", path, "--events", files.file("table.ndjson", event)]);
  for (const options of [DESK, PHONE]) {
    const page = await openSoundPage(out, { ...options, locale: "de-DE" });
    await page.getByRole("link", { name: "prod" }).click();
    const text = await page.locator(".invoice").innerText();
    expect(text).toMatch(/free units: 1\.000 of gpt-4-32000\n/);
    // 400,000 × 2.5 ÷ 1,000,000
    expect(text).toMatch(/gpt-4-32000\s+400\.000( × |\s+)2,50\s\$\s+per million\s+1,00\s\$\n/);
  }
});

const NAMES = [
  "<script>globalThis.broken = true</script>",
  "</script><script>globalThis.broken = true</script>",
  "<!--<script>",
  "<img src=x onerror='globalThis.broken = true'>",
  "\u202Eevil\u2066 name\u0007",
  "\u2028a&amp;b\u2029",
  'O\'Brien "& Sons" ]]>',
  "x".repeat(255),
  "مرحبا Ltd",
] as const;

test("unusual names are shown as text, whatever they contain", async () => {
  const html = await pageOfMany("report", files, NAMES.length, { rate: 2, nameOf: (index) => NAMES[index] ?? "" });
  const page = await openSoundPage(html, PHONE);
  const text = await page.locator("#page").innerText();
  for (const name of NAMES)
    expect(text).toContain(
      name
        .replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, " ")
        .replaceAll(/\s+/g, " ")
        .trim(),
    );
  expect(text).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
  await page.getByRole("link", { name: "Brien" }).click();
  expect(await page.evaluate("globalThis.broken")).toBeUndefined();
});

test("the built page has a policy that allows only its own scripts, and no style attribute", async () => {
  const html = readFileSync(pageFile("report"), "utf8");
  expect(html).toMatch(
    /content="default-src 'none'; script-src 'sha256-[\w+/=]+' 'sha256-[\w+/=]+'; style-src 'sha256-[\w+/=]+';/,
  );
  const { page, faults, close } = await openPage(
    embedData(
      html,
      '{"totals":[],"events":{},"problems":{"first":[],"count":0},"notBilled":[],"notices":[],"usage":[],"charges":[],"accounts":[],"leftOut":0,"withoutUsage":0,"detailed":0,"drafts":[]}',
    ),
  );
  await page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">a</p>')");
  await page.evaluate(
    "const s = document.createElement('script'); s.textContent = 'globalThis.ran = 1'; document.body.append(s)",
  );
  expect(await page.evaluate("globalThis.ran")).toBeUndefined();
  await expect.poll(() => faults.length).toBe(2);
  expect(faults.every((fault) => fault.includes("Content Security Policy"))).toBe(true);
  await close();
});
