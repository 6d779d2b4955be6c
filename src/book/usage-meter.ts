/**
 * Usage meters: what is counted or summed of which events (service-reference "Usage meter"; S5).
 *
 * @module
 */
import { z } from "zod";

import { id, ruleSource } from "./fields.ts";

/** One step of a meter; a missing matcher matches every event (S5.1). A COUNT meter needs no computation. */
export const computation = z.strictObject({
  id: z.string().nullish(),
  order: z.int().min(0),
  matcher: ruleSource.nullish(),
  computation: ruleSource.nullish(),
});
export type Computation = z.output<typeof computation>;

/** Counts matching events, or sums what is computed of them. */
export const usageMeter = z.strictObject({
  id,
  name: z.string().min(1).max(50),
  displayName: z.string().max(255).nullish(),
  billableName: z.string().max(255).nullish(),
  description: z.string().max(255).nullish(),
  type: z.literal("COUNTER").default("COUNTER"),
  aggregation: z.enum(["COUNT", "SUM"]),
  status: z.enum(["DRAFT", "ACTIVE", "INACTIVE", "ARCHIVED"]).default("ACTIVE"),
  eventSchemaName: z.string(),
  computations: z.array(computation).min(1),
});
export type UsageMeter = z.output<typeof usageMeter>;
