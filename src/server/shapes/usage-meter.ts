/**
 * Usage meters as they are answered (service-reference: Usage meter).
 *
 * @module
 */
import * as z from "zod";

import type { UsageMeter } from "../../book/model/metering.ts";
import { NAME_PATTERN } from "../../book/resources/event-schema.ts";
import { usageMeter } from "../../book/resources/usage-meter.ts";
import type { Stored } from "../../engine/configured.ts";
import { withoutAbsent } from "../http/fields.ts";
import { deriveAnswers } from "./answer-of.ts";
import { shownRule } from "./rule-text.ts";

/** A usage meter. */
export const usageMeterShape = deriveAnswers().ofObject(
  usageMeter,
  {
    id: z.string().max(20),
    name: z.string().max(50).regex(NAME_PATTERN),
    displayName: z.string().max(255).meta({ description: "The billableName, else the name." }),
    billableName: z.string().max(255).optional(),
    description: z.string().max(255).optional(),
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
  },
  { id: "UsageMeter" },
);

/** A usage meter as it is answered: its computations in the order in which they were sent. */
export function shownMeter({ item, given }: Stored<UsageMeter>): z.input<typeof usageMeterShape> {
  const { id, name, displayName, billableName, description, type, aggregation, status, eventSchemaName } = item;
  const { computations } = given as { readonly computations: z.input<typeof usageMeter>["computations"] };
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
    computations: computations.map((step) =>
      withoutAbsent({
        id: step.id,
        order: step.order,
        matcher: shownRule(step.matcher),
        computation: shownRule(step.computation),
      }),
    ),
  });
}
