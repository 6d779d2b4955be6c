/** Event schemas, their enrichments, and usage meters (service-reference "Event schema", "Usage meter"; S4, S5). */
import * as z from "zod";

import type { Day } from "../../calendar/instant.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import { compareIds } from "../../numbers/ids.ts";
import type { Rule } from "../../rules/rule.ts";
import { attributeName } from "./catalog-items.ts";
import {
  type Frozen,
  type Maybe,
  type Patch,
  label,
  listOrEmpty,
  name,
  withDefault,
  reference,
  ruleSource,
  text,
  idSchema,
  type StrictSchema,
} from "./fields.ts";

/** The pattern of the names of event schemas and meters. */
export const NAME_PATTERN = /^[\sa-zA-Z0-9_-]*$/;
/** Maximum number of fields that enrichment adds, and of settings that its rules use. */
const ENRICHMENTS_MAX = 200;
/** Maximum number of dimensions by which a meter groups usage. */
const GROUP_DIMENSIONS_MAX = 4;

const dependencyFields = {
  /** Default SETTING, the only one. */
  type: withDefault(z.literal("SETTING"), "SETTING"),
  /** `setting.<namespace>.<id>` in any case, or the setting's id alone, at most 600 characters; in lower case when read. */
  key: z.string().min(1).max(600),
  /** The name in rules, as in `dependencies.<name>`; 1 to 255 characters. */
  name,
};
export interface DependencySchema extends StrictSchema<typeof dependencyFields> {}
const dependency: DependencySchema = z.strictObject(dependencyFields);
/** A setting that rules may use as `dependencies.<name>` (S4.2). */
export interface DependencyInput extends Frozen<z.input<DependencySchema>> {}
/** A setting that rules may use as `dependencies.<name>` (S4.2). */
export interface Dependency extends Frozen<z.output<DependencySchema>> {}

const enrichmentFieldFields = {
  /** 1 to 255 characters; not that of a declared field or another computed one. */
  name,
  /** An ATTRIBUTE is a decimal, a DIMENSION a string. */
  type: z.enum(["ATTRIBUTE", "DIMENSION"]),
  /**
   * The kind of `value`. JSON_LOGIC (default): a rule. VALUE: a constant. JSON_LOGIC_FROM_DEPENDENCY: the name of a
   * dependency whose setting contains the rule.
   */
  enrichmentType: withDefault(z.enum(["VALUE", "JSON_LOGIC", "JSON_LOGIC_FROM_DEPENDENCY"]), "JSON_LOGIC"),
  /** A JSON-logic rule or a string that contains one, the constant, or the name of the dependency. */
  value: ruleSource,
  /** A whole number from 0, unique: a field can use those with a lower one. */
  order: z.int().min(0),
};
export interface EnrichmentFieldSchema extends StrictSchema<typeof enrichmentFieldFields> {}
const enrichmentField: EnrichmentFieldSchema = z.strictObject(enrichmentFieldFields);
/** A field computed from the event and the fields before it (S4.3). */
export interface EnrichmentFieldInput extends Frozen<z.input<EnrichmentFieldSchema>> {}
/** A field computed from the event and the fields before it (S4.3). */
export type EnrichmentField = Omit<EnrichmentFieldInput, "enrichmentType" | "value"> &
  (
    | { readonly enrichmentType: "JSON_LOGIC"; readonly value: Rule }
    /** `value` names one of the schema's dependencies, whose setting contains the rule. */
    | { readonly enrichmentType: "JSON_LOGIC_FROM_DEPENDENCY"; readonly value: string }
    /** The constant: a Decimal for an ATTRIBUTE, a text for a DIMENSION. */
    | { readonly enrichmentType: "VALUE"; readonly value: Decimal | string }
  );

