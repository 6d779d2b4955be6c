/** Invoices over HTTP: drafts, bill runs, lists, pages, groups, and the events behind lines (S13, S16.7). */
import { beforeEach, describe, expect, test } from "vitest";

import { formatInvoiceNumber } from "../../../src/pages/invoice/invoice-lines.ts";
import { bindCalls, startApi, type TestApi } from "../support.ts";
import { ingestCalls, startWithUsage, USAGE_BOOK } from "../usage-book.ts";

let api: TestApi;
const { call, expectRefused, listPart, send } = bindCalls(() => api);

// Acme has the plan from 1 May 2024, monthly, 0.50 a call, three days of grace; events are kept for 60 days.
beforeEach(async () => {
  api = await startWithUsage({ keepEventsMs: 60 * 86_400_000 });
});

const GROUP = { name: "All", email: "pay@acme.test", dailyInvoiceConsolidation: true };

/** One invoice as JSON, and as a page. */
const whole = async (id: unknown): Promise<ReturnType<typeof send>> =>
  send(`GET /invoices/${encodeURIComponent(String(id))}`);
const page = async (id: unknown): ReturnType<typeof call> =>
  call(`GET /invoices/${encodeURIComponent(String(id))}?format=html`);

describe("a draft and its invoice", () => {
  test("S13.4 the draft of a started cycle is listed, and becomes the final invoice with the same id after its grace", async () => {
    await ingestCalls(api, "e1", 7);
    const june = {
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
      // 7 calls at 0.50.
      totalAmount: 3.5,
      paidAmount: 0,
      notices: [],
    };
    const { data, ...list } = await send("GET /invoices?account_id=acme");
    const draft = { ...june, id: expect.any(String), status: "DRAFT", updatedAt: "2024-06-15T12:00:00.000Z" };
    expect([data, list]).toEqual([[draft], { context: { pageSize: 50 } }]);

    const run = async (body?: object): Promise<unknown> => send("POST /invoices/bill_runs", body);
    const nothing = { success: true, finalized: 0, skipped: 0 };
    api.at("2024-07-03T23:59:59Z");
    expect(await run()).toEqual(nothing);
    api.at("2024-07-05T10:00:00Z");
    expect(await run({ as_of: "2024-07-03T23:00:00Z" })).toEqual(nothing);
    expect(await run({})).toEqual({ ...nothing, finalized: 1 });
    expect(await run()).toEqual(nothing);
    const final = { ...june, id: data[0].id, status: "DUE", updatedAt: "2024-07-04T00:00:00.000Z" };
    expect(await whole(data[0].id)).toMatchObject(final);
  });

  test("S13.2 one invoice has its usage and its lines, each explained", async () => {
    await ingestCalls(api, "e1", 7);
    const [id] = await listPart("/invoices");
    const { usageInfo, revenueInfo } = await whole(id);
    const calls = { type: "USAGE_METER_USAGE", id: "um-calls", description: "calls", quantity: 7, value: 7 };
    expect(usageInfo).toEqual([{ type: "TOTAL_USAGE", description: "Usage", value: 7, lineItems: [calls] }]);
    expect(revenueInfo).toMatchObject({ type: "TOTAL_AMOUNT", value: 3.5, explanation: { of: "SUM" } });
    const lines: { readonly description?: string; readonly lineItems?: readonly object[] }[] = [revenueInfo];
    for (const line of lines) {
      expect(line.description).toMatch(/./);
      lines.push(...(line.lineItems ?? []));
    }
    expect(JSON.stringify(revenueInfo)).toContain('"type":"USAGE_RATE_CARD_AMOUNT"');
    expect(JSON.stringify(revenueInfo)).toContain('"valuePerQuantity":0.5');
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
    await ingestCalls(api, "e1", 7);
    expect(await listPart(`/invoices?${query}`)).toHaveLength(count);
  });

  test.each([
    ["start_time=2024-06-30T00:00:00", /^start_time: .* is not a date-time: it has no zone/],
    ["start_time=2024-07-01&end_time=2024-06-01", /^end_time: expected an instant after the start of the range$/],
  ])("GET /invoices?%s is a 400", async (query, message) => {
    await expectRefused(`GET /invoices?${query}`, undefined, expect.stringMatching(message));
  });

  test("S13.4 a bill run is never ahead of the clock", async () => {
    const message = "as_of: expected a time that is not in the future, got 2024-06-15T12:00:00.001Z";
    await expectRefused("POST /invoices/bill_runs", { as_of: "2024-06-15T12:00:00.001Z" }, message);
  });
});

