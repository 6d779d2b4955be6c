/** The memory store: the default, for tests, tools, and data that may be lost with the process. */
import { RatebookError } from "../../errors.ts";
import { createLocks } from "../locks.ts";
import type { Store } from "../store.ts";
import { readSnapshotText, writeSnapshot } from "./snapshot.ts";
import { applyChanges, emptyState } from "./state.ts";
import { createView } from "./view.ts";

/** A store in memory. */
export interface MemoryStore extends Store {
  /** All committed data as one JSON text, which can be the `snapshot` of another store. */
  snapshot(): string;
}

/** Options of a memory store. */
export interface MemoryStoreOptions {
  /** A snapshot from {@link MemoryStore.snapshot}; without it the store is empty. */
  readonly snapshot?: string;
}

/**
 * Opens a store in memory. Records are shared with readers and never modified. Scopes wait in order of arrival;
 * disjoint scopes do not wait for each other.
 *
 * @throws {RatebookError} ERR_JSON_INVALID for an invalid snapshot
 */
export function memoryStore({ snapshot }: MemoryStoreOptions = {}): MemoryStore {
  const state = snapshot === undefined ? emptyState() : readSnapshotText(snapshot);
  const locks = createLocks();
  const view = createView(state);
  let closed = false;

  return {
    name: "memory",
    read: view,
    // Each call reads everything before it returns, so no commit can come in between.
    consistentView: () => view,
    async transact(scope, work) {
      if (closed) throw new RatebookError("ERR_STORE_UNAVAILABLE", "the store is closed", {});
      const release = await locks.take(scope);
      try {
        const { result, changes } = await work(view);
        applyChanges(state, changes);
        return result;
      } finally {
        release();
      }
    },
    snapshot: () => writeSnapshot(state),
    close: async () => {
      closed = true;
    },
  };
}
