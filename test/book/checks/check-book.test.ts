/** Every check across a book: the sample book with one change, and its single problem. */
import { describe, expect, test } from "vitest";

import { type Change, expectProblem, foundIn } from "../break-book.ts";
import { MONTHLY } from "../builder.ts";

type Row = readonly [title: string, changes: readonly Change[], problem: string];

function testRows(title: string, list: readonly Row[]): void {
  describe(title, () => {
    test.each(list)("%s", (_, changes, problem) => {
      expectProblem(changes, problem);
    });
  });
}

const details = "pricePlans[0].pricePlanDetails";
const usage = `${details}.usageRateCards[0]`;
const slabs = `${usage}.ratePlan.slabs`;
const rates = `${usage}.rateValues[0].slabRates`;
const grant = `${details}.creditGrantRateCards[0]`;
const fields = "eventSchemas[0].enrichments.fields";
const steps = "usageMeters[0].computations";
const plans = "accounts[0].pricePlans";

const slab = (order: number, startAfter: number, more: object = {}) => ({
  order,
  startAfter,
  priceType: "PER_UNIT",
  ...more,
});
const perUnit = (currency: string) => ({
  ratePlan: { pricingModel: "TIERED", slabs: [slab(1, 0)] },
  rateValues: [{ currency, slabRates: [{ order: 1, rate: 1 }] }],
});
const planNamed = (id: string, more: object = {}, terms: object = {}) => ({
  id,
  name: `The ${id}`,
  pricePlanDetails: {
    ...MONTHLY,
    ...terms,
  },
  ...more,
});

testRows("ids and names", [
  [
    "an id is one meter's own",
    [
      [
        "usageMeters[2]",
        { id: "um.context", name: "x", aggregation: "COUNT", eventSchemaName: "login", computations: [{ order: 1 }] },
      ],
    ],
    "$.usageMeters[2].id: the id is already used by $.usageMeters[0]",
  ],
  [
    "a name is one unarchived meter's own",
    [["usageMeters[1].name", "context tokens"]],
    "$.usageMeters[1].name: the name is already used by $.usageMeters[0]",
  ],
  [
    "a name is one feature's own",
    [["features[1].name", "Tokens"]],
    "$.features[1].name: the name is already used by $.features[0]",
  ],
  [
    "an id is one add-on's own",
    [["addOns[3]", { id: "addon.seats", name: "Other", type: "LICENSE" }]],
    "$.addOns[3].id: the id is already used by $.addOns[1]",
  ],
  [
    "a name is one unarchived add-on's own",
    [["addOns[1].name", "Platform fee"]],
    "$.addOns[1].name: the name is already used by $.addOns[0]",
  ],
  [
    "an id is one customer's own",
    [["customers[1]", { id: "contoso", name: "Other" }]],
    "$.customers[1].id: the id is already used by $.customers[0]",
  ],
  [
    "an id is one account's own",
    [["accounts[2]", { id: "contoso-test", name: "Other", customerId: "contoso" }]],
    "$.accounts[2].id: the id is already used by $.accounts[1]",
  ],
  [
    "an id is one group's own",
    [["invoiceGroups[1]", { id: "group-1" }]],
    "$.invoiceGroups[1].id: the id is already used by $.invoiceGroups[0]",
  ],
  [
    "a version is one of its plan's own",
    [["pricePlans[1]", planNamed("pp.main")]],
    "$.pricePlans[1].version: the version is already used by $.pricePlans[0]",
  ],
  [
    "S16.4 a name is one plan's own",
    [["pricePlans[1]", planNamed("pp.other", { name: "Main" })]],
    '$.pricePlans[1].name: the name is already used by the price plan "pp.main"',
  ],
  [
    "a version is one of its event schema's own",
    [["eventSchemas[3]", { name: "login", status: "ARCHIVED" }]],
    "$.eventSchemas[3].version: the version is already used by $.eventSchemas[1]",
  ],
  [
    "S4.4 one version of an event schema is ACTIVE",
    [["eventSchemas[3]", { name: "heartbeat", version: 2 }]],
    "$.eventSchemas[3].status: only one version of an event schema can be active; $.eventSchemas[2] already is",
  ],
  [
    "S4.2 a key is one setting's own in its level",
    [["settings[2]", { id: "PER_UNIT", namespace: "USER", value: "5" }]],
    "$.settings[2].id: the id in this namespace and level is already used by $.settings[0]",
  ],
]);

