/**
 * Lists of monetary credits, of one account or of all (S12).
 *
 * @module
 */
import { catchUp } from "../../ledger/account/catch-up.ts";
import { type CreditShown, creditsShown } from "../../ledger/commands/credits.ts";
import type { CreditRecord } from "../../ledger/records.ts";
import type { PageKey } from "../../ledger/view.ts";
import { accountsBehind } from "../account-lists.ts";
import { type EngineContext, lookAtAccount } from "../context.ts";
import { collectPage, type Page, pageAmong, type PageOptions, pageRequest } from "../pages.ts";
import { billOf, collectSkipped, eachAlone, type WithoutSkipped } from "./skipped-accounts.ts";

/** Which credits a list holds; what is absent does not filter. */
export interface CreditFilter {
  readonly accountId?: string | undefined;
}

/** Where a credit stands in a list, and whose it is. */
type CreditPlace = PageKey & { readonly accountId: string };

/**
 * Credits with what drafts hold of them, newest first; of one account or of all. Of all, those of an account whose bill
 * cannot be made are skipped: nobody knows what its drafts would hold.
 */
export async function listCredits(
  context: EngineContext,
  { accountId }: CreditFilter,
  options: PageOptions,
): Promise<Page<CreditShown> & WithoutSkipped> {
  if (accountId === undefined) return listAllCredits(context, options);
  const known = (await context.store.read.accounts([accountId])).length > 0;
  return pageAmong(known ? await creditsOf(context, accountId) : [], options, ({ credit }) => placeOf(credit));
}

/**
 * What is stored is found by its place in the list; what has fallen due since is only in accounts that are behind. Only
 * the accounts of the page are computed with their drafts.
 */
async function listAllCredits(
  context: EngineContext,
  options: PageOptions,
): Promise<Page<CreditShown> & WithoutSkipped> {
  const { read } = context.store;
  const skipping = collectSkipped();
  const creditsOrNone = (id: string): Promise<readonly CreditShown[]> =>
    eachAlone([id], skipping, () => creditsOf(context, id));
  const request = pageRequest(options);
  const places = collectPage<CreditPlace>(options, (place) => place);
  // Those that are behind come first: what is done meanwhile is found twice then, which counts once, and not never.
  for await (const id of accountsBehind(read, context.clock())) {
    for (const { credit } of await creditsOrNone(id)) places.offer(placeOf(credit));
  }
  for (const credit of await read.creditList({}, { ...request, limit: request.limit + 1 })) {
    places.offer(placeOf(credit));
  }
  const { items, ...more } = places.page();
  const shown = new Map<string, CreditShown>();
  for (const accountId of new Set(items.map((place) => place.accountId))) {
    for (const each of await creditsOrNone(accountId)) shown.set(each.credit.id, each);
  }
  return { items: items.flatMap(({ id }) => shown.get(id) ?? []), ...more, ...skipping.found() };
}

async function creditsOf(context: EngineContext, accountId: string): Promise<readonly CreditShown[]> {
  return lookAtAccount(context, accountId, (catalog, work, now) => {
    return billOf(accountId, () => {
      catchUp(catalog, work, now);
      return creditsShown(catalog, work, now);
    });
  });
}

function placeOf({ id, accountId, createdAt }: CreditRecord): CreditPlace {
  return { id, accountId, createdAt };
}
