/**
 * What answers have in common: schemas derived from those of the book, addresses, rules, pages of lists, and JSON in
 * steps.
 */
import * as z from "zod";

import { type Address, address } from "../../book/resources/account.ts";
import { formatInstant, type Instant } from "../../calendar/instant.ts";
import type { WithSkipped } from "../../engine/all-accounts.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Page } from "../../engine/pages.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import { jsonPieces, stringifyJson } from "../../numbers/json.ts";
import { createYielder } from "../../store/yielder.ts";
import { type Answer, answerOk } from "./endpoint.ts";
import { formatDay, formatTime, number, withoutAbsent } from "./fields.ts";
import type { PagedRequest } from "./pagination.ts";

/** The answer schema of a book schema. Dates have none, because answers write some as days and some as date-times. */
type AnswerSchema<Schema> =
  Schema extends z.ZodObject<infer Fields>
    ? z.ZodObject<{ -readonly [Name in keyof Fields]: AnswerSchema<Fields[Name]> }, z.core.$strict>
    : Schema extends z.ZodOptional<z.ZodNullable<infer Inner>>
      ? z.ZodOptional<AnswerSchema<Inner>>
      : Schema extends z.ZodPipe<z.ZodOptional<z.ZodNullable<infer Inner>>>
        ? AnswerSchema<Inner>
        : Schema extends z.ZodArray<infer Element>
          ? z.ZodArray<AnswerSchema<Element>>
          : Schema extends z.ZodType<Decimal>
            ? typeof number
            : Schema extends z.ZodType
              ? Schema
              : never;

/**
 * Derives answer schemas. Equal parts of the book get the same schema.
 *
 * Stored data was validated before, so answers have no bounds. Decimals are numbers, optional or nullable fields are
 * optional, and fields with defaults are present.
 */
interface AnswerDeriver {
  /** Derives the answer schema of a book schema. @throws {TypeError} for a schema that answers don't support */
  derive<Schema extends z.ZodType>(schema: Schema): AnswerSchema<Schema>;
  /**
   * Derives an object schema with some fields changed, and a name in the OpenAPI document if given.
   *
   * @param fields replaced or additional fields
   */
  deriveObject<Fields extends z.ZodRawShape, More extends z.ZodRawShape>(
    schema: z.ZodObject<Fields>,
    fields: More,
    meta?: { readonly id: string; readonly description?: string },
  ): z.ZodObject<
    { -readonly [Name in Exclude<keyof Fields, keyof More>]: AnswerSchema<Fields[Name]> } & More,
    z.core.$strict
  >;
}

export function createAnswerDeriver(): AnswerDeriver {
  const answersBySchema = new Map<z.ZodType, z.ZodType>();
  const derive = (schema: z.ZodType): z.ZodType => {
    const answer = answersBySchema.get(schema) ?? deriveWithoutBounds(schema, derive);
    answersBySchema.set(schema, answer);
    return answer;
  };
  const deriveObject = (
    schema: z.ZodObject,
    fields: z.ZodRawShape,
    meta?: { readonly id: string; readonly description?: string },
  ): z.ZodType => {
    const inputFields = Object.entries(schema.shape).filter(([name]) => !Object.hasOwn(fields, name));
    const shape = z.strictObject({ ...deriveFields(inputFields, derive), ...fields });
    const answer = meta === undefined ? shape : shape.meta(meta);
    answersBySchema.set(schema, answer);
    return answer;
  };
  return { derive, deriveObject } as AnswerDeriver;
}

function deriveWithoutBounds(schema: z.ZodType, derive: (schema: z.ZodType) => z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) return z.strictObject(deriveFields(Object.entries(schema.shape), derive));
  if (schema instanceof z.ZodArray) return z.array(derive(schema.element as z.ZodType));
  if (schema instanceof z.ZodOptional) return derive(unwrapOptional(schema)).optional();
  if (schema instanceof z.ZodPipe && schema.in instanceof z.ZodOptional) return derive(unwrapOptional(schema.in));
  if (schema instanceof z.ZodPipe && schema.in instanceof z.ZodCustom) return number;
  if (schema instanceof z.ZodString) return z.string();
  if (schema instanceof z.ZodNumberFormat) return z.int();
  if (schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral || schema instanceof z.ZodBoolean) return schema;
  if (schema instanceof z.ZodCustom) return schema;
  throw new TypeError(`cannot derive the schema of an answer from a schema of the type ${schema.type}`);
}