testRows("references", [
  [
    "a card names a known meter",
    [[`${usage}.usageMeterId`, "um.other"]],
    `$.${usage}.usageMeterId: expected the id or name of a usage meter, got "um.other"`,
  ],
  [
    "a card names a known add-on",
    [[`${details}.fixedFeeRateCards[0].id`, "addon.x"]],
    `$.${details}.fixedFeeRateCards[0].id: expected the id or name of an add-on, got "addon.x"`,
  ],
  [
    "a card names a known feature",
    [[`${details}.entitlementOverageRateCards[0].featureId`, "__proto__"]],
    `$.${details}.entitlementOverageRateCards[0].featureId: expected the id or name of a feature, got "__proto__"`,
  ],
  [
    "S12.2 a grant pays for known items",
    [[`${grant}.grantDetails.applicableEntityIds[0]`, "ALL"]],
    `$.${grant}.grantDetails.applicableEntityIds[0]: expected the id or name of a usage meter or add-on or feature, got "ALL"`,
  ],
  [
    "an account has a known customer",
    [["accounts[0].customerId", "fabrikam"]],
    '$.accounts[0].customerId: expected the id or name of a customer, got "fabrikam"',
  ],
  [
    "an association names a known plan",
    [[`${plans}[0].pricePlanId`, "pp.none"]],
    `$.${plans}[0].pricePlanId: expected the id or name of a price plan, got "pp.none"`,
  ],
  [
    "an association names a known version",
    [[`${plans}[0].version`, 2]],
    `$.${plans}[0].version: the price plan "pp.main" has no version 2`,
  ],
  [
    "a license is a known add-on",
    [["accounts[0].licenseUpdates[0].licenseId", "addon.x"]],
    '$.accounts[0].licenseUpdates[0].licenseId: expected the id or name of an add-on, got "addon.x"',
  ],
  [
    "a feature credit has a known feature",
    [["accounts[0].featureCredits[0].featureId", "x"]],
    '$.accounts[0].featureCredits[0].featureId: expected the id or name of a feature, got "x"',
  ],
  [
    "a credit pays for known items",
    [["accounts[0].credits[0].applicableEntityIds", ["x"]]],
    '$.accounts[0].credits[0].applicableEntityIds[0]: expected the id or name of a usage meter or add-on or feature, got "x"',
  ],
  [
    "a group has known accounts",
    [["invoiceGroups[0].accountIds[1]", "nobody"]],
    '$.invoiceGroups[0].accountIds[1]: expected the id or name of an account, got "nobody"',
  ],
  [
    "a meter groups by dimensions of its schema",
    [["usageMeters[1].groupBy", ["service", "regoin"]]],
    '$.usageMeters[1].groupBy[1]: expected the id or name of a dimension of the event schema "llm_request", got "regoin": did you mean "region"?',
  ],
  [
    "a meter groups by different dimensions",
    [["usageMeters[1].groupBy", ["service", "region", "service"]]],
    "$.usageMeters[1].groupBy[2]: the dimension is already used by $.usageMeters[1].groupBy[0]",
  ],
  [
    "a meter has a known event schema",
    [["usageMeters[1].eventSchemaName", "logout"]],
    '$.usageMeters[1].eventSchemaName: expected the name of an event schema, got "logout"',
  ],
  [
    "a feature has a known event schema",
    [["features[1].schemaAssocitions[0]", "logout"]],
    '$.features[1].schemaAssocitions[0]: expected the name of an event schema, got "logout"',
  ],
  [
    "a customer's setting has a known customer",
    [
      ["settings[1].entityType", "CUSTOMER"],
      ["settings[1].entityId", "x"],
    ],
    '$.settings[1].entityId: expected the id or name of a customer, got "x"',
  ],
  [
    "an account's setting has an account",
    [["settings[1].entityType", "ACCOUNT"]],
    "$.settings[1].entityId: missing: expected the id or name of an account",
  ],
  [
    "an organization's setting has no other organization",
    [["settings[1].entityId", "other"]],
    '$.settings[1].entityId: expected "acme", the organization\'s id, got "other"',
  ],
  [
    "a name of two accounts is rejected",
    [["accounts[2]", { id: "third", name: "Contoso test", customerId: "contoso" }]],
    '$.invoiceGroups[0].accountIds[1]: the name "Contoso test" belongs to "contoso-test" and "third": use one of these',
  ],
  [
    "S4.2 a dependency names a known setting",
    [["eventSchemas[0].enrichments.dependencies[0].key", "setting.user.none"]],
    '$.eventSchemas[0].enrichments.dependencies[0].key: expected the key or id of a setting, got "setting.user.none"',
  ],
  [
    "S4.2 a bare setting id is in one namespace",
    [
      ["settings[2]", { id: "per_unit", namespace: "other", value: "1" }],
      ["eventSchemas[0].enrichments.dependencies[0].key", "per_unit"],
    ],
    '$.eventSchemas[0].enrichments.dependencies[0].key: the name "per_unit" belongs to "setting.user.per_unit" and "setting.other.per_unit": use one of these',
  ],
]);

