/**
 * Numbers in a body that no decimal can represent (S1.2): the position of the first, and the list items that contain
 * one.
 *
 * @module
 */
import { type Path, formatPath } from "../../book/problems.ts";
import { inputError } from "../../errors.ts";
import { refuse } from "../../ledger/events/decide-event.ts";
import type { IngestResult } from "../../ledger/events/ingest.ts";
import { createProblem, type Problem } from "../../problem-table.ts";

/** The maximum number of such numbers. With more, the whole body is rejected. */
export const MARKS_MAX = 10_000;

/** Creates a placeholder for such a number: a symbol, which JSON can't contain. */
export function createMark(reason: string): symbol {
  return Symbol(reason);
}

/** A list item with such a number. It fails alone. */
export class UnrepresentableItem {
  readonly result: IngestResult;

  constructor(item: object, problem: Problem) {
    const { id } = item as { readonly id?: unknown };
    const outcome = refuse({ ...problem, message: `Field ${inputError([problem]).message}.` });
    this.result = typeof id === "string" ? { ...outcome, eventId: id } : outcome;
  }
}

/**
 * Replaces list items that contain such a number.
 *
 * @param list the field of the list
 * @returns the body with an {@link UnrepresentableItem} for each, or the same body
 */
export function replaceMarkedItems(body: unknown, list: string): unknown {
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, list)) return body;
  const items: unknown = Reflect.get(body, list);
  if (!Array.isArray(items)) return body;
  const results = items.map((item: unknown) => {
    // An item that is a number is invalid anyway.
    if (typeof item === "symbol") return 0;
    const problem = typeof item === "object" && item !== null ? findUnrepresentable(item) : undefined;
    return problem === undefined ? item : new UnrepresentableItem(item as object, problem);
  });
  return { ...body, [list]: results };
}

/** The message for the first such number in a value; undefined if there is none. */
export function findUnrepresentable(value: unknown): Problem | undefined {
  const firstMark = findMark(value);
  if (firstMark === undefined) return undefined;
  const reason = firstMark.mark.description ?? "";
  const params = { expected: "a number with fewer digits", got: "a number", reason };
  return createProblem(formatPath(firstMark.path.toReversed()), "INVALID_FORMAT", params);
}

/** The first placeholder in a value and its path, reversed. */
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
