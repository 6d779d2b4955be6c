/**
 * Resolves an item once, as long as its references mean the same.
 *
 * @module
 */
import type { BookMemory } from "../reading/memory.ts";
import { areSameReferences, type Lookup, type Resolving } from "../reading/references.ts";

/** The context of resolving a book, of which some items may be as they were in a former reading. */
export interface RememberedResolving extends Resolving {
  readonly memory: BookMemory;
}

/** @param context what the result depends on besides the item and its references, compared by identity */
export function resolveOnce<Resolved>(
  item: object,
  { memory, references, report }: RememberedResolving,
  context: readonly unknown[],
  resolve: (resolving: Resolving) => Resolved,
): Resolved {
  const run = (noted: Resolving["report"]): { readonly resolved: Resolved; readonly lookups: readonly Lookup[] } => {
    const lookups: Lookup[] = [];
    return { resolved: resolve({ references, report: noted, lookups }), lookups };
  };
  return memory.recall({
    work: "resolve",
    item,
    context,
    report,
    run,
    holds: ({ lookups }) => areSameReferences(lookups, references),
  }).resolved;
}
