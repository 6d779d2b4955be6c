/**
 * Usage meters (service-reference "Usage meter"; S5).
 *
 * @module
 */
import * as z from "zod";

import { NAME_PATTERN } from "./event-schema.ts";
import { idSchema, label, orDefault, reference, ruleSource, text } from "./fields.ts";

/** One step of a meter; a missing matcher matches every event (S5.1). A COUNT meter needs no computation. */
const computation = z.strictObject({
  id: text,
  order: z.int().min(0),
  matcher: ruleSource.nullish(),
  computation: ruleSource.nullish(),
});
/** A step of a meter in input form: its rules may be text. */
export type ComputationDocument = z.output<typeof computation>;

/** Counts matching events, or sums their units. */
export const usageMeter = z.strictObject({
  id: idSchema(20),
  name: z.string().min(1).max(50).regex(NAME_PATTERN),
  displayName: label,
  billableName: label,
  description: label,
  type: orDefault(z.literal("COUNTER"), "COUNTER"),
  aggregation: z.enum(["COUNT", "SUM"]),
  status: orDefault(z.enum(["DRAFT", "ACTIVE", "INACTIVE", "ARCHIVED"]), "ACTIVE"),
  eventSchemaName: reference,
  computations: z.array(computation).min(1),
});
/** A meter in input form: its displayName may be missing, its rules may be text. */
export type UsageMeterDocument = z.output<typeof usageMeter>;
