/** The document describes every section, field and parameter. */
import { expect, test } from "vitest";

import { DECIMAL_FORMAT } from "../../../src/book/resources/fields.ts";
import type { KeyAccessControl } from "../../../src/server/access/access.ts";
import { TAG_DESCRIPTIONS } from "../../../src/server/docs/descriptions.ts";
import { FORMAT_DESCRIPTIONS } from "../../../src/server/http/fields.ts";
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

// The endpoints are only read, not called, so no credentials are needed.
const DOCUMENT = JSON.parse(await createApiParts({} as KeyAccessControl).serializeDocument("")) as Document;

/** The properties of all schemas within a part of the document, each with its path. */
function propertiesIn(part: unknown, path = "$"): readonly (readonly [string, Schema])[] {
  if (typeof part !== "object" || part === null) return [];
  const { properties } = part as Schema;
  const own = Object.entries(typeof properties === "object" ? properties : {}).map(
    ([name, schema]) => [`${path}.${name}`, schema] as const,
  );
  const below = Object.entries(part).flatMap(([key, value]) => propertiesIn(value, `${path}/${key}`));
  return [...own, ...below];
}

test("every property of every schema has a description that is a sentence", () => {
  const properties = propertiesIn(DOCUMENT);
  expect(properties.length).toBeGreaterThan(1500);
  expect(
    properties.filter(([, { description = "" }]) => !/^[A-Z`0-9][^]*[.]$/.test(description)).map(([at]) => at),
  ).toEqual([]);
});

test("no property says only how its value is written", () => {
  const formats = new Set([...FORMAT_DESCRIPTIONS, DECIMAL_FORMAT]);
  expect(
    propertiesIn(DOCUMENT)
      .filter(([, { description = "" }]) => formats.has(description))
      .map(([at]) => at),
  ).toEqual([]);
});

test("every parameter has a description that is a sentence", () => {
  const operations = Object.values(DOCUMENT.paths).flatMap((path) => Object.values(path));
  const without = operations.flatMap(({ operationId, parameters = [] }) =>
    parameters.flatMap(({ name, description }) => (description === undefined ? [`${operationId} ${name}`] : [])),
  );
  expect(without).toEqual([]);
});

test("exactly the existing sections are described", () => {
  expect(DOCUMENT.tags.map(({ name, description }) => [name, description])).toEqual(
    DOCUMENT.tags.map(({ name }) => [name, TAG_DESCRIPTIONS[name] ?? "missing"]),
  );
  expect(Object.keys(TAG_DESCRIPTIONS).toSorted()).toEqual(DOCUMENT.tags.map(({ name }) => name).toSorted());
});
