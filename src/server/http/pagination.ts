/** Pagination with signed cursors that contain the page size, the filters and the start of the next page. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";

import * as z from "zod";

import type { Page, PageOptions } from "../../engine/pages.ts";
import { Refusal } from "./failures.ts";
import { wholeNumberField, withoutAbsent } from "./fields.ts";

/** The page sizes of a list. */
export interface PageSizes {
  readonly default: number;
  readonly max: number;
}

/** Most lists: 20 by default, at most 100. */
export const PAGE_SIZES: PageSizes = { default: 20, max: 100 };
/** Feature credit entries, events, invoices, credits and license updates. */
export const LONG_PAGE_SIZES: PageSizes = { default: 50, max: 50 };

/** The query schema of a list: its filters, `pageSize` and `nextToken`. */
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
        description: `Maximum number of items in a page; default ${sizes.default}.`,
      }),
    nextToken: z
      .string()
      .min(1)
      .max(TOKEN_MAX)
      .optional()
      .meta({ description: "The `nextToken` of the previous page. It contains the page size and the filters." }),
  });
}

/** Query parameters of every list. */
export type PageFields = {
  readonly pageSize: z.ZodOptional<z.ZodType<number, string>>;
  readonly nextToken: z.ZodOptional<z.ZodString>;
};

/** A request for a page of a list. */
interface ListRequest<Filters> {
  /** The list with the ids of its path. Cursors are only valid for the same list. */
  readonly list: string;
  readonly sizes?: PageSizes;
  readonly query: Filters & { readonly pageSize?: number | undefined; readonly nextToken?: string | undefined };
}

/** The page to read. */
export interface PagedRequest<Filters> {
  /** The filters of the first request. */
  readonly filters: Omit<Filters, "pageSize" | "nextToken">;
  readonly page: PageOptions & { readonly limit: number };
  /** The cursor of the next page. */
  nextToken(page: Page<unknown>): string | undefined;
}

/** Reads and creates cursors. */
export interface Paging {
  /** @throws {Refusal} 400 for a cursor that is invalid, of another list, or contradicted by a parameter */
  readRequest<Filters extends object>(request: ListRequest<Filters>): Promise<PagedRequest<Filters>>;
}

interface Cursor {
  /** The list. */
  readonly l: string;
  /** The page size. */
  readonly s: number;
  /** The filters. */
  readonly f: Readonly<Record<string, unknown>>;
  /** The time and id of the last item. */
  readonly a: readonly [number, string];
}

const TOKEN_MAX = 500;
/** The encodings of a cursor's text. If it isn't ASCII, two bytes per character are shortest. */
const ONE_BYTE = ["n", "latin1"] as const;
const TWO_BYTES = ["w", "utf16le"] as const;
/**
 * Likely contents of cursors for the compressor. Those of invoices are last, because near matches take the fewest
 * bytes.
 */
const CURSOR_DICTIONARY = [
  '{"l":"license_updates","l":"entries:","s":20,"f":{},"a":[1',
  '{"l":"credits","s":50,"f":{"account_id":""},"a":[17"credit||refund|LICENSE|CREDIT_GRANT|BILLING_ENTITLEMENT|',
  '{"l":"invoices","s":50,"f":{"account_id":"","owner_id":"","customer_id":"","status":"DRAFT",',
  '"start_time":17,"end_time":17},"a":[17"inv||AD_HOC|STANDARD_ADVANCED|2024-06-01T00:00:00.000Z|',
].join("");
/** The length of the signature in bytes. */
const SIGNATURE_BYTES = 16;

/** @param secret signs cursors; all servers of a database have the same. It may be unknown at startup. */
export function createPaging(secret: () => Promise<Uint8Array> | Uint8Array): Paging {
  return { readRequest: async (request) => readPagedRequest(await secret(), request) };
}

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

/** Checks that query parameters next to a cursor have the values in it. */
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

/** Creates a signed cursor. It is compressed, because ids and filters can be long and repetitive. */
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
    throw new Refusal(400, "nextToken: this is not a token from this API; use the nextToken of the previous page");
  }
  const cursor = decodeCursor(body);
  if (cursor.l !== list) throw new Refusal(400, "nextToken: this token belongs to another list");
  return cursor;
}

function createSignature(key: Uint8Array, body: string): string {
  const digest = createHmac("sha256", key).update("cursor:").update(body).digest();
  return digest.subarray(0, SIGNATURE_BYTES).toString("base64url");
}
