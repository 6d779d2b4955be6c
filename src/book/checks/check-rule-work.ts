/**
 * Checks the minimum work of rules: a rule that exceeds the budget for every event is rejected (S3.8).
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import type { Steps } from "../../numbers/steps.ts";
import type { FullRuleBudget } from "../../rules/budget.ts";
import { describeExcessWork } from "../../rules/minimum-work.ts";
import { checkRule, parseRule, type Rule } from "../../rules/rule.ts";
import type { Path, Report } from "../problems.ts";
import type { Book } from "../resources/book.ts";
import { settingKey } from "../resources/catalog-items.ts";

/** The lists of a book whose items contain rules. */
export type RuleList = "settings" | "eventSchemas" | "usageMeters";

/** The limit on the minimum work of a book's rules. */
export interface RuleWorkLimits {
  readonly budget: FullRuleBudget;
  /** Whether the item at an index is checked: items saved by an older version stay readable. */
  readonly isChecked: (list: RuleList, index: number) => boolean;
}

/** Reports the rules that exceed the budget for every event, a rule per step; those that no event reaches are skipped. */
export function* checkRuleWork(book: Book, { budget, isChecked }: RuleWorkLimits, report: Report): Steps {
  const evaluationSteps = { steps: 0 };
  for (const { rule, path } of findRules(book, isChecked)) {
    // A rule with another problem was reported already.
    if (rule === undefined || rule === null || checkRule(rule).length > 0) continue;
    const reason = describeExcessWork(rule, { budget }, evaluationSteps);
    if (reason !== undefined) report(path, "RULE_WORK_EXCEEDED", { reason });
    yield;
  }
}

interface PlacedRule {
  readonly rule: Rule | null | undefined;
  readonly path: Path;
}

/** The rules to check. Items that could not be read are holes, which `forEach` skips. */
function findRules(book: Book, isChecked: RuleWorkLimits["isChecked"]): readonly PlacedRule[] {
  const rules: PlacedRule[] = [];
  const ruleSettings = findRuleSettingKeys(book);
  book.settings.forEach((setting, index) => {
    if (!isChecked("settings", index)) return;
    if (setting.dataType !== "JSON_LOGIC" && !ruleSettings.has(settingKey(setting))) return;
    rules.push({ rule: tryParseRule(setting.value), path: ["settings", index, "value"] });
  });
  book.eventSchemas.forEach((schema, index) => {
    if (!isChecked("eventSchemas", index) || !mayApplyToEvents(schema)) return;
    schema.enrichments.fields.forEach((field, stepIndex) => {
      if (field.enrichmentType !== "JSON_LOGIC") return;
      rules.push({ rule: field.value, path: ["eventSchemas", index, "enrichments", "fields", stepIndex, "value"] });
    });
  });
  book.usageMeters.forEach((meter, index) => {
    if (!isChecked("usageMeters", index) || !mayApplyToEvents(meter)) return;
    meter.computations.forEach((step, stepIndex) => {
      const path = ["usageMeters", index, "computations", stepIndex];
      rules.push({ rule: step.matcher, path: [...path, "matcher"] });
      rules.push({ rule: step.computation, path: [...path, "computation"] });
    });
  });
  return rules;
}

/** Whether an item applies to events or may soon apply; items out of use are not checked. */
function mayApplyToEvents({ status }: { readonly status: string }): boolean {
  return status === "ACTIVE" || status === "DRAFT";
}

/** The keys of the settings that contain rules of fields (S4.3). */
function findRuleSettingKeys(book: Book): ReadonlySet<string> {
  const keys = new Set<string>();
  book.eventSchemas.forEach(({ enrichments: { dependencies, fields } }) => {
    fields.forEach((field) => {
      if (field.enrichmentType !== "JSON_LOGIC_FROM_DEPENDENCY") return;
      const key = dependencies.find((dependency) => dependency?.name === field.value)?.key;
      if (key !== undefined) keys.add(key);
    });
  });
  return keys;
}

function tryParseRule(text: string): Rule | undefined {
  try {
    return parseRule(text);
  } catch (error) {
    // Reported with the setting's value.
    if (error instanceof RatebookError) return undefined;
    throw error;
  }
}
