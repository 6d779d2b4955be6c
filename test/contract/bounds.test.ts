/**
 * Each bound of the reference applies to its field in every request that writes it, and the document states it. That the
 * server enforces the document everywhere is tested in test/server/routes/requests.test.ts.
 */
import { beforeAll, describe, expect, test } from "vitest";

import { type Api, type Json, startContract } from "./api.ts";
import {
  BOUNDED_ROWS,
  type BoundedPlace,
  createBody,
  formatFieldPath,
  boundedPlaces,
  parseBound,
  namedPlaces,
  listPlaces,
  valueOfSize,
  WRITE_ROUTES,
} from "./bounds.ts";
import { figureIn, rowsIn } from "./reference.ts";

let open: () => Promise<Api>;
let document: Json;
beforeAll(async () => {
  open = await startContract();
  ({ document } = await open());
});

const describePlace = ({ line, fieldPath }: BoundedPlace): string => `${line} ${formatFieldPath(fieldPath)}`;

/** The server's answer to a value at a place. */
async function saidTo(api: Api, place: BoundedPlace, value: unknown): Promise<string> {
  const line = place.line.replaceAll(/\{\w+\}/g, "none");
  const { status, json } = await api.ask(line, { body: createBody(document, place, value) });
  return status < 300 ? "taken" : json.message;
}

/** The faults of a bounded place: in the document, at the bound, and one past it. */
async function wrongWith(api: Api, place: BoundedPlace): Promise<readonly string[]> {
  const { bound, schema, fieldPath } = place;
  const at = formatFieldPath(fieldPath);
  const wrong: string[] = [];
  const expectSaid = async (value: unknown, sentence: RegExp, isSaid: boolean): Promise<void> => {
    const message = await saidTo(api, place, value);
    if (sentence.test(message) !== isSaid) wrong.push(`${describePlace(place)}: ${message}`);
  };
  const size = /expected at (?:most|least)/;
  const past = (end: string, figure: number): RegExp =>
    new RegExp(String.raw`^${at.replaceAll(/[[\].]/g, String.raw`\$&`)}: expected at ${end} ${figure}\b`);
  const { min, max, pattern } = bound;
  if (max !== undefined) {
    if ((schema.maxLength ?? schema.maxItems) !== max)
      wrong.push(`${describePlace(place)}: the document has no ${max}`);
    await expectSaid(valueOfSize(document, schema, max), size, false);
    await expectSaid(valueOfSize(document, schema, max + 1), past("most", max), true);
  }
  if (min !== undefined) {
    if ((schema.minLength ?? schema.minItems) !== min)
      wrong.push(`${describePlace(place)}: the document has no ${min}`);
    await expectSaid(valueOfSize(document, schema, min), size, false);
    await expectSaid(valueOfSize(document, schema, min - 1), new RegExp(`^${at}: expected`), true);
  }
  if (pattern !== undefined) {
    if (schema.pattern !== pattern) wrong.push(`${describePlace(place)}: the document has no ${pattern}`);
    await expectSaid("not.one", new RegExp(`^${at}: `), true);
  }
  return wrong;
}

async function listWrong(places: readonly BoundedPlace[]): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const [at, place] of places.entries()) {
    // Rate limits are per key, so a new key is used for every twenty places.
    if (at % 20 === 0) api = await open();
    wrong.push(...(await wrongWith(api as Api, place)));
  }
  return wrong;
}
let api: Api | undefined;

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

  test("apply to every request that writes the field of a row", async () => {
    const places = boundedPlaces(listPlaces(document));
    expect(places.length).toBeGreaterThanOrEqual(30);
    expect(await listWrong(places)).toEqual([]);
  });

  test("apply to names and descriptions in every request", async () => {
    const places = namedPlaces(listPlaces(document));
    expect(places.length).toBeGreaterThanOrEqual(50);
    expect(await listWrong(places)).toEqual([]);
  });

  test("apply to every id in a path", () => {
    const limits = rowsIn("Limits").filter(({ name }) => name.endsWith(" in path"));
    const most = new Map(
      limits.flatMap(({ name, type }) =>
        name
          .replace(" in path", "")
          .split(", ")
          .map((each) => [each.replaceAll(" ", "_"), figureIn(type)] as const),
      ),
    );
    const problems: string[] = [];
    for (const [path, item] of Object.entries<Json>(document.paths)) {
      for (const [, name = ""] of path.matchAll(/\{(\w+)\}/g)) {
        const max = most.get(name);
        if (max === undefined) continue;
        for (const [method, { parameters }] of Object.entries<Json>(item)) {
          const line = `${method.toUpperCase()} ${path}`;
          problems.push(line);
          const { schema } = parameters.find((each: Json) => each.name === name);
          expect([line, schema.maxLength]).toEqual([line, max]);
        }
      }
    }
    expect(problems.length).toBeGreaterThanOrEqual(25);
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
