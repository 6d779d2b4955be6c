/**
 * Each bound of the reference applies to its field in every request that writes it, and the document states it. That the
 * server enforces the document everywhere is tested in test/server/routes/requests.test.ts.
 */
import { beforeAll, describe, expect, test } from "vitest";

import { type Json, startContract } from "./api.ts";
import {
  BOUNDED_ROWS,
  type BoundedPlace,
  formatFieldPath,
  boundedPlaces,
  parseBound,
  namedPlaces,
  listPlaces,
  WRITE_ROUTES,
} from "./bounds.ts";
import { figureIn, rowsIn } from "./reference.ts";

let document: Json;
beforeAll(async () => {
  ({ document } = await (await startContract())());
});

const describePlace = ({ line, fieldPath }: BoundedPlace): string => `${line} ${formatFieldPath(fieldPath)}`;

/** The bounds of a place that the document lacks. */
function listWrong(places: readonly BoundedPlace[]): readonly string[] {
  return places.flatMap((place) => {
    const { min, max, pattern } = place.bound;
    const { maxLength, maxItems, minLength, minItems, pattern: documentPattern } = place.schema;
    const missing = [
      max === undefined || (maxLength ?? maxItems) === max ? [] : max,
      min === undefined || (minLength ?? minItems) === min ? [] : min,
      pattern === undefined || documentPattern === pattern ? [] : pattern,
    ].flat();
    return missing.map((each) => `${describePlace(place)}: the document has no ${each}`);
  });
}

describe("the bounds of the reference", () => {
  test("match those of its tables of fields", () => {
    const figures = rowsIn("Account").filter(({ notes }) => parseBound(notes) !== undefined);
    expect(figures.map(({ name }) => name)).toEqual(["id", "name", "primaryEmail", "aliases", "further array"]);
    expect(BOUNDED_ROWS.length).toBeGreaterThanOrEqual(24);
  });

  test("each belong to a field that a request writes or the server generates", () => {
    const documentKeys = new Set(boundedPlaces(listPlaces(document)).map(({ row }) => row.key));
    const unknownKeys = BOUNDED_ROWS.map(({ key }) => key).filter((key) => !documentKeys.has(key));
    expect(unknownKeys.toSorted()).toEqual([
      "Error body / message",
      "Feature / displayName",
      "Usage meter / displayName",
      "Usage meter / id",
    ]);
    for (const table of Object.keys(WRITE_ROUTES)) expect([table, rowsIn(table).length]).not.toEqual([table, 0]);
  });

  test("apply to every request that writes the field of a row", () => {
    const places = boundedPlaces(listPlaces(document));
    expect(places.length).toBeGreaterThanOrEqual(30);
    expect(listWrong(places)).toEqual([]);
  });

  test("apply to names and descriptions in every request", () => {
    const places = namedPlaces(listPlaces(document));
    expect(places.length).toBeGreaterThanOrEqual(50);
    expect(listWrong(places)).toEqual([]);
  });

  test("apply to the page size of every list", () => {
    const [general = 0, entries = 0] = rowsIn("Limits")
      .filter(({ name }) => name.startsWith("page size"))
      .map(({ type }) => figureIn(type));
    const lists = Object.entries<Json>(document.paths).filter(([, { get }]) =>
      get?.parameters?.some(({ name }: Json) => name === "pageSize"),
    );
    expect(lists.length).toBeGreaterThanOrEqual(16);
    const wrong: string[] = [];
    for (const [path, { get }] of lists) {
      const { schema } = get.parameters.find(({ name }: Json) => name === "pageSize");
      const isOfEntries = path.endsWith("/entries");
      if (isOfEntries ? schema.maximum !== entries : schema.maximum > general) wrong.push(`${path}: ${schema.maximum}`);
    }
    expect(wrong).toEqual([]);
  });
});
