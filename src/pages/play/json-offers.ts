/**
 * What may be written at a place of a document, as its JSON Schema says.
 *
 * @module
 */
import type { JsonPlace } from "./json-place.ts";
import type { FormPath } from "./plan-edit.ts";

/** The parts of a JSON Schema that are used here. */
export interface OfferSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, OfferSchema>>;
  readonly properties?: Readonly<Record<string, OfferSchema>>;
  readonly additionalProperties?: OfferSchema | boolean;
  readonly items?: OfferSchema;
  readonly anyOf?: readonly OfferSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string | readonly string[];
  readonly description?: string;
}

/** Something that may be written. */
export interface Offer {
  /** As it is read in a list. */
  readonly label: string;
  /** As it is written. */
  readonly text: string;
  readonly description: string;
}

/** The texts that may be written at a place and contain what is typed there. */
export function offersAt(root: OfferSchema, place: JsonPlace): readonly Offer[] {
  const schemas = schemasAt(root, place.path);
  const offers = place.kind === "key" ? keyOffers(schemas, place) : valueOffers(schemas);
  const typed = place.typed.toLowerCase();
  const fitting = offers.filter(({ label }) => label.toLowerCase().includes(typed) && label !== place.typed);
  // What begins as it was typed comes first.
  const begins = ({ label }: Offer): number => Number(!label.toLowerCase().startsWith(typed));
  return fitting.toSorted((a, b) => begins(a) - begins(b));
}

/** The sentence on what is at a path; empty where there is none. */
export function descriptionAt(root: OfferSchema, path: FormPath): string {
  // An item of a list is what the list's sentence is about.
  for (let length = path.length; length > 0; length -= 1) {
    const found = schemasAt(root, path.slice(0, length), false).find(({ description }) => description !== undefined);
    if (found?.description !== undefined) return found.description;
    if (typeof path[length - 1] === "string") return "";
  }
  return "";
}

function keyOffers(schemas: readonly OfferSchema[], { keys }: JsonPlace): readonly Offer[] {
  return schemas
    .flatMap(({ properties }) => Object.entries(properties ?? {}))
    .filter(([key], index, all) => !keys.includes(key) && all.findIndex(([other]) => other === key) === index)
    .map(([key, { description = "" }]) => ({ label: key, text: `"${key}"`, description }));
}

function valueOffers(schemas: readonly OfferSchema[]): readonly Offer[] {
  const values = schemas.flatMap((schema) => [
    ...(schema.enum ?? []),
    ...("const" in schema ? [schema.const] : []),
    ...([schema.type].flat().includes("boolean") ? [true, false] : []),
  ]);
  const texts = new Set(values.filter((value) => value !== null).map((value) => JSON.stringify(value)));
  return [...texts].map((text) => ({ label: text.replaceAll('"', ""), text, description: "" }));
}

/** The schemas that hold at a path, each alternative by itself. */
function schemasAt(root: OfferSchema, path: FormPath, opened = true): readonly OfferSchema[] {
  let found: readonly OfferSchema[] = [root];
  for (const key of path)
    found = found.flatMap((schema) => alternatives(root, schema)).flatMap((schema) => below(schema, key));
  return opened ? found.flatMap((schema) => alternatives(root, schema)) : found;
}

function below({ properties, additionalProperties, items }: OfferSchema, key: string | number): readonly OfferSchema[] {
  if (typeof key === "number") return items === undefined ? [] : [items];
  if (properties !== undefined && Object.hasOwn(properties, key)) return [properties[key] ?? {}];
  return typeof additionalProperties === "object" ? [additionalProperties] : [];
}

function alternatives(root: OfferSchema, schema: OfferSchema): readonly OfferSchema[] {
  const target = schema.$ref === undefined ? undefined : root.$defs?.[schema.$ref.replace("#/$defs/", "")];
  const parts = [...(target === undefined ? [] : [target]), ...(schema.anyOf ?? [])];
  return [schema, ...parts.flatMap((part) => alternatives(root, part))];
}
