/**
 * A book's schemas and meters, compiled once: event in, units out (S4, S5).
 *
 * @module
 */
import type { Setting } from "../book/model/catalog-items.ts";
import type { EventSchema, FeatureDetails, UsageMeter } from "../book/model/metering.ts";
import type { Exact } from "../numbers/exact.ts";
import { type RuleBudget, ruleBudgetOf } from "../rules/budget.ts";
import type { Enrichment } from "./enrich.ts";
import { compileEnrichment } from "./enrich.ts";
import type { EventSlots } from "./event-slots.ts";
import { slotsOf } from "./event-slots.ts";
import type { Measure } from "./measure.ts";
import { compileMeasure } from "./measure.ts";
import { findSettingIn } from "./settings.ts";

/** The parts of a book that metering needs. */
export interface MeteringBook {
  readonly settings: readonly Setting[];
  readonly eventSchemas: readonly EventSchema[];
  readonly usageMeters: readonly UsageMeter[];
}

/** The feature that events consume, and how much. */
export interface FeatureProgram {
  readonly featureId: string;
  /** The slot of the attribute that says how much; undefined where each event consumes 1. */
  readonly slot: number | undefined;
}

/** How the events of one ACTIVE schema are metered. */
export interface SchemaProgram {
  /** Its place among the book's programs. */
  readonly index: number;
  readonly schema: EventSchema;
  readonly slots: EventSlots;
  readonly enrichment: Enrichment;
  readonly measure: Measure;
  /** The meters of the measure, in the order of its units. */
  readonly meters: readonly Pick<UsageMeter, "id" | "name">[];
  /** The ids of those. */
  readonly meterIds: readonly string[];
  /** Whether its events have enriched fields. */
  readonly enriches: boolean;
  /** The feature that the schema's events consume (S11.2). */
  readonly feature?: FeatureProgram;
}

/** A compiled book. It holds the event that is being metered: one program serves one run at a time. */
export interface MeteringProgram {
  /** The ids of all meters of the book, in book order: their indices are those of the tally. */
  readonly meterIds: readonly string[];
  /** By the schema's name; only ACTIVE schemas (S4.4). */
  readonly schemas: ReadonlyMap<string, SchemaProgram>;
}

/** How the rules of a book are compiled. */
export interface MeteringOptions {
  /** The budget of one evaluation of a rule that goes through lists or makes text (S3.8). */
  readonly ruleBudget?: RuleBudget | undefined;
}

/**
 * Compiles a book that was read and checked: its rules are parsed, its references are ids.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for a budget that is none
 */
export function compileMetering(book: MeteringBook, options: MeteringOptions = {}): MeteringProgram {
  const budget = ruleBudgetOf(options.ruleBudget);
  const findSetting = findSettingIn(book.settings);
  const schemas = new Map<string, SchemaProgram>();
  for (const schema of book.eventSchemas) {
    if (schema.status !== "ACTIVE") continue;
    const slots = slotsOf(schema);
    const places = book.usageMeters
      .map((meter, index) => ({ meter, index }))
      .filter(({ meter }) => meter.status === "ACTIVE" && meter.eventSchemaName === schema.name);
    const { featureDetails } = schema;
    schemas.set(schema.name, {
      index: schemas.size,
      schema,
      slots,
      enrichment: compileEnrichment(schema, slots, findSetting, budget),
      measure: compileMeasure(slots, places, budget),
      meters: places.map(({ meter: { id, name } }) => ({ id, name })),
      meterIds: places.map(({ meter: { id } }) => id),
      enriches: schema.enrichments.fields.length > 0,
      ...(featureDetails ? { feature: featureProgram(featureDetails, slots) } : {}),
    });
  }
  return { meterIds: book.usageMeters.map(({ id }) => id), schemas };
}

function featureProgram({ featureId, attributeName }: FeatureDetails, slots: EventSlots): FeatureProgram {
  return { featureId, slot: attributeName === "" ? undefined : slots.attributeSlots.get(attributeName) };
}

/** What the event whose fields are in the slots consumes of its feature (S11.2). */
export function featureQuantity({ slot }: FeatureProgram, { values }: EventSlots): Exact {
  return slot === undefined ? 1 : (values[slot] ?? 0);
}
