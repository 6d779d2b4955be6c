/**
 * Reads the shape of a document: every item through its zod schema, every problem noted, and of a broken item what is
 * whole, so that the checks across the book can look at it too.
 *
 * @module
 */
import * as z from "zod";

import { placeInText, type TextPlace } from "../../numbers/json-text.ts";
import { hintAt } from "../nearest.ts";
import type { Path, Problems } from "../problems.ts";
import { currency } from "../resources/fields.ts";
import { silence } from "../resources/lint.ts";
import { sentenceOf, shown } from "../sentences.ts";
import { type BookDocument, organization, type ResourceList, RESOURCES } from "./document.ts";
import type { RawLists } from "./references.ts";

/** Levels of objects and lists that a document may have: a rule of 64 operations fits. */
export const NESTING_MAX = 200;
/** The message for a document with more levels. */
export const TOO_DEEP = `nested more than ${NESTING_MAX} levels deep`;
/** Items from which on it is quicker to compile a list's schema first: that takes as long as reading some two thousand. */
const COMPILED_FROM = 5_000;
/** How much of a place is named when something is nested too deep below it. */
const DEEP_PLACE_MAX = 3;
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Reads one value. What is wrong is reported; what is whole comes back: in a list, a broken item is a hole, which
 * `forEach`, `map` and `flatMap` skip.
 *
 * @returns undefined when nothing of it can be used
 */
export function readShape<S extends z.ZodType>(
  schema: S,
  raw: unknown,
  path: Path,
  problems: Problems,
): z.output<S> | undefined {
  return readAs(schema, raw, path, { problems, salvaged: schema });
}

/** Reads one value that is of use whole alone. What is wrong is reported. */
export function readWhole<S extends z.ZodType>(schema: S, raw: unknown, problems: Problems): z.output<S> | undefined {
  const result = schema.safeParse(raw, { error: sentenceOf });
  if (result.success) return result.data;
  for (const issue of result.error.issues) reportIssue(issue, [], problems);
  return undefined;
}

/** Reads one value through a schema; what is whole of a broken one is taken by the schema that it was compiled of. */
function readAs<S extends z.ZodType>(
  schema: S,
  raw: unknown,
  path: Path,
  { problems, salvaged }: { readonly problems: Problems; readonly salvaged: S },
): z.output<S> | undefined {
  const result = schema.safeParse(raw, { error: sentenceOf });
  if (result.success) return result.data;
  for (const issue of result.error.issues) reportIssue(issue, path, problems, salvaged);
  return salvage(salvaged, raw) as z.output<S> | undefined;
}

/** The readable parts of a book. */
export interface BookShape {
  readonly lists: RawLists;
  readonly document: BookDocument;
  /** Items that had problems: something may be missing that was written. */
  readonly broken: ReadonlySet<unknown>;
}

/** Reads the lists of a book, item by item. */
export function readBookShape(raw: unknown, problems: Problems): BookShape {
  const object = objectOf(raw);
  if (object === undefined) problems.report([], `expected a book, which is an object, got ${shown(raw)}`);
  const lists: Record<string, unknown> = object ?? {};
  const known = new Set<string>(["$schema", "organization", "lint", ...Object.keys(RESOURCES)]);
  for (const key of Object.keys(lists)) {
    if (!known.has(key)) problems.report([key], `unknown field${hintAt(key, [...known])}`);
  }
  const own = (key: string): unknown => (Object.hasOwn(lists, key) ? lists[key] : undefined);
  const list = <List extends ResourceList>(key: List): BookDocument[List] =>
    readList(RESOURCES[key], own(key), key, { problems, broken }) as unknown as BookDocument[List];
  const broken = new Set<unknown>();
  const fallback = { id: "default" } as const;
  return {
    lists,
    broken,
    document: {
      organization:
        readShape(organization, own("organization") ?? fallback, ["organization"], problems) ??
        organization.parse(fallback),
      settings: list("settings"),
      eventSchemas: list("eventSchemas"),
      usageMeters: list("usageMeters"),
      features: list("features"),
      addOns: list("addOns"),
      pricePlans: list("pricePlans"),
      customers: list("customers"),
      accounts: list("accounts"),
      invoiceGroups: list("invoiceGroups"),
      lint: readList(silence, own("lint"), "lint", { problems, broken }),
    },
  };
}

/**
 * Where a JSON text first nests too deep for {@link checkNesting}, seen before a parser makes objects of it all. Brackets
 * in texts do not count; what is no JSON at all gets any answer.
 *
 * @returns line and column, from 1
 */
export function tooDeepInText(text: string): TextPlace | undefined {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inText) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) inText = false;
    } else if (code === QUOTE) inText = true;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      if (depth > NESTING_MAX) return placeInText(text, at);
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
  }
  return undefined;
}

/** Refuses what is nested so deep that no code after this should meet it. */
export function checkNesting(raw: unknown, problems: Problems): boolean {
  const deep = tooDeep(raw, 0);
  if (deep === undefined) return true;
  problems.report(deep.toReversed().slice(0, DEEP_PLACE_MAX), TOO_DEEP);
  return false;
}

