/** Reads an SVG: its visible texts, and unclosed elements. */

/** The visible texts, in order. */
export function textsOf(svg: string): readonly string[] {
  return [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text = ""]) => text);
}

/** Elements that are not closed in the order in which they were opened, and stray angle brackets. */
export function findUnclosedTags(svg: string): readonly string[] {
  const open: string[] = [];
  const rest = svg.replaceAll(
    /<(\/?)([a-z][a-z\d]*)((?: [\w:-]+="[^"<>]*")*)(\/?)>/gi,
    (_, end: string, name: string, __, empty: string) => {
      if (end === "") {
        if (empty === "") open.push(name);
      } else if (open.at(-1) === name) open.pop();
      else open.push(`/${name}`);
      return "";
    },
  );
  return [...open, ...(/[<>]|&(?!(?:amp|lt|gt|quot|#39);)/.exec(rest) ?? [])];
}
