/**
 * The description of each field of a book, plan and map, which editors show (JSON Schema `description`). Separate from
 * the schemas, so that browser bundles exclude them.
 *
 * @module
 */
import sentences from "./sentences.json" with { type: "json" };

/** The sentences in the JSDoc of fields, by the object's name and the field. A test writes them. */
const SENTENCES: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = sentences;

/** For every object with such a field, unless {@link DESCRIPTIONS} has a specific one. */
const COMMON_DESCRIPTIONS: Readonly<Record<string, string>> = {
  $schema: "The path or address of this JSON Schema, for editors; nothing else reads it.",
  id: "What others name it by: no white space, control characters or slashes.",
  name: "Display name; other resources can refer to it by this name instead of its id.",
  displayName: "What an invoice calls it, at most 255 characters; default the billableName, else the name.",
  billableName: "What an invoice calls it where there is no displayName; at most 255 characters.",
  description: "A text for people; nothing is priced by it.",
  currency: "ISO 4217, such as USD.",
  rate: "Major units of the currency, such as 0.002: for a unit, a package or the whole slab, as the slab's priceType says.",
  order: "From 1, each its own.",
  tag: "Cards with one tag stand under one line of the invoice; default none.",
  version: "A whole number from 1; default 1.",
  ratePlan: "The slabs: from which quantity on which kind of price holds.",
  rateValues: "The rates, once for each currency that the plan supports.",
  invoiceTiming: "IN_ARREARS: on the invoice at the end of the cycle (default). IN_ADVANCE: on the one at its start.",
  recurrenceConfig: "In which cycles it recurs; default in each.",
  enableProration: "Whether a cycle that is cut is charged by its days, and not in whole; default false.",
  pricingModel:
    "TIERED: each slab prices its own units. VOLUME: all units cost what the slab that the quantity reaches says.",
  priceType: "PER_UNIT: the rate for each unit. PACKAGE: the rate for each package that is begun. FLAT: the rate once.",
  startAfter: "The slab holds the units above this quantity; 0 for the first, then ascending.",
  endAt: "The last quantity of the slab, inclusive: the next slab's startAfter; null or absent for the last.",
  slabConfig: "What packages and a quantity of 0 do.",
  slabRateConfig: "A flat rate beside the slab's price, and bounds of both.",
  minimumRate: "The least that is charged, in major units of the currency; default no bound.",
  maximumRate: "The most that is charged, in major units of the currency; default no bound.",
  address: "A postal address, for the invoice.",
  primaryEmail: "An e-mail address of at most 255 characters; ratebook sends nothing.",
  effectiveFrom: "The first moment, inclusive: a date-time with its zone, or a date, which is its midnight UTC.",
  effectiveUntil: "The end, exclusive: a date-time with its zone, or a date, which is its midnight UTC.",
  createdAt: "When it was made, a date-time; kept as given.",
  updatedAt: "When it was changed, a date-time; kept as given.",
  netTermDays: "Days from the invoice date to the due date, 0 to 36,500; default 0.",
  applicableEntityIds:
    "What the money pays for: meters, add-ons, features, or ALL_USAGE_METER_RATE_CARDS and its like; default everything.",
  usageRateCards: "What the usage of meters costs: one card for each meter.",
  fixedFeeRateCards: "Fees that do not depend on a quantity: one card for each add-on.",
  licenseRateCards: "What seats and other licenses cost: one card for each add-on.",
  billingEntitlementRateCards:
    "Units of features that each cycle grants, and what they cost: one card for each feature.",
  creditGrantRateCards: "Money that each cycle grants, and what it costs: one card for each add-on.",
  entitlementOverageRateCards:
    "What is used of a feature beyond what is granted, and what it costs: one card for each feature.",
  minimumCommitment:
    "The least that a cycle costs: what is missing is added as a true-up. Prorated in a cycle that is cut.",
  pricingCycleConfig: "When pricing cycles begin, and how long late events are taken; needed to associate the plan.",
  featureId: "The id or name of a feature.",
};

