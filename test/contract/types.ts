/** The types in the words of the reference, and whether values match them. */
import { rowsIn } from "./reference.ts";

/** The type of a value. */
export interface Type {
  readonly kind: "string" | "number" | "integer" | "boolean" | "object" | "array" | "date-time" | "date" | "any";
  /** Whether it may be null; an answer then always contains it. */
  readonly nullable: boolean;
  /** Whether a request may have null although an answer never does. */
  readonly nullInRequests?: boolean;
  /** The named values; one of them may be any value of an incomplete enumeration. */
  readonly values: readonly string[];
  readonly items?: Type;
  readonly fields?: Readonly<Record<string, Type>>;
}

/**
 * Nullable fields that are omitted instead of null, because one of the published clients rejects null.
 * docs/reference/http-api.md lists them.
 */
export const LEFT_OUT: ReadonlySet<string> = new Set(["description"]);

/** Upper-case words that are not values. */
const WORDS = new Set(["ISO", "UTC"]);
/** Types whose table has another name, or that are named in words. */
const TABLES: Readonly<Record<string, string>> = {
  Address: "Address",
  "schedule entries": "Schedule entry",
  "Alias list entry": "Alias list entry",
};

/** Reads `string (ACTIVE seen)`, `array of {currency string, rate number}`, … */
export function parseType(text: string, notes = ""): Type {
  const sentence = text.trim().replace(/^null or /, "");
  const nullable = /\bnull\b|nullable/.test(outside(`${text} ${notes}`));
  const values = valuesIn(`${text} ${notes}`);
  const items = /^array of (.*)/s.exec(sentence)?.[1];
  if (items !== undefined) return { kind: "array", nullable, values: [], items: parseItems(items, notes) };
  if (sentence.startsWith("array")) return { kind: "array", nullable, values: [], ...itemsOf(notes) };
  if (sentence.startsWith("{")) return parseObject(sentence, nullable);
  if (TABLES[sentence] !== undefined)
    return { kind: "object", nullable, values: [], fields: fieldsOfTable(TABLES[sentence]) };
  const kind = kindOf(sentence);
  const fields = kind === "object" ? fieldsIn(notes) : undefined;
  return { kind, nullable, values: kind === "object" ? [] : values, ...(fields && { fields }) };
}

/** Reads `{interval, offset}, both nullable` and `{maxQuantity} nullable; config itself may be null in a request`. */
function parseObject(sentence: string, nullable: boolean): Type {
  const after = outside(sentence);
  const fields = parseFields(inBraces(sentence));
  if (!/\bnullable\b/.test(after)) return { kind: "object", nullable, values: [], fields };
  const nulls = Object.entries(fields).map(([name, field]) => [name, { ...field, nullable: true }] as const);
  const nullInRequests = after.includes("null in a request");
  return { kind: "object", nullable: false, nullInRequests, values: [], fields: Object.fromEntries(nulls) };
}

function kindOf(sentence: string): Type["kind"] {
  const kind = /\b(?:string|integer|number|boolean|date-time|date|object|map)\b/.exec(sentence)?.[0];
  if (kind === undefined) return "any";
  return kind === "map" ? "object" : (kind as Type["kind"]);
}

function parseItems(sentence: string, notes: string): Type {
  const table = Object.entries(TABLES).find(([name]) => sentence.startsWith(name))?.[1];
  if (table !== undefined) return { kind: "object", nullable: false, values: [], fields: fieldsOfTable(table) };
  const own = fieldsIn(notes);
  if (own !== undefined) return { kind: "object", nullable: false, values: [], fields: own };
  return parseType(sentence);
}

function itemsOf(notes: string): { readonly items: Type } | undefined {
  const fields = fieldsIn(notes);
  return fields && { items: { kind: "object", nullable: false, values: [], fields } };
}

/**
 * The fields that notes list: `{featureId string}`, `items: order (integer), …`, `each item has alias (string) and …`.
 */
