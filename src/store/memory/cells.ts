/** Usage or overage of a memory store: exact sums by account, meter or feature, group and UTC day. */
import { formatGroup, type UsageGroup } from "../../book/resources/event-schema.ts";
import type { Day } from "../../calendar/instant.ts";
import type { LedgerCell, UsageDelta } from "../../ledger/records.ts";
import type { MeterDay } from "../../ledger/view.ts";
import { addExact, decimalOfExact, type Exact, isZeroExact, negateExact } from "../../numbers/exact.ts";

/** The cells of all accounts. */
export interface CellTable {
  /**
   * Adds all deltas, or none if a sum fails.
   *
   * @returns a function that removes them again
   * @throws {RatebookError} ERR_ARITHMETIC if a sum needs more than 100 digits (S1.4)
   */
  add(deltas: readonly UsageDelta[]): () => void;
  /** The nonzero cells of the accounts on the days `[from, until)`. */
  between(accountIds: readonly string[], from: Day, until: Day): readonly LedgerCell[];
  all(): Iterable<LedgerCell>;
  /** The number of groups of a meter with usage other than 0. */
  groupCount(of: MeterDay): number;
}

/** The sum of one group. */
interface GroupSum {
  readonly group: UsageGroup;
  readonly quantity: Exact;
}

/** The sums of a day by the text of their group, and how many are not 0. */
interface DayGroups {
  readonly sums: Map<string, GroupSum>;
  used: number;
}

/** The sums of an account by meter or feature, then day; those of groups also by their group. */
interface AccountCells {
  readonly plain: Map<string, Map<Day, Exact>>;
  readonly grouped: Map<string, Map<Day, DayGroups>>;
}

export function createCellTable(): CellTable {
  const accounts = new Map<string, AccountCells>();
  return {
    add: (deltas) => addAll(accounts, deltas),
    between(accountIds, from, until) {
      const cells: LedgerCell[] = [];
      for (const accountId of new Set(accountIds)) {
        for (const cell of iterateCells(accounts, accountId))
          if (cell.day >= from && cell.day < until) cells.push(cell);
      }
      return cells;
    },
    *all() {
      for (const accountId of accounts.keys()) yield* iterateCells(accounts, accountId);
    },
    groupCount: ({ accountId, meterId, day }) => accounts.get(accountId)?.grouped.get(meterId)?.get(day)?.used ?? 0,
  };
}

function addAll(accounts: Map<string, AccountCells>, deltas: readonly UsageDelta[]): () => void {
  let added = 0;
  // Sums are exact, so subtracting what was added restores the previous state.
  const takeBack = (): void => {
    while (added > 0) {
      const delta = deltas[--added];
      if (delta !== undefined) addOne(accounts, delta, negateExact(delta.quantity));
    }
  };
  try {
    for (const delta of deltas) {
      addOne(accounts, delta, delta.quantity);
      added++;
    }
  } catch (error) {
    takeBack();
    throw error;
  }
  return takeBack;
}

function addOne(accounts: Map<string, AccountCells>, delta: UsageDelta, quantity: Exact): void {
  const { accountId, meterOrFeatureId, group, day } = delta;
  const { plain, grouped } = ensure(accounts, accountId, () => ({ plain: new Map(), grouped: new Map() }));
  if (group === undefined) {
    const days = ensure(plain, meterOrFeatureId, () => new Map<Day, Exact>());
    days.set(day, addExact(days.get(day) ?? 0, quantity));
    return;
  }
  const days = ensure(grouped, meterOrFeatureId, () => new Map<Day, DayGroups>());
  const groups = ensure(days, day, () => ({ sums: new Map(), used: 0 }));
  const key = formatGroup(group);
  const before = groups.sums.get(key)?.quantity ?? 0;
  const after = addExact(before, quantity);
  groups.sums.set(key, { group, quantity: after });
  groups.used += Number(!isZeroExact(after)) - Number(!isZeroExact(before));
}

function ensure<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = create()));
  return value;
}

function* iterateCells(accounts: ReadonlyMap<string, AccountCells>, accountId: string): Iterable<LedgerCell> {
  const { plain = [], grouped = [] } = accounts.get(accountId) ?? {};
  for (const [meterOrFeatureId, days] of plain) {
    for (const [day, quantity] of days)
      if (!isZeroExact(quantity)) yield { accountId, meterOrFeatureId, day, quantity: decimalOfExact(quantity) };
  }
  for (const [meterOrFeatureId, days] of grouped) {
    for (const [day, { sums }] of days) {
      for (const { group, quantity } of sums.values())
        if (!isZeroExact(quantity))
          yield { accountId, meterOrFeatureId, group, day, quantity: decimalOfExact(quantity) };
    }
  }
}
