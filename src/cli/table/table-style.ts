/**
 * How a table looks where it is printed: how wide it may be, and whether it has colours.
 *
 * @module
 */
import { styleText } from "node:util";

import type { Io } from "../io.ts";

/** Characters of a line where the output is no terminal. */
const WIDTH = 100;
/** The narrowest terminal that a table is made for. */
const WIDTH_MIN = 72;

/** Kinds of emphasis. */
export type Emphasis = "strong" | "faint";

/** How a table looks. */
export interface TableStyle {
  /** Characters of a line. */
  readonly width: number;
  /** A text as it is printed. */
  readonly emphasize: (text: string, emphasis: Emphasis) => string;
}

/** For files, pipes and tests: wide, and without colours. */
export const PLAIN_STYLE: TableStyle = { width: WIDTH, emphasize: (text) => text };

const FORMATS = { strong: "bold", faint: "dim" } as const;

/** The style of what a command writes to. */
export function createTableStyle({ terminal }: Pick<Io, "terminal">): TableStyle {
  if (terminal === undefined) return PLAIN_STYLE;
  return {
    width: Math.min(WIDTH, Math.max(WIDTH_MIN, terminal.columns)),
    emphasize: (text, emphasis) =>
      terminal.colours && text !== "" ? styleText(FORMATS[emphasis], text, { validateStream: false }) : text,
  };
}