testRows("event schemas and settings", [
  [
    "S14.1 attribute names are unique",
    [["eventSchemas[0].attributes[2]", { name: "context_tokens" }]],
    "$.eventSchemas[0].attributes[2].name: the name is already used by $.eventSchemas[0].attributes[0]",
  ],
  [
    "dimension names are unique",
    [["eventSchemas[0].dimensions[1]", { name: "service" }]],
    "$.eventSchemas[0].dimensions[1].name: the name is already used by $.eventSchemas[0].dimensions[0]",
  ],
  [
    "dependency names are unique",
    [["eventSchemas[0].enrichments.dependencies[1]", { key: "greeting", name: "per_unit" }]],
    "$.eventSchemas[0].enrichments.dependencies[1].name: the name is already used by $.eventSchemas[0].enrichments.dependencies[0]",
  ],
  [
    "S4.3 equal orders are rejected",
    [[`${fields}[2].order`, 2]],
    `$.${fields}[2].order: the order is already used by $.${fields}[1]`,
  ],
  [
    "S4.3 enriched names are unique",
    [[`${fields}[2].name`, "doubled"]],
    `$.${fields}[2].name: the name is already used by $.${fields}[1]`,
  ],
  [
    "S4.3 an enriched field does not take a declared field's name",
    [[`${fields}[2].name`, "service"]],
    `$.${fields}[2].name: the name is already used by a declared field`,
  ],
  [
    "S4.3 a rule uses no later field",
    [[`${fields}[1].order`, 0]],
    `$.${fields}[1].value: the rule of "doubled" uses "kilotokens", which is computed after it: expected an order above 1`,
  ],
  [
    "S4.3 a rule does not use its own field",
    [[`${fields}[1].value`, { "+": [{ var: "attribute.doubled" }, 1] }]],
    `$.${fields}[1].value: the rule of "doubled" uses its own result`,
  ],
  [
    "S4.3 fields do not need each other",
    [[`${fields}[0].value`, { "+": [{ var: "attribute.doubled" }, 1] }]],
    `$.${fields}[0].value: the rules of "kilotokens" and "doubled" depend on each other`,
  ],
  [
    "S3.6 a rule uses known fields",
    [[`${fields}[1].value`, { "*": [{ var: "attribute.tokens" }, 2] }]],
    `$.${fields}[1].value: in the rule at *[0]: the event schema has no "attribute.tokens"`,
  ],
  [
    "S3.6 a rule is JSON",
    [[`${fields}[1].value`, "{"]],
    `$.${fields}[1].value: "{" is not a JSON logic rule: not JSON: the text ends early`,
  ],
  [
    "S4.3 a constant attribute is a decimal",
    [[`${fields}[2].type`, "ATTRIBUTE"]],
    `$.${fields}[2].value: expected a decimal, got "eu"`,
  ],
  [
    "S4.3 a constant dimension is a string or a decimal",
    [[`${fields}[2].value`, true]],
    `$.${fields}[2].value: expected a string or a decimal, got true`,
  ],
  [
    "S4.3 a rule from a dependency names it",
    [[`${fields}[2].enrichmentType`, "JSON_LOGIC_FROM_DEPENDENCY"]],
    `$.${fields}[2].value: expected the name of a dependency, got "eu"`,
  ],
  [
    "S4.3 a rule in a setting is checked like any other",
    [
      [
        `${fields}[2]`,
        { name: "x", type: "ATTRIBUTE", enrichmentType: "JSON_LOGIC_FROM_DEPENDENCY", value: "per_unit", order: 3 },
      ],
      ["settings[0]", { id: "per_unit", value: '{"var":"attribute.x"}' }],
    ],
    '$.settings[0].value: in the rule of "x" in "llm_request": the event schema has no "attribute.x"',
  ],
  [
    "S4.2 a NUMERIC setting is a decimal",
    [["settings[0].value", "1 000"]],
    '$.settings[0].value: expected a decimal, because the dataType is NUMERIC, got "1 000"',
  ],
  [
    "S4.2 a JSON setting is JSON",
    [["settings[1].dataType", "JSON"]],
    '$.settings[1].value: expected JSON, because the dataType is JSON, got "hello"',
  ],
  [
    "S4.2 a JSON setting has no duplicate keys",
    [
      ["settings[1].dataType", "JSON"],
      ["settings[1].value", '{"small": {"rate": 1, "rate": 2}}'],
    ],
    "$.settings[1].value: in $.small.rate: the key is repeated at line 1, column 23",
  ],
  [
    "S4.2 a JSON setting has at most 200 levels, whatever is in the deepest",
    [
      ["settings[1].dataType", "JSON"],
      ["settings[1].value", `${'{"a":'.repeat(100_000)}{${'"b":1,'.repeat(1000)}"b":1}${"}".repeat(100_000)}`],
    ],
    "$.settings[1].value: nested more than 200 levels deep at line 1, column 1001",
  ],
  [
    "S3.6 a JSON_LOGIC setting is a rule",
    [
      ["settings[1].dataType", "JSON_LOGIC"],
      ["settings[1].value", '{"foo":1}'],
    ],
    '$.settings[1].value: in the rule: unknown operator "foo"',
  ],
]);

