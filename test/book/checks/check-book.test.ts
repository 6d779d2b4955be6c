/** Every check across a book: the sample book with changes, and its single problem. */
import { expect, test } from "vitest";

import { foundIn, testProblems } from "../break-book.ts";
import { MONTHLY, perUnit } from "../builder.ts";

const details = "pricePlans[0].pricePlanDetails";
const usage = `${details}.usageRateCards[0]`;
const slabs = `${usage}.ratePlan.slabs`;
const rates = `${usage}.rateValues[0].slabRates`;
const grant = `${details}.creditGrantRateCards[0]`;
const fields = "eventSchemas[0].enrichments.fields";
const steps = "usageMeters[0].computations";
const plans = "accounts[0].pricePlans";

/** The fields of an object, to write among others. */
const fieldsOf = (value: object): string => JSON.stringify(value).slice(1, -1);
const monthly = fieldsOf(MONTHLY);
const priced = fieldsOf(perUnit(1));
const first = `order: 1, startAfter: 0, priceType: "PER_UNIT"`;
const update = `licenseId: "Seats", effectiveFrom: "2023-12-01", updateType: "RELATIVE"`;
const deepJson = JSON.stringify(`${'{"a":'.repeat(100_000)}{${'"b":1,'.repeat(1000)}"b":1}${"}".repeat(100_000)}`);

testProblems(
  "ids and names",
  `
    usageMeters[2] = { id: "um.context", name: "x", aggregation: "COUNT", eventSchemaName: "login", computations: [{ order: 1 }] }
      .id: the id is already used by $.usageMeters[0]
    usageMeters[1].name = "context tokens"
      the name is already used by $.usageMeters[0]
    features[1].name = "Tokens"
      the name is already used by $.features[0]
    addOns[3] = { id: "addon.seats", name: "Other", type: "LICENSE" }
      .id: the id is already used by $.addOns[1]
    addOns[1].name = "Platform fee"
      the name is already used by $.addOns[0]
    customers[1] = { id: "contoso", name: "Other" }
      .id: the id is already used by $.customers[0]
    accounts[2] = { id: "contoso-test", name: "Other", customerId: "contoso" }
      .id: the id is already used by $.accounts[1]
    invoiceGroups[1] = { id: "group-1" }
      .id: the id is already used by $.invoiceGroups[0]
    pricePlans[1] = { id: "pp.main", name: "The pp.main", pricePlanDetails: { ${monthly} } }
      .version: the version is already used by $.pricePlans[0]
    pricePlans[1] = { id: "pp.other", name: "Main", pricePlanDetails: { ${monthly} } }
      S16.4 .name: the name is already used by the price plan "pp.main"
    eventSchemas[3] = { name: "login", status: "ARCHIVED" }
      .version: the version is already used by $.eventSchemas[1]
    eventSchemas[3] = { name: "heartbeat", version: 2 }
      S4.4 .status: only one version of an event schema can be active; $.eventSchemas[2] already is
    settings[2] = { id: "PER_UNIT", namespace: "USER", value: "5" }
      S4.2 .id: the id in this namespace and level is already used by $.settings[0]
  `,
);