const declaredFieldFields = {
  /** The name in events and rules, 1 to 255 characters. */
  name,
  /** A name for people. */
  displayName: text,
  /** The unit of an attribute sent without one; no effect on computations. */
  defaultUnit: text,
};
export interface DeclaredFieldSchema extends StrictSchema<typeof declaredFieldFields> {}
const declaredField: DeclaredFieldSchema = z.strictObject(declaredFieldFields);
/** An attribute or dimension of events (S4.1). */
export interface DeclaredField extends Frozen<z.output<DeclaredFieldSchema>> {}
/** The required attributes or dimensions of an event, in a request. */
export const declaredFields = z.array(declaredField.extend({ displayName: label })).max(50);

const featureDetailsFields = {
  /** The id or the name of a feature; its id when read. */
  featureId: reference,
  /** The attribute with the quantity consumed; empty if each event consumes 1. */
  attributeName,
};
export interface FeatureDetailsSchema extends StrictSchema<typeof featureDetailsFields> {}
const featureDetails: FeatureDetailsSchema = z.strictObject(featureDetailsFields);
/** The feature that a schema's events consume (S11.2). */
export interface FeatureDetails extends Frozen<z.output<FeatureDetailsSchema>> {}

const enrichmentsFields = {
  /** The settings that the rules use, at most 200. */
  dependencies: listOrEmpty(dependency, ENRICHMENTS_MAX),
  /** The computed fields, at most 200; each can use those with a lower order. */
  fields: listOrEmpty(enrichmentField, ENRICHMENTS_MAX),
};
/** The fields computed before an event is metered, and the settings that they use (S4.2, S4.3). */
export interface Enrichments {
  readonly dependencies: readonly Dependency[];
  /** In ascending order. */
  readonly fields: readonly EnrichmentField[];
}

const eventSchemaFields = {
  /** The `schemaName` of events: 1 to 50 letters, digits, white space, `_` and `-`. */
  name: z.string().min(1).max(50).regex(NAME_PATTERN),
  /** A whole number from 1; default 1. */
  version: withDefault(z.int().min(1), 1),
  /** At most 255 characters. */
  description: label,
  /** Default ACTIVE; events are read with the ACTIVE version. */
  status: withDefault(z.enum(["DRAFT", "ACTIVE", "INACTIVE", "ARCHIVED"]), "ACTIVE"),
  /** Numbers that events must have, at most 50, `attribute.<name>` in rules; default none. */
  attributes: listOrEmpty(declaredField, 50),
  /** Strings that events must have, at most 50, `dimension.<name>` in rules; default none. */
  dimensions: listOrEmpty(declaredField, 50),
  /** The feature that an event consumes, and the attribute with the quantity; default none. */
  featureDetails: featureDetails.nullish(),
  /** Stored unchanged; no effect on prices. */
  eventLevelRevenue: z.boolean().nullish(),
  /** Whether events that no meter matches are normal; default false: they are reported as not billed. */
  allowUnmetered: z.boolean().nullish(),
  /** Fields computed before an event is metered; default none. */
  enrichments: z.strictObject(enrichmentsFields).nullish(),
};
export interface EventSchemaSchema extends StrictSchema<typeof eventSchemaFields> {}
export const eventSchema: EventSchemaSchema = z.strictObject(eventSchemaFields);
/** The fields of events of one name, and their enrichment (S4). */
export interface EventSchemaInput extends Frozen<z.input<EventSchemaSchema>> {}
/** An event schema in input form, before references are resolved. */
export type EventSchemaDocument = z.output<EventSchemaSchema>;
/** The fields of events of one name, and their enrichment (S4). */
export interface EventSchema extends Omit<Frozen<EventSchemaDocument>, "featureDetails" | "enrichments"> {
  readonly featureDetails?: FeatureDetails | undefined;
  readonly enrichments: Enrichments;
}
/** The status of a version: events are read with the ACTIVE one (S4.4, S5.4). */
export type LifecycleStatus = EventSchema["status"];

/** A new event schema: a DRAFT (S4.4). */
export type EventSchemaRequest = Omit<EventSchemaInput, "version" | "status">;
/** Changes of an event schema, and its new status (S4.4). */
export type EventSchemaPatch = Patch<Omit<EventSchemaInput, "name" | "version" | "status">> & {
  /** The new status; not DRAFT. Default: unchanged. */
  readonly status?: Maybe<LifecycleStatus>;
};

