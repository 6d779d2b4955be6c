/**
 * Many short texts kept as one: a million of them would be a million things for the garbage collector to pass through.
 *
 * @module
 */

/** Texts in their order. */
export interface TextList {
  readonly text: string;
  /** Where each of them ends. */
  readonly ends: Uint32Array;
}

/** Keeps texts. */
export function textListOf(texts: readonly string[]): TextList {
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (let index = 0; index < texts.length; index++) {
    end += texts[index]?.length ?? 0;
    ends[index] = end;
  }
  return { text: texts.join(""), ends };
}

/** The text at an index; empty where there is none. */
export function textAt({ text, ends }: TextList, index: number): string {
  return text.slice(ends[index - 1] ?? 0, ends[index] ?? 0);
}
