/** Cases of the reference: each tests the row with its key. */
import { expect } from "vitest";

import { type ApiAnswer, type Api, type Json, oncePerServer } from "./api.ts";
import { type Row, rowsIn } from "./reference.ts";
import { saidOtherwise } from "./schema-differences.ts";
import { listMismatches, type Type, typeOfRow, listUnseen } from "./types.ts";

/** One case. */
export interface Case {
  readonly key: string;
  prove(api: Api, row: Row): Promise<void>;
}

/** How a field of a table is tested; bounds and values are read from the row's type and notes. */
export interface FieldCase {
  /** The field's name, if the reference gives none. */
  readonly as?: string;
  /** Tests the parts of the notes that are not figures, values or types. */
  readonly says?: (api: Api) => Promise<void>;
}

/** How a table is tested. */
export interface TableCase {
  readonly table: string;
  /** The schema of the document for the same resource. */
  readonly component: string;
  /** Answers that together contain each field, and each value that the table names. */
  readonly samples: (api: Api) => Promise<readonly Json[]>;
  /** The rows whose type and figures do not say everything. */
  readonly fields?: Readonly<Record<string, FieldCase>>;
}

/** Cases of the rows of a table. */
export function tableCases({ table, component, samples, fields = {} }: TableCase): readonly Case[] {
  const sampleOnce = oncePerServer(samples);
  const names = rowsIn(table).map(({ name }) => name);
  // A field that is not in the reference gets a case too, which contract.test.ts reports.
  return [...new Set([...names, ...Object.keys(fields)])].map((name) => ({
    key: `${table} / ${name}`,
    async prove(api, row) {
      const { [name]: field = {} } = fields;
      const fieldSchema = api.document.components.schemas[component].properties[field.as ?? name];
      await proveField(api, row, { ...field, fieldSchema }, await sampleOnce(api));
    },
  }));
}

/** A field with its schema in the document. */
type DescribedField = FieldCase & { readonly fieldSchema: Json };

async function proveField(api: Api, row: Row, field: DescribedField, samples: readonly Json[]): Promise<void> {
  const name = field.as ?? row.name;
  const type = typeOfRow(name, row.type, row.notes);
  const values: readonly unknown[] = samples.map((sample) => sample[name]);
  expect(values.flatMap((value) => listMismatches(type, value, name))).toEqual([]);
  expect(listUnseen(type, values, name)).toEqual([]);
  const valueNames: ReadonlySet<unknown> = new Set(type.values);
  const isWhole = !/\bseen\b/.test(`${row.notes} ${row.type}`) && type.values.length > 1;
  expect(saidOtherwise(api.document, type, field.fieldSchema, name, isWhole)).toEqual([]);
  if (isWhole) expect(values.filter((value) => value !== undefined && !valueNames.has(value))).toEqual([]);
  const rest = proveBounds(row, type, { values, fieldSchema: field.fieldSchema });
  if (/[a-z]/i.test(rest) && field.says === undefined) throw new Error(`nothing proves "${rest}"`);
  await field.says?.(api);
}

/** What a clause is tested with. */
interface BoundedField {
  readonly values: readonly unknown[];
  readonly fieldSchema: Json;
}

/** The clauses of notes that are bounds, each with its test; the figures are those of the clause. */
const CLAUSES: readonly (readonly [RegExp, (field: BoundedField, figures: readonly string[]) => void])[] = [
  [
    />= (\d+)/,
    ({ values, fieldSchema }, [least]) => {
      expect(values.filter((value) => Number(value) < Number(least))).toEqual([]);
      expect(fieldSchema.minimum).toBe(Number(least));
    },
  ],
  [/(\d+) to (\d+) characters/, (field, [min, max]) => proveRange(field, Number(min), Number(max))],
  [/max (\d+)(?: characters| items)?/, (field, [max]) => proveRange(field, 0, Number(max))],
  [/at least 1 item/, ({ values }) => expect(values).not.toContainEqual([])],
  [
    /pattern (\^\S+\$)(?: in responses)?/,
    ({ values }, [pattern = ""]) =>
      expect(values.filter((value) => !new RegExp(pattern).test(String(value)))).toEqual([]),
  ],
  [
    /an e-mail address/,
    ({ values }) => expect(values.filter((value) => !/@|undefined/.test(String(value)))).toEqual([]),
  ],
  [
    /currency codes?/,
    ({ values }) => expect(values.flat().filter((value) => !/^[A-Z]{3}$/.test(String(value)))).toEqual([]),
  ],
  [/required/, ({ values }) => expect(values).not.toContain(undefined)],
];

/**
 * Tests the clauses of notes that are bounds: answers are within them. That the document has them for requests is tested
 * in bounds.test.ts, and that requests must be within them in test/server/routes/requests.test.ts.
 *
 * @returns the rest of the notes
 */
function proveBounds(row: Row, type: Type, field: BoundedField): string {
  let rest = type.fields !== undefined || type.items?.fields !== undefined ? withoutFields(row.notes) : row.notes;
  for (const [pattern, prove] of CLAUSES) {
    const [clause, ...figures] = pattern.exec(rest) ?? [];
    if (clause === undefined) continue;
    rest = rest.replace(clause, "");
    prove(field, figures);
  }
  return leftOf(rest, type);
}

/** Text beside named values, which were all seen. */
function leftOf(notes: string, { values }: Type): string {
  let rest = notes.replaceAll(/\bseen\b|see below/g, "");
  for (const value of values) rest = rest.replaceAll(new RegExp(String.raw`\b${value}\b`, "g"), "");
  return rest.replaceAll(/^(?:\s|,|;|\bor\b|\band\b)+|(?:\s|,|;|\bor\b|\band\b)+$/g, "");
}

/** Notes without the fields that they list, which are in the type. */
function withoutFields(notes: string): string {
  const list = /(?:items: |each item has |\{|^\w+ \(|^\w+, \w+ \().*/s.exec(notes)?.[0] ?? "";
  const end = list.startsWith("{") ? list.slice(list.lastIndexOf("}") + 1) : "";
  return notes.replace(list, end);
}

/** The document has the bounds, and answers are within them. */
function proveRange({ values, fieldSchema }: BoundedField, min: number, max: number): void {
  expect(fieldSchema.maxLength ?? fieldSchema.maxItems).toBe(max);
  if (min > 0) expect(fieldSchema.minLength ?? fieldSchema.minItems).toBe(min);
  for (const value of values) {
    if (value === undefined) continue;
    const size = (value as string | readonly unknown[]).length;
    expect(size).toBeGreaterThanOrEqual(min);
    expect(size).toBeLessThanOrEqual(max);
  }
}

/**
 * Expects success.
 *
 * @returns the body
 */
export async function expectSuccess(request: Promise<ApiAnswer>): Promise<Json> {
  const answer = await request;
  if (answer.status >= 300) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.json)}`);
  return answer.json;
}

/** Expects a 400 whose message names the field. */
export async function expectRefused(request: Promise<ApiAnswer>, name: string): Promise<void> {
  const answer = await request;
  expect([answer.status, answer.json.message]).toEqual([400, expect.stringContaining(name)]);
}

/** Cases of rows that are each tested individually. */
export function ruleCases(
  table: string,
  rules: Readonly<Record<string, (api: Api, row: Row) => Promise<void>>>,
): readonly Case[] {
  return Object.entries(rules).map(([name, prove]) => ({ key: `${table} / ${name}`, prove }));
}
