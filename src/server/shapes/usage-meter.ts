/**
 * Usage meters in answers (service-reference: Usage meter).
 *
 * @module
 */
import * as z from "zod";

import { NAME_PATTERN } from "../../book/resources/event-schema.ts";
import type { UsageMeter } from "../../book/resources/usage-meter.ts";
import { usageMeter } from "../../book/resources/usage-meter.ts";
import { computationId, EVERY_EVENT, ONE_UNIT } from "../../engine/catalog/equal-rules.ts";
import type { StoredResource } from "../../engine/configured-resources.ts";
import { withoutAbsent } from "../http/fields.ts";
import { createAnswerDeriver } from "./derive-answers.ts";
import { formatRule } from "./rule-text.ts";

export const usageMeterShape = createAnswerDeriver().deriveObject(
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
          id: z.string().meta({ description: "As in the request; default the order." }),
          order: z.int().min(0),
          matcher: z
            .string()
            .meta({ description: "A rule as a string; without one `true`, which matches every event." }),
          computation: z.string().meta({ description: "A rule as a string; `1` for a COUNT without one." }),
        }),
      )
      .min(1),
  },
  { id: "UsageMeter" },
);

/** A usage meter with its computations in the order in which they were sent. */
export function toMeterJson({ item, input }: StoredResource<UsageMeter>): z.input<typeof usageMeterShape> {
  const { id, name, displayName, billableName, description, type, aggregation, status, eventSchemaName } = item;
  const { computations } = input as { readonly computations: z.input<typeof usageMeter>["computations"] };
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
    computations: computations.map((step) => ({
      id: computationId(step),
      order: step.order,
      matcher: formatRule(step.matcher) ?? EVERY_EVENT,
      computation: formatRule(step.computation) ?? ONE_UNIT,
    })),
  });
}
