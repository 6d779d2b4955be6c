/** Cases of the reference: each proves the row of its key. */
import { expect } from "vitest";

import { type ApiAnswer, type Api, type Json, oncePerServer, uniqueText } from "./api.ts";
import { saidOtherwise } from "./described.ts";
import type { Row } from "./reference.ts";
import { misfits, misfitsOf, type Type, typeOfRow, unseen } from "./types.ts";

/** One case. */
export interface Case {
  readonly key: string;
  prove(api: Api, row: Row): Promise<void>;
}

/** How a field of a table is proved; what its type and its notes say of figures and values is read from the row. */
export interface FieldCase {
  /** The field's name, where the reference gives it none. */
  readonly as?: string;
  /** Sends a value as this field. A field with bounds and without it is made by the service. */
  readonly write?: (api: Api, value: unknown) => Promise<ApiAnswer>;
  /** A value of a size; default a text of so many characters. */
  readonly valueOfSize?: (size: number) => unknown;
  /** Proves the words of the notes that are not figures, values or types. */
  readonly says?: (api: Api) => Promise<void>;
}

/** How a table is proved. */
export interface TableCase {
  readonly table: string;
  /** The schema of the document that is of the same thing. */
  readonly component: string;
  /** Answers in which each field is seen, and each value that the table names. */
  readonly samples: (api: Api) => Promise<readonly Json[]>;
  readonly fields: Readonly<Record<string, FieldCase>>;
}

/** Cases of the rows of a table. */
export function tableCases({ table, component, samples, fields }: TableCase): readonly Case[] {
  const sampleOnce = oncePerServer(samples);
  return Object.entries(fields).map(([name, field]) => ({
    key: `${table} / ${name}`,
    async prove(api, row) {
      const fieldSchema = api.document.components.schemas[component].properties[field.as ?? name];
      await proveField(api, row, { ...field, fieldSchema }, await sampleOnce(api));
    },
  }));
}

/** A field with what the document says of it. */
type DescribedField = FieldCase & { readonly fieldSchema: Json };

async function proveField(api: Api, row: Row, field: DescribedField, samples: readonly Json[]): Promise<void> {
  const name = field.as ?? row.name;
  const type = typeOfRow(name, row.type, row.notes);
  const values: readonly unknown[] = samples.map((sample) => sample[name]);
  expect(values.flatMap((value) => misfits(type, value, name))).toEqual([]);
  expect(unseen(type, values, name)).toEqual([]);
  const valueNames: ReadonlySet<unknown> = new Set(type.values);
  const isWhole = !/\bseen\b/.test(`${row.notes} ${row.type}`) && type.values.length > 1;
  expect(saidOtherwise(api.document, type, field.fieldSchema, name, isWhole)).toEqual([]);
  if (isWhole) expect(values.filter((value) => value !== undefined && !valueNames.has(value))).toEqual([]);
  // What is of another type, or none of the values, is refused.
  for (const wrong of misfitsOf(type))
    if (field.write !== undefined) await expectRefused(field.write(api, wrong), name);
  const rest = await proveBounds(api, row, field, values);
  if (/[a-z]/i.test(rest) && field.says === undefined) throw new Error(`nothing proves "${rest}"`);
  await field.says?.(api);
}

/** What a clause is proved with. */
interface BoundedField {
  readonly name: string;
  readonly write: ((value: unknown) => Promise<ApiAnswer>) | undefined;
  readonly valueOfSize: (size: number) => unknown;
  readonly values: readonly unknown[];
  readonly fieldSchema: Json;
}

/** The clauses of notes that are bounds, each with its proof; the figures are those of the clause. */
const CLAUSES: readonly (readonly [
  RegExp,
  (field: BoundedField, figures: readonly string[]) => Promise<void> | void,
])[] = [
  [
    />= (\d+)/,
    ({ values, fieldSchema }, [least]) => {
      expect(values.filter((value) => Number(value) < Number(least))).toEqual([]);
      expect(fieldSchema.minimum).toBe(Number(least));
    },
  ],
  [/(\d+) to (\d+) characters/, (field, [min, max]) => proveRange(field, Number(min), Number(max))],
  [/max (\d+)(?: characters| items)?/, (field, [max]) => proveRange(field, 0, Number(max))],
  [/at least 1 item/, async ({ write, name }) => expectRefused(write?.([]), name)],
  [
    /pattern (\^\S+\$)(?: in responses)?/,
    async ({ write, name, values }, [pattern = ""]) => {
      expect(values.filter((value) => !new RegExp(pattern).test(String(value)))).toEqual([]);
      await expectTaken(write?.(`a ${uniqueText(20)}_Z-9`));
      await expectRefused(write?.(uniqueText(20).replace("-", ".")), name);
    },
  ],
  [/an e-mail address/, async ({ write, name }) => expectRefused(write?.("nobody"), name)],
  [
    /currency codes?/,
    ({ values }) => expect(values.flat().filter((value) => !/^[A-Z]{3}$/.test(String(value)))).toEqual([]),
  ],
  [/required/, ({ values }) => expect(values).not.toContain(undefined)],
];

