/** A case of the conformance suite. The suite is data and needs no test runner. */
import type { Changes } from "../../ledger/decision.ts";
import type { Scope, Store } from "../store.ts";

/** Opens a new, empty store. A case closes it, and may then open another one. */
export type OpenStore = () => Promise<Store>;

/** One requirement of the storage interface, and its check. */
export interface ConformanceCase {
  /** A sentence in the present tense. */
  readonly name: string;
  /** Rejects if the store violates the requirement, with expected and actual values. */
  readonly run: (open: OpenStore) => Promise<void>;
}

/** The time limit of each case, and of closing its store. */
const DEADLINE_MS = 60_000;

/** A case that opens one store and closes it afterwards. */
export function defineCase(name: string, check: (store: Store) => Promise<void>): ConformanceCase {
  return { name, run: (open) => withStore(open, name, check) };
}

/** Opens a store, runs a check within the time limit, and closes the store. */
export async function withStore<Result>(
  open: OpenStore,
  name: string,
  check: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await open();
  try {
    return await rejectAfter(DEADLINE_MS, check(store), name);
  } finally {
    await rejectAfter(DEADLINE_MS, store.close(), `${name}: close`);
  }
}

/** Commits changes with the locks that they need. */
export async function commit(store: Store, changes: Changes): Promise<void> {
  await store.transact(scopeFor(changes), async () => ({ result: undefined, changes }));
}

/** A scope of accounts and event ids. */
export function createScope(accountIds: readonly string[], eventIds: readonly string[] = []): Scope {
  return { configuration: "shared", accountIds, eventIds };
}

/** Creates a promise for tests to wait for, and the function that resolves it. */
export function createGate(): readonly [opened: Promise<void>, open: () => void] {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [opened, () => open()];
}

/** Rejects if a promise takes too long, as in a deadlock. */
export async function rejectAfter<Result>(
  milliseconds: number,
  promise: Promise<Result>,
  description: string,
): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms: ${description}`)), milliseconds);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** The locks that changes need. */
function scopeFor(changes: Changes): Scope {
  const records = Object.values(changes).flat() as readonly { accountId?: string; eventId?: string }[];
  const ownIds = (changes.accounts ?? []).map(({ id }) => id);
  const accountIds = [...ownIds, ...records.flatMap((each) => each.accountId ?? [])];
  const eventIds = records.flatMap(({ eventId }) => eventId ?? []);
  const configuration = changes.configurationRevision === undefined ? "shared" : "exclusive";
  return { configuration, accountIds: [...new Set(accountIds)], eventIds: [...new Set(eventIds)] };
}
