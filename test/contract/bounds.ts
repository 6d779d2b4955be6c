/** Where the requests of the server's document write the fields that the reference bounds. */
import { type Json, uniqueText, unique } from "./api.ts";
import { type Row, ROWS, rowsIn } from "./reference.ts";

/** A bound of the reference, in characters or items. */
export interface Bound {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: string;
}

/** A field in a request body. */
export interface Place {
  /** As in the document: `PATCH /features/{feature_id}`. */
  readonly line: string;
  /** The path to the field; a number is a list item. */
  readonly fieldPath: readonly (string | number)[];
  readonly schema: Json;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
}

/** A field's path as messages write it. */
export const formatFieldPath = (fieldPath: Place["fieldPath"]): string =>
  fieldPath.map((step, at) => (typeof step === "number" ? `[${step}]` : `${at === 0 ? "" : "."}${step}`)).join("");

/** A bounded row of the reference, and the place of its field in one request. */
export interface BoundedPlace extends Place {
  readonly row: Row;
  readonly bound: Bound;
}

/** The requests that write a resource of a table: their paths, and the position in the body. */
export const WRITE_ROUTES: Readonly<Record<string, readonly (readonly [RegExp, field?: string])[]>> = {
  Account: [[/ \/accounts(?:\/\{account_id\})?$/], [/ \/customers$/, "account"]],
  "Usage meter": [[/ \/usage_meters(?:\/\{usage_meter_id\})?$/]],
  Feature: [[/ \/features(?:\/\{feature_id\})?$/]],
  "Add-on": [[/ \/addons(?:\/\{addon_id\})?$/]],
  "Event schema": [[/ \/event_schema(?:\/\{event_schema_name\})?$/]],
  "Migrate price plan": [[/ \/migrations\/price_plan$/]],
};

/** Other names of a field in requests. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  "further array": ["settings"],
  schemaAssociations: ["schemaAssociations", "schemaAssocitions"],
};

/** The bound in notes or in a limit's value; none if they contain no size. */
export function parseBound(notes: string): Bound | undefined {
  const [, min, to] = /(\d+) to (\d+)(?: characters| items|$)/.exec(notes) ?? [];
  const max = to ?? /\bmax (\d+)/.exec(notes)?.[1];
  const createSmallest = min ?? /at least (\d+) item/.exec(notes)?.[1];
  const pattern = /pattern (\^\S+\$)/.exec(notes)?.[1];
  if (max === undefined && createSmallest === undefined && pattern === undefined) return undefined;
  return {
    ...(createSmallest !== undefined && { min: Number(createSmallest) }),
    ...(max !== undefined && { max: Number(max) }),
    ...(pattern !== undefined && { pattern }),
  };
}

/** The rows of field tables with a size bound. */
export const BOUNDED_ROWS: readonly (Row & { readonly bound: Bound })[] = ROWS.flatMap((row) => {
  const bound = row.cells["Field"] === undefined ? undefined : parseBound(row.notes);
  return bound === undefined ? [] : [{ ...row, bound }];
});

/** Every field of every JSON body in the document's requests. */
export function listPlaces(document: Json): readonly Place[] {
  return Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).flatMap(([method, { requestBody }]) => {
      const schema = requestBody?.content?.["application/json"]?.schema;
      return schema === undefined ? [] : listFields(document, schema, `${method.toUpperCase()} ${path}`, []);
    }),
  );
}

/** Resolves a schema's reference and removes null from it. */
export function resolveSchema(document: Json, schema: Json): Json {
  if (schema.$ref !== undefined)
    return resolveSchema(document, document.components.schemas[schema.$ref.split("/").pop()]);
  const [one] = (schema.anyOf ?? schema.oneOf ?? []).filter((each: Json) => each.type !== "null");
  return one === undefined ? schema : resolveSchema(document, one);
}

/** Whether a schema of the document allows null. */
export function takesNull(document: Json, { $ref, type, anyOf = [] }: Json): boolean {
  if ($ref !== undefined) return takesNull(document, document.components.schemas[$ref.split("/").pop()]);
  return [type].flat().includes("null") || anyOf.some((each: Json) => takesNull(document, each));
}

function listFields(document: Json, schemaOrRef: Json, line: string, fieldPath: Place["fieldPath"]): readonly Place[] {
  // Schemas of rules are recursive without end.
  if (fieldPath.length > 12) return [];
  const schema = resolveSchema(document, schemaOrRef);
  const fields = Object.entries<Json>(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = {
      line,
      fieldPath: [...fieldPath, name],
      schema: resolveSchema(document, field),
      isRequired: (schema.required ?? []).includes(name),
      isNullable: takesNull(document, field),
    };
    return [at, ...listFields(document, field, line, at.fieldPath)];
  });
  return schema.items === undefined
    ? fields
    : [...fields, ...listFields(document, schema.items, line, [...fieldPath, 0])];
}

