/**
 * The JSON Schemas of a book, a plan and a map: draft 2020-12, in agreement with what is accepted, and printed by
 * `ratebook schema`.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";

import { DOCUMENT_NAMES, type DocumentName, createJsonSchema } from "../../../src/cli/json-schemas.ts";
import { ratebook, SMALL_BOOK } from "../fake-io.ts";

const root = resolve(import.meta.dirname, "../../..");

function faultsOf(name: DocumentName, document: unknown): unknown {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(createJsonSchema(name));
  return validate(document) ? undefined : (validate.errors ?? []).map(({ instancePath }) => instancePath);
}
const example = (path: string): unknown => JSON.parse(readFileSync(join(root, "docs/examples", path), "utf8"));

describe("the schema of a book", () => {
  test.each(["llm-api/book.json", "cloud-storage/book.json", "seats-and-usage/book.json"])("accepts %s", (path) => {
    expect(faultsOf("book", example(path))).toBeUndefined();
  });

  test.each<readonly [string, object, string]>([
    ["a misspelt field", { acounts: [] }, ""],
    ["a wrong kind", { accounts: {} }, "/accounts"],
    ["an unknown choice", { organization: { id: "a", rounding: "UP" } }, "/organization/rounding"],
    ["a field that is missing", { customers: [{ id: "a" }] }, "/customers/0"],
  ])("rejects %s", (_, change, where) => {
    expect(faultsOf("book", { ...SMALL_BOOK, ...change })).toContain(where);
  });
});

test("the schemas of a plan and a map accept valid documents, and no misspelt field", () => {
  const plan = SMALL_BOOK.pricePlans[0];
  expect(faultsOf("plan", { $schema: "x", ...plan })).toBeUndefined();
  expect(faultsOf("plan", { ...plan, prize: 1 })).toContain("");
  const map = example("llm-api/code.map.json");
  expect(faultsOf("map", map)).toBeUndefined();
  expect(faultsOf("map", { ...(map as object), attribute: {} })).toContain("");
});

test.each(DOCUMENT_NAMES)("%s is a valid draft 2020-12 schema", (name) => {
  expect(createJsonSchema(name)).toMatchObject({ $schema: "https://json-schema.org/draft/2020-12/schema" });
});

test("ratebook schema requires the name of a document", async () => {
  expect(await ratebook(["schema", "invoice"])).toMatchObject({
    code: 2,
    err: 'ratebook: schema takes one of book, plan, map, got "invoice"\n',
  });
});

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly description?: string;
}

/** The fields of a schema at any depth, each with its path. */
function listFields(schema: object, path = "$"): readonly (readonly [string, JsonSchema])[] {
  return Object.entries(schema).flatMap(([key, part]: [string, unknown]) => {
    if (typeof part !== "object" || part === null) return [];
    const fields = key === "properties" ? Object.entries(part as Readonly<Record<string, JsonSchema>>) : [];
    return [
      ...fields.map(([name, field]) => [`${path}.${name}`, field] as const),
      ...listFields(part, `${path}.${key}`),
    ];
  });
}

test.each(DOCUMENT_NAMES)("every field of a %s has a description that is a sentence", (name) => {
  const fields = listFields(createJsonSchema(name));
  expect(fields.length).toBeGreaterThan(10);
  const silent = fields.filter(([, { description = "" }]) => !/^[A-Z0-9`].*\.$/.test(description));
  expect(silent.map(([path]) => path)).toEqual([]);
});

test("the description of a field depends on where it is, not only on its name", () => {
  const fields = listFields(createJsonSchema("book"));
  const saidOf = (name: string): ReadonlySet<string | undefined> =>
    new Set(fields.filter(([path]) => path.endsWith(`.${name}`)).map(([, { description }]) => description));
  expect(saidOf("packageSize")).toEqual(new Set(["Units per package, more than 0; required for PACKAGE slabs."]));
  // Of a fixed fee and a commitment, of a slab, of a credit grant's slab, of a row and a tier of a price table.
  expect(saidOf("rate").size).toBe(6);
  expect(saidOf("effectiveUntil")).toContain(
    "When the entry ends, as an ISO 8601 duration from the grant, such as `P1M`.",
  );
});