test("S1.4 an account whose amounts have too many digits is named by lists of all, which continue without it", async () => {
  const long = "99999999999999999999.99999999999999999999";
  const n = { var: "attribute.n" };
  const text = JSON.stringify(USAGE_BOOK).replace(JSON.stringify(n), JSON.stringify({ "*": [n, n] }));
  api = await startApi();
  await api.engine.load(text.replace('"rate":0.5', `"rate":"${long}"`));
  await send("POST /accounts", { id: "other", name: "Other", customerId: "acme" });
  await send("POST /accounts/other/price_plans", { pricePlanId: "pp", effectiveFrom: "2024-06-01" });
  await ingestCalls(api, "e1", long);
  await ingestCalls(api, "e2", 1, { accountId: "other" });
  // 40 digits squared are 80, times 40 are 120.
  const reason = "a result needs more than 100 significant digits";
  const skipped = [{ accountId: "acme", message: `the account "acme" cannot be billed: ${reason}` }];
  const list = await send("GET /invoices");
  expect(list).toMatchObject({ data: [{ accountId: "other" }], skipped });
  expect(list.data).toHaveLength(1);
  expect(await send("GET /invoices?account_id=other")).not.toHaveProperty("skipped");
  await expectRefused("GET /invoices?account_id=acme", undefined, skipped[0]?.message);
  const metricQueries = [{ id: "q", name: "REVENUE", aggregationPeriod: "MONTH" }];
  const range = { startTime: "2024-06-01T00:00:00Z", endTime: "2024-07-01T00:00:00Z" };
  const { data } = await send("POST /metrics", { ...range, metricQueries });
  expect(data[0].skipped).toEqual([{ accountId: "acme", message: reason }]);
});

describe("a page", () => {
  test("shows the invoice with the names of its account, plan and organization, and its own policy", async () => {
    await api.engine.accounts.update("acme", { name: `<script>alert("1")</script> & 'sons'` });
    await ingestCalls(api, "e1", 1_234_567);
    const [id] = await listPart("/invoices");
    const { headers, text } = await page(id);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(text).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;sons&#39;");
    // 1,234,567 × 0.50
    expect(text).toContain('<td class="a">$617,283.50</td>');
    // Rules are for readers of the JSON; the page explains them in words.
    expect(text).not.toMatch(/\bS\d+\.\d/);
    expect(text).not.toContain("<h2>From</h2>");
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
    await api.engine.load({ organization: { id: "default", name: "Default & Co" } });
    const named = (await page(id)).text;
    expect(named).toContain("<h2>From</h2><address><span>Default &amp; Co</span></address>");
    expect(named).toContain(`<dt>Plan</dt><dd>${(await api.engine.pricePlans.get("pp")).item.name}</dd>`);
  });

  test("settings contain the seller, the buyer, and how to pay; an account's settings take precedence", async () => {
    await ingestCalls(api, "e1", 7);
    const common = { namespace: "invoice", name: "Invoice", dataType: "STRING" };
    const organization = { ...common, entityType: "ORGANIZATION", entityId: "default" };
    const account = { ...common, entityType: "ACCOUNT", entityId: "acme" };
    await send("POST /settings", { ...organization, id: "seller", value: "Acme Ltd\n12 Harbour Road" });
    await send("POST /settings", { ...organization, id: "notes", value: "Pay to IBAN 1" });
    await send("POST /settings", { ...account, id: "notes", value: "Pay to IBAN 2" });
    await send("POST /settings", { ...account, id: "reference", value: "PO 4711" });
    const [id] = await listPart("/invoices");
    const { text } = await page(id);
    expect(text).toContain("<address><span>Acme Ltd</span><span>12 Harbour Road</span></address>");
    expect(text).toContain("<span>Pay to IBAN 2</span>");
    expect(text).not.toContain("IBAN 1");
    expect(text).toContain("<dt>Your reference</dt><dd>PO 4711</dd>");
    await send("POST /settings", { ...account, id: "locale", value: "de" });
    expect((await page(id)).text).toContain("<dt>Ihre Referenz</dt><dd>PO 4711</dd>");
  });
});

