/**
 * Compares rules and their containers, given as objects or text, with or without defaults.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { parseRule } from "../../rules/rule.ts";

/** Whether two sources are the same rule; null and undefined mean no rule. */
export function isSameRule(a: unknown, b: unknown): boolean {
  return ruleText(a) === ruleText(b);
}

/** A part of a resource as sent or stored; its fields are checked elsewhere. */
type Part<Name extends string> = Readonly<Partial<Record<Name, unknown>>>;
/** The rule, as text, of a step without a matcher: it matches every event (S5.1). */
export const EVERY_EVENT = "true";
/** The rule, as text, of a step without a computation, allowed only for COUNT: an event counts 1 (S5.2). */
export const ONE_UNIT = "1";
type Step = Part<"id" | "order" | "matcher" | "computation">;

/** Whether two lists of a meter's computations are equal in any order (S5.1). */
export function areSameComputations(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  const otherComputations = byOrder(b);
  return byOrder(a).every((step, at) => {
    const other = otherComputations[at] ?? {};
    return (
      step.order === other.order &&
      computationId(step) === computationId(other) &&
      isSameRule(step.matcher ?? EVERY_EVENT, other.matcher ?? EVERY_EVENT) &&
      isSameRule(step.computation ?? ONE_UNIT, other.computation ?? ONE_UNIT)
    );
  });
}

/** The id of a step, or its order, which is unique, if it has no id. */
export function computationId({ id, order }: Step): string {
  return String(id ?? order);
}

type Field = Part<"name" | "type" | "order" | "enrichmentType" | "value">;

/** Whether two enrichment fields with the same name are equal (S4.3). */
export function isSameField(a: Field, b: Field): boolean {
  const [type, otherType] = [a, b].map(({ enrichmentType }) => enrichmentType ?? "JSON_LOGIC");
  if (type !== otherType || a.type !== b.type || a.order !== b.order) return false;
  return type === "JSON_LOGIC" ? isSameRule(a.value, b.value) : String(a.value) === String(b.value);
}

/** Whether a dependency equals the existing one with its name; the setting may be given by its bare id (S4.2). */
export function isSameDependency(existing: Part<"type" | "key">, item: Part<"type" | "key">): boolean {
  const [existingKey, key] = [existing, item].map((each) => String(each.key).toLowerCase());
  const [existingType, type] = [existing, item].map((each) => each.type ?? "SETTING");
  return type === existingType && (existingKey === key || existingKey?.endsWith(`.${key}`) === true);
}

function byOrder(steps: readonly unknown[]): readonly Step[] {
  const bodies = steps.map((step): Step => (typeof step === "object" && step !== null ? step : {}));
  return bodies.toSorted((a, b) => Number(a.order) - Number(b.order));
}

/** The text of a rule; anything else gets a text that no rule has. */
function ruleText(source: unknown): string {
  if (source === undefined || source === null) return "";
  try {
    return stringifyJson(parseRule(source));
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return `not a rule: ${stringifyJson(source)}`;
  }
}
