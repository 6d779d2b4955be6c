/** Messages of the playground for invalid input, and that nothing in its input is executed. */
import fc from "fast-check";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";

import { createLink } from "../../src/pages/browser/play/session.ts";
import { eventLine, SMALL_BOOK } from "../cli/fake-io.ts";
import { openPlayground, readTotals, STATE, typeUnits } from "../support/playground.ts";

/** Selects a file created in the page, because such a large one can't be sent to the browser. */
const chooseIn = async (page: Page, blob: string): Promise<void> => {
  await page.evaluate(`{
    const files = new DataTransfer();
    files.items.add(new File([${blob}], "events.ndjson"));
    const input = document.querySelector("input[type=file]");
    input.files = files.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }`);
};

describe("a file of events", () => {
  test("of a gigabyte is read in parts, while the page stays responsive", async () => {
    const page = await openPlayground();
    await page.locator(".invoice").waitFor();
    const event = JSON.stringify(eventLine("e1", "2024-06-20T00:00:00Z", "3000"));
    await chooseIn(
      page,
      `new Blob([...Array(1024).fill(new Blob([(" ".repeat(65535) + "\\n").repeat(16)])), ${event}])`,
    );
    await page.getByRole("progressbar").waitFor();
    await page.getByLabel("units, tier 2: rate").fill("1.5");
    await page.getByText("1 event, 1 invoice").waitFor();
    // 100 × 2 + 2,900 × 1.5 − 50: an edit prices the file again.
    expect(await readTotals(page)).toEqual(["$4,500.00"]);
  });

  test("that is invalid is reported", async () => {
    const page = await openPlayground();
    await page.locator(".invoice").waitFor();
    await chooseIn(page, `...Array(64).fill("\\0".repeat(1 << 20))`);
    await page.getByText("a line is longer than 16 MiB; this is not an event file").waitFor();
  });

  test("without workers is referred to the command line", async () => {
    const page = await openPlayground();
    await page.evaluate("globalThis.Worker = undefined");
    await page.locator(".invoice").waitFor();
    await chooseIn(page, JSON.stringify(eventLine("e1", "2024-06-20T00:00:00Z", "1")));
    await page.getByText("this browser does not support workers; use ratebook preview on the command line").waitFor();
  });
});

describe("invalid input is reported, and stays as it was typed", () => {
  test.each([
    ["1e100", "digits"],
    ["9".repeat(101), "digits"],
    ["1,5", "1,5"],
    ["\u202E5", "is not a decimal"],
    ["<script>", "<script>"],
  ])("a quantity %s", async (quantity, message) => {
    const page = await openPlayground({ usage: [typeUnits(quantity)] });
    const alert = page.getByRole("alert");
    await alert.waitFor();
    expect(await alert.innerText()).toContain(message);
    expect(await page.getByLabel("units: quantity", { exact: true }).inputValue()).toBe(quantity);
  });

  test.each([
    ["not JSON", "{ book", /line 1: .*not JSON/],
    ["a list", "[]", /expected/],
    ["nothing", "", /not JSON/],
    ["a number without an end", '{"pricePlans": 1e999999999}', /line 1: /],
    ["very deep", "[".repeat(20_000), /./],
    ["with a key that all objects have", '{"__proto__": {"toString": 1}, "constructor": 2}', /constructor/],
  ])("a book: %s", async (_, book, message) => {
    const page = await openPlayground({ book });
    const alert = page.getByRole("alert");
    await alert.waitFor();
    expect(await alert.innerText()).toMatch(message);
    await page.getByRole("button", { name: "book.jsonc" }).click();
    expect(await page.getByLabel("The book as JSON").inputValue()).toBe(book);
  });

  test("invalid dates, and a range of ten thousand years", async () => {
    const page = await openPlayground();
    await page.locator(".invoice").waitFor();
    await page.getByText("Customers and their plans").click();
    await page.getByLabel("Until", { exact: true }).fill("");
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Until", { exact: true }).fill("9998-01-01");
    await page.getByText("cycles from 2024-06-01 until 9998-01-01: expected 10 years at most").waitFor();
    await page.getByLabel("Until", { exact: true }).fill("2034-06-01");
    await expect.poll(() => page.getByLabel("Billing period", { exact: true }).locator("option").count()).toBe(120);
  });
});

