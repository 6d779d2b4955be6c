/** Price plans and their rate cards. */
import { expect } from "vitest";

import { type ApiAnswer, type Api, type Json, oncePerServer, unique } from "./api.ts";
import { type Case, ruleCases, tableCases } from "./case.ts";
import { type Row, rowOf } from "./reference.ts";
import { aFeature, aMeter, anAddOn, aPlan, aSchema, MONTHLY } from "./resources.ts";
import { saidOtherwise } from "./schema-differences.ts";
import { listMismatches, parseFields, parseType, type Type, listUnseen } from "./types.ts";

const SLABS = {
  ratePlan: {
    pricingModel: "TIERED",
    slabs: [
      { order: 1, startAfter: 0, priceType: "FLAT", slabConfig: {}, endAt: 10 },
      { order: 2, startAfter: 10, priceType: "PER_UNIT", slabConfig: {} },
    ],
  },
  rateValues: [
    {
      currency: "USD",
      slabRates: [
        { order: 1, rate: 5, slabRateConfig: { minimumRate: 1 } },
        { order: 2, rate: 0.25 },
      ],
    },
  ],
  displayName: "Shown as",
  tag: "a tag",
};
const FEE = { rateValues: [{ currency: "USD", rate: 9.99 }], displayName: "Shown as", tag: "a tag" };
const EVERY = { interval: 1, offset: 0 };

function grantCard(id: string, meterId: string, expiry: Json): Json {
  const slab = { startAfter: 0, priceType: "PER_UNIT", rate: 0.5, endAt: 10, slabConfig: {}, slabRateConfig: {} };
  const last = { startAfter: 10, priceType: "PER_UNIT", rate: 0.25, slabConfig: {} };
  return {
    id,
    type: "RECURRING",
    displayName: "Shown as",
    rateDetails: {
      pricingModel: "TIERED",
      currencySlabRateDetails: [{ currency: "USD", creditAmount: 10, slabDetails: [slab, last] }],
    },
    grantDetails: { priority: 1, applicableEntityIds: [meterId], ...expiry },
    invoiceTiming: "IN_ADVANCE",
    recurrenceConfig: EVERY,
  };
}

/** Details with every part that the reference names. */
const details = oncePerServer(async (api): Promise<Json> => {
  const schema = await aSchema(api);
  const featureId = await aFeature(api, schema);
  const usageMeterId = await aMeter(api, schema);
  const fee = { ...FEE, enableProration: true, type: "RECURRING", recurrenceConfig: EVERY };
  const grantAddOn = async (expiry: Json) => grantCard(await anAddOn(api, "CREDIT_GRANT"), usageMeterId, expiry);
  return {
    supportedCurrencies: ["USD"],
    activeCurrencies: [],
    pricingCycleConfig: MONTHLY,
    usageRateCards: [{ ...SLABS, usageMeterId }],
    fixedFeeRateCards: [
      { ...fee, id: await anAddOn(api, "FIXED_FEE"), invoiceTiming: "IN_ARREARS" },
      { ...fee, id: await anAddOn(api, "FIXED_FEE"), invoiceTiming: "IN_ADVANCE" },
      { ...FEE, id: await anAddOn(api, "FIXED_FEE"), type: "ONE_TIME", recurrenceConfig: { interval: 1, offset: 2 } },
    ],
    licenseRateCards: [
      { ...SLABS, id: await anAddOn(api, "LICENSE"), enableProration: false, config: { maxQuantity: 100 } },
      {
        ...SLABS,
        id: await anAddOn(api, "LICENSE"),
        enableProration: true,
        invoiceTiming: "IN_ADVANCE",
        proratedRefundMode: "CREDITS",
      },
    ],
    billingEntitlementRateCards: [
      {
        ...SLABS,
        featureId,
        featureConfigs: [{ featureCreditLimit: 100, effectiveFrom: "P1D", effectiveUntil: "P1M" }],
        invoiceTiming: "IN_ADVANCE",
        recurrenceConfig: { interval: 2, offset: 1 },
      },
    ],
    minimumCommitment: { displayName: "At least", rateValues: [{ currency: "USD", rate: 100 }] },
    creditGrantRateCards: [
      await grantAddOn({ expiryType: "PRICING_CYCLE" }),
      await grantAddOn({ expiryType: "CUSTOM", expiryDuration: "P1M" }),
    ],
    entitlementOverageRateCards: [
      { ...SLABS, featureId, maxQuantity: 1000, billingConfig: { interval: 1, startOffset: 0 } },
    ],
    rateDetails: { legacy: true },
    entitlementRateCards: [{ legacy: true }],
    type: "BILLING",
  };
});

