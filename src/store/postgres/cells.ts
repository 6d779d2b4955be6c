/**
 * Usage and overage over SQL: four items of an account and day in a row, each with a column of its own, so that what an
 * event adds to several meters is mostly one row.
 *
 * @module
 */
import { invariant } from "../../errors.ts";
import type { CellChange } from "../../ledger/records.ts";
import { add, type Decimal, decimalOf, textOf } from "../../numbers/decimal.ts";
import { recordOf, recordText } from "../record-text.ts";
import type { Row } from "./client.ts";
import { inKeyOrder } from "./key-order.ts";
import { ROW_ITEMS } from "./migrations.ts";
import { itemStamp } from "./query.ts";
import type { Sending } from "./sending.ts";
import { advisoryKey, dayValue, keyOf, plainList, textList } from "./values.ts";

/** Usage by meter, or overage by feature. */
export type CellTable = "usage" | "overage";

/** The places of items, by key. */
export interface Places {
  /** The stamp of the list of items that they are of: of the same list, or of one that begins with it, they are true. */
  stamp: string | undefined;
  readonly byKey: Map<string, number>;
}

/** What a transaction knows of the places of items. */
export interface KnownPlaces {
  /** What was read or given in transactions that are committed, where the list is still of their stamp. */
  readonly committed: ReadonlyMap<string, number>;
  /** What was read or given in this one, which may yet be rolled back. */
  readonly own: Places;
}

/** Where cells are written. */
export interface CellWriting extends Pick<Sending, "run" | "send"> {
  readonly table: (name: string) => string;
  /** The schema that the advisory lock is of. */
  readonly schema: string;
  readonly places: KnownPlaces;
}

const COLUMNS = Array.from({ length: ROW_ITEMS }, (_, place) => `quantity_${place}`);

/** Adds to cells of accounts that are locked. */
export async function writeCells(writing: CellWriting, name: CellTable, changes: readonly CellChange[]): Promise<void> {
  if (changes.length === 0) return;
  const places = await placesOf(writing, new Set(changes.map(({ itemId }) => itemId)));
  const rows = inKeyOrder(rowsOf(changes, places), ({ accountId, day, part }) => `${keyOf(accountId)} ${day} ${part}`);
  await writing.send(
    `merge into ${writing.table(name)} as cell
      using unnest($1::text::text[], $2::text::integer[], $3::text::integer[],
        ${COLUMNS.map((_, index) => `$${index + 4}::text::numeric[]`).join(", ")})
        as added (account_id, day, part, ${COLUMNS.join(", ")})
      on cell.account_id = added.account_id and cell.day = added.day and cell.part = added.part
      when matched then update set ${COLUMNS.map((column) => `${column} = cell.${column} + added.${column}`).join(", ")}
      when not matched then insert (account_id, day, part, ${COLUMNS.join(", ")})
        values (added.account_id, added.day, added.part, ${COLUMNS.map((column) => `added.${column}`).join(", ")})`,
    [
      textList(rows.map(({ accountId }) => keyOf(accountId))),
      plainList(rows.map(({ day }) => day)),
      plainList(rows.map(({ part }) => part)),
      ...COLUMNS.map((_, index) => plainList(rows.map(({ quantities }) => textOfCell(quantities[index])))),
    ],
  );
}

/** The cells of accounts on the days `[from, until)`. */
export async function readCells(
  { run, table }: Pick<CellWriting, "run" | "table">,
  name: CellTable,
  accountIds: readonly string[],
  [from, until]: readonly [number, number],
): Promise<readonly CellChange[]> {
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
    itemId: originalOf(row),
    day: Number(row["day"]),
    quantity: decimalOf(row["quantity"]),
  }));
}

function originalOf({ item_id: key = "", item }: Row): string {
  return typeof item === "string" ? String(recordOf(item)) : (key ?? "");
}

function textOfCell(quantity: Decimal | undefined): string {
  return quantity === undefined ? "0" : textOf(quantity);
}

interface CellRow {
  readonly accountId: string;
  readonly day: number;
  readonly part: number;
  readonly quantities: (Decimal | undefined)[];
}

/** Changes by row, each row once: a statement changes it once. */
function rowsOf(changes: readonly CellChange[], places: ReadonlyMap<string, number>): readonly CellRow[] {
  const byAccount = new Map<string, Map<string, CellRow>>();
  const all: CellRow[] = [];
  for (const { accountId, itemId, day, quantity } of changes) {
    const place = places.get(itemId);
    invariant(place !== undefined, "each item that is counted has a place");
    const part = Math.floor(place / ROW_ITEMS);
    let own = byAccount.get(accountId);
    if (own === undefined) byAccount.set(accountId, (own = new Map()));
    const key = `${day} ${part}`;
    let row = own.get(key);
    if (row === undefined) {
      row = { accountId, day, part, quantities: [] };
      own.set(key, row);
      all.push(row);
    }
    const before = row.quantities[place % ROW_ITEMS];
    row.quantities[place % ROW_ITEMS] = before === undefined ? quantity : add(before, quantity);
  }
  return all;
}

/** The place of each item; new ones get the next places. */
async function placesOf(
  { run, table, schema, places }: CellWriting,
  itemIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const look = (): readonly string[] => {
    for (const id of itemIds) {
      const place = places.committed.get(keyOf(id)) ?? places.own.byKey.get(keyOf(id));
      if (place !== undefined) found.set(id, place);
    }
    return [...itemIds].filter((id) => !found.has(id));
  };
  const learn = async (ids: readonly string[]): Promise<readonly string[]> => {
    const text = `select id, place::text, ${itemStamp(table)} as stamp from ${table("item")}
      where id = any($1::text::text[])`;
    for (const { id, place, stamp } of await run(text, [textList(ids.map(keyOf))])) {
      places.own.byKey.set(id ?? "", Number(place));
      places.own.stamp = stamp ?? undefined;
    }
    return look();
  };
  let unknown = look();
  if (unknown.length > 0) unknown = await learn(unknown);
  if (unknown.length === 0) return found;
  // Until this is committed, others that have new items wait: they come after all other locks.
  await run("select pg_advisory_xact_lock($1::text::bigint)::text", [advisoryKey(schema, "items")]);
  const added = inKeyOrder(await learn(unknown), keyOf);
  await run(
    `insert into ${table("item")} (id, place, item)
      select id, (select coalesce(max(place) + 1, 0) from ${table("item")}) + ordinality - 1, item
      from unnest($1::text::text[], $2::text::text[]) with ordinality as added (id, item, ordinality)`,
    [textList(added.map(keyOf)), textList(added.map((id) => (keyOf(id) === id ? undefined : recordText(id))))],
  );
  await learn(added);
  return found;
}
