/**
 * Where in a text of JSON the caret stands, also while the text is no JSON yet: what an editor completes by.
 *
 * @module
 */
import type { FormPath } from "./plan-edit.ts";

/** A place at which a key or a value is being written. */
export interface JsonPlace {
  readonly kind: "key" | "value";
  /** Of a value: where it is. Of a key: where its object is. */
  readonly path: FormPath;
  /** What stands there before the caret, without its quote. */
  readonly typed: string;
  /** The part of the text that what is chosen takes the place of; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  /** The other keys of the object that is being written; empty for a value. */
  readonly keys: readonly string[];
}

/** An object or a list that is open. */
interface Frame {
  readonly kind: "object" | "list";
  readonly keys: string[];
  /** The key or the place of what comes next. */
  at: string | number;
  expects: "key" | "colon" | "value" | "comma";
}

/** A string, a comment, a word, or one sign. A string without an end reaches to the end of its line. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|[\w.+-]+|[{}[\]:,]/g;

/** The place of a caret; undefined where nothing can be completed. */
export function placeIn(text: string, caret: number): JsonPlace | undefined {
  const frames: Frame[] = [];
  let found: Found | undefined;
  let isPast = false;
  for (const { 0: token, index: start } of text.matchAll(TOKEN)) {
    const end = start + token.length;
    if (!isPast && (caret < end || (caret === end && !isClosed(token)))) {
      found = placeOf(frames, partAt(token, start, caret));
      isPast = true;
    }
    take(frames, token);
    // What follows the object that is being written says no more of it.
    if (isPast && (found === undefined || !frames.includes(found.frame))) break;
  }
  if (!isPast) found = placeOf(frames, { typed: "", start: caret, end: caret });
  if (found === undefined) return undefined;
  const { place, frame } = found;
  const own = text.slice(place.start, place.end).replaceAll('"', "");
  return { ...place, keys: place.kind === "key" ? frame.keys.filter((key) => key !== own) : [] };
}

type Part = Pick<JsonPlace, "typed" | "start" | "end">;
interface Found {
  readonly place: JsonPlace;
  readonly frame: Frame;
}

/** What a caret before or within a token would take the place of; nothing within a comment. */
function partAt(token: string, start: number, caret: number): Part | undefined {
  if (caret <= start) return { typed: "", start: caret, end: caret };
  if (token.startsWith("/")) return undefined;
  return { typed: token.slice(0, caret - start).replace(/^"/, ""), start, end: start + token.length };
}

/** Whether a caret after a token stands in what comes next: after a sign, or a string with both its quotes. */
function isClosed(token: string): boolean {
  return /^[{}[\]:,]|^".*"$/.test(token) && token !== '"';
}

function placeOf(frames: readonly Frame[], part: Part | undefined): Found | undefined {
  const frame = frames.at(-1);
  if (frame === undefined || part === undefined) return undefined;
  const outer = frames.slice(0, -1).map(({ at }) => at);
  if (frame.expects === "key") return { place: { ...part, kind: "key", path: outer, keys: [] }, frame };
  if (frame.expects !== "value") return undefined;
  return { place: { ...part, kind: "value", path: [...outer, frame.at], keys: [] }, frame };
}

function take(frames: Frame[], token: string): void {
  const frame = frames.at(-1);
  switch (token[0]) {
    case "{":
      frames.push({ kind: "object", keys: [], at: "", expects: "key" });
      return;
    case "[":
      frames.push({ kind: "list", keys: [], at: 0, expects: "value" });
      return;
    case "}":
    case "]":
      frames.pop();
      done(frames.at(-1));
      return;
    case ":":
      if (frame !== undefined) frame.expects = "value";
      return;
    case ",":
      if (frame === undefined) return;
      frame.expects = frame.kind === "list" ? "value" : "key";
      if (typeof frame.at === "number") frame.at += 1;
      return;
    case "/":
      return;
    default:
      if (frame?.expects !== "key") return done(frame);
      frame.at = token.replaceAll('"', "");
      frame.keys.push(frame.at);
      frame.expects = "colon";
  }
}

function done(frame: Frame | undefined): void {
  if (frame !== undefined) frame.expects = "comma";
}
