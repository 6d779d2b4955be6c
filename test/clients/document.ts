/** An OpenAPI document, as tests read it. */

/** A JSON object. */
// Read the document like any other, without our types.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

/** A method of a path. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly spec: Json;
}

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** All operations. */
export function listOperations(document: Json): readonly Operation[] {
  return Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => ({
      id: item[method].operationId,
      method,
      path,
      spec: item[method],
    })),
  );
}

/** A schema and its path. */
export interface PlacedSchema {
  readonly at: string;
  readonly schema: Json;
}

/** All schemas of a document, including nested ones. */
export function listAllSchemas(document: Json): readonly PlacedSchema[] {
  const componentSchemas = Object.entries<Json>(document.components.schemas).flatMap(([name, schema]) =>
    listSchemas(schema, name),
  );
  return [...componentSchemas, ...listOperations(document).flatMap(schemasOfOperation)];
}

function schemasOfOperation({ id, spec }: Operation): readonly PlacedSchema[] {
  const parameters: readonly Json[] = spec.parameters ?? [];
  const contents: readonly (readonly [string, Json])[] = [
    ["body", spec.requestBody],
    ...Object.entries<Json>(spec.responses),
  ];
  const headers = Object.entries<Json>(spec.responses).flatMap(([, { headers: own = {} }]) =>
    Object.entries<Json>(own),
  );
  return [
    ...parameters.flatMap(({ name, schema }) => listSchemas(schema, `${id} ${name}`)),
    ...headers.flatMap(([name, { schema }]) => listSchemas(schema, `${id} ${name}`)),
    ...contents.flatMap(([part, value]) =>
      Object.entries<Json>(value?.content ?? {}).flatMap(([type, { schema }]) =>
        listSchemas(schema, `${id} ${part} ${type}`),
      ),
    ),
  ];
}

const ONE = ["items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"];
const MANY = ["anyOf", "oneOf", "allOf", "prefixItems"];
const NAMED = ["properties", "patternProperties", "$defs", "dependentSchemas"];

function listSchemas(schema: Json, at: string): readonly PlacedSchema[] {
  // `additionalProperties: true` is not a schema.
  if (typeof schema !== "object" || schema === null) return [{ at, schema }];
  const parts: readonly (readonly [string, Json])[] = [
    ...ONE.filter((key) => schema[key] !== undefined && !isOpen(key, schema[key])).map(
      (key) => [key, schema[key]] as const,
    ),
    ...MANY.flatMap((key) =>
      Object.entries(schema[key] ?? {}).map(([index, part]) => [`${key}[${index}]`, part] as const),
    ),
    ...NAMED.flatMap((key) => Object.entries(schema[key] ?? {})),
  ];
  return [{ at, schema }, ...parts.flatMap(([key, part]) => listSchemas(part, `${at}.${key}`))];
}

function isOpen(key: string, part: unknown): boolean {
  return key === "additionalProperties" && typeof part === "boolean";
}

/** All `$ref`s of a document. */
export function listReferences(value: Json): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries<Json>(value).flatMap(([key, part]) =>
    key === "$ref" && typeof part === "string" ? [part] : listReferences(part),
  );
}

/** The target of a reference; undefined if there is none. */
export function pointedBy(document: Json, reference: string): Json {
  const [root, ...steps] = reference.split("/");
  if (root !== "#") return undefined;
  return steps.reduce((value: Json, step) => value?.[step.replaceAll("~1", "/").replaceAll("~0", "~")], document);
}