/** The schema of an optional or nullable field if it is present. */
function unwrapOptional(schema: z.ZodOptional): z.ZodType {
  const inner = schema.unwrap();
  return (inner instanceof z.ZodNullable ? inner.unwrap() : inner) as z.ZodType;
}

function deriveFields(
  fields: readonly (readonly [string, unknown])[],
  derive: (schema: z.ZodType) => z.ZodType,
): Record<string, z.ZodType> {
  return Object.fromEntries(fields.map(([name, field]) => [name, derive(field as z.ZodType)]));
}

export const addressShape = createAnswerDeriver().derive(address).meta({ id: "Address" });

/** An address without missing fields. */
export function toAddressJson(postalAddress: Address | null | undefined): z.input<typeof addressShape> | undefined {
  return postalAddress === undefined || postalAddress === null ? undefined : withoutAbsent(postalAddress);
}

/** A postal address as lines, without missing ones. */
export function formatAddressLines(postalAddress: Address | null | undefined): readonly string[] {
  const { line1, line2, postalCode, city, state, country } = postalAddress ?? {};
  const cityLine = [postalCode, city].filter(Boolean).join(" ");
  return [line1, line2, cityLine, state, country].flatMap((line) => (line ? [line] : []));
}

/** What an answer is made of: its fields, where an optional one can be absent or null, and others, which are ignored. */
type AnswerParts<Fields> = {
  readonly [Name in keyof Fields]: undefined extends Fields[Name]
    ? AnswerPart<Fields[Name]> | null
    : AnswerPart<Fields[Name]>;
};
/** A text can be given as an instant, which is formatted as the schema says. */
type AnswerPart<Part> = Part extends Decimal
  ? Part
  : Part extends readonly (infer Item)[]
    ? readonly AnswerPart<Item>[]
    : string extends Part
      ? Part | Instant
      : Part extends object
        ? AnswerParts<Part>
        : Part;

/**
 * The fields of a schema, from parts that can have more, also in nested objects. Fields that are absent or null are left
 * out; instants become times or days.
 */
export function toAnswer<Schema extends z.ZodObject>(
  schema: Schema,
  parts: AnswerParts<z.input<Schema>>,
): z.input<Schema> {
  const fields = Object.entries(schema.shape).map(([name, field]) => [
    name,
    toAnswerPart(field as z.ZodType, Reflect.get(parts, name)),
  ]);
  return withoutAbsent(Object.fromEntries(fields)) as z.input<Schema>;
}

function toAnswerPart(schema: z.ZodType, part: unknown): unknown {
  if (part === undefined || part === null) return undefined;
  const field = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
  if (field instanceof z.ZodObject) return toAnswer(field, part as Readonly<Record<string, unknown>>);
  if (field instanceof z.ZodArray)
    return (part as readonly unknown[]).map((item) => toAnswerPart(field.element as z.ZodType, item));
  return typeof part === "number" ? formatNumber(field, part) : part;
}

/** An instant as the time or day of its field; another number unchanged. */
function formatNumber(field: z.ZodType, part: number): string | number {
  const { format } = field.meta() ?? {};
  if (format === "date-time") return formatTime(part);
  return format === "date" ? formatDay(part) : part;
}

/** A rule as text: unchanged if it was sent as text, otherwise JSON; undefined without a rule. */
export function formatRule(rule: unknown): string | undefined {
  if (rule === undefined || rule === null) return undefined;
  return typeof rule === "string" ? rule : stringifyJson(rule);
}

/** `{data, nextToken, context}`; `nextToken` is null on the last page. */
export function createListShape(item: z.ZodType, id: string): z.ZodType {
  return z
    .strictObject({
      data: z.array(item),
      nextToken: z.string().nullable().meta({ description: "The cursor of the next page; null on the last page." }),
      context: z.strictObject({ pageSize: z.int() }),
    })
    .meta({ id });
}

/** Accounts that could not be billed and are missing from an answer over many accounts. */
export const skippedShape = z
  .array(z.strictObject({ accountId: z.string(), message: z.string() }).meta({ id: "SkippedAccount" }))
  .optional()
  .meta({ description: "Accounts whose bill could not be computed, and why; absent if there are none." });

