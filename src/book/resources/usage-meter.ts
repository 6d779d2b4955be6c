/**
 * Usage meters (service-reference "Usage meter"; S5).
 *
 * @module
 */
import * as z from "zod";

import type { Rule } from "../../rules/rule.ts";
import type { Frozen, Patch } from "./common-types.ts";
import { NAME_PATTERN } from "./event-schema.ts";
import { idSchema, label, withDefault, reference, ruleSource, text } from "./fields.ts";

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
export interface ComputationSchema extends z.ZodObject<typeof computationFields, z.core.$strict> {}
const computation: ComputationSchema = z.strictObject(computationFields);
/** One step of a meter: every one that matches an event counts, and a SUM adds them (S5.1, S5.2). */
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
  /** COUNT: the number of matching events. SUM: the sum of their units. */
  aggregation: z.enum(["COUNT", "SUM"]),
  /** Default ACTIVE; only an ACTIVE meter measures events. */
  status: withDefault(z.enum(["DRAFT", "ACTIVE", "INACTIVE", "ARCHIVED"]), "ACTIVE"),
  /** The name of the measured event schema, which must be ACTIVE if the meter is. */
  eventSchemaName: reference,
  /** At least one; the results of all that match an event are added. */
  computations: z.array(computation).min(1),
};
export interface UsageMeterSchema extends z.ZodObject<typeof usageMeterFields, z.core.$strict> {}
export const usageMeter: UsageMeterSchema = z.strictObject(usageMeterFields);
/** Counts matching events, or sums their units (S5). */
export interface UsageMeterInput extends Frozen<z.input<UsageMeterSchema>> {}
/** A meter in input form: its displayName may be missing, its rules may be text. */
export interface UsageMeterDocument extends Frozen<z.output<UsageMeterSchema>> {}
/** Counts matching events, or sums their units (S5). */
export interface UsageMeter extends Omit<UsageMeterDocument, "displayName" | "computations"> {
  readonly displayName: string;
  /** In ascending order. */
  readonly computations: readonly Computation[];
}

/** A new usage meter: a DRAFT, with a generated id (S5.4). */
export type UsageMeterRequest = Omit<UsageMeterInput, "id" | "status">;
/** Changes of a usage meter; after the DRAFT status only name, billableName and description. */
export type UsageMeterPatch = Patch<UsageMeterRequest>;
