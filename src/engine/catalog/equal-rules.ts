/**
 * Whether what holds rules says the same as before: as an object or as its text, with what is default said or left out.
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

/** A part of a resource as it was given or is stored: what its fields hold is checked elsewhere. */
type Part<Name extends string> = Readonly<Partial<Record<Name, unknown>>>;
/** The rule of a step without a matcher, as text: it matches every event (S5.1). */
export const EVERY_EVENT = "true";
/** The rule of a step without a computation, which only a COUNT may lack, as text: an event counts 1 (S5.2). */
export const ONE_UNIT = "1";
type Step = Part<"id" | "order" | "matcher" | "computation">;

/** Whether two lists of a meter's computations are the same, in any order of the lists (S5.1). */
export function areSameComputations(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  const others = byOrder(b);
  return byOrder(a).every((step, at) => {
    const other = others[at] ?? {};
    return (
      step.order === other.order &&
      computationId(step) === computationId(other) &&
      isSameRule(step.matcher ?? EVERY_EVENT, other.matcher ?? EVERY_EVENT) &&
      isSameRule(step.computation ?? ONE_UNIT, other.computation ?? ONE_UNIT)
    );
  });
}

/** The id of a step; one that was given none has its order, of which each step has its own. */
export function computationId({ id, order }: Step): string {
  return String(id ?? order);
}

type Field = Part<"name" | "type" | "order" | "enrichmentType" | "value">;

/** Whether two enrichment fields of one name are the same (S4.3). */
export function isSameField(a: Field, b: Field): boolean {
  const [type, otherType] = [a, b].map(({ enrichmentType }) => enrichmentType ?? "JSON_LOGIC");
  if (type !== otherType || a.type !== b.type || a.order !== b.order) return false;
  return type === "JSON_LOGIC" ? isSameRule(a.value, b.value) : String(a.value) === String(b.value);
}

/** Whether a dependency is the known one of its name; the setting may be named by its bare id (S4.2). */
export function isSameDependency(existing: Part<"type" | "key">, item: Part<"type" | "key">): boolean {
  const [key, setting] = [existing, item].map((each) => String(each.key).toLowerCase());
  const [knownType, type] = [existing, item].map((each) => each.type ?? "SETTING");
  return type === knownType && (key === setting || key?.endsWith(`.${setting}`) === true);
}

function byOrder(steps: readonly unknown[]): readonly Step[] {
  const bodies = steps.map((step): Step => (typeof step === "object" && step !== null ? step : {}));
  return bodies.toSorted((a, b) => Number(a.order) - Number(b.order));
}

/** A rule's text; what is no rule gets a text that no rule has. */
function ruleText(source: unknown): string {
  if (source === undefined || source === null) return "";
  try {
    return stringifyJson(parseRule(source));
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return `not a rule: ${stringifyJson(source)}`;
  }
}
