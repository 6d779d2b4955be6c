/** Wraps text at spaces. */

/**
 * Wraps a text to a width in characters; longer words get their own line.
 *
 * @param indent the indentation of all lines but the first
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
