/** Events that no meter counts, with the values that explain it. */
import type { SchemaProgram } from "../../metering/compile-metering.ts";
import type { UnmatchedValues } from "../../metering/unmatched-values.ts";

/** Accepted events of a schema that no meter counts and that consumed no feature credits, each in one item. */
export interface UnmeteredEvents {
  readonly schemaName: string;
  /**
   * The values that no meter matches, by dimension: those that the meters' rules exclude or do not name, else the
   * combination of values that they read. Empty if they read no dimensions. Absent for the events with other values,
   * after the first thousand of a schema.
   */
  readonly values?: Readonly<Record<string, string>>;
  readonly events: number;
  /** The number of their accounts; absent if there are too many to count. */
  readonly accounts?: number;
}

/** Collects unmetered events. Its memory is bounded. */
export interface UnmeteredTally {
  /** @param values undefined if they are not known @param events the number of events with these values */
  add(program: SchemaProgram, account: number, values: UnmatchedValues | undefined, events?: number): void;
  /** The items so far, the most events first. */
  readonly list: () => readonly UnmeteredEvents[];
}

/** Maximum number of items with values of a schema. */
const ITEMS_MAX = 1000;
/** Maximum number of accounts of all items together. */
const ACCOUNTS_MAX = 200_000;

interface Item {
  readonly schemaName: string;
  readonly values: UnmatchedValues | undefined;
  events: number;
  /** Undefined if there are too many. */
  accounts: Set<number> | undefined;
}

export function createUnmeteredTally(): UnmeteredTally {
  const bySchema = new Map<string, Map<string, Item>>();
  let accountCount = 0;
  const addAccount = (item: Item, account: number): void => {
    if (item.accounts === undefined || item.accounts.has(account)) return;
    if (accountCount < ACCOUNTS_MAX) {
      item.accounts.add(account);
      accountCount += 1;
    } else item.accounts = undefined;
  };
  return {
    add({ schema }, account, values, events = 1) {
      if (schema.allowUnmetered === true) return;
      const items = bySchema.get(schema.name) ?? new Map<string, Item>();
      bySchema.set(schema.name, items);
      const key = JSON.stringify(values ?? null);
      const item = items.get(key) ?? createItem(items, schema.name, values);
      item.events += events;
      addAccount(item, account);
    },
    list: () =>
      [...bySchema.values()]
        .flatMap((items) => [...items.values()])
        .sort((a, b) => Number(a.values === undefined) - Number(b.values === undefined) || b.events - a.events)
        .map(toUnmeteredEvents),
  };
}

/** A new item, or that of other values if there are too many. */
function createItem(items: Map<string, Item>, schemaName: string, values: UnmatchedValues | undefined): Item {
  const itemValues = items.size < ITEMS_MAX ? values : undefined;
  const key = JSON.stringify(itemValues ?? null);
  const item = items.get(key) ?? { schemaName, values: itemValues, events: 0, accounts: new Set() };
  items.set(key, item);
  return item;
}

function toUnmeteredEvents({ schemaName, values, events, accounts }: Item): UnmeteredEvents {
  return {
    schemaName,
    ...(values && { values: Object.fromEntries(values) }),
    events,
    ...(accounts && { accounts: accounts.size }),
  };
}
