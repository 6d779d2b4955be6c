/** A case of the conformance suite. The suite is data and needs no test runner. */
import type { Changes } from "../../ledger/decision.ts";
import type { Scope, Store } from "../store.ts";

/** Opens a new, empty store. Called once per case, which closes it. */
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
  return {
    name,
    async run(open) {
      const store = await open();
      try {
        await rejectAfter(DEADLINE_MS, check(store), name);
      } finally {
        await rejectAfter(DEADLINE_MS, store.close(), `${name}: close`);
      }
    },
  };
}

/** Commits changes with the locks that they need. */
export async function commit(store: Store, changes: Changes): Promise<void> {
  await store.transact(scopeFor(changes), async () => ({ result: undefined, changes }));
}

/** A scope of accounts and event ids. */
export function createScope(accountIds: readonly string[], eventIds: readonly string[] = []): Scope {
  return { configuration: "shared", accountIds, eventIds };
}

/** Blocks a test until it calls `open()`. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
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

function scopeFor(changes: Changes): Scope {
  const {
    accounts = [],
    newEvents = [],
    usage = [],
    overage = [],
    entries = [],
    credits = [],
    invoices = [],
    billedUsage = [],
  } = changes;
  const events = [...newEvents, ...(changes.events ?? [])];
  const accountRecords = [...events, ...usage, ...overage, ...entries, ...credits, ...invoices, ...billedUsage];
  return {
    configuration: changes.configurationRevision !== undefined ? "exclusive" : "shared",
    accountIds: [...new Set([...accounts.map(({ id }) => id), ...accountRecords.map(({ accountId }) => accountId)])],
    eventIds: [...new Set(events.map(({ eventId }) => eventId))],
  };
}
