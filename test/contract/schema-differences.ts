/** Compares the server's document of a field with its type in the reference. */
import type { Json } from "./api.ts";
import { resolveSchema, takesNull } from "./bounds.ts";
import { isLeftOut, type Type } from "./types.ts";

/** The `type` and `format` of a schema, for each kind of value in the reference. */
const SAID: Readonly<Partial<Record<Type["kind"], readonly [type: string, format?: string]>>> = {
  string: ["string"],
  number: ["number"],
  integer: ["integer"],
  boolean: ["boolean"],
  array: ["array"],
  object: ["object"],
  "date-time": ["string", "date-time"],
  date: ["string", "date"],
};

/** Fields with any text: a value in the reference is an example. */
const ANY_TEXT: ReadonlySet<string | undefined> = new Set(["namespace", "monthOffset"]);

/**
 * Differences between a schema of the document and the reference, by path.
 *
 * @param isWhole whether the named values are complete; otherwise there may be more
 */
export function saidOtherwise(
  document: Json,
  type: Type,
  schemaOrRef: Json,
  at: string,
  isWhole = false,
): readonly string[] {
  if (schemaOrRef === undefined) return [`${at}: is not in the document`];
  const schema = resolveSchema(document, schemaOrRef);
  const own = [
    ...nullSaidOtherwise(type, takesNull(document, schemaOrRef), at),
    ...kindSaidOtherwise(type, schema, at),
    ...valuesSaidOtherwise(type, schema, at, isWhole),
  ];
  if (type.items !== undefined) return [...own, ...saidOtherwise(document, type.items, schema.items, `${at}[]`)];
  const fields = Object.entries(type.fields ?? {});
  return [
    ...own,
    ...fields.flatMap(([name, field]) => saidOtherwise(document, field, schema.properties?.[name], `${at}.${name}`)),
  ];
}

function nullSaidOtherwise({ kind, nullable }: Type, isNullTaken: boolean, at: string): readonly string[] {
  // If the reference gives no type, it does not say whether the field may be null.
  if ((kind === "any" && !nullable) || isNullTaken === (nullable && !isLeftOut(at))) return [];
  return [isNullTaken ? `${at}: takes null` : `${at}: takes no null`];
}

/** The difference between the type of a schema and that of the reference, if any. */
export function kindSaidOtherwise({ kind }: Type, { type, format }: Json, at: string): readonly string[] {
  const [ownType, ownFormat] = SAID[kind] ?? [];
  const own = [type].flat().filter((each) => each !== "null");
  if (ownType !== undefined && own.join() !== ownType) return [`${at}: is ${own.join()} and not ${ownType}`];
  const isDate = format === "date" || format === "date-time" || ownFormat !== undefined;
  return isDate && ownType !== undefined && format !== ownFormat ? [`${at}: is ${format} and not ${ownFormat}`] : [];
}

function valuesSaidOtherwise({ values }: Type, schema: Json, at: string, isWhole: boolean): readonly string[] {
  if (schema.type !== "string" || ANY_TEXT.has(at.split(".").at(-1))) return [];
  const enumValues: readonly string[] = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const missing = values.filter((value) => !enumValues.includes(value)).map((value) => `${at}: has no ${value}`);
  const more = isWhole
    ? enumValues.filter((value) => !values.includes(value)).map((value) => `${at}: has ${value}`)
    : [];
  return [...missing, ...more];
}