testRows("usage meters and features", [
  [
    "S5.1 an ACTIVE meter has an ACTIVE event schema",
    [
      ["eventSchemas[0].status", "INACTIVE"],
      ["usageMeters[1].status", "DRAFT"],
    ],
    '$.usageMeters[0].eventSchemaName: the event schema "llm_request" is inactive; it must be active because the usage meter is active',
  ],
  [
    "S5.1 orders are unique",
    [[`${steps}[1]`, { order: 1, computation: 1 }]],
    `$.${steps}[1].order: the order is already used by $.${steps}[0]`,
  ],
  [
    "S5.2 a SUM has a computation",
    [[`${steps}[0].computation`, undefined]],
    `$.${steps}[0].computation: missing: expected a rule, because the aggregation is SUM`,
  ],
  [
    "S3.6 a computation uses known fields",
    [[`${steps}[0].computation`, { var: "attribute.nothing" }]],
    `$.${steps}[0].computation: in the rule: the event schema has no "attribute.nothing"`,
  ],
  [
    "S3.6 a matcher uses known operators",
    [[`${steps}[0].matcher`, '{"equals":[1,1]}']],
    `$.${steps}[0].matcher: in the rule: unknown operator "equals"`,
  ],
  [
    "S3.5 method is rejected",
    [[`${steps}[0].matcher`, { method: ["a", "b"] }]],
    `$.${steps}[0].matcher: in the rule: the operator "method" is not supported, because it could call any function`,
  ],
  [
    "S11.2 a schema serves one feature",
    [["features[1].schemaAssocitions", [{ schemaName: "llm_request", attributeName: "context_tokens" }]]],
    '$.features[1].schemaAssocitions[0]: the event schema is already used by the feature "feature.tokens"',
  ],
  [
    "S11.2 an association names an attribute",
    [["features[0].schemaAssociations[0].attributeName", "service"]],
    '$.features[0].schemaAssociations[0]: expected the name of an attribute of the event schema "llm_request", got "service"',
  ],
  [
    "S11.2 featureDetails agree with the association",
    [["eventSchemas[0].featureDetails", { featureId: "feature.tokens", attributeName: "context_tokens" }]],
    '$.features[0].schemaAssociations[0]: expected "context_tokens", the attribute in featureDetails, got "generated_tokens"',
  ],
  [
    "both spellings together are rejected",
    [["features[1].schemaAssociations", ["login"]]],
    "$.features[1].schemaAssocitions: expected schemaAssociations or schemaAssocitions, got both",
  ],
]);

