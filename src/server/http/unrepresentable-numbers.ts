/**
 * Numbers of a body that no decimal keeps (S1.2): where the first of them stands, and the items of a list that have one.
 *
 * @module
 */
import { type Path, formatPath } from "../../book/problems.ts";
import { refuse } from "../../ledger/events/decide-event.ts";
import type { IngestResult } from "../../ledger/events/ingest.ts";

/** Most numbers of a body that are marked; with more of them it is refused as a whole. */
export const MARKS_MAX = 10_000;

/** A placeholder in a body for a number that is not kept: a symbol, which no JSON has. */
export function createMark(reason: string): symbol {
  return Symbol(reason);
}

/** An item of a list that has such a number: it is answered alone, and the others are taken. */
export class UnrepresentableItem {
  readonly result: IngestResult;

  constructor(item: object, sentence: string) {
    const { id } = item as { readonly id?: unknown };
    const outcome = refuse(`Field ${sentence}.`);
    this.result = typeof id === "string" ? { ...outcome, eventId: id } : outcome;
  }
}

/**
 * Takes the items with such a number out of a list of the body.
 *
 * @param list its field
 * @returns the body with an {@link UnrepresentableItem} in place of each, or as it was
 */
export function replaceMarkedItems(body: unknown, list: string): unknown {
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, list)) return body;
  const items: unknown = Reflect.get(body, list);
  if (!Array.isArray(items)) return body;
  const results = items.map((item: unknown) => {
    // An item that is a number is refused for that, whichever it is.
    if (typeof item === "symbol") return 0;
    const sentence = typeof item === "object" && item !== null ? describeFirstMark(item) : undefined;
    return sentence === undefined ? item : new UnrepresentableItem(item as object, sentence);
  });
  return { ...body, [list]: results };
}

/** The sentence on the first number of a value that is not kept, with its place; undefined where it has none. */
export function describeFirstMark(value: unknown): string | undefined {
  const firstMark = findMark(value);
  if (firstMark === undefined) return undefined;
  const place = formatPath(firstMark.path.toReversed()).replace(/^\$\.?/, "");
  return `${place === "" ? "" : `${place}: `}expected a number that is kept whole: ${firstMark.mark.description ?? ""}`;
}

/** The first mark of a value, and the path to it, backwards. */
function findMark(value: unknown): { readonly mark: symbol; readonly path: (string | number)[] } | undefined {
  if (typeof value === "symbol") return { mark: value, path: [] };
  if (typeof value !== "object" || value === null || value instanceof UnrepresentableItem) return undefined;
  const steps: Path = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  for (const step of steps) {
    const inner = findMark(Reflect.get(value, step));
    if (inner === undefined) continue;
    inner.path.push(step);
    return inner;
  }
  return undefined;
}
