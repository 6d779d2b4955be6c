/**
 * Parses the rules in a book, and checks their variables against an event schema (S3.6).
 *
 * @module
 */
import { hasCode } from "../../errors.ts";
import { checkRule, parseRule, type Rule, type RuleFields, type RuleProblem } from "../../rules/rule.ts";
import type { Path, Report } from "../problems.ts";
import type { EnrichmentField, EventSchema } from "./event-schema.ts";

/** Parses the rule in a field; an invalid one is reported and undefined. */
export function readRule(source: unknown, path: Path, report: Report): Rule | undefined {
  try {
    return parseRule(source);
  } catch (error) {
    if (!hasCode(error, "ERR_RULE_INVALID")) throw error;
    report(path, error.details.reason, { reason: error.message });
    return undefined;
  }
}

/**
 * The fields of an event that rules may use: those declared by its schema, and the enriched ones that `isIncluded` selects.
 *
 * @returns undefined if the schema was unreadable
 */
export function listRuleFields(
  schema: EventSchema,
  isIncluded: (field: EnrichmentField) => boolean = () => true,
): RuleFields | undefined {
  const { dependencies, fields } = schema.enrichments;
  if (![schema.attributes, schema.dimensions, dependencies, fields].every(hasNoHoles)) return undefined;
  const includedFields = fields.filter(isIncluded);
  const names = (list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => name);
  return {
    attributes: new Set([
      ...names(schema.attributes),
      ...names(includedFields.filter(({ type }) => type === "ATTRIBUTE")),
    ]),
    dimensions: new Set([
      ...names(schema.dimensions),
      ...names(includedFields.filter(({ type }) => type === "DIMENSION")),
    ]),
    dependencies: new Set(names(dependencies)),
  };
}

/** Reports problems of a rule. Without a schema, its variables are not checked. */
export function checkRuleForSchema(rule: Rule, schema: EventSchema | undefined, path: Path, report: Report): boolean {
  const fields = schema === undefined ? undefined : listRuleFields(schema);
  const problems = checkRule(rule, fields === undefined ? {} : { fields });
  for (const problem of problems) reportRuleProblem(problem, path, report);
  return problems.length > 0;
}

/** Reports one problem of a rule at the rule's path; the message has the path inside it. */
export function reportRuleProblem(problem: RuleProblem, path: Path, report: Report, owner = ""): void {
  report(path, problem.code, { reason: problem.message, place: problem.path, ...(owner && { owner }) });
}

/** Whether a list has no holes, so that all of it could be read. */
export function hasNoHoles(list: readonly unknown[]): boolean {
  // `includes` treats a hole as undefined; lists of a book contain no other undefined.
  return !list.includes(undefined);
}
