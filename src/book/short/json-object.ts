/** Values of a document that is not checked yet. */
import { isJsonObject } from "../../numbers/decimal.ts";
import type { Path } from "../problems.ts";

/** An object with any fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a field is present and not null. */
export function hasValue(object: JsonObject, field: string): boolean {
  return (object[field] ?? undefined) !== undefined;
}

/** The value at a path; undefined if absent. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (holder, step) =>
      typeof holder === "object" && holder !== null && Object.hasOwn(holder, step)
        ? Reflect.get(holder, step)
        : undefined,
    value,
  );
}

/** The objects of a list; empty for anything else. */
export function listObjects(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

/** An object without its fields that are null or absent. */
export function withoutAbsent(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => (value ?? undefined) !== undefined));
}

/** An object without some fields. */
export function omitFields(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}

/** An object with fields in the place of another. */
export function replaceField(object: JsonObject, field: string, fields: JsonObject): JsonObject {
  const entries = Object.entries(object).flatMap((entry) => (entry[0] === field ? Object.entries(fields) : [entry]));
  return Object.fromEntries(entries);
}

/** A copy of a value in which the object at a path is replaced. */
export function replaceAt(
  value: unknown,
  [step, ...below]: Path,
  replace: (object: JsonObject) => JsonObject,
): unknown {
  if (step === undefined) return isJsonObject(value) ? replace(value) : value;
  if (Array.isArray(value))
    return value.map((item, index) => (index === step ? replaceAt(item, below, replace) : item));
  if (!isJsonObject(value)) return value;
  return { ...value, [step]: replaceAt(value[step], below, replace) };
}
