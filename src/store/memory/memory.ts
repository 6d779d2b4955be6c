/**
 * The memory store: the default, for tests, for tools and for what may be lost with the process.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { createLocks } from "../locks.ts";
import type { Store } from "../store.ts";
import { readSnapshotText, writeSnapshot } from "./snapshot.ts";
import { applyChanges, emptyState, createView } from "./state.ts";

/** A store in memory. */
export interface MemoryStore extends Store {
  /** All that is committed, as one JSON text: the `snapshot` of another store. */
  snapshot(): string;
}

/** How a memory store begins. */
export interface MemoryStoreOptions {
  /** A snapshot that {@link MemoryStore.snapshot} made; without it the store begins empty. */
  readonly snapshot?: string;
}

/**
 * Opens a store in memory. Records are shared with who reads them and never changed; scopes wait in the order in which
 * they came, and those that have nothing in common do not wait.
 *
 * @throws {RatebookError} ERR_JSON_INVALID when the snapshot is none
 */
export function memoryStore({ snapshot }: MemoryStoreOptions = {}): MemoryStore {
  const state = snapshot === undefined ? emptyState() : readSnapshotText(snapshot);
  const locks = createLocks();
  const view = createView(state);
  let closed = false;

  return {
    name: "memory",
    read: view,
    // Each call reads all that it needs before it returns, and a commit comes between two calls or not at all.
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
