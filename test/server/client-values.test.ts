/** What the published clients of the reference API send and require beyond the reference's rows. */
import { beforeEach, describe, expect, test } from "vitest";

import { parseDecimal } from "../../src/numbers/decimal.ts";
import { createOpenApiDocument } from "../../src/server/docs/openapi.ts";
import { toLineJson } from "../../src/server/routes/billing/invoices.ts";
import { ENDPOINTS } from "../../src/server/routes/routes.ts";
import { ACME, addOn, DETAILS, withAccount } from "./requests.ts";
import { bindCalls, startApi, type TestApi } from "./support.ts";

type Properties = Readonly<Record<string, { readonly enum?: readonly string[] }>>;

let api: TestApi;
const { call, expectRefused, listPart, send } = bindCalls(() => api);

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

test("S12.6 an expiryDuration of less than a day is rejected when a plan is activated: credits end with a day", async () => {
  const id = await addOn(send, "CREDIT_GRANT");
  const slabDetails = [{ startAfter: 0, priceType: "FLAT", rate: 0 }];
  const rateDetails = {
    pricingModel: "TIERED",
    currencySlabRateDetails: [{ currency: "USD", creditAmount: 5, slabDetails }],
  };
  const createPlan = async (expiryDuration: string): Promise<string> => {
    const card = { id, grantDetails: { expiryType: "CUSTOM", expiryDuration }, rateDetails };
    const pricePlanDetails = { ...DETAILS, creditGrantRateCards: [card] };
    const plan = await send("POST /price_plans", { name: expiryDuration, type: "BILLING", pricePlanDetails });
    return `POST /price_plans/${plan.id}/activate`;
  };
  for (const duration of ["PT36H", "P1DT1S"]) {
    const message = expect.stringContaining("expected a duration of whole days");
    await expectRefused(await createPlan(duration), undefined, message);
  }
  await send(await createPlan("PT48H"));
});

describe("requests of clients", () => {
  test("find settings by ids in capitals and with the organization written out, and list them by entity_type", async () => {
    await send("POST /customers", ACME);
    const setting = { id: "k", value: "1", namespace: "user", dataType: "STRING", name: "K" };
    await send("POST /settings", { ...setting, entityType: "ORGANIZATION", entityId: "default" });
    await send("POST /settings", { ...setting, entityType: "ACCOUNT", entityId: "acme" });
    for (const id of ["setting.USER.k.ORGANIZATION.default", "SETTING.USER.K", "setting.user.k"])
      expect((await send(`GET /settings/${id}`)).id).toBe("setting.user.k");
    expect((await send("GET /settings/setting.USER.k.ACCOUNT.acme")).id).toBe("setting.user.k.ACCOUNT.acme");
    expect((await call("GET /settings/setting.USER.k.ORGANIZATION.other")).status).toBe(404);
    expect(await listPart("/settings?entity_type=ACCOUNT", "entityType")).toEqual(["ACCOUNT"]);
  });

  test("may have times in queries in milliseconds since 1970", async () => {
    api = await withAccount();
    const june = Date.parse("2024-06-01T00:00:00Z");
    await send(`GET /invoices?start_time=${june}`);
    await send(`GET /invoices?start_time=${june}&end_time=${june + 1000}`);
    expect((await call(`GET /invoices?start_time=${june}&end_time=${june}`)).status).toBe(400);
    expect(await send(`DELETE /events?account_id=prod&event_source_time=${june}`)).toEqual({ data: [] });
  });

  test("list credits by status", async () => {
    api = await withAccount();
    const credit = { accountId: "prod", purpose: "P", effectiveFrom: "2024-06-01", creditAmount: 1, priority: 1 };
    const { credits } = await send("POST /credits", { creditRequests: [credit, credit] });
    await send(`POST /credits/${credits[0].id}/void`);
    for (const query of ["", "&account_id=prod"]) {
      expect(await listPart(`/credits?status=ACTIVE${query}`)).toEqual([credits[1].id]);
      expect(await listPart(`/credits?status=VOIDED${query}`)).toEqual([credits[0].id]);
    }
    expect((await call("GET /credits?status=SPENT")).status).toBe(400);
  });

  test("may have pageSize for pricing_schedules and licenseId for license updates", async () => {
    api = await withAccount();
    await send("GET /accounts/prod/pricing_schedules?pageSize=50");
    expect(await listPart("/license_updates?licenseId=addon.seats")).toEqual([]);
    expect((await call("GET /license_updates?licenseId=a&license_id=b")).status).toBe(400);
  });

  test.each(["includeSchema", "dry_run"])("with %s are rejected as not supported, by name", async (name) => {
    await expectRefused(`GET /usage_meters?${name}=true`, undefined, `${name}: remove it; it can't be set here`);
  });
});
