/**
 * Rules as they are answered (S3.6).
 *
 * @module
 */
import { stringifyJson } from "../../numbers/json.ts";

/** A rule as text: as it was sent where it was sent so, else the JSON of what was sent; undefined where there is none. */
export function formatRule(rule: unknown): string | undefined {
  if (rule === undefined || rule === null) return undefined;
  return typeof rule === "string" ? rule : stringifyJson(rule);
}
