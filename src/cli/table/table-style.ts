/** The width and colors of a table. */
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