function fieldsIn(notes: string): Readonly<Record<string, Type>> | undefined {
  const list = notes.replace(/^.*?(?:items: |each item has )/, "").replaceAll(") and ", "), ");
  if (list.startsWith("{")) return parseFields(inBraces(list));
  return /^\w+ \(|^\w+, \w+ \(/.test(list) ? parseFields(list) : undefined;
}

/** The fields of a table. */
export function fieldsOfTable(table: string): Readonly<Record<string, Type>> {
  return Object.fromEntries(rowsIn(table).map(({ name, type, notes }) => [name, typeOfRow(name, type, notes)]));
}

/** The type of a row; for "see below", the table of the same name. */
export function typeOfRow(name: string, type: string, notes: string): Type {
  if (notes !== "see below") return parseType(type, notes);
  return { kind: "object", nullable: false, values: [], fields: fieldsOfTable(name) };
}

/** Reads `order (integer), id string, name`. */
export function parseFields(list: string): Readonly<Record<string, Type>> {
  return Object.fromEntries(
    parts(list).map((part) => {
      const [, name = "", rest = ""] = /^(\w+)\s*(.*)$/s.exec(part) ?? [];
      const bare = rest.startsWith("(") && rest.endsWith(")") ? rest.slice(1, -1) : rest;
      return [name, parseType(bare)];
    }),
  );
}

/** The parts between commas outside brackets. */
function parts(list: string): readonly string[] {
  const problems: string[] = [];
  let depth = 0;
  let part = "";
  for (const letter of list) {
    if ("({".includes(letter)) depth += 1;
    if (")}".includes(letter)) depth -= 1;
    if (letter === "," && depth === 0) {
      problems.push(part.trim());
      part = "";
    } else part += letter;
  }
  return [...problems, part.trim()].filter((each) => each !== "");
}

/** The contents of the first braces. */
function inBraces(text: string): string {
  let depth = 0;
  const start = text.indexOf("{");
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === "{") depth += 1;
    if (text[at] === "}") depth -= 1;
    if (depth === 0) return text.slice(start + 1, at);
  }
  return text.slice(start + 1);
}

function outside(text: string): string {
  return text.replaceAll(/\{[^{}]*\}/g, "").replaceAll(/\{[^{}]*\}/g, "");
}

/** The values that a text names. */
export function valuesIn(text: string): readonly string[] {
  const words = outside(text).match(/\b[A-Z][A-Z_]{2,}\b(?!-logic| values)/g) ?? [];
  return [...new Set(words)].filter((word) => !WORDS.has(word));
}

/** The faults of a value, by path; none if it matches its type. */
export function listMismatches(type: Type, value: unknown, at: string): readonly string[] {
  if (value === undefined) return type.nullable && !isLeftOut(at) ? [`${at}: is left out, and may be null`] : [];
  if (value === null && type.nullable) return isLeftOut(at) ? [`${at}: is null, and is left out otherwise`] : [];
  if (!isKind(type.kind, value)) return [`${at}: expected ${type.kind}, got ${JSON.stringify(value)}`];
  if (type.items !== undefined) {
    const { items } = type;
    return (value as readonly unknown[]).flatMap((item) => listMismatches(items, item, `${at}[]`));
  }
  return Object.entries(type.fields ?? {}).flatMap(([name, field]) =>
    listMismatches(field, (value as Readonly<Record<string, unknown>>)[name], `${at}.${name}`),
  );
}

/** Whether the field at a path is omitted if it is null. */
export function isLeftOut(at: string): boolean {
  return LEFT_OUT.has(at.split(".").at(-1) ?? "");
}

function isKind(kind: Type["kind"], value: unknown): boolean {
  if (value === null) return kind === "any";
  switch (kind) {
    case "any":
      return true;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "date-time":
      return typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
    case "date":
      return typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value);
    default:
      return typeof value === kind;
  }
}

/** The parts of a type that no value has: fields and named values. */
export function listUnseen(type: Type, values: readonly unknown[], at: string): readonly string[] {
  const there = values.filter((value) => value !== undefined && value !== null);
  if (there.length === 0) return [at];
  const missing = type.values.filter((value) => !there.includes(value)).map((value) => `${at} = ${value}`);
  if (type.items !== undefined) return [...missing, ...listUnseen(type.items, there.flat(), `${at}[]`)];
  return [
    ...missing,
    ...Object.entries(type.fields ?? {}).flatMap(([name, field]) =>
      listUnseen(
        field,
        there.map((value) => (value as Readonly<Record<string, unknown>>)[name]),
        `${at}.${name}`,
      ),
    ),
  ];
}
