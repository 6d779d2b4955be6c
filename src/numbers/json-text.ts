/**
 * Information in a JSON text that its parsed value lacks: positions, and duplicate keys. The parser of lossless-json
 * calls `onDuplicateKey` without a path, not for a duplicate with an equal value, and fails on deep nesting; it is also
 * several times slower than this scan.
 *
 * @module
 */

/** A position in a text, from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** A duplicate key. */
export interface RepeatedKey extends TextPlace {
  /** Keys and list indices from the root; the last is the duplicate key. */
  readonly path: readonly (string | number)[];
}

/** Maximum number of duplicate keys listed. */
const REPEATED_MAX = 1000;
const [LINE_END, QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [
  0x0a, 0x22, 0x5c, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d,
];

/** The position of an index. */
export function placeInText(text: string, index: number): TextPlace {
  const before = text.slice(0, index).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/**
 * Finds duplicate keys, in text order: each once, at its last repetition before the limit.
 *
 * @param text valid JSON; the result is arbitrary for other texts
 * @param limit maximum number of results
 */
export function findRepeatedKeys(text: string, limit = REPEATED_MAX): readonly RepeatedKey[] {
  const repeatedKeys: RepeatedKey[] = [];
  // For every open object or list: its keys so far (none for a list) with the index of their result, and the current
  // key or index in it.
  const open: (Map<string, number | undefined> | undefined)[] = [];
  const path: (string | number)[] = [];
  let keyIsNext = false;
  let line = 1;
  let lineStart = 0;
  for (let at = 0; at < text.length && repeatedKeys.length < limit; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = closingQuote(text, at);
      const keys = keyIsNext ? open.at(-1) : undefined;
      if (keys !== undefined) {
        const key = textBetween(text, at, end);
        path[path.length - 1] = key;
        recordKey(keys, { path, line, column: at - lineStart + 1 }, repeatedKeys);
        keyIsNext = false;
      }
      at = end;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      keyIsNext = code === OPEN_OBJECT;
      open.push(keyIsNext ? new Map() : undefined);
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
  return repeatedKeys;
}

/** Adds a key to those of its object; a duplicate one becomes a result, or moves its earlier result here. */
function recordKey(keys: Map<string, number | undefined>, found: RepeatedKey, repeatedKeys: RepeatedKey[]): void {
  const key = String(found.path.at(-1));
  const index = keys.has(key) ? (keys.get(key) ?? repeatedKeys.length) : undefined;
  keys.set(key, index);
  if (index !== undefined) repeatedKeys[index] = { ...found, path: [...found.path] };
}

/** The message about a duplicate key. */
export function describeRepeatedKey({ line, column }: TextPlace): string {
  return `the key is repeated at line ${line}, column ${column}`;
}

function closingQuote(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

/** A key as parsed: with or without escapes it is the same. */
function textBetween(text: string, from: number, to: number): string {
  const raw = text.slice(from + 1, to);
  return raw.includes("\\") ? (JSON.parse(text.slice(from, to + 1)) as string) : raw;
}
