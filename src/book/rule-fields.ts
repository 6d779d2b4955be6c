/**
 * Rules where a book holds them: text is parsed, so that everything after reads rules and never their text (S3.6).
 *
 * @module
 */
import { RatebookError } from "../errors.ts";
import { parseRule, type Rule } from "../rules/rule.ts";
import type { Path, Report } from "./problems.ts";

/** The rule that a field holds; undefined, and reported, when it holds none. */
export function ruleAt(source: unknown, path: Path, report: Report): Rule | undefined {
  try {
    return parseRule(source);
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    report(path, error.message);
    return undefined;
  }
}
