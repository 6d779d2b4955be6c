import { createHash } from "node:crypto";

import { beforeEach, describe, expect, test } from "vitest";

import type { BookInput } from "../../../../src/book/resources/book.ts";
import { formatInvoiceNumber } from "../../../../src/pages/invoice/invoice-lines.ts";
import { startApi, type TestApi } from "../../support.ts";
import { USAGE_BOOK } from "../../usage-book.ts";

let api: TestApi;

// Acme has the plan from 1 May 2024, monthly, 0.50 a call, three days of grace.
beforeEach(async () => {
  api = await startApi("2024-05-01T09:00:00Z");
  await api.engine.load(USAGE_BOOK as BookInput);
  api.at("2024-06-15T12:00:00Z");
});

async function ingestCalls(id: string, n: number, timestamp: string): Promise<void> {
  const event = { schemaName: "api calls", id, accountId: "acme", timestamp, attributes: [{ name: "n", value: n }] };
  const { json } = await api.call("POST /ingest", { body: { event: { ...event, dimensions: { region: "eu" } } } });
  expect(json.success).toBe(true);
}

const JUNE = {
  ownerId: "acme",
  invoiceClass: "INVOICE",
  accountId: "acme",
  customerId: "acme",
  invoiceType: "STANDARD",
  currency: "USD",
  pricePlanId: "pp",
  pricePlanVersion: 1,
  startDate: "2024-06-01T00:00:00.000Z",
  endDate: "2024-07-01T00:00:00.000Z",
  invoiceDate: "2024-07-01T00:00:00.000Z",
  dueDate: "2024-07-01T00:00:00.000Z",
  netTermDays: 0,
  paidAmount: 0,
  notices: [],
};