/** By list or object and field: `slabRates.order`. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  "book.organization": "Whose book it is, its currency, and how amounts are rounded.",
  "book.settings": "Values that enrichments of events use, such as how many tokens make a unit.",
  "book.eventSchemas": "What events of each name carry, and what is computed of them.",
  "book.usageMeters": "Numbers that grow with events: how many match, or a sum of what is computed of each.",
  "book.features": "What accounts may be entitled to, in units.",
  "book.addOns": "What is priced beside usage: fees, licenses, credit grants.",
  "book.pricePlans": "What everything costs; one item is one version of a plan.",
  "book.customers": "Who owns accounts.",
  "book.accounts": "Who uses and pays: plans, seats, credits.",
  "book.invoiceGroups": "Accounts that share terms and get one composite invoice.",
  "book.lint": "Findings of `ratebook lint` that are wanted; nothing is priced by them.",
  "organization.id": "1 to 50 characters; default `default`, where there is no organization.",
  "organization.baseCurrency": "The currency of accounts that name none: ISO 4217, default USD.",
  "organization.rounding":
    "How a card's line is rounded to the minor unit of the currency: HALF_UP (default; half away from zero), HALF_EVEN or DOWN.",
  "pricePlans.id": "1 to 255 characters; several versions are several items with one id.",
  "pricePlans.name": "1 to 255 characters; no other plan has it.",
  "pricePlans.type": "BILLING, the default and only one.",
  "pricePlans.status":
    "DRAFT (default), ACTIVE or ARCHIVED. A preview takes drafts too; an engine associates ACTIVE ones only.",
  "pricePlans.pricePlanDetails": "Currencies, cycles and cards.",
  "pricePlanDetails.supportedCurrencies":
    "ISO 4217: every card has rates in each; at least one is needed to associate the plan.",
  "pricePlanDetails.activeCurrencies": "The currencies that become active with the version; nothing is priced by it.",
  "pricePlanDetails.rateDetails": "Kept as given; nothing is priced by it.",
  "pricePlanDetails.entitlementRateCards": "Kept as given; nothing is priced by them.",
  "pricePlanDetails.type": "BILLING, the only one.",
  "pricingCycleConfig.interval": "WEEKLY, MONTHLY, QUARTERLY, HALF_YEARLY or ANNUALLY.",
  "pricingCycleConfig.startOffset": "On which day, and of longer cycles in which month, a cycle begins.",
  "pricingCycleConfig.gracePeriod":
    "Whole days after a cycle's end in which late events are taken, 0 to 36,500; default 0.",
  "pricingCycleConfig.anniversaryCycle":
    "Whether cycles begin on the day on which an account takes the plan, whatever startOffset says; default false.",
  "startOffset.dayOffset": "The day as a text: of the month 1 to 31, of the week 1 (Monday) to 7, or LAST.",
  "startOffset.monthOffset":
    "The month within the interval as a text: from 1, FIRST or LAST; NIL or absent for weekly and monthly cycles.",
  "ratePlan.slabs": "In ascending order, without gaps, from 0.",
  "slabs.order": "1 for the first slab, then one more for each.",
  "slabConfig.packageSize": "Units in a package, above 0; only where the priceType is PACKAGE.",
  "slabConfig.chargeAtZero":
    "Whether a quantity of 0 is charged as if it reached the slab; only the first may. Default false.",
  "rateValues.slabRates": "One per slab, by order.",
  "rateValues.rateConfig": "Bounds of the whole card, prorated in a cycle that is cut.",
  "slabRates.order": "The order of the slab whose rate it is.",
  "slabRateConfig.flatRate": "Added to the slab's price once, in major units of the currency; default 0.",
  "slabRateConfig.minimumRate": "The least that the slab costs once it is reached, in major units; default no bound.",
  "slabRateConfig.maximumRate": "The most that the slab costs, in major units; default no bound.",
  "usageRateCards.usageMeterId": "The id or name of the usage meter.",
  "fixedFeeRateCards.id": "The id or name of an add-on of type FIXED_FEE.",
  "fixedFeeRateCards.rateValues": "The fee in each currency, in major units.",
  "fixedFeeRateCards.type": "RECURRING (default), or ONE_TIME: in the first cycle alone.",
  "recurrenceConfig.interval": "In every so many cycles, and for so many: 1 to 10,000, default 1.",
  "recurrenceConfig.offset": "After so many cycles of the association: 0 to 10,000, default 0.",
  "licenseRateCards.id": "The id or name of an add-on of type LICENSE.",
  "licenseRateCards.proratedRefundMode":
    "Whether seats that go during a cycle come back as CREDITS, or not: NONE (default).",
  "licenseRateCards.config": "Maximum number.",
  "config.maxQuantity": "The most seats that an account may hold; default any.",
  "billingEntitlementRateCards.featureConfigs": "Entries granted in each cycle.",
  "featureConfigs.featureCreditLimit": "Units that are granted, 0 or more.",
  "featureConfigs.effectiveFrom": "From when they may be used: an ISO 8601 duration from the grant, default PT0S.",
  "featureConfigs.effectiveUntil": "Until when: an ISO 8601 duration from the grant, such as P1M.",
  "creditGrantRateCards.id": "The id or name of an add-on of type CREDIT_GRANT.",
  "creditGrantRateCards.type": "RECURRING (default), or ONE_TIME: in the first cycle alone.",
  "creditGrantRateCards.rateDetails": "Granted amount, and its price.",
  "creditGrantRateCards.grantDetails": "Validity of the credits, and what they pay.",
  "rateDetails.currencySlabRateDetails": "The grant in each currency.",
  "currencySlabRateDetails.creditAmount": "What is granted, in major units, 0 or more.",
  "currencySlabRateDetails.slabDetails": "What the granted amount costs: slabs with their rates in them.",
  "slabDetails.order": "1 for the first slab, then one more for each; default its place.",
  "slabDetails.rate":
    "Major units for each unit that is granted, for a package or for the whole slab, as the priceType says.",
  "grantDetails.priority": "Credits are spent in ascending order of it; default 0.",
  "grantDetails.expiryType": "PRICING_CYCLE: at the end of the cycle. NO_EXPIRY: never. CUSTOM: after expiryDuration.",
  "grantDetails.expiryDuration": "An ISO 8601 duration from the grant, such as P90D; only where expiryType is CUSTOM.",
  "entitlementOverageRateCards.maxQuantity":
    "The most overage of a billing window, in whole units: events beyond it are refused. Default any.",
  "entitlementOverageRateCards.billingConfig": "In which cycles overage is charged; default in each.",
  "billingConfig.interval": "Every so many cycles, 1 to 10,000; default 1.",
  "billingConfig.startOffset": "After so many cycles of the association, 0 to 10,000; default 0.",
  "minimumCommitment.rateValues": "The least that a whole cycle costs in each currency, in major units.",
  "map.schemaName": "Which event schema the rows are of: a column, a value for all rows, or a template.",
  "map.accountId": "Whose each row is: the id or an alias of an account.",
  "map.id": "The id of the event, which counts once: a column, or a template such as `usage-{row}`.",
  "map.timestamp": "When it happened; with a zone beside it where the text has none.",
  "map.attributes": "Where the number of each attribute comes from, by the attribute's name.",
  "map.dimensions": "Where the text of each dimension comes from, by the dimension's name.",
  "map.column": "The name of a column, as the first line of the file has it.",
  "map.value": "The same for all rows: a text or a number.",
  "map.template": "A text in which {row} is the number of the row, from 1, and {Column} the text of that column.",
  "map.form":
    "The form of times that are no ISO 8601 date-times: a date of this form, maybe with a time of day, or so long since 1970.",
  "map.decimal": 'What stands before the decimals of a column: "," or "." (the default).',
  "map.zone": "The zone of times that say none: UTC, or an offset such as +05:30.",
};

/** The description of a field; undefined if there is none. */
export function findDescription(owner: string, field: string): string | undefined {
  const name = SAME_FIELDS_AS[owner] ?? owner;
  const sentences = SENTENCES[name] ?? SENTENCES[name.replace(/s$/, "")];
  return sentences?.[field] ?? DESCRIPTIONS[`${name}.${field}`] ?? COMMON_DESCRIPTIONS[field];
}

/** Objects under another name than their fields. */
const SAME_FIELDS_AS: Readonly<Record<string, string>> = {
  plan: "pricePlans",
  attributes: "declaredField",
  dimensions: "declaredField",
  dependencies: "dependency",
  fields: "enrichmentField",
  schemaAssociations: "featureAssociation",
  schemaAssocitions: "featureAssociation",
  lint: "lintSuppression",
  aliases: "alias",
  "accounts.pricePlans": "planAssociation",
  calculateRevenue: "revenueRequest",
  licenseEntriesConfig: "licenseEntry",
  custom: "listedLicense",
  billingAddress: "address",
  pricePlanDetailsOverride: "pricePlanDetails",
};

/** The owner of the fields in a field of `owner`, for {@link findDescription}. */
export function findOwner(owner: string, field: string): string {
  return SAME_FIELDS_AS[`${owner}.${field}`] ?? field;
}