testProblems(
  "references",
  `
    ${usage}.usageMeterId = "um.other"
      expected the id or name of a usage meter, got "um.other"
    ${details}.fixedFeeRateCards[0].id = "addon.x"
      expected the id or name of an add-on, got "addon.x"
    ${details}.entitlementOverageRateCards[0].featureId = "__proto__"
      expected the id or name of a feature, got "__proto__"
    ${grant}.grantDetails.applicableEntityIds[0] = "ALL"
      S12.2 expected the id or name of a usage meter or add-on or feature, got "ALL"
    accounts[0].customerId = "fabrikam"
      expected the id or name of a customer, got "fabrikam"
    ${plans}[0].pricePlanId = "pp.none"
      expected the id or name of a price plan, got "pp.none"
    ${plans}[0].version = 2
      the price plan "pp.main" has no version 2
    accounts[0].licenseUpdates[0].licenseId = "addon.x"
      expected the id or name of an add-on, got "addon.x"
    accounts[0].featureCredits[0].featureId = "x"
      expected the id or name of a feature, got "x"
    accounts[0].credits[0].applicableEntityIds = ["x"]
      [0]: expected the id or name of a usage meter or add-on or feature, got "x"
    invoiceGroups[0].accountIds[1] = "nobody"
      expected the id or name of an account, got "nobody"
    usageMeters[1].eventSchemaName = "logout"
      expected the name of an event schema, got "logout"
    features[1].schemaAssocitions[0] = "logout"
      expected the name of an event schema, got "logout"
    settings[1].entityType = "CUSTOMER"
    settings[1].entityId = "x"
      expected the id or name of a customer, got "x"
    settings[1].entityType = "ACCOUNT"
      $.settings[1].entityId: missing: expected the id or name of an account
    usageMeters[1].groupBy = ["service", "regoin"]
      [1]: expected the id or name of a dimension of the event schema "llm_request", got "regoin": did you mean "region"?
    usageMeters[1].groupBy = ["service", "region", "service"]
      [2]: the dimension is already used by $.usageMeters[1].groupBy[0]
    settings[1].entityId = "other"
      expected "acme", the organization's id, got "other"
    accounts[2] = { id: "third", name: "Contoso test", customerId: "contoso" }
      $.invoiceGroups[0].accountIds[1]: the name "Contoso test" belongs to "contoso-test" and "third": use one of these
    eventSchemas[0].enrichments.dependencies[0].key = "setting.user.none"
      S4.2 expected the key or id of a setting, got "setting.user.none"
    settings[2] = { id: "per_unit", namespace: "other", value: "1" }
    eventSchemas[0].enrichments.dependencies[0].key = "per_unit"
      S4.2 the name "per_unit" belongs to "setting.user.per_unit" and "setting.other.per_unit": use one of these
  `,
);

testProblems(
  "event schemas and settings",
  `
    eventSchemas[0].attributes[2] = { name: "context_tokens" }
      S14.1 .name: the name is already used by $.eventSchemas[0].attributes[0]
    eventSchemas[0].dimensions[1] = { name: "service" }
      .name: the name is already used by $.eventSchemas[0].dimensions[0]
    eventSchemas[0].enrichments.dependencies[1] = { key: "greeting", name: "per_unit" }
      .name: the name is already used by $.eventSchemas[0].enrichments.dependencies[0]
    ${fields}[2].order = 2
      S4.3 the order is already used by $.${fields}[1]
    ${fields}[2].name = "doubled"
      S4.3 the name is already used by $.${fields}[1]
    ${fields}[2].name = "service"
      S4.3 the name is already used by a declared field
    ${fields}[1].order = 0
      S4.3 $.${fields}[1].value: the rule of "doubled" uses "kilotokens", which is computed after it: expected an order above 1
    ${fields}[1].value = { "+": [{ var: "attribute.doubled" }, 1] }
      S4.3 the rule of "doubled" uses its own result
    ${fields}[0].value = { "+": [{ var: "attribute.doubled" }, 1] }
      S4.3 the rules of "kilotokens" and "doubled" depend on each other
    ${fields}[1].value = { "*": [{ var: "attribute.tokens" }, 2] }
      S3.6 in the rule at *[0]: the event schema has no "attribute.tokens"
    ${fields}[1].value = "{"
      S3.6 "{" is not a JSON logic rule: not JSON: the text ends early
    ${fields}[2].type = "ATTRIBUTE"
      S4.3 $.${fields}[2].value: expected a decimal, got "eu"
    ${fields}[2].value = true
      S4.3 expected a string or a decimal, got true
    ${fields}[2].enrichmentType = "JSON_LOGIC_FROM_DEPENDENCY"
      S4.3 $.${fields}[2].value: expected the name of a dependency, got "eu"
    ${fields}[2] = { name: "x", type: "ATTRIBUTE", enrichmentType: "JSON_LOGIC_FROM_DEPENDENCY", value: "per_unit", order: 3 }
    settings[0] = { id: "per_unit" }
    settings[0].value = '{"var":"attribute.x"}'
      S4.3 in the rule of "x" in "llm_request": the event schema has no "attribute.x"
    settings[0].value = "1 000"
      S4.2 expected a decimal, because the dataType is NUMERIC, got "1 000"
    settings[1].dataType = "JSON"
      S4.2 $.settings[1].value: expected JSON, because the dataType is JSON, got "hello"
    settings[1].dataType = "JSON"
    settings[1].value = '{"small": {"rate": 1, "rate": 2}}'
      S4.2 in $.small.rate: the key is repeated at line 1, column 23
    settings[1].dataType = "JSON"
    settings[1].value = ${deepJson}
      S4.2 nested more than 200 levels deep at line 1, column 1001
    settings[1].dataType = "JSON_LOGIC"
    settings[1].value = '{"foo":1}'
      S3.6 in the rule: unknown operator "foo"
  `,
);

