/** Compiles a book's schemas and meters, which turn events into units (S4, S5). */
import type { Book } from "../book/resources/book.ts";
import type { Setting } from "../book/resources/catalog-items.ts";
import {
  carriesOver,
  type EventSchema,
  type FeatureDetails,
  findGroupLimit,
  hasKeys,
  type UsageMeter,
} from "../book/resources/event-schema.ts";
import type { Exact } from "../numbers/exact.ts";
import { groupBy as groupByKey } from "../numbers/ids.ts";
import type { Steps } from "../numbers/steps.ts";
import { type FullRuleBudget, type RuleBudget, resolveRuleBudget } from "../rules/budget.ts";
import { type Enrichment, compileEnrichment, type FindSetting, createSettingFinder, fullKey } from "./enrich.ts";
import { type EventSlots, createSlots } from "./event-slots.ts";
import type { GroupTexts } from "./grouped-cells.ts";
import { type MeasuredPlace, type IndexedMeter, type Measure, compileMeasure } from "./measure-units.ts";
import { createUnmatchedFinder, type UnmatchedValues } from "./unmetered-events.ts";
import type { MeterGrouping } from "./usage.ts";

/** The parts of a book that metering needs. */
type MeteringBook = Pick<Book, "settings" | "eventSchemas" | "usageMeters">;

/** The feature that events consume, and the quantity. */
export interface FeatureProgram {
  readonly featureId: string;
  /** The slot of the attribute with the quantity; undefined if each event consumes 1. */
  readonly slot: number | undefined;
}

/** How the events of one ACTIVE schema are metered. */
export interface SchemaProgram {
  /** Its index among the book's programs. */
  readonly index: number;
  readonly schema: EventSchema;
  readonly slots: EventSlots;
  readonly enrichment: Enrichment;
  readonly measure: Measure;
  /** The meter of each unit, in their order. */
  readonly meters: readonly UsageMeter[];
  /** Their ids. */
  readonly meterIds: readonly string[];
  /**
   * Where the group of each unit is, while the event is in the slots; undefined for a meter without groups and keys; the
   * same object for meters with the same `groupBy`. The last text of a meter with keys is the key (S19.2).
   */
  readonly groups: readonly (GroupTexts | undefined)[];
  /** Whether one of its meters has groups or keys. */
  readonly hasGroups: boolean;
  /** Whether one of its meters has keys. */
  readonly hasKeys: boolean;
  /** Whether one of its meters carries over (S19.1). */
  readonly carriesOver: boolean;
  /** Whether it computes fields of its events. */
  readonly enriches: boolean;
  /** Explains why no meter matches the event in the slots. */
  readonly findUnmatchedValues: () => UnmatchedValues;
  /** The feature that the schema's events consume (S11.2). */
  readonly feature?: FeatureProgram;
}

/** A compiled book. Its slots contain the event being metered, so only one run can use it at a time. */
export interface MeteringProgram {
  /** The ids of all meters in book order, with the same indices as in the tally. */
  readonly meterIds: readonly string[];
  /** All meters, in lists of those with the same schema and groups. */
  readonly groupings: readonly MeterGrouping[];
  /** By schema name; only ACTIVE schemas (S4.4). */
  readonly schemas: ReadonlyMap<string, SchemaProgram>;
  /** The settings of the book. */
  readonly settings: readonly Setting[];
}

/** Options for compiling rules. */
export interface MeteringOptions {
  /** The budget for one evaluation of a rule that iterates over lists or creates text (S3.8). */
  readonly ruleBudget?: RuleBudget | undefined;
}

/**
 * Compiles a checked book, one schema per step.
 *
 * @param before compiled with the same options from a book that shares items, as the same objects; their compiled parts
 * are reused. Only one of the two programs may meter an event at a time
 * @throws {RatebookError} ERR_OPTION_INVALID for an invalid budget
 */
export function* compileMeteringInSteps(
  book: MeteringBook,
  options: MeteringOptions,
  before?: MeteringProgram,
): Steps<MeteringProgram> {
  const budget = resolveRuleBudget(options.ruleBudget);
  const findSetting = createSettingFinder(book.settings);
  const changedSettings = changedKeys(before?.settings ?? [], book.settings);
  const metersBySchema = activeMeters(book.usageMeters);
  const schemas = new Map<string, SchemaProgram>();
  for (const schema of book.eventSchemas) {
    if (schema.status !== "ACTIVE") continue;
    const [index, meters] = [schemas.size, metersBySchema.get(schema.name) ?? []];
    const formerProgram = before?.schemas.get(schema.name);
    const program =
      formerProgram !== undefined && isCurrent(formerProgram, schema, meters, changedSettings)
        ? { ...formerProgram, index, measure: withMeterIndices(formerProgram.measure, meters) }
        : compileSchema(schema, { index, meters, findSetting, budget });
    schemas.set(schema.name, program);
    yield;
  }
  const { settings, usageMeters } = book;
  return { meterIds: usageMeters.map(({ id }) => id), groupings: findGroupings(usageMeters), schemas, settings };
}

/** Maximum number of meters without groups in one list: eight sums fill a cache line, and an unused one costs little. */
const PLAIN_METERS_MAX = 8;

