/**
 * Sums of plain events by account, schema and UTC day. Sums of several readers can be merged, and events removed again.
 *
 * @module
 */
import { DAY_MS, type Day, dayOf } from "../../calendar/instant.ts";
import { type Cells, createCells } from "../../metering/cells.ts";
import { type Exact, negateExact } from "../../numbers/exact.ts";
import type { PlainEvents } from "./order-free-events.ts";
import type { CountedEvents } from "./premeasured-events.ts";

/** A sum, by account index and column index. */
export type PlainSum = readonly [account: number, column: number, day: Day, sum: Exact];

/** Sums of plain events. */
export interface PlainSums {
  /** Adds the last classified event. */
  readonly add: () => void;
  /** Removes the last classified event, which was added before. */
  readonly takeOut: () => void;
  /** Adds a sum of another reader. */
  readonly merge: (sum: PlainSum) => void;
  readonly sums: () => Iterable<PlainSum>;
  /** The events of each account, schema and day. */
  readonly counted: () => Iterable<CountedEvents>;
}

/**
 * The columns of a schema: for each meter its units and its number of events; then the number of all events, and of
 * those without a meter.
 */
interface Columns {
  readonly schemaName: string;
  readonly first: number;
  readonly meters: number;
  /** The quantities of one event, reused for the next. */
  readonly quantities: (Exact | undefined)[];
  readonly add: ReturnType<Cells["adder"]>;
}

/** Creates empty sums. */
export function openPlainSums({
  programs,
  accounts,
  last,
}: Pick<PlainEvents, "programs" | "accounts" | "last">): PlainSums {
  const widths = programs.map(({ meterIds }) => 2 * meterIds.length + 2);
  const firsts = widths.map((_, index) => widths.slice(0, index).reduce((sum, width) => sum + width, 0));
  const together = widths.map((width, index) =>
    Array.from({ length: width }, (_, place) => (firsts[index] ?? 0) + place),
  );
  const cells = createCells(accounts.length, together.flat().length, together);
  const schemas = programs.map(({ schema, meterIds }, index): Columns => ({
    schemaName: schema.name,
    first: firsts[index] ?? 0,
    meters: meterIds.length,
    quantities: (together[index] ?? []).map(() => undefined),
    add: cells.adder(together[index] ?? []),
  }));
  const change = (sign: 1 | -1): void => {
    const schema = schemas[last.program];
    if (schema === undefined) return;
    const { quantities, meters } = schema;
    let matched = false;
    for (let place = 0; place < meters; place++) {
      const units = last.units[place];
      matched ||= units !== undefined;
      quantities[2 * place] = units === undefined || sign === 1 ? units : negateExact(units);
      quantities[2 * place + 1] = units === undefined ? undefined : sign;
    }
    quantities[2 * meters] = sign;
    quantities[2 * meters + 1] = matched ? undefined : sign;
    schema.add(last.account, dayOf(last.at), quantities);
  };
  return {
    add: () => change(1),
    takeOut: () => change(-1),
    merge: ([account, column, day, sum]) => cells.add(account, column, day, sum),
    *sums() {
      for (const account of accounts.keys()) {
        for (const column of together.flat()) {
          for (const [day, sum] of cells.days(account, column)) yield [account, column, day, sum];
        }
      }
    },
    *counted() {
      for (const [account, { accountId }] of accounts.entries()) {
        for (const schema of schemas) yield* listCountedEvents(cells, account, accountId, schema);
      }
    },
  };
}

function* listCountedEvents(
  cells: Cells,
  account: number,
  accountId: string,
  schema: Columns,
): Iterable<CountedEvents> {
  const { schemaName, first, meters } = schema;
  const all = first + 2 * meters;
  for (const [day, found] of cells.days(account, all)) {
    const on = (column: number): Exact => cells.between(account, column, day, day + 1);
    const events = Number(found);
    // All of them were removed again.
    if (events === 0) continue;
    const units = Array.from({ length: meters }, (_, place) =>
      on(first + 2 * place + 1) === 0 ? undefined : on(first + 2 * place),
    );
    const [from, until] = [day * DAY_MS, (day + 1) * DAY_MS - 1];
    yield {
      schemaName,
      accountId,
      day,
      events,
      metered: events - Number(on(all + 1)),
      first: from,
      last: until,
      units,
    };
  }
}