testRows("cards", [
  [
    "S16.4 one usage card a meter",
    [[`${details}.usageRateCards[1]`, { usageMeterId: "context tokens", ...perUnit("USD") }]],
    `$.${details}.usageRateCards[1].usageMeterId: the usageMeterId is already used by $.${details}.usageRateCards[0]`,
  ],
  [
    "S16.4 one fixed fee card an add-on",
    [[`${details}.fixedFeeRateCards[1]`, { id: "addon.platform", rateValues: [{ currency: "USD", rate: 1 }] }]],
    `$.${details}.fixedFeeRateCards[1].id: the id is already used by $.${details}.fixedFeeRateCards[0]`,
  ],
  [
    "S16.4 one overage card a feature",
    [[`${details}.entitlementOverageRateCards[1]`, { featureId: "Tokens", ...perUnit("USD") }]],
    `$.${details}.entitlementOverageRateCards[1].featureId: the featureId is already used by $.${details}.entitlementOverageRateCards[0]`,
  ],
  [
    "a fixed fee card prices a FIXED_FEE",
    [[`${details}.fixedFeeRateCards[0].id`, "addon.seats"]],
    `$.${details}.fixedFeeRateCards[0].id: expected an add-on of type FIXED_FEE, but "addon.seats" has type LICENSE`,
  ],
  [
    "a license card prices a LICENSE",
    [[`${details}.licenseRateCards[0].id`, "addon.grant"]],
    `$.${details}.licenseRateCards[0].id: expected an add-on of type LICENSE, but "addon.grant" has type CREDIT_GRANT`,
  ],
  [
    "a grant card prices a CREDIT_GRANT",
    [[`${grant}.id`, "addon.platform"]],
    `$.${grant}.id: expected an add-on of type CREDIT_GRANT, but "addon.platform" has type FIXED_FEE`,
  ],
  [
    "an add-on in use is not archived",
    [["addOns[0].status", "ARCHIVED"]],
    `$.${details}.fixedFeeRateCards[0].id: the add-on "addon.platform" is archived; it must be active because the price plan is active or associated with an account`,
  ],
  [
    "S5.4 a meter in use is ACTIVE",
    [["usageMeters[0].status", "DRAFT"]],
    `$.${usage}.usageMeterId: the usage meter "um.context" is a draft; it must be active because the price plan is active or associated with an account`,
  ],
  [
    "S5.4 a meter of an associated draft is ACTIVE",
    [
      ["usageMeters[0].status", "INACTIVE"],
      ["pricePlans[0].status", "DRAFT"],
    ],
    `$.${usage}.usageMeterId: the usage meter "um.context" is inactive; it must be active because the price plan is active or associated with an account`,
  ],
  [
    "S12.6 a CUSTOM expiry has a duration",
    [[`${grant}.grantDetails.expiryType`, "CUSTOM"]],
    `$.${grant}.grantDetails.expiryDuration: missing: expected an ISO 8601 duration, because the expiryType is CUSTOM`,
  ],
  [
    "S12.6 an expiry comes after the grant",
    [[`${grant}.grantDetails.expiryDuration`, "PT0S"]],
    `$.${grant}.grantDetails.expiryDuration: expected a duration above 0, got "PT0S"`,
  ],
  [
    "S11.1 a grant ends after it starts, in every month",
    [[`${details}.billingEntitlementRateCards[0].featureConfigs[0].effectiveFrom`, "P28D"]],
    `$.${details}.billingEntitlementRateCards[0].featureConfigs[0].effectiveUntil: expected a duration above P28D, the effectiveFrom, in every month, got "P1M"`,
  ],
  [
    "S11.1 a grant does not start before itself",
    [[`${details}.billingEntitlementRateCards[0].featureConfigs[0].effectiveFrom`, "-P1D"]],
    `$.${details}.billingEntitlementRateCards[0].featureConfigs[0].effectiveFrom: expected a duration of 0 or more, got "-P1D"`,
  ],
  [
    "S13.3 a commitment is not below 0",
    [[`${details}.minimumCommitment.rateValues[0].rate`, -1]],
    `$.${details}.minimumCommitment.rateValues[0].rate: expected 0 or more, got -1`,
  ],
  [
    "S6.1 a day offset is one of its interval",
    [[`${details}.pricingCycleConfig.startOffset.dayOffset`, "32"]],
    `$.${details}.pricingCycleConfig.startOffset.dayOffset: expected "1" to "31" or LAST with the interval MONTHLY, got "32"`,
  ],
  [
    "S6.1 a month offset is one of its interval",
    [
      [`${details}.pricingCycleConfig.interval`, "QUARTERLY"],
      [`${details}.pricingCycleConfig.startOffset.monthOffset`, "4"],
    ],
    `$.${details}.pricingCycleConfig.startOffset.monthOffset: expected "1" to "3", FIRST or LAST with the interval QUARTERLY, got "4"`,
  ],
  [
    "S6.1 offsets are given unless derived",
    [[`${details}.pricingCycleConfig.startOffset`, undefined]],
    `$.${details}.pricingCycleConfig.startOffset: missing: add it, or set anniversaryCycle to true`,
  ],
]);

