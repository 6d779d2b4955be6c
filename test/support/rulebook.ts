/** The rulebook, docs/reference/semantics.md, as data: its sections and rules. */
import { readText } from "./files.ts";

/** The rules and sections of the rulebook, in its order. */
export interface Rulebook {
  /** `S1`, `S2`, … */
  readonly sections: readonly string[];
  /** `S1.1`, `S1.2`, … */
  readonly rules: readonly string[];
}

/** The rulebook of the repository. */
export function rulebook(): Rulebook {
  return parseRulebook(readText("docs/reference/semantics.md"));
}

/**
 * Parses a rulebook: a section is an anchor above a heading that begins with its number, a rule an anchor above a bold
 * title that begins with its number.
 *
 * @throws Error if an anchor and the number below it differ, or a number does not follow the previous one
 */
export function parseRulebook(text: string): Rulebook {
  const sections: string[] = [];
  const rules: string[] = [];
  for (const [, anchor = "", title = ""] of text.matchAll(/^<a id="(s[^"]*)"><\/a>\n+(.*)$/gm)) {
    const number = /^(?:## |\*\*)(S\d+(?:\.\d+)?) /.exec(title)?.[1] ?? "";
    if (number.toLowerCase() !== anchor) throw new Error(`the anchor ${anchor} is above ${title}`);
    const inSection = rules.filter((rule) => rule.startsWith(`S${sections.length}.`));
    const isSection = title.startsWith("## ");
    const expected = isSection ? `S${sections.length + 1}` : `S${sections.length}.${inSection.length + 1}`;
    if (number !== expected) throw new Error(`expected ${expected}, found ${number}`);
    (isSection ? sections : rules).push(number);
  }
  return { sections, rules };
}