testProblems(
  "usage meters and features",
  `
    eventSchemas[0].status = "INACTIVE"
    usageMeters[1].status = "DRAFT"
      S5.1 $.usageMeters[0].eventSchemaName: the event schema "llm_request" is inactive; it must be active because the usage meter is active
    ${steps}[1] = { order: 1, computation: 1 }
      S5.1 .order: the order is already used by $.${steps}[0]
    ${steps}[0].computation = undefined
      S5.2 missing: expected a rule, because the aggregation is SUM
    ${steps}[0].computation = { var: "attribute.nothing" }
      S3.6 in the rule: the event schema has no "attribute.nothing"
    ${steps}[0].matcher = '{"equals":[1,1]}'
      S3.6 in the rule: unknown operator "equals"
    ${steps}[0].matcher = { method: ["a", "b"] }
      S3.5 in the rule: the operator "method" is not supported, because it could call any function
    features[1].schemaAssocitions = [{ schemaName: "llm_request", attributeName: "context_tokens" }]
      S11.2 [0]: the event schema is already used by the feature "feature.tokens"
    features[0].schemaAssociations[0].attributeName = "service"
      S11.2 $.features[0].schemaAssociations[0]: expected the name of an attribute of the event schema "llm_request", got "service"
    eventSchemas[0].featureDetails = { featureId: "feature.tokens", attributeName: "context_tokens" }
      S11.2 $.features[0].schemaAssociations[0]: expected "context_tokens", the attribute in featureDetails, got "generated_tokens"
    features[1].schemaAssociations = ["login"]
      $.features[1].schemaAssocitions: expected schemaAssociations or schemaAssocitions, got both
  `,
);

