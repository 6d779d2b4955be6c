/**
 * Texts that are broken at blanks.
 *
 * @module
 */

/**
 * Breaks a text into lines of at most a width, in characters; a longer word has a line of its own.
 *
 * @param indent what every line but the first begins with; the first keeps its own
 */
export function wrapText(text: string, width: number, indent = "      "): string {
  const lines: string[] = [];
  let line = /^ */.exec(text)?.[0] ?? "";
  for (const word of text.trim().split(" ")) {
    if (line.trim() !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent;
    }
    line = line.trim() === "" ? `${line}${word}` : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}
