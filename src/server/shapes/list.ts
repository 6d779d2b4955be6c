/**
 * List envelopes (service-reference: Paged list envelope).
 *
 * @module
 */
import * as z from "zod";

import type { WithSkipped } from "../../engine/billing/skipped-accounts.ts";
import type { Page } from "../../engine/pages.ts";
import { jsonPieces } from "../../numbers/json-pieces.ts";
import { createYielder } from "../../store/yielder.ts";
import { type Answer, answerOk } from "../http/endpoint.ts";
import type { PagedRequest } from "../http/pagination.ts";

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

/** Same as {@link createListShape}, with {@link openPageFields}: credits, invoices and license updates. */
export function createOpenListShape(item: z.ZodType, id: string, more: z.ZodRawShape = {}): z.ZodType {
  return z.strictObject({ data: z.array(item), ...openPageFields, ...more }).meta({ id });
}

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
export function answerPage<Item>(
  request: PagedRequest<unknown>,
  page: Page<Item>,
  toJson: (item: Item) => unknown = keepItem,
): Answer {
  const { nextToken = null, context } = toPageFields(request, page);
  return answerOk({ data: page.items.map(toJson), nextToken, context });
}

/** A page in the form of {@link createOpenListShape}. */
export function answerOpenPage<Item>(
  request: PagedRequest<unknown>,
  page: Page<Item> & WithSkipped,
  toJson: (item: Item) => unknown,
): Answer {
  const { skipped } = page;
  return answerOk({
    data: page.items.map(toJson),
    ...toPageFields(request, page),
    ...(skipped === undefined ? {} : { skipped }),
  });
}

/** The {@link openPageFields} of a page. */
export function toPageFields(
  request: PagedRequest<unknown>,
  page: Page<unknown>,
): { readonly nextToken?: string; readonly context: { readonly pageSize: number } } {
  const nextToken = request.nextToken(page);
  return { ...(nextToken === undefined ? {} : { nextToken }), context: { pageSize: request.page.limit } };
}