/** The places that write the fields of bounded rows. */
export function boundedPlaces(places: readonly Place[]): readonly BoundedPlace[] {
  return BOUNDED_ROWS.flatMap((row) => {
    const names = OTHER_NAMES[row.name] ?? [row.name];
    const ways = WRITE_ROUTES[row.table] ?? [];
    return ways.flatMap(([path, inside]) => {
      const paths = names.map((name) => [...(inside === undefined ? [] : [inside]), name].join("."));
      return places
        .filter(({ line, fieldPath }) => path.test(line) && paths.includes(fieldPath.join(".")))
        .map((place) => ({ ...place, row, bound: row.bound }));
    });
  });
}

/** The places of names, which are bounded unless their own row differs. */
export function namedPlaces(places: readonly Place[]): readonly BoundedPlace[] {
  return rowsIn("Limits")
    .filter(({ type, name }) => type.endsWith("unless stated otherwise") && name.includes("displayName"))
    .flatMap((row) =>
      places
        .filter(({ fieldPath }) => row.name.split(", ").includes(String(fieldPath.at(-1))))
        .filter(({ line, fieldPath }) => isResourceField(line, fieldPath))
        .map((place) => ({ ...place, row, bound: findOwnBound(place) ?? parseBound(row.type) ?? {} })),
    );
}

/** Events are not resources of the catalog, and keys are not in the reference. */
function isResourceField(line: string, fieldPath: Place["fieldPath"]): boolean {
  return !/ \/(?:ingest|ingestBatch|entitled|keys|metrics)$/.test(line) && !fieldPath.includes("matcher");
}

/** The bound in the row of the resource's own field. */
function findOwnBound({ line, fieldPath }: Place): Bound | undefined {
  return BOUNDED_ROWS.find(({ table, name }) =>
    (WRITE_ROUTES[table] ?? []).some(
      ([path, inside]) =>
        path.test(line) && fieldPath.join(".") === [...(inside === undefined ? [] : [inside]), name].join("."),
    ),
  )?.bound;
}

/** The smallest valid value of a schema, with a value at a place. */
export function createBody(
  document: Json,
  { line, fieldPath }: Pick<Place, "line" | "fieldPath">,
  value: unknown,
): Json {
  const [method = "", path = ""] = line.split(" ");
  const { schema } = document.paths[path][method.toLowerCase()].requestBody.content["application/json"];
  return createSmallest(document, schema, { fieldPath, value });
}

/** The value to set, and the remaining path to it. */
interface Placement {
  readonly fieldPath: Place["fieldPath"];
  readonly value: unknown;
}

function createSmallest(document: Json, schemaOrRef: Json, placement?: Placement, name = ""): Json {
  if (placement?.fieldPath.length === 0) return placement.value;
  const schema = resolveSchema(document, schemaOrRef);
  const [next, ...fieldPath] = placement?.fieldPath ?? [];
  const remaining = placement && { ...placement, fieldPath };
  if (schema.properties !== undefined) {
    const names = new Set<string>([...(schema.required ?? []), ...(typeof next === "string" ? [next] : [])]);
    return Object.fromEntries(
      [...names].map((each) => [
        each,
        createSmallest(document, schema.properties[each], each === next ? remaining : undefined, each),
      ]),
    );
  }
  if (schema.type === "array") {
    const count = next === 0 ? 1 : (schema.minItems ?? 0);
    return Array.from({ length: count }, () =>
      createSmallest(document, schema.items, next === 0 ? remaining : undefined),
    );
  }
  return /^effective|Time$/.test(name) ? "2024-06-01" : createSmallestScalar(schema);
}

function createSmallestScalar(schema: Json): Json {
  const [firstValue] = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  if (firstValue !== undefined) return firstValue;
  if (schema.type === "string") return textFor(schema, Math.max(schema.minLength ?? 0, 5));
  if (schema.type === "boolean") return true;
  if (schema.type === "object") return {};
  return schema.minimum ?? 1;
}

/** A value of a size that is otherwise valid for a schema. */
export function valueOfSize(document: Json, schema: Json, size: number): unknown {
  if (schema.type !== "array") return textFor(schema, size);
  return Array.from({ length: size }, () => createSmallest(document, schema.items));
}

function textFor({ pattern = "" }: Json, size: number): string {
  if (pattern.includes("@")) return `${uniqueText(size - "@a.test".length)}@a.test`;
  if (pattern === "^[A-Z]{3}$") return "USD";
  return size === 5 ? unique("x") : uniqueText(size);
}
