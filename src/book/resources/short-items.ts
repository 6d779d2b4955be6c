/** Event schemas, usage meters and accounts in short form (book.md); see short-plan.ts. */
import * as z from "zod";

import { account, credit, planAssociation } from "./account.ts";
import { eventSchema, usageMeter } from "./event-schema.ts";
import { type Frozen, freeForm, name, recordSchema, reference, ruleSource, type StrictSchema, text } from "./fields.ts";
import { usageRateCard } from "./rate-card.ts";
import { plainDecimal, shortOverride } from "./short-plan.ts";

const { displayName } = usageRateCard.shape;

const conditionValue = z.union([z.string(), z.number()]);
const condition = z.union([
  conditionValue,
  z.array(conditionValue).min(1),
  z.strictObject({ not: z.union([conditionValue, z.array(conditionValue).min(1)]) }),
]);
const {
  computations,
  aggregation,
  eventSchemaName: _schemaName,
  name: _meterName,
  ...otherMeterFields
} = usageMeter.shape;
const longMeter = { aggregation: aggregation.nullish(), computations: computations.nullish() };
const shortMeterFields = {
  ...otherMeterFields,
  /** 1 to 50 letters, digits, white space, `_` and `-`; default the id, if it has no other characters. */
  name: z.string().nullish(),
  /** The name of the measured event schema. */
  schema: reference,
  /** Whether it counts events. */
  count: z.literal(true).nullish(),
  /** What it adds up: the name of an attribute, declared or computed, or a JSON-logic rule. */
  sum: z.union([z.string().min(1), freeForm]).nullish(),
  /** The events that it measures, by dimension: one value, one of several, or `{ "not": … }`; default every event. */
  where: recordSchema(z.string(), condition).nullish(),
  ...longMeter,
};
export interface ShortMeterSchema extends StrictSchema<typeof shortMeterFields> {}
export const shortMeter: ShortMeterSchema = z.strictObject(shortMeterFields);
/** A usage meter as people write it. */
export interface ShortMeterInput extends Frozen<z.input<ShortMeterSchema>> {}

const shortFieldFields = {
  /** The name in events and rules, 1 to 255 characters. */
  name,
  /** The unit of an attribute sent without one; no effect on computations. */
  unit: text,
  /** A name for people. */
  displayName,
};
const shortField: StrictSchema<typeof shortFieldFields> = z.strictObject(shortFieldFields);
const rules = recordSchema(z.string(), ruleSource);
const longDimension = eventSchema.shape.dimensions.in.unwrap().unwrap().element;
const { attributes: _attributes, dimensions: _dimensions, ...otherSchemaFields } = eventSchema.shape;
const shortEventSchemaFields = {
  ...otherSchemaFields,
  /** Numbers that events must have: names, or names with units; default none. */
  attributes: z.array(z.union([z.string(), shortField])).nullish(),
  /** Strings that events must have: names; default none. */
  dimensions: z.array(z.union([z.string(), longDimension])).nullish(),
  /** Attributes computed from the event, by name: JSON-logic rules; each can use those above it. */
  computed: rules.nullish(),
  /** Dimensions computed after the attributes, by name. */
  computedDimensions: rules.nullish(),
};
export interface ShortEventSchemaSchema extends StrictSchema<typeof shortEventSchemaFields> {}
export const shortEventSchema: ShortEventSchemaSchema = z.strictObject(shortEventSchemaFields);
/** An event schema as people write it. */
export interface ShortEventSchemaInput extends Frozen<z.input<ShortEventSchemaSchema>> {}

const {
  pricePlanId: _planId,
  effectiveFrom: _from,
  effectiveUntil: _until,
  ...otherAssociation
} = planAssociation.shape;
const shortAssociationFields = {
  ...otherAssociation,
  /** The id or the name of a price plan. */
  plan: reference,
  /** The first day: a date in UTC, inclusive. */
  from: z.string(),
  /** The day on which it ends: a date in UTC, exclusive; default no end. */
  until: text,
  /** Changes of the plan for this account (S16.2); default none. */
  override: shortOverride.nullish(),
};
export interface ShortAssociationSchema extends StrictSchema<typeof shortAssociationFields> {}
const shortAssociation: ShortAssociationSchema = z.strictObject(shortAssociationFields);

const { creditAmount: _amount, effectiveFrom: _first, effectiveUntil: _end, ...otherCredit } = credit.shape;
const shortCreditFields = {
  ...otherCredit,
  /** In the account's invoice currency, 0 or more. */
  amount: plainDecimal,
  /** The first day: a date in UTC, inclusive; default the account's `from`. */
  from: text,
  /** The day on which it ends: a date in UTC, exclusive; default no end. */
  until: text,
};
const shortCredit: StrictSchema<typeof shortCreditFields> = z.strictObject(shortCreditFields);

const licenseChangeFields = {
  /** A date-time with a zone, or a date, which means midnight UTC. */
  from: z.string(),
  /** The new quantity. */
  quantity: plainDecimal,
};
const licenseChange: StrictSchema<typeof licenseChangeFields> = z.strictObject(licenseChangeFields);

const { customerId, name: _accountName, credits: _credits, ...otherAccountFields } = account.shape;
const shortAccountFields = {
  ...otherAccountFields,
  /** 3 to 255 characters; default the id. */
  name: z.string().nullish(),
  /** The id or the name of a customer; default a new customer with the id and the name of the account. */
  customerId: customerId.nullish(),
  /** The id or the name of its plan. */
  plan: reference.nullish(),
  /** The first day of the plan: a date in UTC. */
  from: text,
  /** Its plans, if it has or had several. */
  plans: z.array(shortAssociation).nullish(),
  /** Quantities by license: a number from the account's `from`, or a list of `{ from, quantity }`. */
  licenses: recordSchema(z.string(), z.union([plainDecimal, z.array(licenseChange)])).nullish(),
  /** Money that pays its invoices; default none. */
  credits: z.array(z.union([shortCredit, credit])).nullish(),
};
export interface ShortAccountSchema extends StrictSchema<typeof shortAccountFields> {}
export const shortAccount: ShortAccountSchema = z.strictObject(shortAccountFields);
/** An account as people write it. */
export interface ShortAccountInput extends Frozen<z.input<ShortAccountSchema>> {}