describe("a draft and its invoice", () => {
  test("S13.4 the draft of a started cycle is listed, and becomes the final invoice with the same id after its grace", async () => {
    await ingestCalls("e1", 7, "2024-06-10T08:00:00Z");
    const draft = (await api.call("GET /invoices?account_id=acme")).json;
    // 7 calls at 0.50.
    expect(draft.data).toEqual([
      { ...JUNE, id: expect.any(String), status: "DRAFT", totalAmount: 3.5, updatedAt: "2024-06-15T12:00:00.000Z" },
    ]);
    expect(draft).not.toHaveProperty("nextToken");
    const [{ id }] = draft.data;

    api.at("2024-07-03T23:59:59Z");
    expect((await api.call("POST /invoices/bill_runs")).json).toEqual({ success: true, finalized: 0, skipped: 0 });
    api.at("2024-07-05T10:00:00Z");
    const early = await api.call("POST /invoices/bill_runs", { body: { as_of: "2024-07-03T23:00:00Z" } });
    expect(early.json.finalized).toBe(0);
    const run = await api.call("POST /invoices/bill_runs", { body: {} });
    expect(run.json).toEqual({ success: true, finalized: 1, skipped: 0 });
    expect((await api.call("POST /invoices/bill_runs")).json.finalized).toBe(0);
    const whole = (await api.call(`GET /invoices/${encodeURIComponent(id)}`)).json;
    expect(whole).toMatchObject({
      ...JUNE,
      id,
      status: "DUE",
      totalAmount: 3.5,
      updatedAt: "2024-07-04T00:00:00.000Z",
    });
  });

  test("S13.2 one invoice has its usage and its lines, each explained", async () => {
    await ingestCalls("e1", 7, "2024-06-10T08:00:00Z");
    const [{ id }] = (await api.call("GET /invoices")).json.data;
    const { usageInfo, revenueInfo } = (await api.call(`GET /invoices/${encodeURIComponent(id)}`)).json;
    const calls = { type: "USAGE_METER_USAGE", id: "um-calls", description: "calls", quantity: 7, value: 7 };
    expect(usageInfo).toEqual([{ type: "TOTAL_USAGE", description: "Usage", value: 7, lineItems: [calls] }]);
    expect(revenueInfo).toMatchObject({ type: "TOTAL_AMOUNT", value: 3.5, explanation: { of: "SUM" } });
    const text = JSON.stringify(revenueInfo);
    const lines: { readonly description?: string; readonly lineItems?: readonly object[] }[] = [revenueInfo];
    for (const line of lines) {
      expect(line.description).toMatch(/./);
      lines.push(...(line.lineItems ?? []));
    }
    expect(text).toContain('"type":"USAGE_RATE_CARD_AMOUNT"');
    expect(text).toContain('"valuePerQuantity":0.5');
  });

  test.each([
    ["account_id=acme", 1],
    ["owner_id=acme", 1],
    ["owner_id=acme&account_id=acme", 1],
    ["owner_id=acme&account_id=other", 0],
    ["account_id=nobody", 0],
    ["customer_id=acme", 1],
    ["customer_id=nobody", 0],
    ["status=DRAFT", 1],
    ["status=DUE", 0],
    ["start_time=2024-06-30T00:00:00Z", 1],
    ["start_time=2024-07-01", 0],
    ["end_time=2024-06-01T05:30:00%2B05:30", 0],
    ["end_time=2024-06-01T05:30:00.001+05:30", 1],
    ["start_time=2024-06-02&end_time=2024-06-03", 1],
  ])("GET /invoices?%s lists %i", async (query, count) => {
    await ingestCalls("e1", 7, "2024-06-10T08:00:00Z");
    expect((await api.call(`GET /invoices?${query}`)).json.data.length).toBe(count);
  });

  test.each([
    ["GET /invoices?start_time=2024-06-30T00:00:00", 400, /^start_time: .* is not a date-time: it has no zone/],
    [
      "GET /invoices?start_time=2024-07-01&end_time=2024-06-01",
      400,
      /^end_time: expected an instant after the start of the range$/,
    ],
  ] as const)("%s is a %i", async (line, status, message) => {
    const answer = await api.call(line);
    expect(answer.status).toBe(status);
    expect(answer.json.message).toMatch(message);
  });

  test("S13.4 a bill run is never ahead of the clock", async () => {
    const { status, json } = await api.call("POST /invoices/bill_runs", {
      body: { as_of: "2024-06-15T12:00:00.001Z" },
    });
    expect(status).toBe(400);
    expect(json.message).toBe("as_of: expected a time that is not in the future, got 2024-06-15T12:00:00.001Z");
  });
});

test("S1.4 an account whose amounts have too many digits is named by lists of all, which continue without it", async () => {
  const long = "99999999999999999999.99999999999999999999";
  const n = { var: "attribute.n" };
  const text = JSON.stringify(USAGE_BOOK).replace(JSON.stringify(n), JSON.stringify({ "*": [n, n] }));
  api = await startApi("2024-06-15T12:00:00Z");
  await api.engine.load(text.replace('"rate":0.5', `"rate":"${long}"`));
  await api.call("POST /accounts", { body: { id: "other", name: "Other", customerId: "acme" } });
  const plan = { pricePlanId: "pp", effectiveFrom: "2024-06-01" };
  expect((await api.call("POST /accounts/other/price_plans", { body: plan })).status).toBe(200);
  const event = {
    schemaName: "api calls",
    timestamp: "2024-06-10T08:00:00Z",
    dimensions: { region: "eu" },
  };
  for (const [id, accountId, value] of [
    ["e1", "acme", long],
    ["e2", "other", 1],
  ] as const) {
    const body = { event: { ...event, id, accountId, attributes: [{ name: "n", value }] } };
    expect((await api.call("POST /ingest", { body })).json.success).toBe(true);
  }
  // 40 digits squared are 80, times 40 are 120.
  const reason = "a result needs more than 100 significant digits";
  const skips = [{ accountId: "acme", message: `the account "acme" cannot be billed: ${reason}` }];
  const invoiceList = (await api.call("GET /invoices")).json;
  expect(invoiceList.data.map((each: { accountId: string }) => each.accountId)).toEqual(["other"]);
  expect(invoiceList.skipped).toEqual(skips);
  expect((await api.call("GET /invoices?account_id=other")).json).not.toHaveProperty("skipped");
  const alone = await api.call("GET /invoices?account_id=acme");
  expect([alone.status, alone.json.message]).toEqual([400, skips[0]?.message]);
  const metricQueries = [{ id: "q", name: "REVENUE", aggregationPeriod: "MONTH" }];
  const range = { startTime: "2024-06-01T00:00:00Z", endTime: "2024-07-01T00:00:00Z" };
  const metrics = await api.call("POST /metrics", { body: { ...range, metricQueries } });
  expect([metrics.status, metrics.json.data[0].skipped]).toEqual([200, [{ accountId: "acme", message: reason }]]);
});

