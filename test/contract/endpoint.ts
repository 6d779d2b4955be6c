/** How endpoints are tested: paths, queries, bodies and answers match their rows. */
import { expect } from "vitest";

import { type ApiAnswer, type Api, type Json } from "./api.ts";
import { resolveSchema } from "./bounds.ts";
import { expectRefused } from "./case.ts";
import { figureIn, type Row, rowOf, rowsIn } from "./reference.ts";
import { kindSaidOtherwise } from "./schema-differences.ts";
import { fieldsOfTable, listMismatches, parseFields, parseType, type Type } from "./types.ts";

/** A request that succeeds. */
export interface Ready {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
}

/** How an endpoint is tested. */
export interface EndpointCase {
  /** Creates what a request needs, for each request anew. */
  readonly ready: (api: Api) => Promise<Ready>;
  /** Rows of other tables with narrower bounds. */
  readonly narrower?: Readonly<Record<string, string>>;
  /** The other statements of the row. */
  readonly also?: (api: Api, row: Row) => Promise<void>;
}

/** Sends the prepared request with other parts. */
export async function sendRow(api: Api, row: string, { params = {}, query, body }: Ready): Promise<ApiAnswer> {
  const line = row.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  return api.ask(line, { ...(query && { query }), ...(body !== undefined && { body }) });
}

/** The test of an endpoint. */
export const endpointCase =
  ({ ready, narrower = {}, also }: EndpointCase) =>
  async (api: Api, row: Row): Promise<void> => {
    const request = row.cells["Request"] ?? "";
    const first = await ready(api);
    const answer = await sendRow(api, row.name, first);
    expect([answer.status, answer.json.message]).toEqual([200, undefined]);
    expect(wrongIn(row.cells["Success response"] ?? "", answer.json)).toEqual([]);
    proveParameters(api, row.name, request);
    await proveQuery(api, row.name, request, () => ready(api));
    await proveBody(api, row, narrower, () => ready(api));
    await also?.(api, row);
  };

/** The faults of an answer that the reference describes in words. */
function wrongIn(sentence: string, json: Json): readonly string[] {
  const pagedName = /paged list envelope of ([\w ]+?)(?: \(|$)/.exec(sentence)?.[1];
  if (pagedName !== undefined) {
    expect(json).toHaveProperty("nextToken");
    return wrongItems(pagedName, json.data);
  }
  const list = /^\{data: array of ([\w ]+)\}$/.exec(sentence)?.[1];
  if (list !== undefined) return wrongItems(list, json.data);
  const array = /^array of ([\w ]+)$/.exec(sentence)?.[1];
  if (array !== undefined) return wrongItems(array, json);
  if (sentence.startsWith("{")) return listMismatches(parseType(sentence.replaceAll(":", "")), json, "answer");
  const fields = fieldsOfTable(sentence);
  expect(Object.keys(fields).length).toBeGreaterThan(0);
  expect(Object.keys(json).filter((name) => fields[name] !== undefined).length).toBeGreaterThan(0);
  return listMismatches({ kind: "object", nullable: false, values: [], fields }, json, sentence);
}

function wrongItems(table: string, items: readonly Json[]): readonly string[] {
  expect(items.length).toBeGreaterThan(0);
  return items.flatMap((item) => wrongIn(table, item));
}

/** The document has the parameters of the row, with their types and bounds. */
function proveParameters(api: Api, line: string, request: string): void {
  const [method = "", path = ""] = line.split(" ");
  const parameters: readonly Json[] = api.document.paths[path][method.toLowerCase()].parameters ?? [];
  const [before = ""] = request.split("; body");
  if (before.startsWith("body")) return;
  for (const [, names = "", kind, notes = ""] of before.matchAll(/(\w+(?: and \w+)?) \((string|integer)s?([^)]*)\)/g)) {
    for (const name of names.split(" and ")) {
      const { schema = {} } = parameters.find((parameter) => parameter.name === name) ?? {};
      const own = schema.maxLength ?? schema.maximum;
      // If the row states no bound, the server has its own.
      expect([name, schema.type, own]).toEqual([name, kind, bounded(parseType(""), notes).max ?? own]);
    }
  }
}

