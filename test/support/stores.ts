/** Stores whose transactions or reads a test watches, changes or lets fail. */
import type { Changes } from "../../src/ledger/decision.ts";
import type { LedgerView } from "../../src/ledger/view.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Scope, Store } from "../../src/store/store.ts";

/** Called in each transaction; what they throw fails it. */
export interface TransactionHooks {
  readonly before?: (scope: Scope) => void;
  /** Before the changes are committed. */
  readonly decided?: (changes: Changes) => void;
}

/** A store with hooks in its transactions. */
export function storeWithHooks({ before, decided }: TransactionHooks, inner: Store = memoryStore()): Store {
  return {
    ...inner,
    async transact(scope, work) {
      before?.(scope);
      return inner.transact(scope, async (view) => {
        const decision = await work(view);
        decided?.(decision.changes);
        return decision;
      });
    },
  };
}

/** A store of which some reads are replaced, inside and outside of transactions. */
export function storeWithReads(
  replace: (view: LedgerView) => Partial<LedgerView>,
  inner: Store = memoryStore(),
): Store {
  const changed = (view: LedgerView): LedgerView => ({ ...view, ...replace(view) });
  return {
    ...inner,
    read: changed(inner.read),
    consistentView: () => changed(inner.consistentView()),
    transact: (scope, work) => inner.transact(scope, (view) => work(changed(view))),
  };
}

/** A store that counts the stored events that undo and grants read. */
export function storeCountingEvents(inner: Store = memoryStore()): {
  readonly store: Store;
  readonly eventsRead: () => number;
} {
  let eventsRead = 0;
  const counted = <Item>(items: readonly Item[]): readonly Item[] => {
    eventsRead += items.length;
    return items;
  };
  const store = storeWithReads(
    (view) => ({
      eventsToUndo: async (...query) => counted(await view.eventsToUndo(...query)),
      eventsWithOverage: async (...query) => counted(await view.eventsWithOverage(...query)),
    }),
    inner,
  );
  return { store, eventsRead: () => eventsRead };
}