testProblems(
  "cards",
  `
    ${details}.usageRateCards[1] = { usageMeterId: "context tokens", ${priced} }
      S16.4 .usageMeterId: the usageMeterId is already used by $.${usage}
    ${details}.fixedFeeRateCards[1] = { id: "addon.platform", rateValues: [{ currency: "USD", rate: 1 }] }
      S16.4 .id: the id is already used by $.${details}.fixedFeeRateCards[0]
    ${details}.entitlementOverageRateCards[1] = { featureId: "Tokens", ${priced} }
      S16.4 .featureId: the featureId is already used by $.${details}.entitlementOverageRateCards[0]
    ${details}.fixedFeeRateCards[0].id = "addon.seats"
      expected an add-on of type FIXED_FEE, but "addon.seats" has type LICENSE
    ${details}.licenseRateCards[0].id = "addon.grant"
      expected an add-on of type LICENSE, but "addon.grant" has type CREDIT_GRANT
    ${grant}.id = "addon.platform"
      expected an add-on of type CREDIT_GRANT, but "addon.platform" has type FIXED_FEE
    addOns[0].status = "ARCHIVED"
      $.${details}.fixedFeeRateCards[0].id: the add-on "addon.platform" is archived; it must be active because the price plan is active or associated with an account
    usageMeters[0].status = "DRAFT"
      S5.4 $.${usage}.usageMeterId: the usage meter "um.context" is a draft; it must be active because the price plan is active or associated with an account
    usageMeters[0].status = "INACTIVE"
    pricePlans[0].status = "DRAFT"
      S5.4 $.${usage}.usageMeterId: the usage meter "um.context" is inactive; it must be active because the price plan is active or associated with an account
    ${grant}.grantDetails.expiryType = "CUSTOM"
      S12.6 $.${grant}.grantDetails.expiryDuration: missing: expected an ISO 8601 duration, because the expiryType is CUSTOM
    ${grant}.grantDetails.expiryDuration = "PT0S"
      S12.6 expected a duration above 0, got "PT0S"
    ${details}.billingEntitlementRateCards[0].featureConfigs[0].effectiveFrom = "P28D"
      S11.1 $.${details}.billingEntitlementRateCards[0].featureConfigs[0].effectiveUntil: expected a duration above P28D, the effectiveFrom, in every month, got "P1M"
    ${details}.billingEntitlementRateCards[0].featureConfigs[0].effectiveFrom = "-P1D"
      S11.1 expected a duration of 0 or more, got "-P1D"
    ${details}.minimumCommitment.rateValues[0].rate = -1
      S13.3 expected 0 or more, got -1
    ${details}.pricingCycleConfig.startOffset.dayOffset = "32"
      S6.1 expected "1" to "31" or LAST with the interval MONTHLY, got "32"
    ${details}.pricingCycleConfig.interval = "QUARTERLY"
    ${details}.pricingCycleConfig.startOffset.monthOffset = "4"
      S6.1 expected "1" to "3", FIRST or LAST with the interval QUARTERLY, got "4"
    ${details}.pricingCycleConfig.startOffset = undefined
      S6.1 missing: add it, or set anniversaryCycle to true
  `,
);

testProblems(
  "slabs and rates",
  `
    ${slabs}[0].startAfter = 5
      S7.1 expected 0, the start of the first slab, got 5
    ${slabs} = [{ ${first} }, { order: 2, startAfter: 10, priceType: "PER_UNIT" }, { order: 3, startAfter: 10, priceType: "PER_UNIT" }]
    ${rates} = [{ order: 1, rate: 1 }, { order: 2, rate: 1 }, { order: 3, rate: 1 }]
      S7.1 $.${slabs}[2].startAfter: expected more than 10, the start of the previous slab, got 10
    ${slabs}[0].order = 2
    ${rates}[0].order = 2
      S7.1 $.${slabs}[0].order: expected 1, got 2
    ${slabs} = [{ ${first}, endAt: 9 }, { order: 2, startAfter: 10, priceType: "PER_UNIT" }]
    ${rates}[1] = { order: 2, rate: 1 }
      S7.1 $.${slabs}[0].endAt: expected 10, the start of the next slab, got 9
    ${slabs}[0].endAt = 10
      S7.1 expected null, because the last slab has no end, got 10
    ${slabs}[0].priceType = "PACKAGE"
      S7.3 $.${slabs}[0].slabConfig.packageSize: missing: expected a decimal above 0, because the priceType is PACKAGE
    ${slabs} = [{ ${first} }, { order: 2, startAfter: 10, priceType: "PER_UNIT", slabConfig: { chargeAtZero: "true" } }]
    ${rates}[1] = { order: 2, rate: 1 }
      S7.5 $.${slabs}[1].slabConfig.chargeAtZero: expected false, because only the first slab can be charged at zero, got true
    ${slabs} = [{ ${first} }, { order: 2, startAfter: 10, priceType: "PER_UNIT" }]
      S7.1 $.${rates}: missing rate of slab 2
    ${rates}[1] = { order: 2, rate: 1 }
      S7.1 .order: expected 1, the order of the only slab, got 2
    ${rates}[1] = { order: 1, rate: 2 }
      S7.1 .order: the order is already used by $.${rates}[0]
    ${rates}[0].slabRateConfig = { minimumRate: 2, maximumRate: "1.5" }
      S7.4 .minimumRate: expected at most 1.5, the maximumRate, got 2
    ${usage}.rateValues[0].rateConfig = { minimumRate: 2, maximumRate: 1 }
      S7.4 .minimumRate: expected at most 1, the maximumRate, got 2
    ${grant}.rateDetails.currencySlabRateDetails[0].slabDetails[0].startAfter = 1
      S12.6 expected 0, the start of the first slab, got 1
    ${grant}.rateDetails.currencySlabRateDetails[0].slabDetails[0].slabRateConfig = { minimumRate: 2, maximumRate: 1 }
      S12.6 .minimumRate: expected at most 1, the maximumRate, got 2
    ${usage}.rateValues[1] = { currency: "USD", slabRates: [{ order: 1, rate: 1 }] }
      S7.7 .currency: the currency is already used by $.${usage}.rateValues[0]
    ${details}.supportedCurrencies[1] = "USD"
      the currency is already used by $.${details}.supportedCurrencies[0]
  `,
);

