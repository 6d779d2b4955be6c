/**
 * The envelopes of lists (service-reference: Paged list envelope).
 *
 * @module
 */
import * as z from "zod";

import type { WithoutSkipped } from "../../engine/billing/skipped-accounts.ts";
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
      nextToken: z.string().nullable().meta({ description: "Null on the last page." }),
      context: z.strictObject({ pageSize: z.int() }),
    })
    .meta({ id });
}

/** Accounts whose bill cannot be made: an answer over many is without them. */
export const skippedShape = z
  .array(z.strictObject({ accountId: z.string(), message: z.string() }).meta({ id: "SkippedAccount" }))
  .optional()
  .meta({ description: "Accounts that are left out, and why; only where there are some." });

/** What a list says of its page where `nextToken` is left out on the last one. */
export const openPageFields = {
  nextToken: z.string().optional().meta({ description: "Absent on the last page." }),
  context: z.strictObject({ pageSize: z.int() }),
};

/** As {@link createListShape}, but with {@link openPageFields}: credits, invoices and license updates. */
export function createOpenListShape(item: z.ZodType, id: string, more: z.ZodRawShape = {}): z.ZodType {
  return z.strictObject({ data: z.array(item), ...openPageFields, ...more }).meta({ id });
}

/** Characters of JSON after which a page ends early: it has one item at least, however large that is. */
export const PAGE_LENGTH_MAX: number = 1 << 20;

/**
 * A page of items that may be large, each as it is shown. It ends before the item with which it would be longer than
 * {@link PAGE_LENGTH_MAX}; the next page begins with that one.
 *
 * @param readPage reads a page of at most as many items
 */
export async function readBoundedPage<Item, Result extends Page<Item> & WithoutSkipped>(
  { page }: PagedRequest<unknown>,
  readPage: (page: PagedRequest<unknown>["page"]) => Promise<Result & Page<Item>>,
  toJson: (item: Item) => unknown,
): Promise<Page<unknown> & WithoutSkipped> {
  const result = await readPage(page);
  const items = await shownWithin(PAGE_LENGTH_MAX, result.items, toJson);
  if (items.length === result.items.length) return { ...result, items };
  const shorterPage = await readPage({ ...page, limit: items.length });
  return { ...shorterPage, items: shorterPage.items.map(toJson) };
}

/**
 * The first items as they are shown: as many as have at most so many characters of JSON in all, and one at least. Other
 * requests have their turn between them.
 */
export async function shownWithin<Item, Shown>(
  lengthMax: number,
  items: readonly Item[],
  toJson: (item: Item) => Shown | Promise<Shown>,
): Promise<readonly Shown[]> {
  const yieldToOthers = createYielder();
  const shown: Shown[] = [];
  let length = 0;
  for (const item of items) {
    const json = await toJson(item);
    for (const piece of jsonPieces(json)) {
      length += piece.length;
      await yieldToOthers();
    }
    if (length > lengthMax && shown.length > 0) break;
    shown.push(json);
  }
  return shown;
}

/** An item that is shown already. */
export function keepItem(item: unknown): unknown {
  return item;
}

/** A page as {@link createListShape} says. */
export function answerPage<Item>(
  request: PagedRequest<unknown>,
  page: Page<Item>,
  toJson: (item: Item) => unknown = keepItem,
): Answer {
  const { nextToken = null, context } = toPageFields(request, page);
  return answerOk({ data: page.items.map(toJson), nextToken, context });
}

/** A page as {@link createOpenListShape} says. */
export function answerOpenPage<Item>(
  request: PagedRequest<unknown>,
  page: Page<Item> & WithoutSkipped,
  toJson: (item: Item) => unknown,
): Answer {
  const { skipped } = page;
  return answerOk({
    data: page.items.map(toJson),
    ...toPageFields(request, page),
    ...(skipped === undefined ? {} : { skipped }),
  });
}

/** What {@link openPageFields} says of a page. */
export function toPageFields(
  request: PagedRequest<unknown>,
  page: Page<unknown>,
): { readonly nextToken?: string; readonly context: { readonly pageSize: number } } {
  const nextToken = request.nextToken(page);
  return { ...(nextToken === undefined ? {} : { nextToken }), context: { pageSize: request.page.limit } };
}
