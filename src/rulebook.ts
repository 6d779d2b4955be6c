/**
 * How the rules of docs/reference/semantics.md are cited: by their number in the code, by a link in what a user reads.
 *
 * @module
 */

/** The number of a rule of docs/reference/semantics.md, such as `S7.3`, or of a section, such as `S16`. */
export type RuleNumber = `S${number}`;

/** Where a rule stands in the documentation of the package, such as `docs/reference/semantics.md#s7.3`. */
export type RuleLink = `docs/reference/semantics.md#s${string}`;

/** The link to a rule. */
export function ruleLink(rule: RuleNumber): RuleLink {
  return `docs/reference/semantics.md#s${rule.slice(1)}`;
}

/** Links in one text, the page named once: `docs/reference/semantics.md#s8.1, #s9.2`; empty without links. */
export function formatRuleLinks(links: readonly RuleLink[]): string {
  return links.map((link, index) => (index === 0 ? link : link.slice(link.indexOf("#")))).join(", ");
}
