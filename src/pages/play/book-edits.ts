/** Edits of a book's text by forms. The text is the source of truth, and an edit changes one place in it. */
import { collectProblems } from "../../book/problems.ts";
import { parseJsonDocument } from "../../book/reading/json-document.ts";
import { expandBook } from "../../book/short/expand-book.ts";
import { type JsonObject, valueAt } from "../../book/short/json-object.ts";
import { shortenBook } from "../../book/short/shorten-book.ts";
import { isJsonObject } from "../../numbers/decimal.ts";
import { stringifyJson } from "../../numbers/json.ts";

/** The keys and indexes that lead to a value. */
export type FormPath = readonly (string | number)[];

/** The list at a path; empty if absent. */
export function listAt(value: unknown, path: FormPath): readonly unknown[] {
  const list = valueAt(value, path);
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}

/** The names of meters, add-ons and features by id. */
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

/** A copy with the value at a path replaced; undefined removes it. Creates missing objects on the path. */
export function withValue(value: unknown, [key, ...rest]: FormPath, newValue: unknown): unknown {
  if (key === undefined) return newValue;
  if (Array.isArray(value)) {
    return (value as readonly unknown[]).map((item, index) => (index === key ? withValue(item, rest, newValue) : item));
  }
  const object = isJsonObject(value) ? value : {};
  return { ...object, [key]: withValue(object[String(key)], rest, newValue) };
}

/** Parses JSON, with or without comments; undefined if invalid. */
export function tryParseJson(text: string): unknown {
  const document = parseJsonDocument(text);
  return "value" in document ? document.value : undefined;
}

/** The document of a text as forms show it, a book in long form; undefined if it cannot be edited. */
export function readEditableValue(text: string): unknown {
  return toEditableValue(tryParseJson(text));
}

/** The path of a part of {@link readEditableValue} in the document as written. */
export function findWrittenPath(text: string, path: FormPath): FormPath {
  return expandBook(tryParseJson(text), collectProblems())?.toWritten(path) ?? path;
}

/** @returns undefined for a wrong short form, whose parts an edit would lose */
function toEditableValue(written: unknown): unknown {
  const problems = collectProblems();
  const expanded = expandBook(written, problems);
  return problems.count() > 0 ? undefined : (expanded?.document ?? written);
}

/** Changes the document of a text, and keeps its form. A text that cannot be edited is unchanged. */
function edit(text: string, change: (value: unknown) => unknown): string {
  const written = tryParseJson(text);
  const value = toEditableValue(written);
  if (value === undefined) return text;
  const next = change(value);
  return stringifyJson(value === written ? next : shortenBook(next as JsonObject), 2);
}

/** Replaces the value at a path of a JSON text. A text that cannot be edited is unchanged. */
export function replaceValue(text: string, path: FormPath, newValue: unknown): string {
  return edit(text, (value) => withValue(value, path, newValue));
}

/** Removes the ends of slabs, which follow from the starts of the next ones. */
function removeSlabEnds(slabs: readonly unknown[]): readonly unknown[] {
  return slabs.map((slab, index) => ({ ...(slab as object), order: index + 1, endAt: undefined }));
}

/** Changes the slabs of a card, and its rates in each currency. */
function editSlabs(text: string, card: FormPath, change: (list: readonly unknown[]) => readonly unknown[]): string {
  return edit(text, (value) => {
    const slabsPath = [...card, "ratePlan", "slabs"];
    const slabs = removeSlabEnds(change(listAt(value, slabsPath)));
    let next = withValue(value, slabsPath, slabs);
    for (const index of listAt(value, [...card, "rateValues"]).keys()) {
      const path = [...card, "rateValues", index, "slabRates"];
      const rates = change(listAt(value, path)).map((rate, position) => ({ ...(rate as object), order: position + 1 }));
      next = withValue(next, path, rates);
    }
    return next;
  });
}

/** Adds a copy of the last slab, starting at twice its start. */
export function addSlab(text: string, card: FormPath): string {
  return editSlabs(text, card, (list) => {
    const last = list.at(-1);
    if (last === undefined) return list;
    const start = valueAt(last, ["startAfter"]);
    const next = start === undefined ? {} : { startAfter: String(Number(start) === 0 ? 100 : 2 * Number(start)) };
    return [...list, { ...last, ...next }];
  });
}

/** Removes the last slab, unless it is the only one. */
export function removeLastSlab(text: string, card: FormPath): string {
  return editSlabs(text, card, (list) => (list.length > 1 ? list.slice(0, -1) : list));
}

/** Changes the start of a slab. */
export function moveSlabStart(text: string, card: FormPath, index: number, startAfter: string): string {
  const textWithStart = replaceValue(text, [...card, "ratePlan", "slabs", index, "startAfter"], startAfter);
  return editSlabs(textWithStart, card, (list) => list);
}

/** Intervals that need a month in which the cycle starts. */
const INTERVALS_WITH_MONTH: ReadonlySet<string> = new Set(["QUARTERLY", "HALF_YEARLY", "ANNUALLY"]);

/** Changes the interval of a plan, and adds or removes the start month. */
export function changeInterval(text: string, config: FormPath, interval: string): string {
  return edit(text, (value) => {
    const monthPath = [...config, "startOffset", "monthOffset"];
    const dayPath = [...config, "startOffset", "dayOffset"];
    const month = INTERVALS_WITH_MONTH.has(interval) ? (valueAt(value, monthPath) ?? "1") : undefined;
    const next = withValue(withValue(value, [...config, "interval"], interval), monthPath, month);
    // Weeks have seven days.
    const isInvalidWeekday = !/^[1-7]$/.test(String(valueAt(value, dayPath)));
    return interval === "WEEKLY" && isInvalidWeekday ? withValue(next, dayPath, "1") : next;
  });
}
