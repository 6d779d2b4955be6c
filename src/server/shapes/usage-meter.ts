/**
 * Usage meters as they are answered (service-reference: Usage meter).
 *
 * @module
 */
import * as z from "zod";

import { NAME_PATTERN } from "../../book/resources/event-schema.ts";
import type { UsageMeter } from "../../book/resources/usage-meter.ts";
import type { Stored } from "../../engine/configured.ts";
import type { Body } from "../../engine/document-body.ts";
import { withoutAbsent } from "../http/fields.ts";
import { shownRule } from "./rule-text.ts";

/** A usage meter. */
export const usageMeterShape = z
  .strictObject({
    id: z.string().max(20),
    name: z.string().max(50).regex(NAME_PATTERN),
    displayName: z.string().max(255).meta({ description: "The billableName, else the name." }),
    billableName: z.string().max(255).optional(),
    description: z.string().max(255).optional(),
    type: z.literal("COUNTER"),
    aggregation: z.enum(["COUNT", "SUM"]),
    status: z.enum(["DRAFT", "ACTIVE", "INACTIVE", "ARCHIVED"]),
    eventSchemaName: z.string(),
    computations: z
      .array(
        z.strictObject({
          id: z.string().optional(),
          order: z.int().min(0),
          matcher: z.string().optional().meta({ description: "A rule as text; absent, every event matches." }),
          computation: z.string().optional().meta({ description: "A rule as text." }),
        }),
      )
      .min(1),
  })
  .meta({ id: "UsageMeter" });

/** A usage meter as it is answered: its computations in the order in which they were sent. */
export function shownMeter({ item, given }: Stored<UsageMeter>): z.input<typeof usageMeterShape> {
  const { id, name, displayName, billableName, description, type, aggregation, status, eventSchemaName } = item;
  const steps = given["computations"] as readonly Body[];
  return withoutAbsent({
    id,
    name,
    displayName,
    billableName,
    description,
    type,
    aggregation,
    status,
    eventSchemaName,
    computations: steps.map((step) =>
      withoutAbsent({
        id: step["id"] as string | undefined,
        order: Number(step["order"]),
        matcher: shownRule(step["matcher"]),
        computation: shownRule(step["computation"]),
      }),
    ),
  });
}
