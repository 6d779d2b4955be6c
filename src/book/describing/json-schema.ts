/**
 * JSON Schemas with descriptions, of the book and everything made of its schemas; separate from the schemas, so that browser
 * bundles exclude them.
 */
import * as z from "zod";

import sentences from "./sentences.json" with { type: "json" };

/** The parts of a JSON Schema in which fields are found. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  description?: string;
}

/** The schema of a document, in draft 2020-12. @param owner the document's name, for finding descriptions of its fields */
export function toDescribedSchema(schema: z.ZodType, owner: string): Readonly<Record<string, unknown>> {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "ref", target: "draft-2020-12" });
  addDescriptions(json as JsonSchema, owner, (json as JsonSchema).$defs ?? {}, new Set());
  return json;
}

/**
 * Adds a description to every field.
 *
 * @param owner the list or object with the fields
 * @param visitedSchemas shared schemas already processed
 */
function addDescriptions(
  schema: JsonSchema,
  owner: string,
  definitions: Readonly<Record<string, JsonSchema>>,
  visitedSchemas: Set<JsonSchema>,
): void {
  if (visitedSchemas.has(schema)) return;
  visitedSchemas.add(schema);
  const target = schema.$ref === undefined ? undefined : definitions[schema.$ref.replace("#/$defs/", "")];
  const additionalSchemas = typeof schema.additionalProperties === "object" ? [schema.additionalProperties] : [];
  for (const part of [target ?? [], schema.anyOf ?? [], schema.items ?? [], additionalSchemas].flat())
    addDescriptions(part, findShortOwner(schema, part, owner), definitions, visitedSchemas);
  for (const [field, property] of Object.entries(schema.properties ?? {})) {
    const description = findDescription(owner, field);
    if (description !== undefined) property.description = description;
    // All parts of an event in a map have the same fields.
    addDescriptions(property, owner === "map" ? owner : findOwner(owner, field), definitions, visitedSchemas);
  }
}

/** The name of the short form, which is the first of two alternatives that are objects. */
function findShortOwner({ anyOf: [first, second] = [] }: JsonSchema, part: JsonSchema, owner: string): string {
  const hasForms = part === first && (second?.properties ?? second?.$ref) !== undefined;
  return hasForms ? (SAME_FIELDS_AS[`short ${owner}`] ?? owner) : owner;
}

/**
 * The sentences in the JSDoc of fields, by the object's name and the field; `...` has the names of the objects with its
 * other fields. A test keeps the file current.
 */
const SENTENCES: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = sentences;

/** For every object with such a field, unless {@link DESCRIPTIONS} has a specific one. */
const COMMON_DESCRIPTIONS: Readonly<Record<string, string>> = {
  $schema: "The path or URL of this JSON Schema, for editors; no other effect.",
  description: "A description for people; no effect on prices.",
  currency: "ISO 4217, such as USD.",
  pricingCycleConfig:
    "When pricing cycles begin, and how long late events are accepted; required to associate the plan.",
  featureId: "The id or name of a feature.",
};

/** By list or object and field: `slabRates.order`. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  "where.not": "The value, or list of values, of the dimension whose events are not measured.",
  "map.schemaName": "The event schema of the rows: a column, a value for all rows, or a template.",
  "map.accountId": "The account of each row: its id or an alias.",
  "map.id": "The id of the event; each id is counted once. A column, or a template such as `usage-{row}`.",
  "map.timestamp": "The time of the event; with a `zone` if the column has none.",
  "map.attributes": "The source of each attribute, by the attribute's name.",
  "map.dimensions": "The source of each dimension, by the dimension's name.",
  "map.column": "The name of a column in the first line of the file.",
  "map.value": "The same value for all rows: a string or a number.",
  "map.template": "A string in which {row} is the number of the row, from 1, and {Column} the value of that column.",
  "map.form":
    "The form of times that are not ISO 8601 date-times: the form of the date, which a time of day can follow, or the unit of a number since 1970.",
  "map.decimal":
    'The decimal mark of a column, "," or "."; needed if all of its numbers could have either, such as 1.234.',
  "map.default": "The text of an empty cell, which is also NULL, null, N/A, - or \\N.",
  "map.empty":
    'What an empty cell does, which is also NULL, null, N/A, - or \\N: "fail" rejects the event; "skip" leaves out the row or, if its schema does not declare the attribute, only the attribute.',
  "map.values": "What the book calls a text of the file, by that text; other texts are unchanged.",
  "map.valuesFrom":
    "The path, relative to the map, of a CSV file with two columns, texts of the files and what the book calls them; added to `values`.",
  "map.zone": "The zone of times without one: UTC, an offset such as +05:30, or a name such as Europe/Berlin.",
};

/** The description of a field; undefined if there is none. */
export function findDescription(owner: string, field: string): string | undefined {
  const name = SAME_FIELDS_AS[owner] ?? owner;
  const singular = SENTENCES[name] === undefined ? name.replace(/s$/, "") : name;
  return findSentence(singular, field) ?? DESCRIPTIONS[`${name}.${field}`] ?? COMMON_DESCRIPTIONS[field];
}

function findSentence(object: string, field: string): string | undefined {
  const { [field]: sentence, "...": others } = SENTENCES[object] ?? {};
  return (
    sentence ??
    others
      ?.split(" ")
      .map((other) => findSentence(other, field))
      .find(Boolean)
  );
}

/** Objects whose fields are described under another name. */
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
  slabDetails: "grantSlab",
  config: "licenseConfig",
  rateDetails: "grantRateDetails",
  "short eventSchemas": "shortEventSchema",
  "short usageMeters": "shortMeter",
  "short pricePlans": "shortPlan",
  "short plan": "shortPlan",
  "short accounts": "shortAccount",
  "short credits": "shortCredit",
  usage: "usagePrice",
  volumeTiers: "tier",
  rows: "rateRow",
  "rows.tiers": "rateTier",
  "rows.volumeTiers": "rateTier",
  allowance: "rateAllowance",
  "shortEventSchema.attributes": "shortField",
  "shortAccount.pricePlans": "planAssociation",
  "shortPlan.licenses": "licensePrice",
  "shortPlan.credits": "creditOffer",
  "shortAccount.plans": "shortAssociation",
  "shortAccount.licenses": "licenseChange",
  "fixedFeeRateCards.rateValues": "fixedRateValue",
  "minimumCommitment.rateValues": "fixedRateValue",
};

/** The name for {@link findDescription} of the object in a field of `owner`. */
export function findOwner(owner: string, field: string): string {
  return SAME_FIELDS_AS[`${owner}.${field}`] ?? field;
}
