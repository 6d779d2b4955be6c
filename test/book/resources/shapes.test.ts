/** Every bound of every field: an invalid value, and the single problem that reading reports. */
import { describe, test } from "vitest";

import { expectProblem } from "../break-book.ts";

type Row = readonly [place: string, value: unknown, message: string];

const long = (length: number): string => "x".repeat(length);
const details = "pricePlans[0].pricePlanDetails";
const usage = `${details}.usageRateCards[0]`;
const slab = `${usage}.ratePlan.slabs[0]`;
const rate = `${usage}.rateValues[0].slabRates[0]`;
const grant = `${details}.creditGrantRateCards[0]`;

function testRows(title: string, list: readonly Row[]): void {
  describe(title, () => {
    test.each(list)("%s rejects %j", (place, value, message) => {
      expectProblem([[place, value]], `$.${place}: ${message}`);
    });
  });
}

const ID = "expected an id without spaces, slashes or control characters";

testRows("the book", [
  ["organization", 5, "expected an object, got 5"],
  ["organization.baseCurrency", "usd", 'expected an ISO 4217 currency code such as USD, got "usd"'],
  ["organization.baseCurrency", "XAU", 'expected an ISO 4217 currency code such as USD, got "XAU"'],
  ["organization.rounding", "UP", 'expected "HALF_UP", "HALF_EVEN" or "DOWN", got "UP"'],
  ["organization.id", "", "expected at least 1 character, got 0"],
  ["organization.id", [], "expected a string, got an empty list"],
  ["accounts", { id: "a" }, "expected a list, got an object"],
  ["acounts", [], `unknown field: did you mean "accounts"?`],
  ["customers[0]", "contoso", 'expected an object, got "contoso"'],
  ["customers[0]", null, "expected an object, got null"],
]);

testRows("settings", [
  ["settings[1].id", "a.b", 'expected only letters, digits, _ and -, got "a.b"'],
  ["settings[1].namespace", "a b", 'expected only letters, digits, _ and -, got "a b"'],
  ["settings[0].value", 1000, "expected a string, got 1000"],
  ["settings[0].value", undefined, "missing: expected a string"],
  ["settings[0].dataType", "NUMBER", 'expected "STRING", "NUMERIC", "JSON" or "JSON_LOGIC", got "NUMBER"'],
  ["settings[0].entityType", "GROUP", 'expected "ORGANIZATION", "CUSTOMER" or "ACCOUNT", got "GROUP"'],
]);

testRows("event schemas", [
  ["eventSchemas[2].name", long(51), "expected at most 50 characters, got 51"],
  ["eventSchemas[0].version", 0, "expected at least 1, got 0"],
  ["eventSchemas[0].version", 1.5, "expected a whole number, got 1.5"],
  ["eventSchemas[0].status", "LIVE", 'expected "DRAFT", "ACTIVE", "INACTIVE" or "ARCHIVED", got "LIVE"'],
  ["eventSchemas[0].description", long(256), "expected at most 255 characters, got 256"],
  [
    "eventSchemas[1].dimensions",
    Array.from({ length: 51 }, (_, index) => ({ name: `d${index}` })),
    "expected at most 50 items, got 51",
  ],
  ["eventSchemas[0].dimensions[0].unit", "s", "unknown field"],
  ["eventSchemas[0].enrichments.fields[1].order", -1, "expected 0 or more, got -1"],
  ["eventSchemas[0].enrichments.fields[2].type", "TEXT", 'expected "ATTRIBUTE" or "DIMENSION", got "TEXT"'],
  ["eventSchemas[0].enrichments.fields[2].value", undefined, "missing: expected a rule"],
  ["eventSchemas[0].enrichments.dependencies[0].type", "RULE", 'expected "SETTING", got "RULE"'],
]);

