import { describe, expect, test } from "vitest";

import { ruleLink, formatRuleLinks, type RuleNumber } from "../src/rulebook.ts";
import { rulebook } from "./support/rulebook.ts";

describe("citations of rules", () => {
  test("a link leads to the rule's anchor in the rulebook", () => {
    expect(ruleLink("S7.3")).toBe("docs/reference/semantics.md#s7.3");
    expect(ruleLink("S16")).toBe("docs/reference/semantics.md#s16");
  });

  test("links in one text name the page once", () => {
    const ruleNumbers: readonly RuleNumber[] = ["S8.1", "S9.2", "S10.3"];
    expect(formatRuleLinks(ruleNumbers.map(ruleLink))).toBe(
      "node_modules/ratebook/docs/reference/semantics.md#s8.1, #s9.2, #s10.3",
    );
    expect(formatRuleLinks([ruleLink("S1.5")])).toBe("node_modules/ratebook/docs/reference/semantics.md#s1.5");
    expect(formatRuleLinks([])).toBe("");
  });

  test("the rulebook has sections, and rules in each", () => {
    const { sections, rules } = rulebook();
    expect(sections.filter((section) => !rules.includes(`${section}.1`))).toEqual([]);
  });
});
