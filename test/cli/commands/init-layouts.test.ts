/** `ratebook init` on exports of well-known tools: what it takes, what it leaves out, and the price of the result. */
import { describe, expect, test } from "vitest";

import { parseJsonDocument } from "../../../src/book/reading/json-document.ts";
import { initFolder } from "./init-runs.ts";

const files = initFolder();

interface Layout {
  readonly file: string;
  /** The parts of the map of the time, the account and the id. */
  readonly map: readonly object[];
  /** The parts of the map of the attributes, each of which has a meter; a name for a column of this name. */
  readonly numbers: readonly (string | readonly [name: string, more: object])[];
  readonly dimensions: string;
  /** The dimensions of the price table; none without one. */
  readonly groupBy?: readonly string[];
  readonly rate?: string;
  /** What the output says, one sentence a line. */
  readonly notes: readonly string[];
  /** The lines of the summary: account and amount; the last one has the number of events before it. */
  readonly summary: readonly string[];
}

const column = (name: string, more = {}): object => ({ column: name, ...more });

const LAYOUT_TABLE: readonly Layout[] = [
  {
    file: "aws-cost-and-usage.csv",
    map: [column("lineItem/UsageStartDate"), column("lineItem/UsageAccountId"), column("identity/LineItemId")],
    numbers: ["lineItem/UsageAmount"],
    dimensions:
      "identity/TimeInterval, bill/BillingEntity, bill/PayerAccountId, lineItem/LineItemType, lineItem/ProductCode, lineItem/UsageType, lineItem/Operation, lineItem/ResourceId, lineItem/CurrencyCode, lineItem/LineItemDescription, product/ProductName, product/region, pricing/unit",
    groupBy: ["lineItem/ProductCode", "pricing/unit"],
    notes: [
      'not used: "bill/BillingPeriodStartDate", "bill/BillingPeriodEndDate", "lineItem/UsageEndDate", a second time column',
      'not used: "lineItem/NormalizedUsageAmount", the usage of "lineItem/UsageAmount" in another unit',
      'not used: "lineItem/UnblendedRate", "lineItem/UnblendedCost", "lineItem/BlendedCost", "pricing/publicOnDemandCost", money: the quantity is metered',
    ],
    // 24 + 24 hours, 310 GB, 120,000 requests; 12.5 + 11.5 hours, 4,000 requests, 18 GB.
    summary: ["111111111111 1,203.58", "222222222222 40.42", "Total 8 1,244.00"],
  },
  {
    file: "azure-cost.csv",
    map: [
      column("date", { form: "MM/DD/YYYY", zone: "UTC" }),
      column("SubscriptionId"),
      { template: "azure-cost-{row}" },
    ],
    numbers: ["quantity"],
    dimensions:
      "invoiceId, billingAccountId, billingAccountName, billingProfileName, invoiceSectionName, serviceFamily, consumedService, meterId, meterName, meterCategory, meterRegion, ProductName, subscriptionName, publisherType, resourceGroupName, resourceLocation, unitOfMeasure, chargeType, billingCurrency, isAzureCreditEligible, frequency, pricingModel, provider",
    groupBy: ["meterName", "unitOfMeasure"],
    notes: ['account in "SubscriptionId", because no column names a customer (choose one with --account)'],
    // 24 + 24 hours, 400 GB, 12.25 + 7.75 GB; 6.5 + 5.5 hours, 80 GB.
    summary: ["5f7a1e2c-0001-4c3b-9d8e-aaaaaaaaaaaa 4.68", "5f7a1e2c-0002-4c3b-9d8e-bbbbbbbbbbbb 0.92", "Total 8 5.60"],
  },
  {
    file: "gcp-billing.ndjson",
    map: [column("usage_start_time"), column("project.id"), { template: "gcp-billing-{row}" }],
    numbers: ["usage.amount_in_pricing_units"],
    dimensions:
      "billing_account_id, service.id, service.description, sku.id, sku.description, project.name, location.location, location.country, location.region, currency, usage.unit, usage.pricing_unit, invoice.month, cost_type",
    groupBy: ["sku.description", "usage.unit"],
    notes: [
      'account in "project.id", because no field names a customer (choose one with --account)',
      'not used: "usage_end_time", "export_time", a second time column',
      'not used: "project.number", an id',
      'not used: "usage.amount", the usage of "usage.amount_in_pricing_units" in another unit',
    ],
    // 48 + 48 + 192 + 250; 10.5 + 13.5 + 96 + 40.
    summary: ["acme-prod 5.38", "globex-prod 1.60", "Total 8 6.98"],
  },
  {
    file: "litellm-spend-logs.csv",
    map: [column("startTime", { zone: "UTC" }), column("team_id"), column("request_id")],
    numbers: ["prompt_tokens", "completion_tokens"],
    dimensions: "call_type, api_key, model, model_group, custom_llm_provider, cache_hit, status",
    groupBy: ["model"],
    notes: [
      'not used: "spend", money: the quantity is metered',
      'not used: "total_tokens", the sum of "prompt_tokens" and "completion_tokens"',
      'a price table by "model", with 3 rows, and one for all other groups',
      'for example, row 1: account acme, 2026-03-01T08:00:01.123Z, "prompt_tokens" 1200, "completion_tokens" 300',
    ],
    // 1,500 + 1,000 + 3,000 + 1,100 tokens; 5,000 + 750.
    summary: ["acme 66.00", "globex 57.50", "Total 6 123.50"],
  },
  {
    file: "langfuse-observations.csv",
    map: [column("startTime"), column("userId"), column("id")],
    numbers: ["promptTokens", "completionTokens"],
    dimensions: "type, name, environment, level, sessionId, model, version",
    groupBy: ["model"],
    notes: [
      'not used: "latency", "timeToFirstToken", measured, but not used up',
      'not used: "inputCost", "outputCost", "totalCost", money: the quantity is metered',
      'not used: "input", too many different texts',
    ],
    // 1,000 + 1,000 + 2,000; 1,000 + 8,000 + 500.
    summary: ["initech 95.00", "hooli 40.00", "Total 6 135.00"],
  },
  {
    file: "helicone-requests.csv",
    map: [column("created_at"), column("organization_id"), column("request_id")],
    numbers: ["prompt_tokens", "completion_tokens"],
    dimensions: "status, model, provider, country_code",
    groupBy: ["model"],
    notes: [
      // The totals show that the prompt tokens include those read from a cache.
      'not used: "prompt_cache_read_tokens", part of "prompt_tokens" and "completion_tokens"',
      'not used: "total_tokens", the sum of "prompt_tokens" and "completion_tokens"',
    ],
    // 2,000 + 1,200 + 900 tokens; 3,700 + 0 + 500.
    summary: ["globex 42.00", "acme 41.00", "Total 6 83.00"],
  },
  {
    file: "nginx-access.csv",
    map: [column("time_iso8601"), { value: "account-1" }, { template: "nginx-access-{row}" }],
    numbers: ["body_bytes_sent"],
    dimensions: "request_method, server_protocol, status, server_port",
    notes: [
      "no column looks like an account: all events belong to account-1 (choose one with --account)",
      'not used: "request_uri", "http_user_agent", free text',
      'not used: "request_time", "upstream_response_time", measured, but not used up',
      'not used: "pid", an id',
    ],
    // 5,120 + 880 + 153 + 47 + 20,000 + 0 + 157 bytes.
    summary: ["account-1 263.57", "Total 7 263.57"],
  },
  {
    file: "alb-access.csv",
    map: [column("request_creation_time"), { value: "account-1" }, column("trace_id")],
    numbers: ["received_bytes", "sent_bytes"],
    dimensions:
      "type, elb, elb_status_code, ssl_cipher, ssl_protocol, domain_name, matched_rule_priority, actions_executed",
    notes: ['not used: "target_status_code", empty in some rows'],
    // 5,000 bytes received, 60,000 sent.
    summary: ["account-1 650.00", "Total 6 650.00"],
  },
  {
    file: "stripe-balance.csv",
    map: [column("created_utc", { zone: "UTC" }), column("customer_id"), column("balance_transaction_id")],
    numbers: ["gross"],
    dimensions: "currency, reporting_category, description, customer_facing_currency, customer_email",
    rate: "1",
    notes: [
      'no quantity, only money: a meter for "gross" at a rate of 1',
      'not used: "fee", "net", "customer_facing_amount", money, which would count twice',
    ],
    // 120 + 49.50; 300 - 20; 15.25.
    summary: ["cus_Globex2 280.00", "cus_Acme01 169.50", "cus_Initech 15.25", "Total 5 464.75"],
  },
  {
    file: "segment-track.ndjson",
    map: [column("timestamp"), column("context.groupId"), column("messageId")],
    numbers: [["properties.rows", { default: "0" }]],
    dimensions: "type, event, context.library.name, context.library.version, properties.format, properties.app_version",
    notes: [
      'missing fields count as 0 in "properties.rows" (see "default" in the map)',
      'not used: "originalTimestamp", "sentAt", "receivedAt", a second time column',
    ],
    // 1,200 + 300 rows; 500 + 2,500.
    summary: ["globex 30.00", "acme 15.00", "Total 6 45.00"],
  },
  {
    file: "german-spreadsheet.csv",
    map: [
      column("Leistungsdatum", { form: "DD.MM.YYYY", zone: "UTC" }),
      column("Kunde", {
        values: {
          "Müller & Söhne GmbH": "muller-sohne-gmbh",
          "Globex GmbH": "globex-gmbh",
          "Globex Gmbh": "globex-gmbh-2",
        },
      }),
      column("Belegnr."),
    ],
    numbers: [["Menge", { decimal: "," }]],
    dimensions: "PLZ, Leistung, Einheit, Geschäftsjahr",
    notes: [
      'names that are no ids get one (see "values" in the map): "Müller & Söhne GmbH" is muller-sohne-gmbh',
      'numbers with a decimal comma in "Menge"',
      'not used: "Einzelpreis", "Betrag", money: the quantity is metered',
      'for example, row 1: account muller-sohne-gmbh, 2026-03-02T00:00:00.000Z, "Menge" 1234 ("1.234" is read as 1234)',
    ],
    // 2,500 + 1,200.25 + 99.75; 1,234 + 7.5 + 2.5; 1,000.
    summary: ["globex-gmbh 38.00", "muller-sohne-gmbh 12.44", "globex-gmbh-2 10.00", "Total 7 60.44"],
  },
  {
    file: "french-spreadsheet.csv",
    map: [
      column("Date", { form: "DD/MM/YYYY", zone: "UTC" }),
      column("Client", {
        values: { "Boulangerie Dupont": "boulangerie-dupont", "Café de la Gare": "cafe-de-la-gare" },
      }),
      { template: "french-spreadsheet-{row}" },
    ],
    numbers: [
      ["Quantité", { decimal: "," }],
      ["Heures", { decimal: ",", default: "0" }],
    ],
    dimensions: "Service",
    notes: [
      'empty cells count as 0 in "Heures" (see "default" in the map)',
      'not used: "Prix unitaire", "Montant HT", money: the quantity is metered',
      'not used: "Commentaire", empty in some rows',
    ],
    // 300 + 12,000; 1,250 and 1.5 + 2.5 hours.
    summary: ["cafe-de-la-gare 123.00", "boulangerie-dupont 12.54", "Total 5 135.54"],
  },
  {
    file: "cloudflare-analytics.csv",
    map: [
      column("date", { form: "YYYY-MM-DD", zone: "UTC" }),
      column("Account Name"),
      { template: "cloudflare-analytics-{row}" },
    ],
    numbers: ["requests", "bytes", "pageViews", "threats"],
    dimensions: "Zone Name, country",
    notes: [
      'not used: "cachedRequests", "encryptedRequests", part of "requests"',
      'not used: "cachedBytes", part of "bytes"',
    ],
    // 2,750 + 122,000 + 980 + 1; 1,250 + 50,000 + 320 + 7.
    summary: ["acme 1,257.31", "globex 515.77", "Total 5 1,773.08"],
  },
  {
    file: "datadog-usage.csv",
    map: [column("timestamp"), column("org_name"), { template: "datadog-usage-{row}" }],
    numbers: ["usage_value"],
    dimensions: "public_id, product_family, usage_type, region",
    groupBy: ["product_family", "usage_type"],
    notes: ['a price table by "product_family" and "usage_type", with 4 rows, and one for all other groups'],
    // 5 + 800 + 95,000; 12 + 4,500 + 30 + 4,500.
    summary: ["globex 958.05", "acme 90.42", "Total 7 1,048.47"],
  },
  {
    file: "saas-seats.csv",
    map: [
      column("Snapshot date", { form: "YYYY-MM-DD", zone: "UTC" }),
      column("Workspace ID"),
      { template: "saas-seats-{row}" },
    ],
    numbers: ["Seats"],
    dimensions: "Plan, Currency",
    notes: [
      'not used: "Billing period start", "Billing period end", a second time column',
      'not used: "Active seats", part of "Seats"',
      'not used: "Price per seat", "Amount due", money: the quantity is metered',
    ],
    summary: ["ws_1004 1.50", "ws_1001 0.40", "ws_1002 0.12", "ws_1003 0.07", "ws_1005 0.03", "Total 5 2.12"],
  },
];