testRows("slabs and rates", [
  [
    "S7.1 the first slab starts at 0",
    [[`${slabs}[0].startAfter`, 5]],
    `$.${slabs}[0].startAfter: expected 0, the start of the first slab, got 5`,
  ],
  [
    "S7.1 slabs ascend",
    [
      [slabs, [slab(1, 0), slab(2, 10), slab(3, 10)]],
      [rates, [1, 2, 3].map((order) => ({ order, rate: 1 }))],
    ],
    `$.${slabs}[2].startAfter: expected more than 10, the start of the previous slab, got 10`,
  ],
  [
    "S7.1 slabs are numbered 1 to n",
    [
      [`${slabs}[0].order`, 2],
      [`${rates}[0].order`, 2],
    ],
    `$.${slabs}[0].order: expected 1, got 2`,
  ],
  [
    "S7.1 a slab ends where the next starts",
    [
      [slabs, [slab(1, 0, { endAt: 9 }), slab(2, 10)]],
      [`${rates}[1]`, { order: 2, rate: 1 }],
    ],
    `$.${slabs}[0].endAt: expected 10, the start of the next slab, got 9`,
  ],
  [
    "S7.1 the last slab has no end",
    [[`${slabs}[0].endAt`, 10]],
    `$.${slabs}[0].endAt: expected null, because the last slab has no end, got 10`,
  ],
  [
    "S7.3 a package has a size",
    [[`${slabs}[0].priceType`, "PACKAGE"]],
    `$.${slabs}[0].slabConfig.packageSize: missing: expected a decimal above 0, because the priceType is PACKAGE`,
  ],
  [
    "S7.5 only the first slab is charged at zero",
    [
      [slabs, [slab(1, 0), slab(2, 10, { slabConfig: { chargeAtZero: "true" } })]],
      [`${rates}[1]`, { order: 2, rate: 1 }],
    ],
    `$.${slabs}[1].slabConfig.chargeAtZero: expected false, because only the first slab can be charged at zero, got true`,
  ],
  ["S7.1 every slab has a rate", [[slabs, [slab(1, 0), slab(2, 10)]]], `$.${rates}: missing rate of slab 2`],
  [
    "S7.1 every rate has a slab",
    [[`${rates}[1]`, { order: 2, rate: 1 }]],
    `$.${rates}[1].order: expected 1, the order of the only slab, got 2`,
  ],
  [
    "S7.1 a slab has one rate",
    [[`${rates}[1]`, { order: 1, rate: 2 }]],
    `$.${rates}[1].order: the order is already used by $.${rates}[0]`,
  ],
  [
    "S7.4 a slab's minimum is not above its maximum",
    [[`${rates}[0].slabRateConfig`, { minimumRate: 2, maximumRate: "1.5" }]],
    `$.${rates}[0].slabRateConfig.minimumRate: expected at most 1.5, the maximumRate, got 2`,
  ],
  [
    "S7.4 a card's minimum is not above its maximum",
    [[`${usage}.rateValues[0].rateConfig`, { minimumRate: 2, maximumRate: 1 }]],
    `$.${usage}.rateValues[0].rateConfig.minimumRate: expected at most 1, the maximumRate, got 2`,
  ],
  [
    "S12.6 a grant's slabs start at 0",
    [[`${grant}.rateDetails.currencySlabRateDetails[0].slabDetails[0].startAfter`, 1]],
    `$.${grant}.rateDetails.currencySlabRateDetails[0].slabDetails[0].startAfter: expected 0, the start of the first slab, got 1`,
  ],
  [
    "S12.6 a grant's slab has its minimum below its maximum",
    [
      [
        `${grant}.rateDetails.currencySlabRateDetails[0].slabDetails[0].slabRateConfig`,
        { minimumRate: 2, maximumRate: 1 },
      ],
    ],
    `$.${grant}.rateDetails.currencySlabRateDetails[0].slabDetails[0].slabRateConfig.minimumRate: expected at most 1, the maximumRate, got 2`,
  ],
  [
    "S7.7 a currency has one entry",
    [[`${usage}.rateValues[1]`, { currency: "USD", slabRates: [{ order: 1, rate: 1 }] }]],
    `$.${usage}.rateValues[1].currency: the currency is already used by $.${usage}.rateValues[0]`,
  ],
  [
    "a supported currency is named once",
    [[`${details}.supportedCurrencies[1]`, "USD"]],
    `$.${details}.supportedCurrencies[1]: the currency is already used by $.${details}.supportedCurrencies[0]`,
  ],
]);

describe("currencies", () => {
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
});

const notAssociable = (planId: string): string => `version 1 of "${planId}" cannot be associated: it`;