describe("a page", () => {
  test("shows the invoice with all text escaped, and executes nothing", async () => {
    await api.engine.accounts.update("acme", { name: `<script>alert("1")</script> & 'sons'` });
    await ingestCalls("e1", 1_234_567, "2024-06-10T08:00:00Z");
    const [{ id }] = (await api.call("GET /invoices")).json.data;
    const page = await api.call(`GET /invoices/${encodeURIComponent(id)}?format=html`);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(page.text).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;sons&#39;");
    expect(page.text).not.toMatch(/<script|<img|<link|src=|href=| on\w+=/i);
    // 1,234,567 × 0.50
    expect(page.text).toContain('<td class="a">$617,283.50</td>');
    // Runtimes differ in the spaces around the dash.
    expect(page.text.replaceAll(/[\u2009\u202F]/g, " ")).toContain("<dd>June 1 – 30, 2024</dd>");
    expect(page.text).toContain('<h1>Invoice <span class="badge">Draft</span></h1>');
    // Rules are for readers of the JSON; the page explains them in words.
    expect(page.text).not.toMatch(/\bS\d+\.\d/);
    expect(page.text).not.toContain("<h2>From</h2>");
    await api.engine.load({ organization: { id: "default", name: "Default & Co" } });
    const htmlReply = await api.call(`GET /invoices/${encodeURIComponent(id)}?format=html`);
    expect(htmlReply.text).toContain("<h2>From</h2><address><span>Default &amp; Co</span></address>");
    const plan = await api.engine.pricePlans.get("pp");
    expect(htmlReply.text).toContain(`<dt>Plan</dt><dd>${plan.item.name}</dd>`);
    const policy = String(page.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/style-src 'sha256-[\w+/=]+'/);
    expect(policy).not.toContain("unsafe");
    const [, style = ""] = /<style>([^<]*)<\/style>/.exec(page.text) ?? [];
    expect(policy).toContain(`'sha256-${createHash("sha256").update(style).digest("base64")}'`);
    expect(style).toContain("@media (max-width");
  });

  test("settings contain the seller, the buyer, and how to pay; an account's settings take precedence", async () => {
    await ingestCalls("e1", 7, "2024-06-10T08:00:00Z");
    const setting = async (id: string, value: string, more: object = {}): Promise<number> =>
      (await api.call("POST /settings", { body: { id, namespace: "invoice", value, ...of, ...more } })).status;
    const of = { entityType: "ORGANIZATION", entityId: "default", name: "Invoice", dataType: "STRING" };
    const own = { entityType: "ACCOUNT", entityId: "acme" };
    expect(await setting("seller", "Acme Ltd\n12 Harbour Road")).toBe(201);
    expect(await setting("notes", "Pay to IBAN 1")).toBe(201);
    expect(await setting("notes", "Pay to IBAN 2", own)).toBe(201);
    expect(await setting("reference", "PO 4711", own)).toBe(201);
    const [{ id }] = (await api.call("GET /invoices")).json.data;
    const { text } = await api.call(`GET /invoices/${encodeURIComponent(id)}?format=html`);
    expect(text).toContain("<address><span>Acme Ltd</span><span>12 Harbour Road</span></address>");
    expect(text).toContain("<span>Pay to IBAN 2</span>");
    expect(text).not.toContain("IBAN 1");
    expect(text).toContain("<dt>Your reference</dt><dd>PO 4711</dd>");
    expect(await setting("locale", "de", own)).toBe(201);
    const german = await api.call(`GET /invoices/${encodeURIComponent(id)}?format=html`);
    expect(german.text).toContain("<dt>Ihre Referenz</dt><dd>PO 4711</dd>");
  });
});