async function postPlan(api: Api, pricePlanDetails: Json, fields: Json = {}): Promise<ApiAnswer> {
  const body = { name: unique("plan"), type: "BILLING", description: "A plan", pricePlanDetails, ...fields };
  return api.ask("POST /price_plans", { body });
}

/** The answers for those details, as a DRAFT and as ACTIVE. */
export const plans = oncePerServer(async (api): Promise<readonly Json[]> => {
  const { json: draft } = await postPlan(api, await details(api));
  const { json: without } = await postPlan(api, await details(api), { description: null });
  expect(without).not.toHaveProperty("description");
  return [draft, await api.callOk(`POST /price_plans/${without.id}/activate`)];
});

const listDetails = async (api: Api): Promise<readonly Json[]> =>
  (await plans(api)).map(({ pricingSchedule }) => pricingSchedule[0].pricePlanDetails);

const expectFieldKept = async (api: Api, field: string): Promise<void> => {
  const planDetails = await details(api);
  const { json } = await postPlan(api, planDetails);
  expect(json.pricingSchedule[0].pricePlanDetails[field]).toMatchObject(planDetails[field]);
};

const TABLES: readonly Case[] = [
  ...tableCases({
    table: "Price plan",
    component: "PricePlan",
    samples: plans,
    fields: {
      status: {
        says: async (api) => {
          const id = await aPlan(api);
          expect((await api.ask(`PATCH /price_plans/${id}`, { body: { description: "new" } })).status).toBe(400);
        },
      },
    },
  }),
  ...tableCases({
    table: "Schedule entry",
    component: "PricingScheduleEntry",
    samples: async (api) => (await plans(api)).flatMap(({ pricingSchedule }) => pricingSchedule),
  }),
  ...tableCases({
    table: "pricePlanDetails",
    component: "PricePlanDetails",
    samples: listDetails,
    fields: {
      activeCurrencies: {
        says: async (api) => {
          const active = async (activeCurrencies: readonly string[]): Promise<unknown> => {
            const { json } = await postPlan(api, { supportedCurrencies: ["USD", "EUR"], activeCurrencies });
            return json.pricingSchedule[0].pricePlanDetails.activeCurrencies;
          };
          expect([await active([]), await active(["EUR"])]).toEqual([[], ["EUR"]]);
        },
      },
      usageRateCards: { says: async (api) => expectFieldKept(api, "usageRateCards") },
      entitlementOverageRateCards: { says: async (api) => expectFieldKept(api, "entitlementOverageRateCards") },
    },
  }),
  ...tableCases({
    table: "pricingCycleConfig",
    component: "PricingCycleConfig",
    samples: async (api) => (await listDetails(api)).map(({ pricingCycleConfig }) => pricingCycleConfig),
  }),
];

const listType = (row: Row): Type => ({
  kind: "object",
  nullable: false,
  values: [],
  fields: parseFields(row.type.replace(/\.$/, "").replaceAll(") and ", "), ")),
});

function fits(type: Type, values: readonly unknown[]): void {
  expect(values.length).toBeGreaterThan(0);
  expect(values.flatMap((value) => listMismatches(type, value, "it"))).toEqual([]);
  expect(listUnseen(type, values, "it")).toEqual([]);
}

/** Cards of a kind have its fields, and so does the document. */
const kind =
  (list: string) =>
  async (api: Api, row: Row): Promise<void> => {
    const type = withParts(listType(row), list === "fixedFeeRateCards");
    const planDetails = await details(api);
    const { json } = await postPlan(api, planDetails);
    fits(type, json.pricingSchedule[0].pricePlanDetails[list]);
    expect(json.pricingSchedule[0].pricePlanDetails[list]).toMatchObject(planDetails[list]);
    const { items } = api.document.components.schemas.PricePlanDetails.properties[list];
    expect(saidOtherwise(api.document, type, items, list)).toEqual([]);
    // Nullable fields can be sent as null and are returned as null.
    const cards = planDetails[list].map((card: Json) => nullify(type, card));
    const answer = await postPlan(api, { ...planDetails, [list]: cards });
    expect([answer.status, answer.json.message]).toEqual([200, undefined]);
    const { [list]: answerList } = answer.json.pricingSchedule[0].pricePlanDetails;
    expect(answerList.flatMap((card: Json) => listMismatches(type, card, "card"))).toEqual([]);
    expect(answerList).toMatchObject(cards.map((card: Json) => withoutRequestNulls(type, card)));
    // Details are the same when they are sent as they were returned.
    const [{ pricePlanDetails: returned }] = answer.json.pricingSchedule;
    const again = await api.callOk(`PATCH /price_plans/${answer.json.id}`, { pricePlanDetails: returned });
    expect(again.pricingSchedule[0].pricePlanDetails).toEqual(returned);
    // Of grants, only expiryDuration may be null: it has its own row.
    if (list !== "creditGrantRateCards") expect(JSON.stringify(answerList)).toContain("null");
  };