test("S16.7 invoices that became due on one day are one composite invoice of their group", async () => {
  await api.engine.accounts.create({ id: "beta", name: "Beta", customerId: "acme" });
  await api.engine.associate("beta", { pricePlanId: "pp", effectiveFrom: "2024-06-15" });
  const group = { ...GROUP, accountIds: ["acme", "beta"], netTermDays: 10 };
  const groupId = (await api.engine.invoiceGroups.create(group)).item.id;
  await ingestCalls(api, "e1", 7);
  await ingestCalls(api, "b1", 5, { accountId: "beta", timestamp: "2024-06-15T11:00:00Z" });
  api.at("2024-07-06T00:00:00Z");
  expect((await send("POST /invoices/bill_runs")).finalized).toBe(2);

  const { data } = await send("GET /invoices");
  const kinds = data.map(
    (each: Record<string, string>) => `${each["invoiceClass"]} ${each["invoiceType"]} ${each["status"]}`,
  );
  const kept = kinds.filter((kind: string) => !kind.endsWith("DRAFT"));
  expect(kept.toSorted()).toEqual(["INVOICE COMPOSITE DUE", "INVOICE STANDARD MERGED", "INVOICE STANDARD MERGED"]);
  const [composite] = (await send(`GET /invoices?owner_id=${groupId}`)).data;
  // Both became due when the grace of June ended, on 4 July: 3.50 and 2.50.
  expect(composite).toMatchObject({
    ownerId: groupId,
    invoiceGroupId: groupId,
    invoiceDate: "2024-07-04T00:00:00.000Z",
    dueDate: "2024-07-14T00:00:00.000Z",
    netTermDays: 10,
    totalAmount: 6,
  });
  const { revenueInfo } = await whole(composite.id);
  const lineItems = [{ value: 3.5 }, { value: 2.5 }];
  expect(revenueInfo).toMatchObject({ type: "GRAND_TOTAL_AMOUNT", value: 6, lineItems });
  const { text } = await page(composite.id);
  expect(text).toContain('<td class="a">$6.00</td>');
  expect(text).toContain("<dt>Date</dt><dd>July 4, 2024</dd>");
  expect(text).toContain(`<th scope="row" colspan="5">Beta</th><td class="a">$2.50</td>`);
  const number = formatInvoiceNumber(composite.id, "2024-07-04");
  for (const { id } of revenueInfo.lineItems) {
    const partNumber = formatInvoiceNumber(id, "2024-07-04");
    expect(text).toContain(`<td colspan="6">Invoice ${partNumber}</td>`);
    const part = (await page(id)).text;
    expect(part).toContain(`<dd>${partNumber}</dd>`);
    expect(part).toContain(`Part of the invoice ${number}: pay that one.`);
  }
  expect(await listPart("/invoices?account_id=beta", "mergedInto")).toEqual([composite.id]);
  const message = "invoice_id: this is an invoice of a group; use the invoices of its accounts";
  await expectRefused(`GET /invoices/${composite.id}/lines/um-calls/events`, undefined, message);
});

