/**
 * Whether what holds rules says the same as before: as an object or as its text, with what is default said or left out.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { parseRule } from "../../rules/rule.ts";
import type { Body } from "../document-body.ts";

/** Whether two sources are one rule; null and undefined are none. */
export function isSameRule(a: unknown, b: unknown): boolean {
  return ruleText(a) === ruleText(b);
}

/** Whether two lists of a meter's computations are the same, in any order of the lists (S5.1). */
export function areSameComputations(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  const others = byOrder(b);
  return byOrder(a).every((step, at) => {
    const other = others[at] ?? {};
    return (
      step["order"] === other["order"] &&
      (step["id"] ?? null) === (other["id"] ?? null) &&
      isSameRule(step["matcher"], other["matcher"]) &&
      isSameRule(step["computation"], other["computation"])
    );
  });
}

/** Whether two enrichment fields of one name are the same (S4.3). */
export function isSameField(a: Body, b: Body): boolean {
  const [type, otherType] = [a, b].map((field) => field["enrichmentType"] ?? "JSON_LOGIC");
  if (type !== otherType || a["type"] !== b["type"] || a["order"] !== b["order"]) return false;
  return type === "JSON_LOGIC" ? isSameRule(a["value"], b["value"]) : String(a["value"]) === String(b["value"]);
}

/** Whether a dependency is the known one of its name; the setting may be named by its bare id (S4.2). */
export function isSameDependency(known: Body, item: Body): boolean {
  const [key, given] = [known, item].map((each) => String(each["key"]).toLowerCase());
  const type = item["type"] ?? "SETTING";
  return type === (known["type"] ?? "SETTING") && (key === given || key?.endsWith(`.${given}`) === true);
}

function byOrder(steps: readonly unknown[]): readonly Body[] {
  const bodies = steps.map((step) => (typeof step === "object" && step !== null ? (step as Body) : {}));
  return bodies.toSorted((a, b) => Number(a["order"]) - Number(b["order"]));
}

/** A rule's text; of what is no rule, none that a rule has. */
function ruleText(source: unknown): string {
  if (source === undefined || source === null) return "";
  try {
    return stringifyJson(parseRule(source));
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return `not a rule: ${stringifyJson(source)}`;
  }
}