/** The page fields of lists that omit `nextToken` on the last page. */
export const openPageFields = {
  nextToken: z.string().optional().meta({ description: "The cursor of the next page; absent on the last page." }),
  context: z.strictObject({ pageSize: z.int() }),
};

/** The JSON length at which a page ends early. It has at least one item. */
export const PAGE_LENGTH_MAX: number = 1 << 20;

/**
 * Reads a page of items that may be large. It ends before the item that would exceed {@link PAGE_LENGTH_MAX}; the
 * next page starts with that item.
 *
 * @param readPage reads a page of at most `limit` items
 */
export async function readBoundedPage<Item, Result extends Page<Item> & WithSkipped>(
  { page }: PagedRequest<unknown>,
  readPage: (page: PagedRequest<unknown>["page"]) => Promise<Result & Page<Item>>,
  toJson: (item: Item) => unknown,
): Promise<Page<unknown> & WithSkipped> {
  const result = await readPage(page);
  const items = await toBoundedJson(PAGE_LENGTH_MAX, result.items, toJson);
  if (items.length === result.items.length) return { ...result, items };
  const shorterPage = await readPage({ ...page, limit: items.length });
  return { ...shorterPage, items: shorterPage.items.map(toJson) };
}

/** The first items that fit a JSON length together, at least one. Yields to other requests in between. */
export async function toBoundedJson<Item, ItemJson>(
  lengthMax: number,
  items: readonly Item[],
  toJson: (item: Item) => ItemJson | Promise<ItemJson>,
): Promise<readonly ItemJson[]> {
  const yieldToOthers = createYielder();
  const boundedItems: ItemJson[] = [];
  let length = 0;
  for (const item of items) {
    const json = await toJson(item);
    for (const piece of jsonPieces(json)) {
      length += piece.length;
      await yieldToOthers();
    }
    if (length > lengthMax && boundedItems.length > 0) break;
    boundedItems.push(json);
  }
  return boundedItems;
}

/** An item that needs no conversion. */
export function keepItem(item: unknown): unknown {
  return item;
}

/** A page in the form of {@link createListShape}. */
export function answerPage(request: PagedRequest<unknown>, page: Page<unknown>): Answer {
  const { nextToken = null, context } = toPageFields(request, page);
  return answerOk({ data: page.items, nextToken, context });
}

/** The {@link openPageFields} of a page. */
export function toPageFields(
  request: PagedRequest<unknown>,
  page: Page<unknown>,
): { readonly nextToken?: string; readonly context: { readonly pageSize: number } } {
  const nextToken = request.nextToken(page);
  return { ...(nextToken === undefined ? {} : { nextToken }), context: { pageSize: request.page.limit } };
}

/** An answer from stored events. If the server deletes old events, a header states since when they are complete. */
export async function withRetentionHeader({ events }: Pick<Engine, "events">, body: unknown): Promise<Answer> {
  const retainedSince = await events.keptSince();
  return {
    ...answerOk(body),
    ...(retainedSince === undefined ? {} : { headers: { "events-kept-since": formatInstant(retainedSince) } }),
  };
}

/** The length at which pieces are encoded, because long concatenations are slow. */
const CHUNK_LENGTH = 16_384;

/** Joins the pieces of a text, yielding to other requests in between. */
export async function joinPieces(pieces: Iterable<string>): Promise<Buffer> {
  const yieldToOthers = createYielder();
  const chunks: Buffer[] = [];
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < CHUNK_LENGTH) continue;
    chunks.push(Buffer.from(text));
    text = "";
    await yieldToOthers();
  }
  return Buffer.concat([...chunks, Buffer.from(text)]);
}

/** Serializes a value as JSON, yielding to other requests. Small values are serialized immediately. */
export async function serializeJson(value: unknown): Promise<string | Buffer> {
  const pieces = jsonPieces(value);
  const first = pieces.next();
  const second = pieces.next();
  if (first.done === true || second.done === true) return first.value ?? "";
  return joinPieces(concatPieces([first.value, second.value], pieces));
}

function* concatPieces(first: readonly string[], more: Iterable<string>): Generator<string> {
  yield* first;
  yield* more;
}