test("S7.7 every card has rates in every supported currency", () => {
  expect(foundIn([`${details}.supportedCurrencies`, ["USD", "EUR", "JPY"]])).toEqual(
    [
      "usageRateCards[0].rateValues",
      "fixedFeeRateCards[0].rateValues",
      "licenseRateCards[0].rateValues",
      "billingEntitlementRateCards[0].rateValues",
      "creditGrantRateCards[0].rateDetails.currencySlabRateDetails",
      "entitlementOverageRateCards[0].rateValues",
      "minimumCommitment.rateValues",
    ].map((place) => `$.${details}.${place}: missing rates in "EUR" and "JPY"`),
  );
});

testProblems(
  "associations",
  `
    accounts[0].invoiceCurrency = "EUR"
    invoiceGroups = []
      S7.7 $.${plans}[0].pricePlanId: version 1 of "pp.main" cannot be associated: it supports "USD", not "EUR", the account's invoiceCurrency
    pricePlans[1] = { id: "pp.x", name: "The pp.x", pricePlanDetails: { supportedCurrencies: ["USD"] } }
    ${plans}[0].pricePlanId = "pp.x"
      S16.1 version 1 of "pp.x" cannot be associated: it has no pricingCycleConfig
    pricePlans[1] = { id: "pp.x", name: "The pp.x", pricePlanDetails: { supportedCurrencies: [], pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1", monthOffset: "NIL" } } } }
    ${plans}[0].pricePlanId = "pp.x"
      S16.1 version 1 of "pp.x" cannot be associated: it has no supportedCurrencies
    pricePlans[0].status = "ARCHIVED"
      $.${plans}[0].pricePlanId: the price plan "pp.main" has no active or draft version
    ${plans}[0].effectiveUntil = "2023-11-01"
      S2.1 expected a date after the effectiveFrom, 2023-11-01, got 2023-11-01
    ${plans}[1] = { pricePlanId: "pp.main", effectiveFrom: "2024-01-01", decidedAt: "2024-01-02T10:00:00Z" }
      S16.1 .effectiveFrom: expected the decidedAt, 2024-01-02, or later, got 2024-01-01; only the first association can be backdated
    ${plans}[0].decidedAt = "2024-01-05"
    ${plans}[1] = { pricePlanId: "pp.main", effectiveFrom: "2024-03-01", decidedAt: "2024-01-02" }
      S16.1 .decidedAt: associations must be sorted by decidedAt, but 2024-01-02T00:00:00.000Z is before 2024-01-05T00:00:00.000Z of pricePlans[0]
    ${plans}[0] = { pricePlanId: "pp.main", effectiveFrom: "2024-06-15", decidedAt: "2024-06-15" }
    ${plans}[1] = { pricePlanId: "pp.main", effectiveFrom: "2024-06-20", decidedAt: "2024-06-01T12:00:00Z" }
      S9.2 .decidedAt: associations must be sorted by decidedAt, but 2024-06-01T12:00:00.000Z is before 2024-06-15T00:00:00.000Z of pricePlans[0]
    ${plans}[0].pricePlanDetailsOverride = { usageRateCards: [{ usageMeterId: "um.requests", ratePlan: { pricingModel: "VOLUME", slabs: [{ order: 1, startAfter: 3, priceType: "PER_UNIT" }] }, rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: 1 }] }] }] }
      S16.2 .usageRateCards[0].ratePlan.slabs[0].startAfter: expected 0, the start of the first slab, got 3
    ${plans}[0].pricePlanDetailsOverride = { usageRateCards: [{ usageMeterId: "um.requests", ratePlan: { pricingModel: "TIERED", slabs: [{ ${first} }] }, rateValues: [{ currency: "EUR", slabRates: [{ order: 1, rate: 1 }] }] }] }
      S7.7 .usageRateCards[0].rateValues: missing rates in "USD"
    ${plans}[0].pricePlanDetailsOverride = { usageRateCards: [{ usageMeterId: "um.x", ${priced} }] }
      .usageRateCards[0].usageMeterId: expected the id or name of a usage meter, got "um.x"
    ${plans}[0].retainStartOffsets = true
      no price plan is in force on 2023-11-01 whose offsets can be retained
    pricePlans[1] = { id: "pp.x", name: "The pp.x", pricePlanDetails: { supportedCurrencies: ["USD"], pricingCycleConfig: { interval: "WEEKLY", startOffset: { dayOffset: "1" } } } }
    ${plans}[1] = { pricePlanId: "pp.x", effectiveFrom: "2024-01-01", retainStartOffsets: true }
      .retainStartOffsets: offsets can only be retained if the interval stays the same; it changes from MONTHLY to WEEKLY
  `,
);

