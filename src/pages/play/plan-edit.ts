/**
 * Changes of a book's text by a form: the text is what counts, and a form changes one place of it.
 *
 * @module
 */
import { openDocument } from "../../book/reading/json-document.ts";
import { stringifyJson } from "../../numbers/json.ts";

/** The keys and places that lead to a value. */
export type FormPath = readonly (string | number)[];

/** The value at a path; undefined where there is none. */
export function valueAt(value: unknown, path: FormPath): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

/** A list at a path; empty where there is none. */
export function listAt(value: unknown, path: FormPath): readonly unknown[] {
  const found = valueAt(value, path);
  return Array.isArray(found) ? (found as readonly unknown[]) : [];
}

/** A copy with another value at a path; undefined takes it away. Objects on the way are made where they lack. */
export function withValue(value: unknown, [key, ...rest]: FormPath, put: unknown): unknown {
  if (key === undefined) return put;
  if (Array.isArray(value)) {
    return (value as readonly unknown[]).map((item, index) => (index === key ? withValue(item, rest, put) : item));
  }
  const own = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  return { ...own, [key]: withValue(own[String(key)], rest, put) };
}

/** The value in a text of JSON, with comments or without; undefined where it is none. */
export function valueIn(text: string): unknown {
  const document = openDocument(text);
  return "value" in document ? document.value : undefined;
}

/** A text with another value at a path. A text that is no JSON stays what it is. */
export function edited(text: string, path: FormPath, put: unknown): string {
  const value = valueIn(text);
  return value === undefined ? text : stringifyJson(withValue(value, path, put), 2);
}

/** Where each slab of a card begins decides where the one before ends: what is written of ends is taken away. */
function withoutEnds(slabs: readonly unknown[]): readonly unknown[] {
  return slabs.map((slab, index) => ({ ...(slab as object), order: index + 1, endAt: undefined }));
}

/** Changes the slabs of a card, and the rates of each currency with them. */
function editedSlabs(text: string, card: FormPath, change: (list: readonly unknown[]) => readonly unknown[]): string {
  const value = valueIn(text);
  if (value === undefined) return text;
  const slabsPath = [...card, "ratePlan", "slabs"];
  const slabs = withoutEnds(change(listAt(value, slabsPath)));
  let next = withValue(value, slabsPath, slabs);
  for (const index of listAt(value, [...card, "rateValues"]).keys()) {
    const path = [...card, "rateValues", index, "slabRates"];
    const rates = change(listAt(value, path)).map((rate, place) => ({ ...(rate as object), order: place + 1 }));
    next = withValue(next, path, rates);
  }
  return stringifyJson(next, 2);
}

/** Adds a slab after the last, as that one is, beginning where twice as much is used. */
export function withSlab(text: string, card: FormPath): string {
  return editedSlabs(text, card, (list) => {
    const last = list.at(-1);
    if (last === undefined) return list;
    const start = valueAt(last, ["startAfter"]);
    const next = start === undefined ? {} : { startAfter: String(Number(start) === 0 ? 100 : 2 * Number(start)) };
    return [...list, { ...last, ...next }];
  });
}

/** Takes the last slab away; the first stays. */
export function withoutSlab(text: string, card: FormPath): string {
  return editedSlabs(text, card, (list) => (list.length > 1 ? list.slice(0, -1) : list));
}

/** Changes where a slab begins. */
export function withSlabStart(text: string, card: FormPath, index: number, startAfter: string): string {
  const moved = edited(text, [...card, "ratePlan", "slabs", index, "startAfter"], startAfter);
  return editedSlabs(moved, card, (list) => list);
}