describe("the events behind a line", () => {
  let path: string;

  /** The line of calls of June: 7 on the 1st, 2.5 - 2 on the 10th; an event of May is not in it. */
  beforeEach(async () => {
    api.at("2024-06-02T12:00:00Z");
    await ingestCalls(api, "before", 100, { timestamp: "2024-05-31T23:59:59.999Z" });
    api.at("2024-06-15T12:00:00Z");
    await ingestCalls(api, "first", 7, { timestamp: "2024-06-01T00:00:00Z" });
    await ingestCalls(api, "back", -2);
    api.at("2024-06-15T12:00:01Z");
    await ingestCalls(api, "more", 2.5, { timestamp: "2024-06-10T20:00:00Z" });
    const [id] = await listPart("/invoices?account_id=acme&start_time=2024-06-01&end_time=2024-06-30");
    path = `/invoices/${String(id)}/lines`;
  });

  test("S13.6 are listed with what each added, and each day", async () => {
    const { json, headers } = await call(`GET ${path}/um-calls/events`);
    const { events, ...rest } = json;
    expect(rest).toEqual({
      line: {
        invoiceId: path.split("/")[2],
        accountId: "acme",
        type: "USAGE_METER_USAGE",
        id: "um-calls",
        quantity: 7.5,
        startDate: "2024-06-01T00:00:00.000Z",
        endDate: "2024-07-01T00:00:00.000Z",
      },
      days: [
        { date: "2024-06-01", quantity: 7 },
        { date: "2024-06-10", quantity: 0.5 },
      ],
      computations: [{ order: 1, computation: '{"var":"attribute.n"}' }],
      context: { pageSize: 50 },
    });
    expect(events).toHaveLength(3);
    expect(events[0]).toEqual({
      referenceId: expect.any(String),
      id: "more",
      schemaName: "api calls",
      schemaVersion: 1,
      timestamp: "2024-06-10T20:00:00.000Z",
      createdAt: "2024-06-15T12:00:01.000Z",
      date: "2024-06-10",
      quantity: 2.5,
      attributes: [{ name: "n", value: 2.5 }],
      dimensions: { region: "eu" },
    });
    // Events are kept for 60 days: since 16 April.
    expect(headers["events-kept-since"]).toBe("2024-04-16T12:00:01.000Z");
    const card = await send(`GET ${path}/um-calls/events?line_type=USAGE_RATE_CARD_AMOUNT`);
    expect(card).toEqual({ ...json, line: { ...json.line, type: "USAGE_RATE_CARD_AMOUNT" } });
  });

  test("pages are consecutive, and an undone event is behind no line", async () => {
    const idsOf = ({ events }: { readonly events: readonly { readonly id: string }[] }): readonly string[] =>
      events.map(({ id }) => id);
    const first = await send(`GET ${path}/um-calls/events?pageSize=2`);
    const second = await send(`GET ${path}/um-calls/events?nextToken=${encodeURIComponent(first.nextToken)}`);
    expect(second).not.toHaveProperty("nextToken");
    expect(idsOf(first)[0]).toBe("more");
    expect([...idsOf(first), ...idsOf(second)].toSorted()).toEqual(["back", "first", "more"]);
    await send("DELETE /events?account_id=acme&event_id=back");
    const undone = await send(`GET ${path}/um-calls/events`);
    expect([undone.line.quantity, idsOf(undone)]).toEqual([9.5, ["more", "first"]]);
  });

  test("an unknown invoice or line is a 404, a line without events a 400 that describes the line", async () => {
    const unknown = 'no invoice has the id "none"';
    await expectRefused("GET /invoices/none/lines/um-calls/events", undefined, unknown, 404);
    await expectRefused(`GET ${path}/um-none/events`, undefined, 'no invoice line has the id "um-none"', 404);
    const type = "ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT";
    const message = `line_id: "um-calls" is of the type USAGE_METER_USAGE, USAGE_RATE_CARD_AMOUNT, USAGE_RATE_CARD_SLAB_AMOUNT, not of the type ${type}`;
    await expectRefused(`GET ${path}/um-calls/events?line_type=${type}`, undefined, message);
  });
});
