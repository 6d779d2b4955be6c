/** Edits of a book's text by forms. The text is the source of truth, and an edit changes one place in it. */
import { applyEdits, modify } from "jsonc-parser";

import { collectProblems } from "../../book/problems.ts";
import { parseJsonDocument } from "../../book/reading/json-document.ts";
import { expandBook, shortenBook } from "../../book/short/book-forms.ts";
import { type JsonObject, valueAt, formatComparable } from "../../book/short/fields.ts";
import { isDecimalObject, isJsonObject } from "../../numbers/decimal.ts";
import { stringifyJson } from "../../numbers/json.ts";

/** The keys and indexes that lead to a value. */
export type FormPath = readonly (string | number)[];

/** The list at a path; empty if absent. */
export function listAt(value: unknown, path: FormPath): readonly unknown[] {
  const list = valueAt(value, path);
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}

/** The text or number at a path; empty if absent. */
export function textAt(value: unknown, path: FormPath): string {
  const content = valueAt(value, path);
  if (typeof content === "string") return content;
  return typeof content === "number" || isDecimalObject(content) ? String(content) : "";
}

/** The names of meters, add-ons and features by id. */
export function readBillableNames(book: unknown): ReadonlyMap<string, string> {
  const items = ["usageMeters", "addOns", "features"].flatMap((list) => listAt(book, [list]));
  return new Map(
    items.flatMap((item) => {
      const [id, ...names] = ["id", "displayName", "billableName", "name"].map((key) => textAt(item, [key]));
      const name = names.find((each) => each !== "");
      return id === undefined || id === "" || name === undefined ? [] : [[id, name] as const];
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

/**
 * Changes the document of a text, and keeps its form, comments and layout. A text that cannot be edited is unchanged.
 *
 * @param direct the change, if it may be one of a part that is written as it is
 */
export function editBook(text: string, change: (value: unknown) => unknown, direct?: TextChange): string {
  const written = tryParseJson(text);
  const value = toEditableValue(written);
  if (value === undefined) return text;
  const next = change(value);
  const path = direct && findWrittenPath(text, direct.path);
  if (direct !== undefined && path !== undefined && isWritable(written, path)) {
    const part = valueAt(written, path);
    const changed = applyChanges(text, listChanges(part, part, direct.value, path));
    if (toComparable(readEditableValue(changed)) === toComparable(toEditableValue(next))) return changed;
  }
  const shorten = (long: unknown): unknown => (value === written ? long : shortenBook(long as JsonObject));
  const [before, after] = [shorten(value), shorten(next)];
  const changed = applyChanges(text, listChanges(written, before, after));
  // Shortened, because parts in long form may have defaults that the others leave out.
  const result = readEditableValue(changed);
  const isRight =
    result !== undefined && toComparable(shorten(result)) === toComparable(shorten(toEditableValue(after)));
  return isRight ? changed : stringifyJson(after, 2);
}

/** Whether a value can be written at a path: `"cycle": "MONTHLY"` has no place for a day. */
function isWritable(document: unknown, path: FormPath): boolean {
  return path.every((_, length) => {
    const holder = valueAt(document, path.slice(0, length));
    return holder === undefined || isList(holder) || isJsonObject(holder);
  });
}

/** A text that is equal for documents with the same meaning: a number may be a number or a text. */
function toComparable(document: unknown): string {
  const toText = (_: string, value: unknown): unknown => {
    if (isJsonObject(value) && typeof value["decimal"] === "string") return value["decimal"];
    return typeof value === "number" ? String(value) : value;
  };
  return JSON.stringify(JSON.parse(formatComparable(document ?? null), toText));
}

/** A change of a part of a text. */
interface TextChange {
  readonly path: FormPath;
  /** Undefined removes the part. */
  readonly value: unknown;
  /** Whether it becomes a new item of a list. */
  readonly isNewItem?: boolean;
}

/**
 * The smallest changes that lead from one document to another. Parts that both have in common stay as they are written,
 * also where the first document has them in another form.
 */
function* listChanges(written: unknown, before: unknown, after: unknown, path: FormPath = []): Generator<TextChange> {
  if (isSame(before, after)) return;
  if (isList(written) && isList(before) && isList(after) && written.length === before.length) {
    yield* listItemChanges(written, before, after, path);
  } else if (isJsonObject(written) && isJsonObject(before) && isJsonObject(after) && hasForm(written, before, after)) {
    for (const key of listChangedKeys(before, after))
      yield* listChanges(written[key], before[key], after[key], [...path, key]);
  } else yield { path, value: typeof written === "number" ? toPlainNumber(after) : after };
}

/** Items are added and removed between those at the start and at the end that are the same. */
function* listItemChanges(
  written: readonly unknown[],
  before: readonly unknown[],
  after: readonly unknown[],
  path: FormPath,
): Generator<TextChange> {
  const common = Math.min(before.length, after.length);
  let start = 0;
  while (start < common && isSame(before[start], after[start])) start++;
  let end = 0;
  while (end < common - start && isSame(before.at(-1 - end), after.at(-1 - end))) end++;
  const changedEnd = common - end;
  for (let index = start; index < changedEnd; index++)
    yield* listChanges(written[index], before[index], after[index], [...path, index]);
  for (let index = before.length - end - 1; index >= changedEnd; index--)
    yield { path: [...path, index], value: undefined };
  for (let index = changedEnd; index < after.length - end; index++)
    yield { path: [...path, index], value: after[index], isNewItem: true };
}

function isSame(value: unknown, other: unknown): boolean {
  return value === other || JSON.stringify(value) === JSON.stringify(other);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** The number that a typed text is, if a double represents it as it is typed. */
function toPlainNumber(value: unknown): unknown {
  return typeof value === "string" && String(Number(value)) === value ? Number(value) : value;
}

function listChangedKeys(before: JsonObject, after: JsonObject): readonly string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => !isSame(before[key], after[key]));
}

/** Whether an object is written in the form of the changes: with the fields that they change, and without those that they add. */
function hasForm(written: JsonObject, before: JsonObject, after: JsonObject): boolean {
  return listChangedKeys(before, after).every((key) => Object.hasOwn(written, key) === Object.hasOwn(before, key));
}

function applyChanges(text: string, changes: Iterable<TextChange>): string {
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: "\n" };
  let next = text;
  for (const { path, value, isNewItem = false } of changes) {
    const edits = modify(next, [...path], value, { formattingOptions, isArrayInsertion: isNewItem });
    next = applyEdits(next, edits);
  }
  return next;
}

/** Replaces the value at a path of a JSON text. A text that cannot be edited is unchanged. */
export function replaceValue(text: string, path: FormPath, newValue: unknown): string {
  return editBook(text, (value) => withValue(value, path, newValue), { path, value: newValue });
}

/** Removes the ends of slabs, which follow from the starts of the next ones. */
function removeSlabEnds(slabs: readonly unknown[]): readonly unknown[] {
  return slabs.map((slab, index) => ({ ...(slab as object), order: index + 1, endAt: undefined }));
}

type ListChange = (list: readonly unknown[]) => readonly unknown[];

/** Changes the slabs of a card, and its rates in each currency. */
function editSlabs(text: string, card: FormPath, change: ListChange, changeRates: ListChange = change): string {
  return editBook(text, (value) => {
    const slabsPath = [...card, "ratePlan", "slabs"];
    const slabs = removeSlabEnds(change(listAt(value, slabsPath)));
    let next = withValue(value, slabsPath, slabs);
    for (const index of listAt(value, [...card, "rateValues"]).keys()) {
      const path = [...card, "rateValues", index, "slabRates"];
      const rates = changeRates(listAt(value, path)).map((rate, position) => ({
        ...(rate as object),
        order: position + 1,
      }));
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
  const move: ListChange = (slabs) =>
    slabs.map((slab, at) => (at === index ? { ...(slab as object), startAfter } : slab));
  return editSlabs(text, card, move, (rates) => rates);
}

/** Intervals that need a month in which the cycle starts. */
const INTERVALS_WITH_MONTH: ReadonlySet<string> = new Set(["QUARTERLY", "HALF_YEARLY", "ANNUALLY"]);

/** Changes the interval of a plan, and adds or removes the start month. */
export function changeInterval(text: string, config: FormPath, interval: string): string {
  return editBook(text, (value) => {
    const monthPath = [...config, "startOffset", "monthOffset"];
    const dayPath = [...config, "startOffset", "dayOffset"];
    const month = INTERVALS_WITH_MONTH.has(interval) ? (valueAt(value, monthPath) ?? "1") : undefined;
    const next = withValue(withValue(value, [...config, "interval"], interval), monthPath, month);
    // Weeks have seven days.
    const isInvalidWeekday = !/^[1-7]$/.test(String(valueAt(value, dayPath)));
    return interval === "WEEKLY" && isInvalidWeekday ? withValue(next, dayPath, "1") : next;
  });
}
