/**
 * The envelopes of lists (service-reference: Paged list envelope).
 *
 * @module
 */
import * as z from "zod";

import type { WithoutSkipped } from "../../engine/billing/skipped-accounts.ts";
import type { Page } from "../../engine/pages.ts";
import { jsonPieces } from "../../numbers/json-pieces.ts";
import { createYielder } from "../../store/turns.ts";
import { type Answer, ok } from "../http/endpoint.ts";
import type { AskedPage } from "../http/pagination.ts";

/** `{data, nextToken, context}`; `nextToken` is null on the last page. */
export function listOf(item: z.ZodType, id: string): z.ZodType {
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
export const openPage = {
  nextToken: z.string().optional().meta({ description: "Absent on the last page." }),
  context: z.strictObject({ pageSize: z.int() }),
};

/** As {@link listOf}, but with {@link openPage}: credits, invoices and license updates. */
export function openListOf(item: z.ZodType, id: string, more: z.ZodRawShape = {}): z.ZodType {
  return z.strictObject({ data: z.array(item), ...openPage, ...more }).meta({ id });
}

/** Characters of JSON after which a page ends early: it has one item at least, however large that is. */
export const PAGE_LENGTH_MAX: number = 1 << 20;

/**
 * A page of items that may be large, each as it is shown. It ends before the item with which it would be longer than
 * {@link PAGE_LENGTH_MAX}; the next page begins with that one.
 *
 * @param list reads a page of at most as many items
 */
export async function boundedPage<Item, Found extends Page<Item> & WithoutSkipped>(
  { page }: AskedPage<unknown>,
  list: (page: AskedPage<unknown>["page"]) => Promise<Found & Page<Item>>,
  show: (item: Item) => unknown,
): Promise<Page<unknown> & WithoutSkipped> {
  const found = await list(page);
  const shown = await shownWithin(PAGE_LENGTH_MAX, found.items, show);
  if (shown.length === found.items.length) return { ...found, items: shown };
  const fewer = await list({ ...page, limit: shown.length });
  return { ...fewer, items: fewer.items.map(show) };
}

/**
 * The first items as they are shown: as many as have at most so many characters of JSON in all, and one at least. Other
 * requests have their turn between them.
 */
export async function shownWithin<Item, Shown>(
  lengthMax: number,
  items: readonly Item[],
  show: (item: Item) => Shown,
): Promise<readonly Shown[]> {
  const giveWay = createYielder();
  const shown: Shown[] = [];
  let length = 0;
  for (const item of items) {
    const each = show(item);
    for (const piece of jsonPieces(each)) {
      length += piece.length;
      await giveWay();
    }
    if (length > lengthMax && shown.length > 0) break;
    shown.push(each);
  }
  return shown;
}

/** An item that is shown already. */
export function asShown(item: unknown): unknown {
  return item;
}

/** A page as {@link listOf} says. */
export function okPage<Item>(
  asked: AskedPage<unknown>,
  found: Page<Item>,
  show: (item: Item) => unknown = asShown,
): Answer {
  const { nextToken = null, context } = shownPage(asked, found);
  return ok({ data: found.items.map(show), nextToken, context });
}

/** A page as {@link openListOf} says. */
export function okOpenPage<Item>(
  asked: AskedPage<unknown>,
  found: Page<Item> & WithoutSkipped,
  show: (item: Item) => unknown,
): Answer {
  const { skipped } = found;
  return ok({ data: found.items.map(show), ...shownPage(asked, found), ...(skipped === undefined ? {} : { skipped }) });
}

/** What {@link openPage} says of a page. */
export function shownPage(
  asked: AskedPage<unknown>,
  found: Page<unknown>,
): { readonly nextToken?: string; readonly context: { readonly pageSize: number } } {
  const nextToken = asked.nextToken(found);
  return { ...(nextToken === undefined ? {} : { nextToken }), context: { pageSize: asked.page.limit } };
}