testRows("usage meters", [
  ["usageMeters[1].id", long(21), "expected at most 20 characters, got 21"],
  ["usageMeters[1].id", "a/b", `${ID}, got "a/b"`],
  ["usageMeters[1].id", "a b", `${ID}, got "a b"`],
  ["usageMeters[1].id", "..", `${ID}, got ".."`],
  ["usageMeters[0].name", long(51), "expected at most 50 characters, got 51"],
  ["usageMeters[0].name", "tokens/s", 'expected only letters, digits, spaces, _ and -, got "tokens/s"'],
  ["usageMeters[0].billableName", long(256), "expected at most 255 characters, got 256"],
  ["usageMeters[0].type", "GAUGE", 'expected "COUNTER", got "GAUGE"'],
  [
    "usageMeters[0].aggregation",
    undefined,
    'missing: expected "COUNT", "SUM", "MAX", "MIN", "UNIQUE_COUNT", "LATEST" or "TIME_WEIGHTED"',
  ],
  ["usageMeters[0].computations", [], "expected at least 1 item, got 0"],
]);

testRows("features and add-ons", [
  ["features[1].id", long(51), "expected at most 50 characters, got 51"],
  ["features[0].name", long(256), "expected at most 255 characters, got 256"],
  ["features[1].schemaAssocitions[0]", 5, "expected a string or an object, got 5"],
  ["features[0].schemaAssociations[0].schema", "x", "unknown field"],
  ["addOns[0].type", "FEE", 'expected "LICENSE", "FIXED_FEE" or "CREDIT_GRANT", got "FEE"'],
  ["addOns[0].status", "DRAFT", 'expected "ACTIVE" or "ARCHIVED", got "DRAFT"'],
]);

testRows("price plans", [
  ["pricePlans[0].name", "", "expected at least 1 character, got 0"],
  ["pricePlans[0].type", "PREPAID", 'expected "BILLING", got "PREPAID"'],
  [`${details}.activeCurrencies`, "USD", 'expected a list, got "USD"'],
  [`${details}.pricingCycleConfig.gracePeriod`, 36_501, "expected at most 36500, got 36501"],
  [`${details}.pricingCycleConfig.gracePeriod`, -1, "expected 0 or more, got -1"],
  [
    `${details}.pricingCycleConfig.interval`,
    "DAILY",
    'expected "WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY" or "ANNUALLY", got "DAILY"',
  ],
  [`${usage}.ratePlan.pricingModel`, "GRADUATED", 'expected "TIERED" or "VOLUME", got "GRADUATED"'],
  [`${usage}.ratePlan.slabs`, [], "expected at least 1 item, got 0"],
  [`${slab}.priceType`, "UNIT", 'expected "FLAT", "PER_UNIT" or "PACKAGE", got "UNIT"'],
  [`${slab}.startAfter`, "-1", "expected 0 or more, got -1"],
  [`${slab}.slabConfig.packageSize`, 0, "expected more than 0, got 0"],
  [`${slab}.slabConfig.chargeAtZero`, "yes", 'expected true or false, got "yes"'],
  [`${rate}.rate`, "1,000", 'expected a decimal, got "1,000"'],
  [`${rate}.rate`, undefined, "missing: expected a decimal"],
  [`${rate}.rate`, null, "expected a decimal, got null"],
  [`${rate}.rate`, [1], "expected a decimal, got a list"],
  [`${rate}.rate`, "0x10", 'expected a decimal, got "0x10"'],
  [`${rate}.rate`, " 1", 'expected a decimal, got " 1"'],
  [`${rate}.rate`, Number.NaN, "expected a decimal, got NaN"],
  [`${rate}.rate`, long(70), `expected a decimal, got "${long(60)}…"`],
  [
    `${rate}.rate`,
    2 ** 60,
    "expected a decimal within bounds: the number 1152921504606847000 is above 2^53, so its last digits may be lost; write it as a string",
  ],
  [
    `${rate}.rate`,
    "1e20",
    'expected a decimal within bounds: "1e20" has more than 20 digits before the point or 20 after it',
  ],
  [`${details}.fixedFeeRateCards[0].invoiceTiming`, "NOW", 'expected "IN_ARREARS" or "IN_ADVANCE", got "NOW"'],
  [`${details}.fixedFeeRateCards[0].type`, "ONCE", 'expected "RECURRING" or "ONE_TIME", got "ONCE"'],
  [`${details}.fixedFeeRateCards[0].enableProration`, "yes", 'expected true or false, got "yes"'],
  [`${details}.fixedFeeRateCards[0].recurrenceConfig.interval`, 0, "expected at least 1, got 0"],
  [`${details}.fixedFeeRateCards[0].recurrenceConfig.offset`, 10_001, "expected at most 10000, got 10001"],
  [`${details}.licenseRateCards[0].config.maxQuantity`, -1, "expected 0 or more, got -1"],
  [`${details}.licenseRateCards[0].proratedRefundMode`, "CASH", 'expected "NONE" or "CREDITS", got "CASH"'],
  [`${details}.billingEntitlementRateCards[0].featureConfigs[0].featureCreditLimit`, -5, "expected 0 or more, got -5"],
  [`${details}.entitlementOverageRateCards[0].maxQuantity`, "2.5", "expected a whole number, got 2.5"],
  [`${grant}.grantDetails.priority`, 1.5, "expected a whole number, got 1.5"],
  [`${grant}.grantDetails.expiryType`, "NEVER", 'expected "PRICING_CYCLE", "NO_EXPIRY" or "CUSTOM", got "NEVER"'],
  [`${grant}.rateDetails.currencySlabRateDetails[0].creditAmount`, -5, "expected 0 or more, got -5"],
  [`${details}.minimumCommitment.rateValues`, [], "expected at least 1 item, got 0"],
  [`${details}.rateDetails`, 5, "expected an object, got 5"],
]);

