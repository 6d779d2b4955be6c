/**
 * The least work of the rules of a book: a rule that no event could keep within the budget is refused (S3.8).
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import type { FullRuleBudget } from "../../rules/budget.ts";
import { describeExcessWork } from "../../rules/least-work.ts";
import { checkRule, parseRule, type Rule } from "../../rules/rule.ts";
import type { Book } from "../model/book.ts";
import type { Path, Report } from "../problems.ts";
import { settingKey } from "../resources/catalog-items.ts";

/** The lists of a book whose items hold rules. */
export type RuleList = "settings" | "eventSchemas" | "usageMeters";

/** The limits on the least work of a book's rules. */
export interface RuleWork {
  readonly budget: FullRuleBudget;
  /** Whether the item at a place is looked at: what was saved by an older version stays readable. */
  readonly isChecked: (list: RuleList, at: number) => boolean;
}

/** Reports the rules that take more than the budget whatever the event; those that no event can reach are left out. */
export function checkRuleWork(book: Book, { budget, isChecked }: RuleWork, report: Report): void {
  const check = (rule: Rule | null | undefined, path: Path): void => {
    // A rule with another problem was reported.
    if (rule === undefined || rule === null || checkRule(rule).length > 0) return;
    const problem = describeExcessWork(rule, { budget });
    if (problem !== undefined) report(path, problem);
  };
  const ruleSettings = settingsWithRules(book);
  book.settings.forEach((setting, at) => {
    if (!isChecked("settings", at)) return;
    if (setting.dataType !== "JSON_LOGIC" && !ruleSettings.has(settingKey(setting))) return;
    check(parsedRule(setting.value), ["settings", at, "value"]);
  });
  book.eventSchemas.forEach((schema, at) => {
    if (!isChecked("eventSchemas", at) || !isReachable(schema)) return;
    schema.enrichments.fields.forEach((field, place) => {
      if (field.enrichmentType !== "JSON_LOGIC") return;
      check(field.value, ["eventSchemas", at, "enrichments", "fields", place, "value"]);
    });
  });
  book.usageMeters.forEach((meter, at) => {
    if (!isChecked("usageMeters", at) || !isReachable(meter)) return;
    meter.computations.forEach((step, place) => {
      check(step.matcher, ["usageMeters", at, "computations", place, "matcher"]);
      check(step.computation, ["usageMeters", at, "computations", place, "computation"]);
    });
  });
}

/** Whether events are, or may soon be, decided by it: what is to be put aside may be as it is. */
function isReachable({ status }: { readonly status: string }): boolean {
  return status === "ACTIVE" || status === "DRAFT";
}

/** The keys of the settings that fields take their rules from (S4.3). */
function settingsWithRules(book: Book): ReadonlySet<string> {
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

function parsedRule(text: string): Rule | undefined {
  try {
    return parseRule(text);
  } catch (error) {
    // Reported where the setting's value is checked.
    if (error instanceof RatebookError) return undefined;
    throw error;
  }
}
