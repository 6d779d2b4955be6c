/**
 * Rules where a book holds them: their text is parsed, and their variables are checked against an event schema (S3.6).
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { checkRule, parseRule, type Rule, type RuleFields, type RuleProblem } from "../../rules/rule.ts";
import type { EnrichmentField, EventSchema } from "../model/metering.ts";
import type { Path, Report } from "../problems.ts";

/** The rule that a field holds; undefined, and reported, when it holds none. */
export function readRule(source: unknown, path: Path, report: Report): Rule | undefined {
  try {
    return parseRule(source);
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    report(path, "INVALID_RULE", { reason: error.message });
    return undefined;
  }
}

/**
 * The fields of an event that rules may use: those that its schema declares, and the enriched ones that `may` names.
 *
 * @returns undefined when the schema was too broken to say
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

/** Reports what is wrong with a rule. Without a schema to look at, its variables are left alone. */
export function checkRuleForSchema(rule: Rule, schema: EventSchema | undefined, path: Path, report: Report): boolean {
  const fields = schema === undefined ? undefined : listRuleFields(schema);
  const problems = checkRule(rule, fields === undefined ? {} : { fields });
  for (const problem of problems) reportRuleProblem(problem, path, report);
  return problems.length > 0;
}

/** Reports one problem of a rule: the place is that of the rule, the path inside it is in the sentence. */
export function reportRuleProblem(problem: RuleProblem, path: Path, report: Report, owner = ""): void {
  report(path, "INVALID_RULE", { reason: problem.message, place: problem.path, ...(owner && { owner }) });
}

/** Whether a list has no holes: nothing of it was too broken to read. */
export function hasNoHoles(list: readonly unknown[]): boolean {
  // `includes` sees a hole as undefined; no list of a book holds an undefined of its own.
  return !list.includes(undefined);
}
