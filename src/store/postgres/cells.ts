/**
 * Usage and overage over SQL: four items of an account and day in a row, each with a column of its own, so that what an
 * event adds to several meters is mostly one row.
 *
 * @module
 */
import { invariant } from "../../errors.ts";
import type { LedgerCell, UsageDelta } from "../../ledger/records.ts";
import { decimalOf } from "../../numbers/decimal.ts";
import { addExact, type Exact, textOfExact } from "../../numbers/exact.ts";
import { recordOf } from "../record-text.ts";
import type { Row } from "./client.ts";
import { ROW_ITEMS } from "./migrations.ts";
import { placesOf, type PlaceWriting } from "./places.ts";
import type { Sending } from "./sending.ts";
import { dayValue, keyOf, plainList, textList } from "./values.ts";

/** Usage by meter, or overage by feature. */
export type CellTable = "usage" | "overage";

/** Where cells are written. */
export interface CellWriting extends PlaceWriting, Pick<Sending, "send"> {}

const COLUMNS = Array.from({ length: ROW_ITEMS }, (_, place) => `quantity_${place}`);

/** Adds to cells of accounts that are locked, so that their rows are waited for by no other commit. */
export async function writeCells(writing: CellWriting, name: CellTable, deltas: readonly UsageDelta[]): Promise<void> {
  if (deltas.length === 0) return;
  const itemIds = new Set(deltas.map(({ meterOrFeatureId }) => meterOrFeatureId));
  const added = cellRows(await placesOf(writing, "item", itemIds));
  for (const { accountId, meterOrFeatureId, day, quantity } of deltas) {
    added.add(accountId, meterOrFeatureId, day, quantity);
  }
  const { rows, columns } = added;
  await writing.send(
    `merge into ${writing.table(name)} as cell
      using unnest($1::text::text[], $2::text::integer[], $3::text::integer[],
        ${columns.map((_, index) => `$${index + 4}::text::numeric[]`).join(", ")})
        as added (account_id, day, part, ${columns.map(columnOf).join(", ")})
      on cell.account_id = added.account_id and cell.day = added.day and cell.part = added.part
      when matched then update set ${columns.map((place) => `${columnOf(place)} = cell.${columnOf(place)} + added.${columnOf(place)}`).join(", ")}
      when not matched then insert (account_id, day, part, ${COLUMNS.join(", ")})
        values (added.account_id, added.day, added.part,
          ${COLUMNS.map((column, place) => (columns.includes(place) ? `added.${column}` : "0")).join(", ")})`,
    [
      textList(rows.map(({ accountId }) => keyOf(accountId))),
      plainList(rows.map(({ day }) => day)),
      plainList(rows.map(({ part }) => part)),
      ...columns.map((place) => plainList(rows.map(({ quantities }) => textOfExact(quantities[place] ?? 0)))),
    ],
  );
}

function columnOf(place: number): string {
  return `quantity_${place}`;
}

/** The cells of accounts on the days `[from, until)`. */
export async function readCells(
  { run, table }: Pick<CellWriting, "run" | "table">,
  name: CellTable,
  accountIds: readonly string[],
  [from, until]: readonly [number, number],
): Promise<readonly LedgerCell[]> {
  const byKey = new Map(accountIds.map((id) => [keyOf(id), id]));
  const rows = await run(
    `select cell.account_id, item.id as item_id, item.item, cell.day::text, one.quantity::text
      from ${table(name)} as cell
      cross join lateral (values ${COLUMNS.map((column, index) => `(${index}, cell.${column})`).join(", ")})
        as one (place, quantity)
      join ${table("item")} as item on item.place = cell.part * ${ROW_ITEMS} + one.place
      where cell.account_id = any($1::text::text[]) and cell.day >= $2::text::integer and cell.day < $3::text::integer
        and one.quantity <> 0`,
    [textList([...byKey.keys()]), String(dayValue(from)), String(dayValue(until))],
  );
  return rows.map((row) => ({
    accountId: byKey.get(row["account_id"] ?? "") ?? "",
    meterOrFeatureId: originalOf(row),
    day: Number(row["day"]),
    quantity: decimalOf(row["quantity"]),
  }));
}

function originalOf({ item_id: key = "", item }: Row): string {
  return typeof item === "string" ? String(recordOf(item)) : (key ?? "");
}

/** What is added to one row; a place without a quantity gets none. */
interface CellRow {
  readonly accountId: string;
  readonly day: number;
  readonly part: number;
  readonly quantities: (Exact | undefined)[];
}

/** Gathers what is added by row, each row once: a statement changes it once. */
interface CellRows {
  add(accountId: string, itemId: string, day: number, quantity: Exact): void;
  readonly rows: readonly CellRow[];
  /** The columns in which anything is added, in order. */
  readonly columns: readonly number[];
}

/** More than any part: with a day it makes one number of both. */
const PARTS_END = 2 ** 20;

function cellRows(places: ReadonlyMap<string, number>): CellRows {
  const byAccount = new Map<string, Map<number, CellRow>>();
  const rows: CellRow[] = [];
  const used = new Set<number>();
  return {
    rows,
    get columns() {
      return [...used].sort((a, b) => a - b);
    },
    add(accountId, itemId, day, quantity) {
      const place = places.get(itemId);
      invariant(place !== undefined, "each item that is counted has a place");
      const [part, column] = [Math.floor(place / ROW_ITEMS), place % ROW_ITEMS];
      let own = byAccount.get(accountId);
      if (own === undefined) byAccount.set(accountId, (own = new Map()));
      const key = day * PARTS_END + part;
      let row = own.get(key);
      if (row === undefined) {
        row = { accountId, day, part, quantities: [] };
        own.set(key, row);
        rows.push(row);
      }
      const before = row.quantities[column];
      row.quantities[column] = before === undefined ? quantity : addExact(before, quantity);
      used.add(column);
    },
  };
}