testRows("associations", [
  [
    "S7.7 the plan supports the account's currency",
    [
      ["accounts[0].invoiceCurrency", "EUR"],
      ["invoiceGroups", []],
    ],
    `$.${plans}[0].pricePlanId: ${notAssociable("pp.main")} supports "USD", not "EUR", the account's invoiceCurrency`,
  ],
  [
    "S16.1 a plan without a cycle config is not associated",
    [
      ["pricePlans[1]", planNamed("pp.x", {}, { pricingCycleConfig: undefined })],
      [`${plans}[0].pricePlanId`, "pp.x"],
    ],
    `$.${plans}[0].pricePlanId: ${notAssociable("pp.x")} has no pricingCycleConfig`,
  ],
  [
    "S16.1 a plan without currencies is not associated",
    [
      ["pricePlans[1]", planNamed("pp.x", {}, { supportedCurrencies: [] })],
      [`${plans}[0].pricePlanId`, "pp.x"],
    ],
    `$.${plans}[0].pricePlanId: ${notAssociable("pp.x")} has no supportedCurrencies`,
  ],
  [
    "a plan with only archived versions is named with its version",
    [["pricePlans[0].status", "ARCHIVED"]],
    `$.${plans}[0].pricePlanId: the price plan "pp.main" has no active or draft version`,
  ],
  [
    "S2.1 an association ends after it starts",
    [[`${plans}[0].effectiveUntil`, "2023-11-01"]],
    `$.${plans}[0].effectiveUntil: expected a date after the effectiveFrom, 2023-11-01, got 2023-11-01`,
  ],
  [
    "S16.1 only a first association starts in the past",
    [[`${plans}[1]`, { pricePlanId: "pp.main", effectiveFrom: "2024-01-01", decidedAt: "2024-01-02T10:00:00Z" }]],
    `$.${plans}[1].effectiveFrom: expected the decidedAt, 2024-01-02, or later, got 2024-01-01; only the first association can be backdated`,
  ],
  [
    "S16.1 associations are in the order in which they were decided",
    [
      [`${plans}[0].decidedAt`, "2024-01-05"],
      [`${plans}[1]`, { pricePlanId: "pp.main", effectiveFrom: "2024-03-01", decidedAt: "2024-01-02" }],
    ],
    `$.${plans}[1].decidedAt: associations must be sorted by decidedAt, but 2024-01-02T00:00:00.000Z is before 2024-01-05T00:00:00.000Z of pricePlans[0]`,
  ],
  [
    "S9.2 decidedAt as a date must be in the order of decisions too",
    [
      [`${plans}[0]`, { pricePlanId: "pp.main", effectiveFrom: "2024-06-15", decidedAt: "2024-06-15" }],
      [`${plans}[1]`, { pricePlanId: "pp.main", effectiveFrom: "2024-06-20", decidedAt: "2024-06-01T12:00:00Z" }],
    ],
    `$.${plans}[1].decidedAt: associations must be sorted by decidedAt, but 2024-06-01T12:00:00.000Z is before 2024-06-15T00:00:00.000Z of pricePlans[0]`,
  ],
  [
    "S16.2 an override's card has slabs in order",
    [
      [
        `${plans}[0].pricePlanDetailsOverride`,
        {
          usageRateCards: [
            {
              usageMeterId: "um.requests",
              ...perUnit("USD"),
              ratePlan: { pricingModel: "VOLUME", slabs: [slab(1, 3)] },
            },
          ],
        },
      ],
    ],
    `$.${plans}[0].pricePlanDetailsOverride.usageRateCards[0].ratePlan.slabs[0].startAfter: expected 0, the start of the first slab, got 3`,
  ],
  [
    "S7.7 an override's card has the account's currency",
    [
      [
        `${plans}[0].pricePlanDetailsOverride`,
        { usageRateCards: [{ usageMeterId: "um.requests", ...perUnit("EUR") }] },
      ],
    ],
    `$.${plans}[0].pricePlanDetailsOverride.usageRateCards[0].rateValues: missing rates in "USD"`,
  ],
  [
    "an override's card names a known meter",
    [[`${plans}[0].pricePlanDetailsOverride`, { usageRateCards: [{ usageMeterId: "um.x", ...perUnit("USD") }] }]],
    `$.${plans}[0].pricePlanDetailsOverride.usageRateCards[0].usageMeterId: expected the id or name of a usage meter, got "um.x"`,
  ],
  [
    "offsets are retained from a plan in force",
    [[`${plans}[0].retainStartOffsets`, true]],
    `$.${plans}[0].retainStartOffsets: no price plan is in force on 2023-11-01 whose offsets can be retained`,
  ],
  [
    "offsets are retained by a plan of the same interval",
    [
      [
        "pricePlans[1]",
        planNamed("pp.x", {}, { pricingCycleConfig: { interval: "WEEKLY", startOffset: { dayOffset: "1" } } }),
      ],
      [`${plans}[1]`, { pricePlanId: "pp.x", effectiveFrom: "2024-01-01", retainStartOffsets: true }],
    ],
    `$.${plans}[1].retainStartOffsets: offsets can only be retained if the interval stays the same; it changes from MONTHLY to WEEKLY`,
  ],
]);

