/**
 * Checks the minimum work of rules: a rule that exceeds the budget for every event is rejected (S3.8).
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import type { FullRuleBudget } from "../../rules/budget.ts";
import { describeExcessWork } from "../../rules/minimum-work.ts";
import { checkRule, parseRule, type Rule } from "../../rules/rule.ts";
import type { Book } from "../model/book.ts";
import type { Path, Report } from "../problems.ts";
import { settingKey } from "../resources/catalog-items.ts";

/** The lists of a book whose items contain rules. */
export type RuleList = "settings" | "eventSchemas" | "usageMeters";

/** The limit on the minimum work of a book's rules. */
export interface RuleWorkLimits {
  readonly budget: FullRuleBudget;
  /** Whether the item at an index is checked: items saved by an older version stay readable. */
  readonly isChecked: (list: RuleList, index: number) => boolean;
}

/** Reports the rules that exceed the budget for every event; those that no event reaches are skipped. */
export function checkRuleWork(book: Book, { budget, isChecked }: RuleWorkLimits, report: Report): void {
  const check = (rule: Rule | null | undefined, path: Path): void => {
    // A rule with another problem was reported already.
    if (rule === undefined || rule === null || checkRule(rule).length > 0) return;
    const reason = describeExcessWork(rule, { budget });
    if (reason !== undefined) report(path, "RULE_WORK_EXCEEDED", { reason });
  };
  const ruleSettings = findRuleSettingKeys(book);
  book.settings.forEach((setting, index) => {
    if (!isChecked("settings", index)) return;
    if (setting.dataType !== "JSON_LOGIC" && !ruleSettings.has(settingKey(setting))) return;
    check(tryParseRule(setting.value), ["settings", index, "value"]);
  });
  book.eventSchemas.forEach((schema, index) => {
    if (!isChecked("eventSchemas", index) || !mayDecideEvents(schema)) return;
    schema.enrichments.fields.forEach((field, stepIndex) => {
      if (field.enrichmentType !== "JSON_LOGIC") return;
      check(field.value, ["eventSchemas", index, "enrichments", "fields", stepIndex, "value"]);
    });
  });
  book.usageMeters.forEach((meter, index) => {
    if (!isChecked("usageMeters", index) || !mayDecideEvents(meter)) return;
    meter.computations.forEach((step, stepIndex) => {
      check(step.matcher, ["usageMeters", index, "computations", stepIndex, "matcher"]);
      check(step.computation, ["usageMeters", index, "computations", stepIndex, "computation"]);
    });
  });
}

/** Whether events are, or may soon be, decided by it; retired items are not checked. */
function mayDecideEvents({ status }: { readonly status: string }): boolean {
  return status === "ACTIVE" || status === "DRAFT";
}

/** The keys of the settings that contain rules of fields (S4.3). */
function findRuleSettingKeys(book: Book): ReadonlySet<string> {
  const keys = new Set<string>();
  book.eventSchemas.forEach(({ enrichments: { dependencies, fields } }) => {
    fields.forEach((field) => {
      if (field.enrichmentType !== "JSON_LOGIC_FROM_DEPENDENCY") return;
      const key = dependencies.find((one) => one?.name === field.value)?.key;
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