/** A documented query parameter is accepted; another is rejected by name. */
async function proveQuery(api: Api, line: string, request: string, ready: () => Promise<Ready>): Promise<void> {
  const parts = await ready();
  if (!request.includes("nextToken (string)")) return;
  const size = /pageSize \(integer, max (\d+), default (\d+)\)/.exec(request);
  const most = size === null ? figureIn(rowsIn("Pagination rules")[0]?.type ?? "") : Number(size[1]);
  const listWithSize = async (pageSize: string) => sendRow(api, line, { ...parts, query: { pageSize } });
  for (const [pageSize, shown] of [
    ["1", 1],
    [String(most), most],
  ] as const) {
    const { status, json } = await listWithSize(pageSize);
    expect(status).toBe(200);
    if (json.context !== undefined) expect(json.context.pageSize).toBe(shown);
  }
  await expectRefused(listWithSize(String(most + 1)), "pageSize");
  if (size !== null) expect((await sendRow(api, line, parts)).json.context.pageSize).toBe(Number(size[2]));
  await expectRefused(sendRow(api, line, { ...parts, query: { nextToken: "forged" } }), "nextToken");
}

/** The fields of a body, from the row or from the table that it refers to. */
function bodyFields(row: Row): Readonly<Record<string, Type & { readonly max?: number }>> | undefined {
  const request = row.cells["Request"] ?? "";
  if (request === "body below") {
    const table = row.name.startsWith("POST /migrations") ? "Migrate price plan" : "Update event schema";
    const rows = rowsIn(table).filter(({ name }) => !/^rule|^dependencies$|^fields$/.test(name));
    return Object.fromEntries(rows.map(({ name, type, notes }) => [name, bounded(parseType(type, notes), notes)]));
  }
  const match = /body:? (.*)$/s.exec(request)?.[1];
  if (match === undefined || request === "no body") return undefined;
  const list = match.startsWith("{") ? match.slice(1, match.lastIndexOf("}")) : match;
  // The number of list items is tested with the limit's own row.
  const types = parseFields(list.replace(/: (?=array)/, " ").replace(/, \d+ to \d+ items$/, ""));
  return Object.fromEntries(
    Object.entries(types).map(([name, type]) => {
      const own = new RegExp(`\\b${name}[ (]([^)]*)`).exec(list)?.[1] ?? "";
      return [name, bounded(type, own)];
    }),
  );
}

function bounded(type: Type, notes: string): Type & { readonly max?: number } {
  const max = /max (\d+)/.exec(notes)?.[1];
  return max === undefined ? type : { ...type, max: Number(max) };
}

/** The document has the fields of the row, with their types and bounds, and each named value is accepted. */
async function proveBody(
  api: Api,
  row: Row,
  narrower: Readonly<Record<string, string>>,
  ready: () => Promise<Ready>,
): Promise<void> {
  const fields = bodyFields(row);
  const parts = await ready();
  const sendWith = async (name: string, value: unknown) => {
    const anew = await ready();
    return sendRow(api, row.name, { ...anew, body: { ...anew.body, [name]: value } });
  };
  if (fields === undefined) {
    expect(parts.body).toBeUndefined();
    return;
  }
  const [method = "", path = ""] = row.name.split(" ");
  const { content } = api.document.paths[path][method.toLowerCase()].requestBody;
  const { properties } = resolveSchema(api.document, content["application/json"].schema);
  // Send exactly the fields of the row.
  expect(Object.keys(parts.body).toSorted()).toEqual(Object.keys(fields).toSorted());
  for (const [name, type] of Object.entries(fields)) {
    expect(listMismatches(type, parts.body[name], name)).toEqual([]);
    const schema = resolveSchema(api.document, properties[name]);
    expect(kindSaidOtherwise(type, schema, name)).toEqual([]);
    const other = narrower[name];
    const max = other === undefined ? type.max : figureIn(rowOf(other).notes);
    if (max !== undefined) expect([name, schema.maxLength ?? schema.maxItems]).toEqual([name, max]);
    // State changes have their own row.
    for (const value of name === "status" ? [] : type.values) {
      const { status, json } = await sendWith(name, value);
      expect([name, value, status, json.message]).toEqual([name, value, 200, undefined]);
    }
  }
}