testRows("customers and accounts", [
  ["customers[0].primaryEmail", "nobody", 'expected an e-mail address, got "nobody"'],
  ["accounts[0].name", "ab", "expected at least 3 characters, got 2"],
  ["accounts[1].id", long(51), "expected at most 50 characters, got 51"],
  ["accounts[0].name", long(256), "expected at most 255 characters, got 256"],
  ["accounts[0].invoiceCurrency", "EURO", 'expected an ISO 4217 currency code such as USD, got "EURO"'],
  ["accounts[0].aliases[0]", "c1", "expected at least 3 characters, got 2"],
  ["accounts[0].aliases[0]", 5, "expected a string or an object, got 5"],
  ["accounts[0].aliases", Array.from({ length: 11 }, (_, n) => `a-${n}`), "expected at most 10 items, got 11"],
  ["accounts[0].netTermDays", 1.5, "expected a whole number, got 1.5"],
  ["accounts[0].metadata", [], "expected an object, got an empty list"],
  ["accounts[0].pricePlans[0].effectiveFrom", undefined, "missing: expected a date"],
  ["accounts[0].pricePlans[0].effectiveFrom", 1_698_796_800_000, "expected a date, got 1698796800000"],
  ["accounts[0].pricePlans[0].version", 0, "expected at least 1, got 0"],
  ["accounts[0].licenseUpdates[0].updateType", "SET", 'expected "ABSOLUTE" or "RELATIVE", got "SET"'],
  ["accounts[0].credits[0].creditAmount", -1, "expected 0 or more, got -1"],
  ["accounts[0].credits[0].purpose", undefined, "missing: expected a string"],
  ["accounts[0].featureCredits[0].granted", -1, "expected 0 or more, got -1"],
  ["invoiceGroups[0].gracePeriod", "3", 'expected a number, got "3"'],
  // A field that could not be read is not reported as missing too.
  ["pricePlans[0].pricePlanDetails.pricingCycleConfig.startOffset.dayOffset", 1, "expected a string, got 1"],
]);

test("S7.3 an invalid package size is not reported as missing too", () => {
  expectProblem(
    [
      [`${slab}.priceType`, "PACKAGE"],
      [`${slab}.slabConfig`, { packageSize: 0 }],
    ],
    `$.${slab}.slabConfig.packageSize: expected more than 0, got 0`,
  );
});
