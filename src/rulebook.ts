/**
 * References to the rules of docs/reference/semantics.md: numbers in code, links in output.
 *
 * @module
 */

/** The number of a rule of docs/reference/semantics.md, such as `S7.3`, or of a section, such as `S16`. */
export type RuleNumber = `S${number}`;

/** A link to a rule in the package's documentation, such as `docs/reference/semantics.md#s7.3`. */
export type RuleLink = `docs/reference/semantics.md#s${string}`;

export function ruleLink(rule: RuleNumber): RuleLink {
  return `docs/reference/semantics.md#s${rule.slice(1)}`;
}

/** Joins links, as paths in a project that has the package, with the page only once: `…/semantics.md#s8.1, #s9.2`. */
export function formatRuleLinks(links: readonly RuleLink[]): string {
  return links
    .map((link, index) => (index === 0 ? `node_modules/ratebook/${link}` : link.slice(link.indexOf("#"))))
    .join(", ");
}
