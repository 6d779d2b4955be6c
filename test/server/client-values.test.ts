/** What the published clients of the reference API send and require beyond the reference's rows. */
import { beforeEach, describe, expect, test } from "vitest";

import { parseDecimal } from "../../src/numbers/decimal.ts";
import { createOpenApiDocument } from "../../src/server/docs/openapi.ts";
import { toLineJson } from "../../src/server/routes/billing/invoices.ts";
import { ENDPOINTS } from "../../src/server/routes/routes.ts";
import { ACME, withAccount } from "./account-requests.ts";
import { DETAILS } from "./catalog-requests.ts";
import { bindCalls, startApi, type TestApi } from "./support.ts";

type Properties = Readonly<Record<string, { readonly enum?: readonly string[] }>>;

let api: TestApi;
const { call, answerTo } = bindCalls(() => api);

beforeEach(async () => {
  api = await startApi();
});

describe("the document", () => {
  test("contains the values that answers have, and no others", async () => {
    const { schemas } = createOpenApiDocument(ENDPOINTS)["components"] as {
      readonly schemas: Readonly<Record<string, { readonly enum: readonly string[]; readonly properties: Properties }>>;
    };
    const valuesOf = (name: string, field: string): unknown => schemas[name]?.properties[field]?.enum;
    expect(valuesOf("IngestionStatus", "status")).toContain("INGESTION_FAILED");
    expect(valuesOf("IngestionStatus", "status")).not.toContain("INGESTION_REFUSED");
    expect(valuesOf("IngestedEvent", "status")).toEqual(["REVERTED", "FAILED"]);
    expect(valuesOf("Invoice", "invoiceClass")).toEqual(["INVOICE"]);
    const types = schemas["InvoiceLineType"]?.enum ?? [];
    expect(types).toEqual(
      expect.arrayContaining(["ADVANCED_FIXED_FEE", "LICENSE_RATE_CARD_SLAB_AMOUNT", "TOTAL_USAGE"]),
    );
    expect(types.filter((type) => /[^D]_SLAB_AMOUNT$|ADVANCED_FIXED_FEE_|ADVANCED_.*SLAB/.test(type))).toEqual([]);
  });

  test.each([
    ["USAGE_SLAB_AMOUNT", "USAGE_RATE_CARD_SLAB_AMOUNT"],
    ["ADVANCED_LICENSE_SLAB_AMOUNT", "LICENSE_RATE_CARD_SLAB_AMOUNT"],
    ["ADVANCED_FIXED_FEE_RATE_CARD_AMOUNT", "ADVANCED_FIXED_FEE"],
    ["ADVANCED_LICENSE_RATE_CARD_AMOUNT", "ADVANCED_LICENSE_RATE_CARD_AMOUNT"],
    ["TRUE_UP_AMOUNT", "TRUE_UP_AMOUNT"],
  ])("a final line of type %s is returned as %s", (type, answerType) => {
    expect(toLineJson({ type, value: parseDecimal("1") })).toMatchObject({
      type: answerType,
      description: expect.any(String),
    });
  });
});

describe("bounds", () => {
  const plan = { name: "Team", type: "BILLING", pricePlanDetails: DETAILS };

  test("S12.6 an expiryDuration of less than a day is rejected when a plan is activated: credits end with a day", async () => {
    const addOn = (await call("POST /addons", { body: { name: "Grant", type: "CREDIT_GRANT" } })).json.id;
    const grantCard = (expiryDuration: string): object => ({
      id: addOn,
      grantDetails: { expiryType: "CUSTOM", expiryDuration },
      rateDetails: {
        pricingModel: "TIERED",
        currencySlabRateDetails: [
          { currency: "USD", creditAmount: 5, slabDetails: [{ startAfter: 0, priceType: "FLAT", rate: 0 }] },
        ],
      },
    });
    for (const [duration, status] of [
      ["PT36H", 400],
      ["P1DT1S", 400],
      ["PT48H", 200],
    ] as const) {
      const body = {
        ...plan,
        name: duration,
        pricePlanDetails: { ...DETAILS, creditGrantRateCards: [grantCard(duration)] },
      };
      const { id } = (await call("POST /price_plans", { body })).json;
      const activation = await call(`POST /price_plans/${id}/activate`);
      expect([duration, activation.status]).toEqual([duration, status]);
      if (status === 400) expect(activation.json.message).toContain("expected a duration of whole days");
    }
  });
});

describe("requests of clients", () => {
  test("find settings by ids in capitals and with the organization written out, and list them by entity_type", async () => {
    await call("POST /customers", { body: ACME });
    const setting = { id: "k", value: "1", namespace: "user", dataType: "STRING", name: "K" };
    await call("POST /settings", { body: { ...setting, entityType: "ORGANIZATION", entityId: "default" } });
    await call("POST /settings", { body: { ...setting, entityType: "ACCOUNT", entityId: "acme" } });
    for (const id of ["setting.USER.k.ORGANIZATION.default", "SETTING.USER.K", "setting.user.k"]) {
      expect((await call(`GET /settings/${id}`)).json.id).toBe("setting.user.k");
    }
    expect((await call("GET /settings/setting.USER.k.ACCOUNT.acme")).json.id).toBe("setting.user.k.ACCOUNT.acme");
    expect((await call("GET /settings/setting.USER.k.ORGANIZATION.other")).status).toBe(404);
    const settingList = await call("GET /settings?entity_type=ACCOUNT");
    expect(settingList.json.data.map((each: { entityType: string }) => each.entityType)).toEqual(["ACCOUNT"]);
  });

  test("may have times in queries in milliseconds since 1970", async () => {
    api = await withAccount();
    const june = Date.parse("2024-06-01T00:00:00Z");
    for (const query of [`start_time=${june}`, `start_time=${june}&end_time=${june + 1000}`]) {
      expect((await call(`GET /invoices?${query}`)).status).toBe(200);
    }
    expect((await call(`GET /invoices?start_time=${june}&end_time=${june}`)).status).toBe(400);
    expect((await call(`DELETE /events?account_id=prod&event_source_time=${june}`)).json).toEqual({ data: [] });
  });

  test("list credits by status", async () => {
    api = await withAccount();
    const credit = { accountId: "prod", purpose: "P", effectiveFrom: "2024-06-01", creditAmount: 1, priority: 1 };
    const { credits } = (await call("POST /credits", { body: { creditRequests: [credit, credit] } })).json;
    await call(`POST /credits/${credits[0].id}/void`);
    for (const query of ["", "&account_id=prod"]) {
      const listCreditIds = async (status: string): Promise<readonly string[]> =>
        (await call(`GET /credits?status=${status}${query}`)).json.data.map(({ id }: { id: string }) => id);
      expect([await listCreditIds("ACTIVE"), await listCreditIds("VOIDED")]).toEqual([
        [credits[1].id],
        [credits[0].id],
      ]);
    }
    expect((await call("GET /credits?status=SPENT")).status).toBe(400);
  });

  test("may have pageSize for pricing_schedules and licenseId for license updates", async () => {
    api = await withAccount();
    expect((await call("GET /accounts/prod/pricing_schedules?pageSize=50")).status).toBe(200);
    expect((await call("GET /license_updates?licenseId=addon.seats")).json.data).toEqual([]);
    expect((await call("GET /license_updates?licenseId=a&license_id=b")).status).toBe(400);
  });

  test.each(["includeSchema", "dry_run"])("with %s are rejected as not supported, by name", async (name) => {
    expect(await answerTo(`GET /usage_meters?${name}=true`)).toEqual([400, `${name}: remove it; it can't be set here`]);
  });
});
