import { describe, expect, test } from "vitest";

import { preview, readBook } from "../../src/index.ts";
import { MONTHLY, perUnit } from "../book/builder.ts";
import { flattenLines } from "../support/invoice-lines.ts";

describe("the name of a card's line", () => {
  test("S13.2 is that of the item that the card charges for, if a meter, a feature and an add-on share an id", () => {
    const book = readBook({
      eventSchemas: [{ name: "call", attributes: [{ name: "n" }] }],
      usageMeters: [
        {
          id: "tokens",
          name: "the meter",
          aggregation: "SUM",
          eventSchemaName: "call",
          computations: [{ order: 1, computation: { var: "attribute.n" } }],
        },
      ],
      features: [{ id: "tokens", name: "the feature" }],
      addOns: [{ id: "tokens", name: "the add-on", type: "FIXED_FEE" }],
      pricePlans: [
        {
          id: "plan",
          name: "Plan",
          pricePlanDetails: {
            ...MONTHLY,
            usageRateCards: [{ usageMeterId: "tokens", ...perUnit(1) }],
            fixedFeeRateCards: [{ id: "tokens", rateValues: [{ currency: "USD", rate: 5 }] }],
            billingEntitlementRateCards: [
              {
                featureId: "tokens",
                featureConfigs: [{ featureCreditLimit: 7, effectiveUntil: "P1M" }],
                ...perUnit(1),
              },
            ],
          },
        },
      ],
      customers: [{ id: "ann", name: "Ann" }],
      accounts: [
        {
          id: "acc",
          name: "Account",
          customerId: "ann",
          pricePlans: [{ pricePlanId: "plan", effectiveFrom: "2024-06-01" }],
        },
      ],
    });
    const event = {
      schemaName: "call",
      id: "e1",
      accountId: "acc",
      timestamp: "2024-06-05T00:00:00Z",
      attributes: [{ name: "n", value: 3 }],
    };
    const { invoices } = preview(book, [event]);
    const lineNames = invoices.flatMap(({ revenueInfo }) =>
      flattenLines(revenueInfo).flatMap(({ line }) =>
        line.type.endsWith("_RATE_CARD_AMOUNT") ? [[line.type, line.description]] : [],
      ),
    );
    expect(lineNames).toEqual([
      ["USAGE_RATE_CARD_AMOUNT", "the meter"],
      ["FIXED_FEE_RATE_CARD_AMOUNT", "the add-on"],
      ["BILLING_ENTITLEMENT_RATE_CARD_AMOUNT", "the feature"],
    ]);
  });
});