/** Reads a JSON file with comments. */
function readJson(name: string): Readonly<Record<string, unknown>> {
  const document = parseJsonDocument(files.read(`prices/${name}`));
  if (!("value" in document)) throw new Error(document.message);
  return document.value as Readonly<Record<string, unknown>>;
}

/** The account and the amount of each line of a summary, and the number of events of the last line. */
function listAmounts(out: string): readonly string[] {
  const rows = out.split("\n").map((line) => line.trim().split(/ +/));
  return rows
    .filter((words) => words.at(-1)?.endsWith("%"))
    .map((words) => [words[0], ...(words[0] === "Total" ? [words[1]] : []), words.at(-2)].join(" "));
}

describe("the layout", () => {
  test.each(LAYOUT_TABLE)("$file", async (layout) => {
    const path = new URL(`init-layouts/${layout.file}`, import.meta.url).pathname;
    const { code, out } = await files.run(["init", `${files.path}/prices`, "--from", path]);
    expect(code).toBe(0);
    for (const note of layout.notes) expect(out).toContain(`  ${note}\n`);

    const { timestamp, accountId, id, attributes, dimensions } = readJson("map.jsonc");
    expect([timestamp, accountId, id]).toEqual(layout.map);
    const numbers = layout.numbers.map((each) => (typeof each === "string" ? ([each, {}] as const) : each));
    expect(attributes).toEqual(Object.fromEntries(numbers.map(([name, more]) => [name, column(name, more)])));
    expect(Object.keys(Object(dimensions)).join(", ")).toBe(layout.dimensions);
    const { usageMeters, pricePlans } = readJson("book.jsonc");
    const meters = usageMeters as readonly object[];
    expect(meters.map((meter) => "sum" in meter && meter.sum)).toEqual(numbers.map(([name]) => name));
    for (const meter of meters) expect("groupBy" in meter ? meter.groupBy : undefined).toEqual(layout.groupBy);
    expect(JSON.stringify(pricePlans)).toContain(`"rate":"${layout.rate ?? "0.01"}"`);

    expect(await files.run("check prices/book.jsonc")).toMatchObject({ code: 0, err: "" });
    const inputs = ["--events", path, "--map", "prices/map.jsonc", "--accounts-from-events"];
    const priced = await files.run(["preview", "prices/book.jsonc", ...inputs, "--summary"]);
    expect(listAmounts(priced.out)).toEqual(layout.summary);
    expect(priced.err).toMatch(/^(?:.*\n)*(\d+) events read: \1 metered; /);
    expect(priced.code).toBe(0);
  });
});
