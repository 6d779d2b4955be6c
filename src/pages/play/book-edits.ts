/**
 * Changes of a book's text by a form: the text is what counts, and a form changes one place of it.
 *
 * @module
 */
import { parseJsonDocument } from "../../book/reading/json-document.ts";
import { stringifyJson } from "../../numbers/json.ts";

/** The keys and places that lead to a value. */
export type FormPath = readonly (string | number)[];

/** The value at a path; undefined where there is none. */
export function valueAt(value: unknown, path: FormPath): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

/** A list at a path; empty where there is none. */
export function listAt(value: unknown, path: FormPath): readonly unknown[] {
  const list = valueAt(value, path);
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}

/** The names of what a book sells, by ids: of meters, add-ons and features. */
export function readBillableNames(book: unknown): ReadonlyMap<string, string> {
  const items = ["usageMeters", "addOns", "features"].flatMap((list) => listAt(book, [list]));
  return new Map(
    items.flatMap((item) => {
      const [id, ...names] = ["id", "displayName", "billableName", "name"].map((key) => valueAt(item, [key]));
      const name = names.find((each) => typeof each === "string" && each !== "");
      return typeof id === "string" && typeof name === "string" ? [[id, name] as const] : [];
    }),
  );
}

/** A copy with another value at a path; undefined takes it away. Objects on the way are made where they lack. */
export function withValue(value: unknown, [key, ...rest]: FormPath, newValue: unknown): unknown {
  if (key === undefined) return newValue;
  if (Array.isArray(value)) {
    return (value as readonly unknown[]).map((item, index) => (index === key ? withValue(item, rest, newValue) : item));
  }
  const own = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  return { ...own, [key]: withValue(own[String(key)], rest, newValue) };
}

/** The value in a text of JSON, with comments or without; undefined where it is none. */
export function tryParseJson(text: string): unknown {
  const document = parseJsonDocument(text);
  return "value" in document ? document.value : undefined;
}

/** A text with another value at a path. A text that is no JSON stays what it is. */
export function replaceValue(text: string, path: FormPath, newValue: unknown): string {
  const value = tryParseJson(text);
  return value === undefined ? text : stringifyJson(withValue(value, path, newValue), 2);
}

/** Where each slab of a card begins decides where the one before ends: what is written of ends is taken away. */
function removeSlabEnds(slabs: readonly unknown[]): readonly unknown[] {
  return slabs.map((slab, index) => ({ ...(slab as object), order: index + 1, endAt: undefined }));
}

/** Changes the slabs of a card, and the rates of each currency with them. */
function editSlabs(text: string, card: FormPath, change: (list: readonly unknown[]) => readonly unknown[]): string {
  const value = tryParseJson(text);
  if (value === undefined) return text;
  const slabsPath = [...card, "ratePlan", "slabs"];
  const slabs = removeSlabEnds(change(listAt(value, slabsPath)));
  let next = withValue(value, slabsPath, slabs);
  for (const index of listAt(value, [...card, "rateValues"]).keys()) {
    const path = [...card, "rateValues", index, "slabRates"];
    const rates = change(listAt(value, path)).map((rate, position) => ({ ...(rate as object), order: position + 1 }));
    next = withValue(next, path, rates);
  }
  return stringifyJson(next, 2);
}

/** Adds a slab after the last, as that one is, beginning where twice as much is used. */
export function addSlab(text: string, card: FormPath): string {
  return editSlabs(text, card, (list) => {
    const last = list.at(-1);
    if (last === undefined) return list;
    const start = valueAt(last, ["startAfter"]);
    const next = start === undefined ? {} : { startAfter: String(Number(start) === 0 ? 100 : 2 * Number(start)) };
    return [...list, { ...last, ...next }];
  });
}

/** Takes the last slab away; the first stays. */
export function removeLastSlab(text: string, card: FormPath): string {
  return editSlabs(text, card, (list) => (list.length > 1 ? list.slice(0, -1) : list));
}

/** Changes where a slab begins. */
export function moveSlabStart(text: string, card: FormPath, index: number, startAfter: string): string {
  const textWithStart = replaceValue(text, [...card, "ratePlan", "slabs", index, "startAfter"], startAfter);
  return editSlabs(textWithStart, card, (list) => list);
}

/** Cycles of these lengths begin in a month of their interval. */
const LONG_INTERVALS: ReadonlySet<string> = new Set(["QUARTERLY", "HALF_YEARLY", "ANNUALLY"]);

/** Changes how long a plan's cycles are; the month in which they begin is there where the interval has months. */
export function changeInterval(text: string, config: FormPath, interval: string): string {
  const value = tryParseJson(text);
  if (value === undefined) return text;
  const month = [...config, "startOffset", "monthOffset"];
  const day = [...config, "startOffset", "dayOffset"];
  let next = withValue(value, [...config, "interval"], interval);
  next = withValue(next, month, LONG_INTERVALS.has(interval) ? (valueAt(value, month) ?? "1") : undefined);
  // A week has no day beyond the seventh.
  const isInvalidWeekday = !/^[1-7]$/.test(String(valueAt(value, day)));
  if (interval === "WEEKLY" && isInvalidWeekday) next = withValue(next, day, "1");
  return stringifyJson(next, 2);
}