/** The current version of each event schema: the ACTIVE one, else the latest. */
export function findCurrentSchemas<Schema extends Pick<EventSchema, "name" | "status" | "version">>(
  schemas: readonly Schema[],
): ReadonlyMap<string, Schema> {
  const current = new Map<string, Schema>();
  schemas.forEach((schema) => {
    const other = current.get(schema.name);
    const isCurrent =
      other === undefined ||
      (other.status !== "ACTIVE" && (schema.status === "ACTIVE" || schema.version > other.version));
    if (isCurrent) current.set(schema.name, schema);
  });
  return current;
}

const computationFields = {
  /** A description for people, stored unchanged. */
  id: text,
  /** A whole number from 0, unique: steps are evaluated in ascending order. */
  order: z.int().min(0),
  /** A JSON-logic rule, or a string that contains one: true for the events to measure; default every event. */
  matcher: ruleSource.nullish(),
  /** A JSON-logic rule, or a string that contains one, for the units of an event; required for SUM. */
  computation: ruleSource.nullish(),
};
export interface ComputationSchema extends StrictSchema<typeof computationFields> {}
const computation: ComputationSchema = z.strictObject(computationFields);
/** One step of a meter: COUNT counts an event once if any matches it, SUM adds the results of all that do (S5.1, S5.2). */
export interface ComputationInput extends Frozen<z.input<ComputationSchema>> {}
/** One step of a meter (S5.1). */
export interface Computation extends Frozen<Omit<z.output<ComputationSchema>, "matcher" | "computation">> {
  readonly matcher?: Rule | undefined;
  readonly computation?: Rule | undefined;
}

const usageMeterFields = {
  /** 1 to 20 characters, without white space and slashes; cards refer to it by its id or its name. */
  id: idSchema(20),
  /** 1 to 50 letters, digits, white space, `_` and `-`, unique among meters that are not archived. */
  name: z.string().min(1).max(50).regex(NAME_PATTERN),
  /** The name on invoices, at most 255 characters; default `billableName`, else `name`. */
  displayName: label,
  /** At most 255 characters. */
  billableName: label,
  /** At most 255 characters. */
  description: label,
  /** Default COUNTER, the only one. */
  type: withDefault(z.literal("COUNTER"), "COUNTER"),
  /**
   * COUNT: the number of matching events. SUM: the sum of their units. MAX, MIN: the largest or smallest of their values.
   * UNIQUE_COUNT: the number of different values. LATEST: the last value. TIME_WEIGHTED: the average of a level (S19.1).
   */
  aggregation: z.enum(["COUNT", "SUM", "MAX", "MIN", "UNIQUE_COUNT", "LATEST", "TIME_WEIGHTED"]),
  /** Whether each day is aggregated separately, and the days are added up; not for COUNT, SUM and LATEST; default false. */
  daily: z.boolean().nullish(),
  /** LATEST only: whether a period without a value takes that of the period before; default false. */
  carryOver: z.boolean().nullish(),
  /** TIME_WEIGHTED only, and required there. LEVEL: an event sets the level. CHANGE: it adds to the level. */
  mode: z.enum(["LEVEL", "CHANGE"]).nullish(),
  /** Default ACTIVE; only an ACTIVE meter measures events. */
  status: withDefault(z.enum(["DRAFT", "ACTIVE", "INACTIVE", "ARCHIVED"]), "ACTIVE"),
  /** The name of the measured event schema, which must be ACTIVE if the meter is. */
  eventSchemaName: reference,
  /** At least one. COUNT: an event counts once if one matches it. SUM: the results of all that match it are added. */
  computations: z.array(computation).min(1),
  /** 1 to 4 dimensions, declared or computed, by whose values usage is kept and can be priced; default none. */
  groupBy: z.array(name).min(1).max(GROUP_DIMENSIONS_MAX).nullish(),
};
export interface UsageMeterSchema extends StrictSchema<typeof usageMeterFields> {}
export const usageMeter: UsageMeterSchema = z.strictObject(usageMeterFields);
/** Counts matching events, or sums their units (S5). */
export interface UsageMeterInput extends Frozen<z.input<UsageMeterSchema>> {}
/** A meter in input form: its displayName may be missing, its rules may be text. */
export interface UsageMeterDocument extends Frozen<z.output<UsageMeterSchema>> {}
/** Counts matching events, or sums their units (S5). */
export interface UsageMeter extends Omit<UsageMeterDocument, "displayName" | "computations" | "groupBy"> {
  readonly displayName: string;
  /** In ascending order. */
  readonly computations: readonly Computation[];
  /** The dimensions of its groups, in order; undefined if its usage has no groups. */
  readonly groupBy?: readonly string[] | undefined;
}

