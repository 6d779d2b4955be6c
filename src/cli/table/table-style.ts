/** The width and colors of a table, and texts wrapped to a width. */
import { styleText } from "node:util";

import type { Io } from "../io.ts";

/** The characters per line if the output is not a terminal. */
const WIDTH = 100;
/** The minimum width of a table. */
const WIDTH_MIN = 72;

export type Emphasis = "strong" | "faint";

export interface TableStyle {
  /** Characters per line. */
  readonly width: number;
  /** Formats a text with emphasis. */
  readonly emphasize: (text: string, emphasis: Emphasis) => string;
}

/** For files, pipes and tests: wide and without colors. */
export const PLAIN_STYLE: TableStyle = { width: WIDTH, emphasize: (text) => text };

const FORMATS = { strong: "bold", faint: "dim" } as const;

/** The style for a command's output. */
export function createTableStyle({ terminal }: Pick<Io, "terminal">): TableStyle {
  if (terminal === undefined) return PLAIN_STYLE;
  return {
    width: Math.min(WIDTH, Math.max(WIDTH_MIN, terminal.columns)),
    emphasize: (text, emphasis) =>
      terminal.hasColors && text !== "" ? styleText(FORMATS[emphasis], text, { validateStream: false }) : text,
  };
}

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
