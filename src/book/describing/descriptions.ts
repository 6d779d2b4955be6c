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
  plan: "pricePlan",
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
  slabDetails: "grantSlab",
  config: "licenseConfig",
  rateDetails: "grantRateDetails",
  "fixedFeeRateCards.rateValues": "fixedRateValue",
  "minimumCommitment.rateValues": "fixedRateValue",
};

/** The owner of the fields in a field of `owner`, for {@link findDescription}. */
export function findOwner(owner: string, field: string): string {
  return SAME_FIELDS_AS[`${owner}.${field}`] ?? field;
}
