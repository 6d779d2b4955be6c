/**
 * Pages of lists over HTTP: a signed cursor carries the page size, the filters and the place where the next page begins.
 *
 * @module
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";

import * as z from "zod";

import type { Page, PageOptions } from "../../engine/pages.ts";
import { Refusal } from "./failures.ts";
import { wholeNumberField, withoutAbsent } from "./fields.ts";

/** How many items a page of a list has. */
export interface PageSizes {
  readonly default: number;
  readonly max: number;
}

/** Most lists: 20 by default, at most 100. */
export const PAGE_SIZES: PageSizes = { default: 20, max: 100 };
/** Feature entries, events, invoices, credits and license updates: 50. */
export const LONG_PAGE_SIZES: PageSizes = { default: 50, max: 50 };

/** The query of a list: its filters, `pageSize` and `nextToken`. */
export function listQuery<Filters extends z.ZodRawShape>(
  filters: Filters,
  sizes: PageSizes = PAGE_SIZES,
): z.ZodObject<Filters & PageFields> {
  return z.strictObject({
    ...filters,
    pageSize: wholeNumberField(1, sizes.max)
      .optional()
      .meta({
        type: "integer",
        minimum: 1,
        maximum: sizes.max,
        description: `Items of a page; default ${sizes.default}.`,
      }),
    nextToken: z
      .string()
      .min(1)
      .max(TOKEN_MAX)
      .optional()
      .meta({ description: "The cursor of the page before; it carries the page size and the filters." }),
  });
}

/** Query parameters of every list. */
export type PageFields = {
  readonly pageSize: z.ZodOptional<z.ZodType<number, string>>;
  readonly nextToken: z.ZodOptional<z.ZodString>;
};

/** Which page of which list is asked for. */
export interface ListRequest<Filters> {
  /** The list with the ids of its path: a cursor is good for it alone. */
  readonly list: string;
  readonly sizes?: PageSizes;
  readonly query: Filters & { readonly pageSize?: number | undefined; readonly nextToken?: string | undefined };
}

/** One page as it is asked of the engine and answered. */
export interface PagedRequest<Filters> {
  /** Those of the first request. */
  readonly filters: Omit<Filters, "pageSize" | "nextToken">;
  readonly page: PageOptions & { readonly limit: number };
  /** The cursor of the page after. */
  nextToken(page: Page<unknown>): string | undefined;
}

/** Reads and writes cursors. */
export interface Paging {
  /** @throws {Refusal} 400 for a cursor that is not ours, or not of this list, or contradicted by a parameter beside it */
  readRequest<Filters extends object>(request: ListRequest<Filters>): PagedRequest<Filters>;
}

/** The contents of a cursor. */
interface Cursor {
  /** Which list. */
  readonly l: string;
  /** The size of a page. */
  readonly s: number;
  /** The filters. */
  readonly f: Readonly<Record<string, unknown>>;
  /** The place of the last item: its time and id. */
  readonly a: readonly [number, string];
}

const TOKEN_MAX = 500;
/** How the text of a cursor is written: one beyond ASCII is shortest with two bytes for most characters. */
const ONE_BYTE = ["n", "latin1"] as const;
const TWO_BYTES = ["w", "utf16le"] as const;
/** Texts that cursors are likely to have, for the compressor; those of invoices last: near matches take fewest bytes. */
const CURSOR_DICTIONARY = [
  '{"l":"license_updates","l":"entries:","s":20,"f":{},"a":[1',
  '{"l":"credits","s":50,"f":{"account_id":""},"a":[17"credit||refund|LICENSE|CREDIT_GRANT|BILLING_ENTITLEMENT|',
  '{"l":"invoices","s":50,"f":{"account_id":"","owner_id":"","customer_id":"","status":"DRAFT",',
  '"start_time":17,"end_time":17},"a":[17"inv||AD_HOC|STANDARD_ADVANCED|2024-06-01T00:00:00.000Z|',
].join("");
/** Bytes of the signature that are kept: 128 bits. */
const SIGNATURE_BYTES = 16;

