/**
 * Caches resolved items while their references have the same targets.
 *
 * @module
 */
import type { BookCache } from "../reading/book-cache.ts";
import { areSameReferences, type Lookup, type ResolveContext } from "../reading/references.ts";

/** The context for resolving a book of which some items may be cached. */
export interface CachedResolveContext extends ResolveContext {
  readonly cache: BookCache;
}

/** @param dependsOn other dependencies of the result, compared by identity */
export function resolveOnce<Result>(
  item: object,
  { cache, references, report }: CachedResolveContext,
  dependsOn: readonly unknown[],
  resolve: (itemContext: ResolveContext) => Result,
): Result {
  const resolveItem = (
    itemReport: ResolveContext["report"],
  ): { readonly result: Result; readonly lookups: readonly Lookup[] } => {
    const lookups: Lookup[] = [];
    return { result: resolve({ references, report: itemReport, lookups }), lookups };
  };
  return cache.runOrReuse({
    work: "resolve",
    item,
    dependsOn,
    report,
    run: resolveItem,
    isStillValid: ({ lookups }) => areSameReferences(lookups, references),
  }).result;
}
