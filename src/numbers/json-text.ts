/**
 * Facts in the text of a JSON document that its parsed value lacks: where something stands, and keys that are given twice.
 *
 * The parser of lossless-json calls its `onDuplicateKey` without the path to the key, not for a key that is given again
 * with an equal value, and fails on deep nesting; it also takes several times as long as the look over the text here.
 *
 * @module
 */

/** A place in a text, from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** A key that its object has already. */
export interface RepeatedKey extends TextPlace {
  /** Keys and list positions from the root; the last is the key itself. */
  readonly path: readonly (string | number)[];
}

/** Most repeated keys that are listed: more tell nobody anything. */
const REPEATED_MAX = 1000;
const [LINE_END, QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [
  0x0a, 0x22, 0x5c, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d,
];

/** Where the character at an index stands. */
export function placeInText(text: string, index: number): TextPlace {
  const before = text.slice(0, index).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/**
 * The keys that an object of the text has more than once, each repetition once, in the order of the text.
 *
 * @param text JSON that a parser has taken; of anything else any answer
 * @param limit how many of them are looked for
 */
export function findRepeatedKeys(text: string, limit = REPEATED_MAX): readonly RepeatedKey[] {
  const found: RepeatedKey[] = [];
  // Of every object or list that is open: its keys so far, none for a list, and the step into it that is taken now.
  const open: (Set<string> | undefined)[] = [];
  const path: (string | number)[] = [];
  let keyIsNext = false;
  let line = 1;
  let lineStart = 0;
  for (let at = 0; at < text.length && found.length < limit; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = closingQuote(text, at);
      const keys = keyIsNext ? open.at(-1) : undefined;
      if (keys !== undefined) {
        const key = textBetween(text, at, end);
        path[path.length - 1] = key;
        if (keys.has(key)) found.push({ path: [...path], line, column: at - lineStart + 1 });
        keys.add(key);
        keyIsNext = false;
      }
      at = end;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      keyIsNext = code === OPEN_OBJECT;
      open.push(keyIsNext ? new Set() : undefined);
      path.push(0);
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      keyIsNext = false;
      open.pop();
      path.pop();
    } else if (code === COMMA) {
      keyIsNext = open.at(-1) !== undefined;
      if (!keyIsNext) path[path.length - 1] = Number(path.at(-1)) + 1;
    } else if (code === LINE_END) {
      line++;
      lineStart = at + 1;
    }
  }
  return found;
}

/** The sentence about a repeated key. */
export function describeRepeatedKey({ line, column }: TextPlace): string {
  return `the key is repeated at line ${line}, column ${column}`;
}

function closingQuote(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

/** A key as a parser reads it: written with escapes, it is the same key. */
function textBetween(text: string, from: number, to: number): string {
  const raw = text.slice(from + 1, to);
  return raw.includes("\\") ? (JSON.parse(text.slice(from, to + 1)) as string) : raw;
}