/** @param secret what signs cursors; every server over one database has the same */
export function createPaging(secret: () => Promise<Uint8Array> | Uint8Array): PagingSource {
  return async () => {
    const key = await secret();
    return { readRequest: (request) => readPagedRequest(key, request) };
  };
}

/** Makes a {@link Paging}; asked once for each list request, as the secret may not be known before. */
export type PagingSource = () => Promise<Paging>;

function readPagedRequest<Filters extends object>(
  key: Uint8Array,
  { list, sizes = PAGE_SIZES, query }: ListRequest<Filters>,
): PagedRequest<Filters> {
  const { pageSize, nextToken, ...queryFilters } = query;
  const cursor = nextToken === undefined ? undefined : readCursor(key, list, nextToken);
  const filters = cursor === undefined ? queryFilters : (cursor.f as typeof queryFilters);
  if (cursor !== undefined) checkSameFilters({ ...cursor.f, pageSize: cursor.s }, { ...queryFilters, pageSize });
  const limit = cursor?.s ?? pageSize ?? sizes.default;
  const after = cursor === undefined ? undefined : { createdAt: cursor.a[0], id: cursor.a[1] };
  return {
    filters,
    page: { limit, after },
    nextToken: ({ next }) =>
      next === undefined
        ? undefined
        : signCursor(key, { l: list, s: limit, f: withoutAbsent(filters), a: [next.createdAt, next.id] }),
  };
}

/** Query parameters beside a cursor must have the values that it carries. */
function checkSameFilters(
  cursorFilters: Readonly<Record<string, unknown>>,
  queryFilters: Readonly<Record<string, unknown>>,
): void {
  const other = Object.keys(withoutAbsent(queryFilters)).find(
    (name) => JSON.stringify(queryFilters[name]) !== JSON.stringify(cursorFilters[name]),
  );
  if (other === undefined) return;
  throw new Refusal(400, `${other}: must be the same as in the first request, or left out with nextToken`);
}

/** Ids and filters of 50 characters each may be long in bytes, and often say the same: deflated, the most common for free. */
function signCursor(key: Uint8Array, cursor: Cursor): string {
  const text = JSON.stringify(cursor);
  const [mark, encoding] = /[\u0080-\uffff]/.test(text) ? TWO_BYTES : ONE_BYTE;
  const dictionary = Buffer.from(CURSOR_DICTIONARY, encoding);
  const body = mark + deflateRawSync(Buffer.from(text, encoding), { dictionary, level: 9 }).toString("base64url");
  return `${body}.${createSignature(key, body)}`;
}

function decodeCursor(body: string): Cursor {
  const [mark, encoding] = body.startsWith(TWO_BYTES[0]) ? TWO_BYTES : ONE_BYTE;
  const bytes = Buffer.from(body.slice(mark.length), "base64url");
  return JSON.parse(
    inflateRawSync(bytes, { dictionary: Buffer.from(CURSOR_DICTIONARY, encoding) }).toString(encoding),
  ) as Cursor;
}

function readCursor(key: Uint8Array, list: string, token: string): Cursor {
  const [body = ""] = token.split(".", 1);
  const expectedBytes = Buffer.from(`${body}.${createSignature(key, body)}`);
  const tokenBytes = Buffer.from(token);
  if (tokenBytes.length !== expectedBytes.length || !timingSafeEqual(tokenBytes, expectedBytes)) {
    throw new Refusal(400, "nextToken: not a token of this list");
  }
  const cursor = decodeCursor(body);
  if (cursor.l !== list) throw new Refusal(400, "nextToken: this token belongs to another list");
  return cursor;
}

function createSignature(key: Uint8Array, body: string): string {
  const digest = createHmac("sha256", key).update("cursor:").update(body).digest();
  return digest.subarray(0, SIGNATURE_BYTES).toString("base64url");
}
