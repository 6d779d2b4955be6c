/**
 * Rules in answers (S3.6).
 *
 * @module
 */
import { stringifyJson } from "../../numbers/json.ts";

/** A rule as text: unchanged if it was sent as text, otherwise JSON; undefined without a rule. */
export function formatRule(rule: unknown): string | undefined {
  if (rule === undefined || rule === null) return undefined;
  return typeof rule === "string" ? rule : stringifyJson(rule);
}