test("a book of many plans, slabs, rows of a price table and accounts is partly shown", async () => {
  const numbers = Array.from({ length: 2000 }, (_, index) => index);
  const tiers = numbers.map((number) => ({ ...(number < 1999 ? { upTo: number + 1 } : {}), rate: 1 }));
  const rateTable = { rows: numbers.map((number) => ({ when: { region: `r${number}` }, rate: 1 })) };
  const plan = { cycle: "MONTHLY", currencies: ["USD"] };
  const book = {
    eventSchemas: [{ name: "call", attributes: ["n"], dimensions: ["region"] }],
    usageMeters: [
      { id: "um.calls", name: "Calls", schema: "call", sum: "n" },
      { id: "um.grouped", name: "Grouped", schema: "call", sum: "n", groupBy: ["region"] },
    ],
    pricePlans: [
      {
        ...plan,
        id: "pp.0",
        usage: [
          { meter: "um.calls", tiers },
          { meter: "um.grouped", rateTable },
        ],
        commitment: 5,
      },
      ...numbers.slice(1, 300).map((number) => ({ ...plan, id: `pp.${number}` })),
    ],
    accounts: numbers.slice(0, 500).map((number) => ({ id: `acc-${number}`, plan: "pp.0", from: "2024-06-01" })),
  };
  const page = await openPlayground({ book: JSON.stringify(book) });
  for (const message of [
    "first 10 of 300 plans",
    "first 100 of 2,000 tiers",
    "first 200 of 2,000 rows",
    "first 50 of 500 invoices",
  ])
    await page.getByText(message).waitFor();
  expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(10_000);
});

test.each([
  ["empty", "#v1."],
  ["no base64", "#v1.@@@"],
  ["of another version", "#v2.abc"],
  ["of another page", "#account=x"],
  ["long", `#v1.${"A".repeat(100_000)}`],
  ["cut within a letter", "#%E0%A4%A"],
  ["short, of a state that is too long", await createLink({ ...STATE, book: " ".repeat(1 << 25) })],
])("an invalid link is reported, and the page begins with an example: %s", async (_, hash) => {
  const page = await openPlayground();
  await page.locator(".invoice").waitFor();
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await page.getByText("Broken link").waitFor();
  await page.locator("tr.total").waitFor();
});

/** Texts that would be executed if a page inserted them as HTML. */
const NASTY = fc.constantFrom(
  "<script>globalThis.broken = 1</script>",
  "<img src=x onerror='globalThis.broken = 1'>",
  "</script><script>globalThis.broken = 1</script>",
  "<svg onload='globalThis.broken = 1'>",
  "javascript:globalThis.broken=1",
  "']);globalThis.broken=1//",
  "${globalThis.broken = 1}",
  "{{constructor.constructor('globalThis.broken=1')()}}",
  "\u202E\u2066evil\u0007",
  "\u2028--><!--",
  "&lt;script&gt;",
  "%3Cscript%3E",
  'url("javascript:1")',
  "]]></style><script>globalThis.broken = 1</script>",
);

/** A copy in which some texts and some keys are replaced. */
function replaceTexts(value: unknown, next: () => string | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, next));
  if (typeof value === "string") return next() ?? value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [next()?.replace(/^(?!.)/, key) ?? key, replaceTexts(part, next)]),
  );
}

/** The book with other names for everything that users name. */
function bookWithNames(name: () => string): object {
  return {
    ...SMALL_BOOK,
    organization: { ...SMALL_BOOK.organization, name: name() },
    pricePlans: SMALL_BOOK.pricePlans.map((plan) => ({ ...plan, name: name() })),
    usageMeters: SMALL_BOOK.usageMeters.map((meter) => ({ ...meter, displayName: name() })),
    customers: SMALL_BOOK.customers.map((customer) => ({ ...customer, name: name() })),
    accounts: SMALL_BOOK.accounts.map((account) => ({
      ...account,
      name: name(),
      credits: account.credits.map((credit) => ({ ...credit, purpose: name() })),
    })),
  };
}

test("texts in a book, in events and in usage are never executed", async () => {
  const page = await openPlayground();
  await page.locator(".invoice").waitFor();
  // First only names, so that the book can be priced; then any text.
  const draws = fc.sample(fc.tuple(fc.infiniteStream(NASTY), fc.infiniteStream(fc.integer({ min: 0, max: 9 }))), {
    numRuns: 30,
    seed: 14,
  });
  for (const [index, [texts, dice]] of draws.entries()) {
    const next = (): string | undefined => (Number(dice.next().value) < 1 ? texts.next().value : undefined);
    const isMild = index % 2 === 0;
    const book = isMild ? bookWithNames(() => `${texts.next().value} ${index}`) : replaceTexts(SMALL_BOOK, next);
    const nasty = texts.next().value;
    const state = {
      ...STATE,
      book: JSON.stringify(book),
      events: isMild ? "" : nasty,
      usage: [{ of: isMild ? "um.units" : nasty, date: "2024-06-20", quantity: isMild ? "7" : nasty }],
    };
    await page.evaluate(`location.hash = ${JSON.stringify(await createLink(state))}`);
    const out = page.locator(isMild ? "caption" : "[role=alert]").first();
    await out.waitFor();
    if (isMild) await expect.poll(() => out.innerText()).toContain(String(index));
    expect(await page.evaluate("globalThis.broken")).toBeUndefined();
    expect(await page.locator("#page :is(script, iframe, object, embed, a[href^=javascript], img)").count()).toBe(0);
  }
});
