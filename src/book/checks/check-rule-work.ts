/**
 * The least work of the rules of a book: a rule that no event could keep within the budget is refused (S3.8).
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

/** The lists of a book whose items hold rules. */
export type RuleList = "settings" | "eventSchemas" | "usageMeters";

/** The limits on the least work of a book's rules. */
export interface RuleWorkLimits {
  readonly budget: FullRuleBudget;
  /** Whether the item at a place is looked at: what was saved by an older version stays readable. */
  readonly isChecked: (list: RuleList, index: number) => boolean;
}

/** Reports the rules that take more than the budget whatever the event; those that no event can reach are left out. */
export function checkRuleWork(book: Book, { budget, isChecked }: RuleWorkLimits, report: Report): void {
  const check = (rule: Rule | null | undefined, path: Path): void => {
    // A rule with another problem was reported.
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

/** Whether events are, or may soon be, decided by it: what is to be put aside may be as it is. */
function mayDecideEvents({ status }: { readonly status: string }): boolean {
  return status === "ACTIVE" || status === "DRAFT";
}

/** The keys of the settings that fields take their rules from (S4.3). */
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
    // Reported where the setting's value is checked.
    if (error instanceof RatebookError) return undefined;
    throw error;
  }
}
