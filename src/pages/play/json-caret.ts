/**
 * Finds the place of the caret in JSON text that may be incomplete, for completion.
 *
 * @module
 */
import type { FormPath } from "./book-edits.ts";

/** The place where a key or value is being written. */
export interface CaretContext {
  readonly kind: "key" | "value";
  /** The path of a value, or for a key that of its object. */
  readonly path: FormPath;
  /** The text before the caret, without its quote. */
  readonly prefix: string;
  /** The range that a completion replaces; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  /** The other keys of the object; empty for a value. */
  readonly keys: readonly string[];
}

/** An unclosed object or list. */
interface OpenContainer {
  readonly kind: "object" | "list";
  readonly keys: string[];
  /** The key or index of the next value. */
  key: string | number;
  expects: "key" | "colon" | "value" | "comma";
}

/** A string, comment, word or sign. An unterminated string extends to the end of its line. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|[\w.+-]+|[{}[\]:,]/g;

/** The place of the caret; undefined if nothing can be completed. */
export function findCaretContext(text: string, caret: number): CaretContext | undefined {
  const containers: OpenContainer[] = [];
  let current: LocatedContext | undefined;
  let isCaretPassed = false;
  for (const { 0: token, index: start } of text.matchAll(TOKEN)) {
    const end = start + token.length;
    if (!isCaretPassed && (caret < end || (caret === end && !isComplete(token)))) {
      current = locateContext(containers, findEditedRange(token, start, caret));
      isCaretPassed = true;
    }
    consumeToken(containers, token);
    // Text after the edited object doesn't matter.
    if (isCaretPassed && (current === undefined || !containers.includes(current.container))) break;
  }
  if (!isCaretPassed) current = locateContext(containers, { prefix: "", start: caret, end: caret });
  if (current === undefined) return undefined;
  const { context, container } = current;
  const token = text.slice(context.start, context.end).replaceAll('"', "");
  return { ...context, keys: context.kind === "key" ? container.keys.filter((key) => key !== token) : [] };
}

type EditedRange = Pick<CaretContext, "prefix" | "start" | "end">;
interface LocatedContext {
  readonly context: CaretContext;
  readonly container: OpenContainer;
}

/** The range that a caret before or in a token would replace; undefined in a comment. */
function findEditedRange(token: string, start: number, caret: number): EditedRange | undefined {
  if (caret <= start) return { prefix: "", start: caret, end: caret };
  if (token.startsWith("/")) return undefined;
  return { prefix: token.slice(0, caret - start).replace(/^"/, ""), start, end: start + token.length };
}

/** Whether a token is complete, so that a caret after it is in what follows: a sign, or a string with both quotes. */
function isComplete(token: string): boolean {
  return /^[{}[\]:,]|^".*"$/.test(token) && token !== '"';
}

function locateContext(
  containers: readonly OpenContainer[],
  part: EditedRange | undefined,
): LocatedContext | undefined {
  const container = containers.at(-1);
  if (container === undefined || part === undefined) return undefined;
  const outer = containers.slice(0, -1).map(({ key }) => key);
  if (container.expects === "key") return { context: { ...part, kind: "key", path: outer, keys: [] }, container };
  if (container.expects !== "value") return undefined;
  return { context: { ...part, kind: "value", path: [...outer, container.key], keys: [] }, container };
}

function consumeToken(containers: OpenContainer[], token: string): void {
  const container = containers.at(-1);
  switch (token[0]) {
    case "{":
      containers.push({ kind: "object", keys: [], key: "", expects: "key" });
      return;
    case "[":
      containers.push({ kind: "list", keys: [], key: 0, expects: "value" });
      return;
    case "}":
    case "]":
      containers.pop();
      endValue(containers.at(-1));
      return;
    case ":":
      if (container !== undefined) container.expects = "value";
      return;
    case ",":
      if (container === undefined) return;
      container.expects = container.kind === "list" ? "value" : "key";
      if (typeof container.key === "number") container.key += 1;
      return;
    case "/":
      return;
    default:
      if (container?.expects !== "key") return endValue(container);
      container.key = token.replaceAll('"', "");
      container.keys.push(container.key);
      container.expects = "colon";
  }
}

function endValue(container: OpenContainer | undefined): void {
  if (container !== undefined) container.expects = "comma";
}
