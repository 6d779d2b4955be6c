/** Usage cells (account, meter, UTC day, quantity), and the verification of invoices, usage and events together. */
import {
  aggregate,
  type Aggregation,
  groupValues,
  hasKeys,
  readAggregations,
  type UsageGroups,
} from "./aggregation.ts";
import { verifyInvoices } from "./amounts.ts";
import {
  add,
  createTally,
  type Difference,
  toFraction,
  runCheck,
  asObject,
  formatValue,
  type Tally,
  asText,
  ZERO,
} from "./figures.ts";
import type { Metering } from "./metering.ts";
import type { Usage } from "./quantities.ts";
import { readInstant } from "./rules.ts";
import { addToCell, dayKey, hasKey, type UsageCells } from "./usage-cells.ts";

/** The number of things verified, and of those without differences. */
export interface Count {
  readonly verified: number;
  readonly total: number;
}

/** The invoices to verify, and the data to verify them from. */
export interface VerifyInput {
  /** Invoices with explanations, or what `ratebook preview --explain --format json` prints. */
  readonly invoices: unknown;
  /** Rows of `{accountId, meterId, date, quantity, group}` to verify quantities from. */
  readonly usage?: Iterable<unknown>;
  /** Metered events to verify cells from, and quantities too if there are no rows. */
  readonly metering?: Metering;
  /** The book whose meters the rows measure: those of meters that do not sum need it (S19). Default that of the events. */
  readonly book?: unknown;
}

/** The result of a verification. */
export interface Verification {
  /** Amount lines. */
  readonly amounts: Count;
  /** Meter quantities on invoices, if cells or events are given. */
  readonly quantities: Count;
  /** Cells, if both cells and events are given. */
  readonly cells: Count;
  /** Meters whose quantities are not verified: they have no rows because their events consume a feature (S17.1). */
  readonly unverifiedMeters: ReadonlySet<string>;
  /** Meters whose quantities are not verified: they have rows by value, which need the book (S19.2). */
  readonly metersWithoutBook: ReadonlySet<string>;
  /** Empty if everything is verified. */
  readonly differences: readonly Difference[];
}

/**
 * Recalculates invoices and reports differences (S13.6).
 *
 * @throws {Error} if there are no invoices, one is invalid or has no explanations, or a usage row is invalid
 */
export function verify({ invoices, usage, metering, book }: VerifyInput): Verification {
  const invoiceList = Array.isArray(invoices) ? invoices : asObject(invoices)["invoices"];
  if (!Array.isArray(invoiceList)) throw new Error('expected a list of invoices, or an object with "invoices"');
  const rows = usage === undefined ? undefined : parseCells(usage);
  const cells = createTally();
  if (rows !== undefined && metering !== undefined) compareCells(metering, rows, cells);
  const aggregations = metering?.aggregations ?? readAggregations(book);
  const metersWithoutBook = new Set(
    rows === undefined ? [] : findMetersByValue(rows).filter((id) => !aggregations.has(id)),
  );
  const { heads, amounts, quantities, unverifiedMeters } = verifyInvoices(
    invoiceList,
    rows === undefined
      ? metering && usageFromCells(metering.cells, metering.unverified, aggregations)
      : { ...usageFromCells(rows, metersWithoutBook, aggregations), mayLackFeatureMeters: true },
  );
  const differences = [cells, heads, quantities, amounts].flatMap((tally) => tally.differences);
  return {
    amounts: toCount(amounts),
    quantities: toCount(quantities),
    cells: toCount(cells),
    unverifiedMeters,
    metersWithoutBook,
    differences,
  };
}

function toCount({ verified, total }: Tally): Count {
  return { verified, total };
}

/** Compares cells with those of the events, except for meters that can't be verified. */
function compareCells(metering: Metering, rows: UsageCells, tally: Tally): void {
  for (const key of new Set([...rows.keys(), ...metering.cells.keys()])) {
    const [account = "", meterId = ""] = JSON.parse(key) as string[];
    if (metering.unverified.has(meterId)) continue;
    const [meteredDays, rowDays] = [metering.cells.get(key), rows.get(key)];
    for (const day of new Set([...(rowDays ?? []), ...(meteredDays ?? [])].map(([each]) => each))) {
      const meteredUnits = meteredDays?.get(day) ?? ZERO;
      const rowUnits = rowDays?.get(day) ?? (meteredUnits.numerator === 0n ? ZERO : undefined);
      runCheck(tally, `the cell of ${account}, ${meterId}, ${day}`, (check) =>
        check.expect("", meteredUnits, rowUnits),
      );
    }
  }
}

/** The meters that have rows by value (S19.2). */
function findMetersByValue(rows: UsageCells): readonly string[] {
  const keysByValue = [...rows].filter(([, days]) => [...days.keys()].some(hasKey));
  return keysByValue.map(([key]) => (JSON.parse(key) as string[])[1] ?? "");
}

/** The usage of cycles from cells, without the given unverified meters. */
export function usageFromCells(
  cells: UsageCells,
  unverifiedMeters: ReadonlySet<string> = new Set(),
  aggregations: ReadonlyMap<string, Aggregation> = new Map(),
): Usage {
  const groupsByCells = new Map<string, UsageGroups>();
  return {
    meterIds: new Set([...cells.keys()].map((key) => (JSON.parse(key) as string[])[1] ?? "")),
    mayLackFeatureMeters: false,
    aggregations,
    unitsBetween(accountId, meterId, start, end, passed = end) {
      if (unverifiedMeters.has(meterId)) return undefined;
      const [from = "", until = "", passedUntil = ""] = [start, end, passed].map((day) => day.slice(0, 10));
      const key = JSON.stringify([accountId, meterId]);
      const days = cells.get(key) ?? [];
      const aggregation = aggregations.get(meterId);
      if (aggregation !== undefined && hasKeys(aggregation)) {
        const groups = groupsByCells.get(key) ?? groupValues(days);
        groupsByCells.set(key, groups);
        return aggregate(aggregation, groups, { from, until, passedUntil });
      }
      const daysInPeriod = [...days].filter(([day]) => day >= from && day < until);
      return daysInPeriod.reduce((sum, [, quantity]) => add(sum, quantity), ZERO);
    },
    cellsBetween(accountId, meterId, from, until) {
      const aggregation = aggregations.get(meterId);
      if (unverifiedMeters.has(meterId) || (aggregation !== undefined && hasKeys(aggregation))) return undefined;
      const days = cells.get(JSON.stringify([accountId, meterId])) ?? [];
      return [...days].filter(([day]) => day >= from.slice(0, 10) && day < until.slice(0, 10));
    },
  };
}

/** Reads rows of cells. @throws {Error} for the first invalid row, with its position */
export function parseCells(rows: Iterable<unknown>): UsageCells {
  const cells: UsageCells = new Map();
  let place = 0;
  for (const row of rows) {
    place++;
    const { accountId, meterId, date, quantity, group } = asObject(row);
    const units = toFraction(quantity);
    if (asText(accountId) === "" || asText(meterId) === "")
      throw new Error(`row ${place}: expected accountId and meterId`);
    if (!/^\d{4}-\d\d-\d\d$/.test(asText(date)))
      throw new Error(`row ${place}: the date ${formatValue(date)} is not a UTC date`);
    readInstant(date);
    if (units === undefined) throw new Error(`row ${place}: the quantity ${formatValue(quantity)} is not a decimal`);
    const day = dayKey(asText(date), (group ?? undefined) === undefined ? undefined : asObject(group));
    addToCell(cells, asText(accountId), asText(meterId), day, units);
  }
  return cells;
}