/** A card without the fields that may be null only in a request. */
function withoutRequestNulls({ fields = {} }: Type, card: Json): Json {
  return Object.fromEntries(Object.entries(card).filter(([name]) => fields[name]?.nullInRequests !== true));
}

/** A type whose common parts have their own rows. */
function withParts(type: Type, isFee: boolean): Type {
  const common: Readonly<Record<string, Type>> = {
    ratePlan: listType(rowOf("Common rate card parts / ratePlan")),
    rateValues: parseType(
      rowOf(`Common rate card parts / rateValues for ${isFee ? "fixed-fee" : "slab-priced"} cards`).type.replace(
        /\.$/,
        "",
      ),
    ),
    tag: parseType(rowOf("Common rate card parts / displayName").type.replace(/\.$/, "").split("tag: ")[1] ?? ""),
  };
  const fields = Object.entries(type.fields ?? {}).map(([name, field]) => [name, common[name] ?? field] as const);
  return { ...type, fields: Object.fromEntries(fields) };
}

/** A value with null wherever its type allows it. */
function nullify(type: Type, value: Json): Json {
  if (type.items !== undefined) {
    const { items } = type;
    return value.map((item: Json) => nullify(items, item));
  }
  if (type.fields === undefined || typeof value !== "object") return value;
  const isNull = (field: Type): boolean => field.nullable || field.nullInRequests === true;
  const fields = Object.entries(type.fields).filter(([name, field]) => isNull(field) || value[name] !== undefined);
  return {
    ...value,
    ...Object.fromEntries(fields.map(([name, field]) => [name, isNull(field) ? null : nullify(field, value[name])])),
  };
}

const listParts = async (api: Api, part: string, isSlabPriced: boolean): Promise<readonly Json[]> => {
  const { json } = await postPlan(api, await details(api));
  const { usageRateCards, licenseRateCards, entitlementOverageRateCards, billingEntitlementRateCards, ...rest } =
    json.pricingSchedule[0].pricePlanDetails;
  const slabCards = [usageRateCards, licenseRateCards, entitlementOverageRateCards, billingEntitlementRateCards];
  return (isSlabPriced ? slabCards.flat() : rest.fixedFeeRateCards).map((card: Json) => card[part]);
};

const CARDS: readonly Case[] = [
  ...ruleCases("Common rate card parts", {
    ratePlan: async (api, row) => fits(listType(row), await listParts(api, "ratePlan", true)),
    "rateValues for slab-priced cards": async (api, { type }) =>
      fits(parseType(type.replace(/\.$/, "")), await listParts(api, "rateValues", true)),
    "rateValues for fixed-fee cards": async (api, { type }) =>
      fits(parseType(type.replace(/\.$/, "")), await listParts(api, "rateValues", false)),
    displayName: async (api, { type }) => {
      const [displayName = "", tag = ""] = type.replace(/\.$/, "").split(". tag: ");
      expect(parseType(tag).nullable).toBe(true);
      for (const isSlabPriced of [true, false]) {
        fits(parseType(displayName), await listParts(api, "displayName", isSlabPriced));
        fits(parseType(tag), await listParts(api, "tag", isSlabPriced));
      }
    },
  }),
  ...ruleCases("Rate card kinds", {
    "usage rate card": kind("usageRateCards"),
    "fixed fee rate card": kind("fixedFeeRateCards"),
    "license rate card": kind("licenseRateCards"),
    "billing entitlement rate card": kind("billingEntitlementRateCards"),
    "credit grant rate card": kind("creditGrantRateCards"),
    "entitlement overage rate card": kind("entitlementOverageRateCards"),
  }),
  ...ruleCases("Credit grant", {
    rateDetails: async (api, row) => {
      const [{ creditGrantRateCards: cards }] = await listDetails(api);
      fits(
        listType(row),
        cards.map(({ rateDetails }: Json) => rateDetails),
      );
    },
    grantDetails: async (api, row) => {
      const [{ creditGrantRateCards: cards }] = await listDetails(api);
      fits(
        listType(row),
        cards.map(({ grantDetails }: Json) => grantDetails),
      );
      const planDetails = await details(api);
      const [card] = planDetails.creditGrantRateCards;
      const none = { ...card, grantDetails: { ...card.grantDetails, expiryDuration: null } };
      const { json } = await postPlan(api, { ...planDetails, creditGrantRateCards: [none] });
      const { grantDetails } = json.pricingSchedule[0].pricePlanDetails.creditGrantRateCards[0];
      expect(grantDetails).toEqual({ ...card.grantDetails, expiryDuration: null });
    },
  }),
];

/** Cases of price plans. */
export const PRICE_PLAN_CASES: readonly Case[] = [...TABLES, ...CARDS];