function findGroupings(meters: readonly UsageMeter[]): readonly MeterGrouping[] {
  // A meter with keys has its own: no two meters have the same ones.
  const groupings = groupByKey([...meters.entries()], ([, { id, eventSchemaName, groupBy, ...meter }]) =>
    JSON.stringify([eventSchemaName, groupBy, hasKeys(meter) ? id : ""]),
  );
  return [...groupings.values()].flatMap((grouping): MeterGrouping[] => {
    const indices = grouping.map(([index]) => index);
    const hasGroups = grouping.some(([, meter]) => meter.groupBy !== undefined || hasKeys(meter));
    if (hasGroups)
      return [{ meters: indices, groupsMax: Math.max(...grouping.map(([, meter]) => findGroupLimit(meter))) }];
    return Array.from({ length: Math.ceil(indices.length / PLAIN_METERS_MAX) }, (_, list) => ({
      meters: indices.slice(list * PLAIN_METERS_MAX, (list + 1) * PLAIN_METERS_MAX),
      groupsMax: undefined,
    }));
  });
}

/** The inputs for compiling a schema's program. */
interface SchemaParts {
  readonly index: number;
  readonly meters: readonly IndexedMeter[];
  readonly findSetting: FindSetting;
  readonly budget: FullRuleBudget;
}

function compileSchema(schema: EventSchema, { index, meters, findSetting, budget }: SchemaParts): SchemaProgram {
  const slots = createSlots(schema);
  const { featureDetails } = schema;
  const measure = compileMeasure(slots, meters, budget);
  const { places } = measure;
  const groups = findGroups(places, slots);
  return {
    index,
    schema,
    slots,
    enrichment: compileEnrichment(schema, slots, findSetting, budget),
    measure,
    meters: places.map(({ meter }) => meter),
    meterIds: places.map(({ meter: { id } }) => id),
    groups,
    hasGroups: groups.some((group) => group !== undefined),
    hasKeys: places.some(({ keySlot }) => keySlot !== undefined),
    carriesOver: places.some(({ meter }) => carriesOver(meter)),
    enriches: schema.enrichments.fields.length > 0,
    findUnmatchedValues: createUnmatchedFinder(
      slots,
      places.map(({ meter }) => meter),
    ),
    ...(featureDetails ? { feature: featureProgram(featureDetails, slots) } : {}),
  };
}

/** The groups of each place, the same object for meters with the same `groupBy`. */
function findGroups(
  places: readonly MeasuredPlace[],
  { texts, dimensionSlots }: EventSlots,
): readonly (GroupTexts | undefined)[] {
  const groups = new Map<string, GroupTexts>();
  return places.map(({ meter: { groupBy = [] }, keySlot }) => {
    const slots = [
      ...groupBy.map((dimension) => dimensionSlots.get(dimension) ?? -1),
      ...(keySlot === undefined ? [] : [keySlot]),
    ];
    if (slots.length === 0) return undefined;
    const key = slots.join();
    const group = groups.get(key) ?? { texts, slots };
    groups.set(key, group);
    return group;
  });
}

/** The same places, with the indices of the meters in another book. */
function withMeterIndices({ places, ...measure }: Measure, meters: readonly IndexedMeter[]): Measure {
  const indices = new Map(meters.map(({ meter, index }) => [meter, index]));
  const moved = places.map((place) => ({ ...place, index: indices.get(place.meter) ?? -1 }));
  return { ...measure, places: moved, meters: moved.map(({ index }) => index) };
}

/** Whether a program was compiled from the same schema, meters and settings. */
function isCurrent(
  program: SchemaProgram,
  schema: EventSchema,
  meters: readonly IndexedMeter[],
  changedSettings: ReadonlySet<string>,
): boolean {
  const programMeters = [...new Set(program.meters)];
  return (
    program.schema === schema &&
    programMeters.length === meters.length &&
    meters.every(({ meter }, index) => programMeters[index] === meter) &&
    !schema.enrichments.dependencies.some(({ key }) => changedSettings.has(key))
  );
}

/** The keys of settings in only one of the lists. */
function changedKeys(before: readonly Setting[], after: readonly Setting[]): ReadonlySet<string> {
  const [old, current] = [new Set(before), new Set(after)];
  const changed = [...before.filter((setting) => !current.has(setting)), ...after.filter((each) => !old.has(each))];
  return new Set(changed.map(fullKey));
}

/** The ACTIVE meters of each schema, with their indices in the book. */
function activeMeters(meters: readonly UsageMeter[]): ReadonlyMap<string, readonly IndexedMeter[]> {
  const bySchema = new Map<string, IndexedMeter[]>();
  for (const [index, meter] of meters.entries()) {
    if (meter.status !== "ACTIVE") continue;
    const schemaMeters = bySchema.get(meter.eventSchemaName);
    if (schemaMeters === undefined) bySchema.set(meter.eventSchemaName, [{ meter, index }]);
    else schemaMeters.push({ meter, index });
  }
  return bySchema;
}

function featureProgram({ featureId, attributeName }: FeatureDetails, slots: EventSlots): FeatureProgram {
  return { featureId, slot: attributeName === "" ? undefined : slots.attributeSlots.get(attributeName) };
}

/** What the event whose fields are in the slots consumes of its feature (S11.2). */
export function featureQuantity({ slot }: FeatureProgram, { values }: EventSlots): Exact {
  return slot === undefined ? 1 : (values[slot] ?? 0);
}
