/**
 * Lists of monetary credits, of one account or of all (S12).
 *
 * @module
 */
import { billOf } from "../../ledger/account/bill.ts";
import { catchUp } from "../../ledger/account/catch-up.ts";
import { type CreditShown, creditsShown } from "../../ledger/commands/credits.ts";
import type { CreditRecord } from "../../ledger/records.ts";
import type { PageKey } from "../../ledger/view.ts";
import { accountsBehind } from "../account-lists.ts";
import { type EngineContext, lookAtAccount } from "../context.ts";
import { collectPage, type Page, pageAmong, pageOf, type PageOptions, pageRequest } from "../pages.ts";
import { collectSkipped, eachAlone, type Skipping, type WithoutSkipped } from "./skipped-accounts.ts";

/** Which credits a list holds; what is absent does not filter. */
export interface CreditFilter {
  readonly accountId?: string | undefined;
  readonly status?: CreditShown["status"] | undefined;
}

/** Credits that are looked at in one round for those of a status. */
const FILTERED_AT_ONCE = 500;

/** Where a credit stands in a list, and whose it is. */
type CreditPlace = PageKey & { readonly accountId: string };

/**
 * Credits with what drafts hold of them, newest first; of one account or of all. Of all, those of an account whose bill
 * cannot be made are skipped: nobody knows what its drafts would hold.
 */
export async function listCredits(
  context: EngineContext,
  { accountId, status }: CreditFilter,
  options: PageOptions,
): Promise<Page<CreditShown> & WithoutSkipped> {
  const isAsked = (credit: CreditShown): boolean => status === undefined || credit.status === status;
  if (accountId !== undefined) {
    const known = (await context.store.read.accounts([accountId])).length > 0;
    const all = known ? await creditsOf(context, accountId) : [];
    return pageAmong(all.filter(isAsked), options, ({ credit }) => placeOf(credit));
  }
  const skipping = collectSkipped();
  let page = await listAllCredits(context, skipping, options);
  if (status === undefined) return { ...page, ...skipping.found() };
  // A status is of now, and what drafts hold counts: no store can tell it.
  const { limit } = pageRequest(options);
  const found = page.items.filter(isAsked);
  while (found.length <= limit && page.next !== undefined) {
    page = await listAllCredits(context, skipping, { limit: FILTERED_AT_ONCE, after: page.next });
    found.push(...page.items.filter(isAsked));
  }
  return { ...pageOf(found, limit, ({ credit }) => placeOf(credit)), ...skipping.found() };
}

/**
 * What is stored is found by its place in the list; what has fallen due since is only in accounts that are behind. Only
 * the accounts of the page are computed with their drafts.
 */
async function listAllCredits(
  context: EngineContext,
  skipping: Skipping,
  options: PageOptions,
): Promise<Page<CreditShown>> {
  const { read } = context.store;
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
  return { items: items.flatMap(({ id }) => shown.get(id) ?? []), ...more };
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
