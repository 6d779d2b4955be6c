/**
 * Usage cells (an account, a meter, a UTC day and a quantity), and all that is verified together.
 *
 * @module
 */
import { verifyInvoices } from "./amounts.ts";
import {
  add,
  type Count,
  createTally,
  type Difference,
  fraction,
  type Fraction,
  record,
  shown,
  type Tally,
  text,
  type Usage,
  ZERO,
} from "./figures.ts";
import { instantIn } from "./rules.ts";

/** Quantities by account, meter and day. */
export interface Cells {
  /** Adds to a cell: rows of one cell add up (S17.1). */
  readonly add: (accountId: string, meterId: string, date: string, quantity: Fraction) => void;
  /** By account and meter as a JSON list, then by day. */
  readonly byKey: ReadonlyMap<string, ReadonlyMap<string, Fraction>>;
  readonly usage: Usage;
}

/** Events metered again. */
export interface Metering {
  /** Meters one event; in order of time. */
  readonly add: (event: unknown) => void;
  readonly cells: Cells;
  /** How many events there were, and of how many it cannot be told here what they count. */
  readonly events: () => { readonly total: number; readonly unverified: number };
  /** Why some cannot be told, each reason once. */
  readonly reasons: ReadonlySet<string>;
  /** Meters whose quantities cannot be told. */
  readonly unverified: ReadonlySet<string>;
}

/** What is verified, and from what. */
export interface VerifyInput {
  /** Invoices with explanations, or what `ratebook preview --explain --format json` prints. */
  readonly invoices: unknown;
  /** Rows of `{accountId, meterId, date, quantity}`: quantities are verified from them. */
  readonly usage?: Iterable<unknown>;
  /** Cells are verified from these events; quantities too, where no rows are given. */
  readonly metering?: Metering;
}

/** What became of it. */
export interface Verification {
  /** Lines of money. */
  readonly amounts: Count;
  /** Quantities of meters in invoices, where cells or events were given. */
  readonly quantities: Count;
  /** Cells, where both cells and events were given. */
  readonly cells: Count;
  /** Empty where everything is as it should be. */
  readonly differences: readonly Difference[];
}

/**
 * Computes again what invoices say, and tells what differs (S13.6).
 *
 * @throws {Error} when there are no invoices, or a row of usage is none
 */
export function verify({ invoices, usage, metering }: VerifyInput): Verification {
  const given = Array.isArray(invoices) ? invoices : record(invoices)["invoices"];
  if (!Array.isArray(given)) throw new Error('expected a list of invoices, or an object with "invoices"');
  const rows = usage === undefined ? undefined : readCells(usage);
  const cells = createTally();
  if (rows !== undefined && metering !== undefined) compareCells(metering, rows, cells);
  const { heads, amounts, quantities } = verifyInvoices(given, (rows ?? metering?.cells)?.usage);
  const differences = [cells, heads, quantities, amounts].flatMap((tally) => tally.differences);
  return { amounts: amounts.count(), quantities: quantities.count(), cells: cells.count(), differences };
}

/** Cells as events make them beside those given; of those that cannot be told, none. */
function compareCells(metering: Metering, rows: Cells, tally: Tally): void {
  for (const key of new Set([...rows.byKey.keys(), ...metering.cells.byKey.keys()])) {
    const [account = "", meterId = ""] = JSON.parse(key) as string[];
    if (metering.unverified.has(meterId)) continue;
    const [counted, given] = [metering.cells.byKey.get(key), rows.byKey.get(key)];
    for (const date of new Set([...(given?.keys() ?? []), ...(counted?.keys() ?? [])])) {
      const expected = counted?.get(date) ?? ZERO;
      const found = given?.get(date) ?? (expected.over === 0n ? ZERO : undefined);
      tally.expect(`the cell of ${account}, ${meterId}, ${date}`, expected, found);
    }
  }
}

/** Cells; of meters named as unverified the usage cannot be told. */
export function createCells(unverified: ReadonlySet<string> = new Set()): Cells {
  const byKey = new Map<string, Map<string, Fraction>>();
  const meterIds = new Set<string>();
  return {
    byKey,
    add(accountId, meterId, date, quantity) {
      const key = JSON.stringify([accountId, meterId]);
      const days = byKey.get(key) ?? new Map<string, Fraction>();
      byKey.set(key, days.set(date, add(days.get(date) ?? ZERO, quantity)));
      meterIds.add(meterId);
    },
    usage: {
      meterIds,
      between(accountId, meterId, from, until) {
        if (unverified.has(meterId)) return undefined;
        const days = byKey.get(JSON.stringify([accountId, meterId])) ?? [];
        const inside = [...days].filter(([date]) => date >= from.slice(0, 10) && date < until.slice(0, 10));
        return inside.reduce((sum, [, quantity]) => add(sum, quantity), ZERO);
      },
    },
  };
}

/** Rows of cells. @throws {Error} for the first that is none, with its place */
export function readCells(rows: Iterable<unknown>): Cells {
  const cells = createCells();
  let place = 0;
  for (const row of rows) {
    place++;
    const { accountId, meterId, date, quantity } = record(row);
    const units = fraction(quantity);
    if (text(accountId) === "" || text(meterId) === "") throw new Error(`row ${place}: expected accountId and meterId`);
    if (!/^\d{4}-\d\d-\d\d$/.test(text(date))) throw new Error(`row ${place}: the date ${shown(date)} is no UTC day`);
    instantIn(date);
    if (units === undefined) throw new Error(`row ${place}: the quantity ${shown(quantity)} is no decimal`);
    cells.add(text(accountId), text(meterId), text(date), units);
  }
  return cells;
}
