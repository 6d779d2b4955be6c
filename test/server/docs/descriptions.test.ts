/** The document says of every section, field and parameter what it means. */
import { expect, test } from "vitest";

import type { KeyAccessControl } from "../../../src/server/access/access.ts";
import { TAG_DESCRIPTIONS } from "../../../src/server/docs/descriptions.ts";
import { createApiParts } from "../../../src/server/plugin.ts";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly description?: string;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly description?: string }[];
}
interface Document {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

// The endpoints are looked at, and not asked: what lets callers in is not needed.
const DOCUMENT = JSON.parse(createApiParts({} as KeyAccessControl).serializeDocument("")) as Document;

/** The properties of all schemas within a part of the document, each with the path to it. */
function propertiesIn(part: unknown, path = "$"): readonly (readonly [string, Schema])[] {
  if (typeof part !== "object" || part === null) return [];
  const { properties } = part as Schema;
  const own = Object.entries(typeof properties === "object" ? properties : {}).map(
    ([name, schema]) => [`${path}.${name}`, schema] as const,
  );
  const below = Object.entries(part).flatMap(([key, value]) => propertiesIn(value, `${path}/${key}`));
  return [...own, ...below];
}

test("every property of every schema has its sentence", () => {
  const properties = propertiesIn(DOCUMENT);
  expect(properties.length).toBeGreaterThan(1500);
  expect(
    properties.filter(([, { description = "" }]) => !/^[A-Z`0-9][^]*[.]$/.test(description)).map(([at]) => at),
  ).toEqual([]);
});

test("every parameter has its sentence", () => {
  const operations = Object.values(DOCUMENT.paths).flatMap((path) => Object.values(path));
  const without = operations.flatMap(({ operationId, parameters = [] }) =>
    parameters.flatMap(({ name, description }) => (description === undefined ? [`${operationId} ${name}`] : [])),
  );
  expect(without).toEqual([]);
});

test("every section is described, and no other", () => {
  expect(DOCUMENT.tags.map(({ name, description }) => [name, description])).toEqual(
    DOCUMENT.tags.map(({ name }) => [name, TAG_DESCRIPTIONS[name] ?? "missing"]),
  );
  expect(Object.keys(TAG_DESCRIPTIONS).toSorted()).toEqual(DOCUMENT.tags.map(({ name }) => name).toSorted());
});