describe("a group", () => {
  test("S16.7 invoices that became due on one day are one composite invoice of their group", async () => {
    await api.engine.accounts.create({ id: "beta", name: "Beta", customerId: "acme" });
    await api.engine.associate("beta", { pricePlanId: "pp", effectiveFrom: "2024-06-15" });
    const group = await api.engine.invoiceGroups.create({
      name: "All",
      email: "pay@acme.test",
      dailyInvoiceConsolidation: true,
      accountIds: ["acme", "beta"],
      netTermDays: 10,
    });
    const groupId = group.item.id;
    await ingestCalls("e1", 7, "2024-06-10T08:00:00Z");
    const beta = { schemaName: "api calls", id: "b1", accountId: "beta", timestamp: "2024-06-15T11:00:00Z" };
    const fields = { attributes: [{ name: "n", value: 5 }], dimensions: { region: "eu" } };
    await api.call("POST /ingest", { body: { event: { ...beta, ...fields } } });
    api.at("2024-07-06T00:00:00Z");
    expect((await api.call("POST /invoices/bill_runs")).json.finalized).toBe(2);

    const all = (await api.call("GET /invoices")).json.data;
    const kinds = all.map((each: Record<string, string>) => [
      each["invoiceClass"],
      each["invoiceType"],
      each["status"],
    ]);
    expect(kinds).toEqual(
      expect.arrayContaining([
        ["INVOICE", "COMPOSITE", "DUE"],
        ["INVOICE", "STANDARD", "MERGED"],
        ["INVOICE", "STANDARD", "MERGED"],
      ]),
    );
    const [composite] = (await api.call(`GET /invoices?owner_id=${groupId}`)).json.data;
    // Both became due when the grace of June ended, on 4 July: 3.50 and 2.50.
    expect(composite).toMatchObject({
      ownerId: groupId,
      invoiceGroupId: groupId,
      invoiceDate: "2024-07-04T00:00:00.000Z",
      dueDate: "2024-07-14T00:00:00.000Z",
      netTermDays: 10,
      totalAmount: 6,
    });
    const whole = await api.call(`GET /invoices/${encodeURIComponent(composite.id)}`);
    expect(whole.json.revenueInfo).toMatchObject({ type: "GRAND_TOTAL_AMOUNT", value: 6 });
    expect(whole.json.revenueInfo.lineItems.map((line: { value: number }) => line.value)).toEqual([3.5, 2.5]);
    const page = await api.call(`GET /invoices/${encodeURIComponent(composite.id)}?format=html`);
    expect(page.text).toContain('<td class="a">$6.00</td>');
    expect(page.text).toContain("<dt>Date</dt><dd>July 4, 2024</dd>");
    expect(page.text).toContain(`<th scope="row" colspan="5">Beta</th><td class="a">$2.50</td>`);
    const numbers = whole.json.revenueInfo.lineItems.map((line: { id: string }) => line.id);
    expect(numbers).toHaveLength(2);
    for (const number of numbers) {
      const displayNumber = formatInvoiceNumber(number, "2024-07-04");
      expect(page.text).toContain(`<td colspan="6">Invoice ${displayNumber}</td>`);
      const single = await api.call(`GET /invoices/${encodeURIComponent(number)}?format=html`);
      expect(single.text).toContain(`<dd>${displayNumber}</dd>`);
      expect(single.text).toContain(
        `Part of the invoice ${formatInvoiceNumber(composite.id, "2024-07-04")}: pay that one.`,
      );
    }
    expect((await api.call("GET /invoices?account_id=beta")).json.data[0].mergedInto).toBe(composite.id);
  });
});
