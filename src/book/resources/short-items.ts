/** Event schemas, usage meters and accounts in short form (book.md); see short-plan.ts. */
import * as z from "zod";

import { account, credit, planAssociation } from "./account.ts";
import { eventSchema, usageMeter } from "./event-schema.ts";
import { decimal, type Frozen, freeForm, name, recordSchema, reference, ruleSource, text } from "./fields.ts";
import { shortOverride } from "./short-plan.ts";

const dimensionValue = z.union([z.string(), z.number()]);
const condition = z.union([
  dimensionValue,
  z.array(dimensionValue).min(1),
  z.strictObject({ not: z.union([dimensionValue, z.array(dimensionValue).min(1)]) }),
]);
const { eventSchemaName: _schemaName, ...meterFields } = usageMeter.shape;
const measured = z.union([z.string().min(1), freeForm]).nullish();
export const shortMeter = z.strictObject({
  ...meterFields,
  /** 1 to 50 letters, digits, white space, `_` and `-`; default the id, if it has no other characters. */
  name: z.string().nullish(),
  /** The name of the measured event schema. */
  schema: reference,
  /** Whether it counts events. */
  count: z.literal(true).nullish(),
  /** What it adds up: the name of an attribute, declared or computed, or a JSON-logic rule. */
  sum: measured,
  /** The name of an attribute, or a rule: the largest value of a period. */
  max: measured,
  /** The name of an attribute, or a rule: the smallest value of a period. */
  min: measured,
  /** The name of a dimension, or a rule: the number of different values. */
  unique: measured,
  /** The name of an attribute, or a rule: the last value of a period. */
  latest: measured,
  /** The name of an attribute, or a rule: the average of a level that events set. */
  level: measured,
  /** The name of an attribute, or a rule: the average of a level that events change. */
  change: measured,
  /** The events that it measures, by dimension: one value, one of several, or `{ "not": … }`; default every event. */
  where: recordSchema(z.string(), condition).nullish(),
  /** In the long form: COUNT, SUM, MAX, MIN, UNIQUE_COUNT, LATEST or TIME_WEIGHTED. */
  aggregation: meterFields.aggregation.nullish(),
  /** In the long form: at least one rule of the events to measure, and of their units. */
  computations: meterFields.computations.nullish(),
});
/** A usage meter as people write it. */
export interface ShortMeterInput extends Frozen<z.input<typeof shortMeter>> {}

const shortField = z.strictObject({
  /** The name in events and rules, 1 to 255 characters. */
  name,
  /** The unit of an attribute sent without one; no effect on computations. */
  unit: text,
  /** A name for people. */
  displayName: usageMeter.shape.displayName,
});
const rules = recordSchema(z.string(), ruleSource).nullish();
export const shortEventSchema = z.strictObject({
  ...eventSchema.shape,
  /** Numbers that events must have: names, or names with units; default none. */
  attributes: z.array(z.union([z.string(), shortField])).nullish(),
  /** Strings that events must have: names; default none. */
  dimensions: z.array(z.union([z.string(), eventSchema.shape.dimensions.in.unwrap().unwrap().element])).nullish(),
  /** Attributes computed from the event, by name: JSON-logic rules; each can use those above it. */
  computed: rules,
  /** Dimensions computed after the attributes, by name. */
  computedDimensions: rules,
});
/** An event schema as people write it. */
export interface ShortEventSchemaInput extends Frozen<z.input<typeof shortEventSchema>> {}

const { pricePlanId: _id, effectiveFrom: _from, effectiveUntil: _until, ...termsFields } = planAssociation.shape;
const shortAssociation = z.strictObject({
  ...termsFields,
  /** The id or the name of a price plan. */
  plan: reference,
  /** The first day: a date in UTC, inclusive. */
  from: z.string(),
  /** The day on which it ends: a date in UTC, exclusive; default no end. */
  until: text,
  /** Changes of the plan for this account (S16.2); default none. */
  override: shortOverride.nullish(),
});

const { creditAmount: _amount, effectiveFrom: _first, effectiveUntil: _end, ...creditFields } = credit.shape;
const shortCredit = z.strictObject({
  ...creditFields,
  /** In the account's invoice currency, 0 or more. */
  amount: decimal,
  /** The first day: a date in UTC, inclusive; default the account's `from`. */
  from: text,
  /** The day on which it ends: a date in UTC, exclusive; default no end. */
  until: text,
});

const licenseChange = z.strictObject({
  /** A date-time with a zone, or a date, which means midnight UTC. */
  from: z.string(),
  /** The new quantity. */
  quantity: decimal,
});

export const shortAccount = z.strictObject({
  ...account.shape,
  /** 3 to 255 characters; default the id. */
  name: z.string().nullish(),
  /** The id or the name of a customer; default a new customer with the id and the name of the account. */
  customerId: reference.nullish(),
  /** The id or the name of its plan. */
  plan: reference.nullish(),
  /** The first day of the plan: a date in UTC. */
  from: text,
  /** Its plans, if it has or had several. */
  plans: z.array(shortAssociation).nullish(),
  /** Quantities by license: a number from the account's `from`, or a list of `{ from, quantity }`. */
  licenses: recordSchema(z.string(), z.union([decimal, z.array(licenseChange)])).nullish(),
  /** Money that pays its invoices; default none. */
  credits: z.array(z.union([shortCredit, credit])).nullish(),
});
/** An account as people write it. */
export interface ShortAccountInput extends Frozen<z.input<typeof shortAccount>> {}
