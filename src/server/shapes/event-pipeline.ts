/**
 * The path of an event from its schema to the plan that prices it, in the form that clients of the reference API read.
 *
 * @module
 */
import * as z from "zod";

import { versionId } from "../../engine/document-ids.ts";
import type { Engine } from "../../engine/engine.ts";
import type { EventCycle } from "../../engine/events/event-cycles.ts";
import type { EventRecord } from "../../ledger/records.ts";
import { formatDecimal } from "../../numbers/decimal.ts";
import { day, number, formatDay, withoutAbsent } from "../http/fields.ts";

const enrichedFields = z.array(
  z.strictObject({ name: z.string(), type: z.enum(["ATTRIBUTE", "DIMENSION"]), value: z.string() }),
);

export const pipelineShape = z
  .strictObject({
    eventSchema: z.strictObject({ name: z.string(), version: z.int() }).optional(),
    usageMeters: z
      .array(
        z.strictObject({
          id: z.string(),
          name: z.string(),
          version: z.int(),
          status: z.enum(["PROCESSED_UNITS_COMPUTED"]),
          units: number,
        }),
      )
      .optional(),
    pricePlans: z
      .array(
        z.strictObject({
          id: z.string(),
          name: z.string(),
          scheduleId: z.string(),
          cycleStart: day,
          cycleEnd: day.meta({ description: "The end of the cycle, exclusive." }),
          usageMeters: z.array(z.string()),
        }),
      )
      .optional(),
    account: z.strictObject({ id: z.string(), name: z.string(), alias: z.string().optional() }).optional(),
    customer: z.strictObject({ id: z.string(), name: z.string() }).optional(),
    featureDetails: z
      .strictObject({ featureId: z.string(), mappedAttribute: z.string(), overageInEvent: number })
      .optional(),
    enrichments: z.strictObject({ attributes: enrichedFields, dimensions: enrichedFields }).optional(),
  })
  .meta({ id: "EventPipelineInfo" });

type Pipeline = z.input<typeof pipelineShape>;

export async function readPipeline(
  engine: Engine,
  event: EventRecord,
  eventCycle: EventCycle | undefined,
): Promise<Pipeline> {
  const { customerId, schemaName, schemaVersion, units } = event;
  const customer = customerId === "" ? undefined : await engine.customers.get(customerId);
  return withoutAbsent({
    eventSchema: schemaVersion === undefined ? undefined : { name: schemaName, version: schemaVersion },
    usageMeters: units.length === 0 ? undefined : await readMeters(engine, event),
    pricePlans: eventCycle && [await readPlan(engine, event, eventCycle)],
    account: await readAccountName(engine, event),
    customer: customer && { id: customerId, name: customer.name },
    featureDetails: await readFeatureUse(engine, event),
    enrichments: listEnrichments(event),
  });
}

async function readMeters(engine: Engine, { units }: EventRecord): Promise<NonNullable<Pipeline["usageMeters"]>> {
  return Promise.all(
    units.map(async ({ meterId: id, quantity }) => {
      const { name } = (await engine.usageMeters.get(id)).item;
      return { id, name, version: 1, status: "PROCESSED_UNITS_COMPUTED" as const, units: quantity };
    }),
  );
}

async function readPlan(
  engine: Engine,
  { units }: EventRecord,
  { pricePlanId: id, version, cycle }: EventCycle,
): Promise<NonNullable<Pipeline["pricePlans"]>[number]> {
  const { name } = (await engine.pricePlans.get(id, version)).item;
  return {
    id,
    name,
    scheduleId: versionId(id, version),
    cycleStart: formatDay(cycle.start),
    cycleEnd: formatDay(cycle.end),
    usageMeters: units.map(({ meterId }) => meterId),
  };
}

async function readAccountName(engine: Engine, { accountId: id, payload }: EventRecord): Promise<Pipeline["account"]> {
  if (id === "") return undefined;
  const { name } = await engine.accounts.get(id);
  return withoutAbsent({ id, name, alias: payload.accountId === id ? undefined : payload.accountId });
}

async function readFeatureUse(
  engine: Engine,
  { schemaName, schemaVersion, feature }: EventRecord,
): Promise<Pipeline["featureDetails"]> {
  if (feature === undefined) return undefined;
  const schema = await engine.eventSchemas.get(schemaName, schemaVersion);
  return {
    featureId: feature.featureId,
    mappedAttribute: schema.item.featureDetails?.attributeName ?? "",
    overageInEvent: feature.overage,
  };
}

function listEnrichments({ enriched: { attributes, dimensions } }: EventRecord): Pipeline["enrichments"] {
  if (attributes.length === 0 && Object.keys(dimensions).length === 0) return undefined;
  return {
    attributes: attributes.map(({ name, value }) => ({
      name,
      type: "ATTRIBUTE" as const,
      value: formatDecimal(value),
    })),
    dimensions: Object.entries(dimensions).map(([name, value]) => ({ name, type: "DIMENSION" as const, value })),
  };
}