/** Proves the clauses of notes that are bounds. @returns what is left of the notes */
async function proveBounds(api: Api, row: Row, field: DescribedField, values: readonly unknown[]): Promise<string> {
  const name = field.as ?? row.name;
  const type = typeOfRow(name, row.type, row.notes);
  const bounded: BoundedField = {
    name,
    write: field.write && (async (value) => taking(field, api, value)),
    valueOfSize: field.valueOfSize ?? uniqueText,
    values,
    fieldSchema: field.fieldSchema,
  };
  let rest = type.fields !== undefined || type.items?.fields !== undefined ? withoutFields(row.notes) : row.notes;
  for (const [pattern, prove] of CLAUSES) {
    const [clause, ...figures] = pattern.exec(rest) ?? [];
    if (clause === undefined) continue;
    rest = rest.replace(clause, "");
    await prove(bounded, figures);
  }
  return leftOf(rest, type);
}

async function taking({ write }: FieldCase, api: Api, value: unknown): Promise<ApiAnswer> {
  if (write === undefined) throw new Error("no way to write the field");
  return write(api, value);
}

/** What is said beside values: they were all seen. */
function leftOf(notes: string, { values }: Type): string {
  let rest = notes.replaceAll(/\bseen\b|see below/g, "");
  for (const value of values) rest = rest.replaceAll(new RegExp(String.raw`\b${value}\b`, "g"), "");
  return rest.replaceAll(/^(?:\s|,|;|\bor\b|\band\b)+|(?:\s|,|;|\bor\b|\band\b)+$/g, "");
}

/** Notes without the fields that they list, which the type has. */
function withoutFields(notes: string): string {
  const list = /(?:items: |each item has |\{|^\w+ \(|^\w+, \w+ \().*/s.exec(notes)?.[0] ?? "";
  const end = list.startsWith("{") ? list.slice(list.lastIndexOf("}") + 1) : "";
  return notes.replace(list, end);
}

/** A value at a bound is taken, one past it refused. What the service makes is within them. */
async function proveRange(field: BoundedField, min: number, max: number): Promise<void> {
  const { write, valueOfSize, name, values, fieldSchema } = field;
  expect(fieldSchema.maxLength ?? fieldSchema.maxItems).toBe(max);
  if (min > 0) expect(fieldSchema.minLength ?? fieldSchema.minItems).toBe(min);
  for (const value of values) {
    if (value === undefined) continue;
    const size = (value as string | readonly unknown[]).length;
    expect(size).toBeGreaterThanOrEqual(min);
    expect(size).toBeLessThanOrEqual(max);
  }
  if (write === undefined) return;
  await expectTaken(write(valueOfSize(max)));
  await expectRefused(write(valueOfSize(max + 1)), `${name}: expected at most ${max} `);
  if (min === 0) return;
  await expectTaken(write(valueOfSize(min)));
  await expectRefused(write(valueOfSize(min - 1)), `${name}: expected at least ${min} `);
}

/** A request is done. @returns its body */
export async function expectTaken(asking: Promise<ApiAnswer> | undefined): Promise<Json> {
  const answer = await asking;
  if (answer === undefined) throw new Error("no way to write the field");
  if (answer.status >= 300) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.json)}`);
  return answer.json;
}

/** A request is a 400 whose sentence names the field. */
export async function expectRefused(asking: Promise<ApiAnswer> | undefined, name: string): Promise<void> {
  const answer = await asking;
  if (answer === undefined) throw new Error("no way to write the field");
  expect([answer.status, answer.json.message]).toEqual([400, expect.stringContaining(name)]);
}

/** Cases of rows that are proved each in its own way. */
export function ruleCases(
  table: string,
  rules: Readonly<Record<string, (api: Api, row: Row) => Promise<void>>>,
): readonly Case[] {
  return Object.entries(rules).map(([name, prove]) => ({ key: `${table} / ${name}`, prove }));
}