function readList<S extends z.ZodType>(
  schema: S,
  raw: unknown,
  key: string,
  { problems, broken }: { readonly problems: Problems; readonly broken: Set<unknown> },
): z.output<S>[] {
  if (raw === undefined || raw === null) return [];
  if (!Array.isArray(raw)) {
    problems.report([key], `expected a list, got ${shown(raw)}`);
    return [];
  }
  const reader = raw.length < COMPILED_FROM ? schema : z.compile(schema);
  const reading = { problems, salvaged: schema };
  return holed(raw, (item, index) => {
    if (problems.isFull()) return undefined;
    const before = problems.count();
    const shape = readAs(reader, item, [key, index], reading);
    if (problems.count() > before) broken.add(shape);
    return shape;
  });
}

/** A list with a hole wherever an item has nothing to show. */
function holed<T>(items: readonly unknown[], read: (item: unknown, index: number) => T | undefined): T[] {
  const list: T[] = [];
  list.length = items.length;
  for (const [index, item] of items.entries()) {
    const value = read(item, index);
    if (value !== undefined) list[index] = value;
  }
  return list;
}

/** The path, backwards, to something nested too deep. */
function tooDeep(value: unknown, depth: number): (string | number)[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (depth >= NESTING_MAX) return [];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const deep = tooDeep(item, depth + 1);
      if (deep !== undefined) return [...deep, index];
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    const deep = tooDeep(Reflect.get(value, key), depth + 1);
    if (deep !== undefined) return [...deep, key];
  }
  return undefined;
}

/** Options that newer clients of the service send and that are not supported: refused, for ignoring them would mislead. */
const UNSUPPORTED: ReadonlySet<string> = new Set(["includeSchema", "dry_run"]);

/** Notes what zod found. @param schema what was read, where a guess at a misspelt field may be of use */
function reportIssue(issue: z.core.$ZodIssue, base: Path, problems: Problems, schema?: z.ZodType): void {
  const path = [...base, ...issue.path.map((step) => (typeof step === "symbol" ? String(step) : step))];
  if (issue.code === "unrecognized_keys") {
    const fields = schema === undefined ? [] : fieldsAt(schema, issue.path);
    for (const key of issue.keys) {
      const said = UNSUPPORTED.has(key) ? "not supported here: expected it to be left out" : undefined;
      problems.report([...path, key], said ?? `unknown field${hintAt(key, fields)}`);
    }
    return;
  }
  const branch = issue.code === "invalid_union" ? branchOf(issue.errors) : undefined;
  if (branch === undefined) problems.report(path, issue.message);
  else for (const inner of branch) reportIssue(inner, path, problems);
}

/** The fields that an object at a place below a schema may have; none where that cannot be told. */
function fieldsAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodPipe) return fieldsAt(schema.in, path);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return fieldsAt(schema.unwrap(), path);
  if (schema instanceof z.ZodArray) return fieldsAt(schema.element, path.slice(1));
  if (!(schema instanceof z.ZodObject)) return [];
  const [step, ...below] = path;
  return step === undefined ? Object.keys(schema.shape) : fieldsAt(schema.shape[String(step)], below);
}

/** Of the ways in which a value may be given, the one that it was given in: its own type and its mode were right. */
function branchOf(errors: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  const isOther = ({ code, path }: z.core.$ZodIssue): boolean =>
    (code === "invalid_type" && path.length === 0) ||
    (code === "invalid_value" && path.length === 1 && path[0] === "mode");
  return errors.find((issues) => !issues.some(isOther));
}

/** The valid parts of a value that its schema refused. */
function salvage(schema: unknown, raw: unknown): unknown {
  if (schema === currency) return undefined;
  if (schema instanceof z.ZodPipe) return salvage(schema.in, raw);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return salvage(schema.unwrap(), raw);
  if (schema instanceof z.ZodString) return typeof raw === "string" ? raw : undefined;
  if (schema instanceof z.ZodArray) {
    return Array.isArray(raw) ? holed(raw, (item) => wholeOf(schema.element, item)) : undefined;
  }
  const object = objectOf(raw);
  if (!(schema instanceof z.ZodObject) || object === undefined) return undefined;
  const whole: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(schema.shape)) {
    const given = Object.hasOwn(object, key) ? object[key] : undefined;
    const value = wholeOf(field, given) ?? wholeOf(field, undefined);
    if (value !== undefined) whole[key] = value;
    else if (!(field as z.ZodType).safeParse(undefined).success) return undefined;
  }
  return whole;
}

function wholeOf(schema: unknown, raw: unknown): unknown {
  const result = (schema as z.ZodType).safeParse(raw);
  return result.success ? result.data : salvage(schema, raw);
}

function objectOf(raw: unknown): Record<string, unknown> | undefined {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw) ? (raw as Record<string, unknown>) : undefined;
}