testProblems(
  "what accounts hold",
  `
    accounts[0].licenseUpdates[1] = { ${update}, quantity: -11 }
      S10.1 .quantity: expected 0 to 100 licenses, got -1
    accounts[0].licenseUpdates[1] = { ${update}, quantity: 91 }
      S10.1 .quantity: expected 0 to 100 licenses, got 101
    accounts[0].licenseUpdates = [{ ${update}, quantity: -1 }, { licenseId: "Seats", effectiveFrom: "2023-12-02", updateType: "RELATIVE", quantity: 5 }]
      S10.1 [0].quantity: expected 0 to 100 licenses, got -1
    accounts[1].licenseUpdates = [{ ${update}, quantity: 500 }, { ${update}, quantity: -501 }]
      S10.1 [1].quantity: expected at least 0 licenses, got -1
    accounts[0].licenseUpdates[0].idempotencyKey = "k"
    accounts[0].licenseUpdates[1] = { ${update}, quantity: 1, idempotencyKey: "k" }
      S10.1 .idempotencyKey: the idempotencyKey is already used by $.accounts[0].licenseUpdates[0]
    accounts[0].licenseUpdates[0].licenseId = "addon.grant"
      expected an add-on of type LICENSE, but "addon.grant" has type CREDIT_GRANT
    accounts[0].credits[0].effectiveUntil = "2023-10-01"
      expected a date after the effectiveFrom, 2023-11-01T00:00:00.000Z, got 2023-10-01T00:00:00.000Z
    accounts[0].featureCredits[0].effectiveUntil = "2023-11-01"
      expected a date after the effectiveFrom, 2023-11-01T00:00:00.000Z, got 2023-11-01T00:00:00.000Z
    accounts[1].credits = [{ id: "contoso-prod.credit.1", purpose: "", creditAmount: 1, effectiveFrom: "2024-01-01" }]
      [0].id: the id is already used by $.accounts[0].credits[0]
    accounts[1].aliases = ["c-2"]
      S16.6 [0]: the alias is already used by the account "contoso-prod"
    accounts[0].aliases[0] = "contoso-test"
      S16.6 the alias "contoso-test" is the id of an account; choose another alias
    accounts[1].invoiceCurrency = "EUR"
      S16.7 $.invoiceGroups[0].accountIds[1]: the account "contoso-test" uses EUR, but its group uses USD
    invoiceGroups[0] = { id: "g", invoiceCurrency: "EUR", accountIds: ["contoso-test"] }
      S16.7 .accountIds[0]: the account "contoso-test" uses USD, but its group uses EUR
    invoiceGroups[1] = { id: "g", accountIds: ["contoso-test"] }
      S16.7 .accountIds[0]: the account "contoso-test" is already in another group: $.invoiceGroups[0].accountIds[1]
  `,
);