/** Whether usage of a meter has keys: every aggregation but COUNT and SUM. */
export function hasKeys({ aggregation }: Pick<UsageMeter, "aggregation">): boolean {
  return aggregation !== "COUNT" && aggregation !== "SUM";
}

/** The name of the key in a group of usage (S19.2). */
export const KEY_DIMENSION = "$key";

/** The names of the texts by which usage of a meter is kept: its dimensions, and the key if it has keys. */
export function listUsageDimensions(meter: Pick<UsageMeter, "groupBy" | "aggregation">): readonly string[] {
  const { groupBy = [] } = meter;
  return hasKeys(meter) ? [...groupBy, KEY_DIMENSION] : groupBy;
}

/** Maximum number of groups of a meter with usage other than 0, in one account on a day (S18.1). */
export const GROUPS_MAX = 1000;
/** Maximum number of values of a meter with keys, in one account on a day, in all its groups (S19.2). */
const VALUES_MAX = 100_000;

/** Maximum number of groups, or of values, with usage other than 0 of a meter in one account on a day. */
export function findGroupLimit(meter: Pick<UsageMeter, "aggregation">): number {
  return hasKeys(meter) ? VALUES_MAX : GROUPS_MAX;
}

/** Whether the quantity of a period depends on events before it. */
export function carriesOver({ aggregation, carryOver }: UsageMeter): boolean {
  return aggregation === "TIME_WEIGHTED" || carryOver === true;
}

/** Whether a quantity is a level of its period, as seats are, and no sum of its days (S19.4). */
export function mayBeProrated(meter: Pick<UsageMeter, "aggregation" | "daily">): boolean {
  return hasKeys(meter) && meter.daily !== true;
}

/** The texts of a meter's `groupBy` dimensions for some usage, in their order (S4.1); empty for a meter without groups. */
export type UsageGroup = readonly string[];

/** The usage of one group of a meter on a UTC day; may be negative (S5.2). */
export interface GroupUsage {
  readonly group: UsageGroup;
  readonly day: Day;
  readonly quantity: Decimal;
}

/** One text for each group, for maps and keys; empty for the empty group. */
export function formatGroup(group: UsageGroup): string {
  return group.length === 0 ? "" : JSON.stringify(group);
}

/** The texts of a group by their dimensions. */
export function nameTexts(group: UsageGroup, groupBy: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(groupBy.map((dimension, index) => [dimension, group[index] ?? ""]));
}

/** The group of all usage of a meter without groups. */
export const NO_GROUP: UsageGroup = [];

/** Compares two groups of a meter: by the texts of their first dimension, then the second, and so on. */
export function compareGroups(a: UsageGroup, b: UsageGroup): number {
  for (const [index, text] of a.entries()) {
    const difference = compareIds(text, b[index] ?? "");
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** A new usage meter: a DRAFT, with a generated id (S5.4). */
export type UsageMeterRequest = Omit<UsageMeterInput, "id" | "status">;
/** Changes of a usage meter; after the DRAFT status only name, billableName and description. */
export type UsageMeterPatch = Patch<UsageMeterRequest>;