const update = (quantity: number, more: object = {}) => ({
  licenseId: "Seats",
  effectiveFrom: "2023-12-01",
  updateType: "RELATIVE",
  quantity,
  ...more,
});

testRows("what accounts hold", [
  [
    "S10.1 a quantity does not fall below 0",
    [["accounts[0].licenseUpdates[1]", update(-11)]],
    "$.accounts[0].licenseUpdates[1].quantity: expected 0 to 100 licenses, got -1",
  ],
  [
    "S10.1 a quantity does not pass maxQuantity",
    [["accounts[0].licenseUpdates[1]", update(91)]],
    "$.accounts[0].licenseUpdates[1].quantity: expected 0 to 100 licenses, got 101",
  ],
  [
    "S10.1 updates are applied by effectiveFrom, then arrival",
    [["accounts[0].licenseUpdates", [update(-1), update(5, { effectiveFrom: "2023-12-02" })]]],
    "$.accounts[0].licenseUpdates[0].quantity: expected 0 to 100 licenses, got -1",
  ],
  [
    "S10.1 without a plan in force there is no maximum",
    [["accounts[1].licenseUpdates", [update(500), update(-501)]]],
    "$.accounts[1].licenseUpdates[1].quantity: expected at least 0 licenses, got -1",
  ],
  [
    "S10.1 one idempotencyKey is one update",
    [
      ["accounts[0].licenseUpdates[0].idempotencyKey", "k"],
      ["accounts[0].licenseUpdates[1]", update(1, { idempotencyKey: "k" })],
    ],
    "$.accounts[0].licenseUpdates[1].idempotencyKey: the idempotencyKey is already used by $.accounts[0].licenseUpdates[0]",
  ],
  [
    "a license is an add-on of type LICENSE",
    [["accounts[0].licenseUpdates[0].licenseId", "addon.grant"]],
    '$.accounts[0].licenseUpdates[0].licenseId: expected an add-on of type LICENSE, but "addon.grant" has type CREDIT_GRANT',
  ],
  [
    "a credit ends after it starts",
    [["accounts[0].credits[0].effectiveUntil", "2023-10-01"]],
    "$.accounts[0].credits[0].effectiveUntil: expected a date after the effectiveFrom, 2023-11-01T00:00:00.000Z, got 2023-10-01T00:00:00.000Z",
  ],
  [
    "a feature credit ends after it starts",
    [["accounts[0].featureCredits[0].effectiveUntil", "2023-11-01"]],
    "$.accounts[0].featureCredits[0].effectiveUntil: expected a date after the effectiveFrom, 2023-11-01T00:00:00.000Z, got 2023-11-01T00:00:00.000Z",
  ],
  [
    "an id is one credit's own",
    [
      [
        "accounts[1].credits",
        [{ id: "contoso-prod.credit.1", purpose: "", creditAmount: 1, effectiveFrom: "2024-01-01" }],
      ],
    ],
    "$.accounts[1].credits[0].id: the id is already used by $.accounts[0].credits[0]",
  ],
  [
    "S16.6 an alias is one account's",
    [["accounts[1].aliases", ["c-2"]]],
    '$.accounts[1].aliases[0]: the alias is already used by the account "contoso-prod"',
  ],
  [
    "S16.6 an alias can't be an account's id",
    [["accounts[0].aliases[0]", "contoso-test"]],
    '$.accounts[0].aliases[0]: the alias "contoso-test" is the id of an account; choose another alias',
  ],
  [
    "S16.7 a group's accounts are in one currency",
    [["accounts[1].invoiceCurrency", "EUR"]],
    '$.invoiceGroups[0].accountIds[1]: the account "contoso-test" uses EUR, but its group uses USD',
  ],
  [
    "S16.7 a group's accounts are in its currency",
    [["invoiceGroups[0]", { id: "g", invoiceCurrency: "EUR", accountIds: ["contoso-test"] }]],
    '$.invoiceGroups[0].accountIds[0]: the account "contoso-test" uses USD, but its group uses EUR',
  ],
  [
    "S16.7 an account is in one group",
    [["invoiceGroups[1]", { id: "g", accountIds: ["contoso-test"] }]],
    '$.invoiceGroups[1].accountIds[0]: the account "contoso-test" is already in another group: $.invoiceGroups[0].accountIds[1]',
  ],
]);
