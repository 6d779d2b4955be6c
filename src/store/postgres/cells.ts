/**
 * Usage and overage over SQL: a plain row for each account, day and meter or feature.
 *
 * @module
 */
import type { LedgerCell, UsageDelta } from "../../ledger/records.ts";
import { decimalOf } from "../../numbers/decimal.ts";
import { addExact, type Exact, textOfExact } from "../../numbers/exact.ts";
import { recordOf, recordText } from "../record-text.ts";
import type { Run } from "./client.ts";
import type { Sending } from "./sending.ts";
import { dayValue, keyOf, keysOf, plainList, textList } from "./values.ts";

/** Usage by meter, or overage by feature. */
export type CellTable = "usage" | "overage";

/** The column that says what is counted. */
const COUNTED: Readonly<Record<CellTable, string>> = { usage: "meter_id", overage: "feature_id" };

/** Where cells are written. */
export interface CellWriting extends Pick<Sending, "send"> {
  readonly table: (name: string) => string;
}

/** Adds to cells of accounts that are locked, so that their rows are waited for by no other commit. */
export async function writeCells(
  { send, table }: CellWriting,
  name: CellTable,
  deltas: readonly UsageDelta[],
): Promise<void> {
  if (deltas.length === 0) return;
  const sums = sumByCell(deltas);
  const ids = sums.map(({ meterOrFeatureId }) => meterOrFeatureId);
  const odd = ids.map((id) => (keyOf(id) === id ? undefined : recordText(id)));
  const counted = COUNTED[name];
  // Rows that are there are mostly added to, which `merge` does quicker than an insert that finds them.
  await send(
    `merge into ${table(name)} as cell
      using unnest($1::text::text[], $2::text::integer[], $3::text::text[], $4::text::numeric[], $5::text::text[])
        as added (account_id, day, ${counted}, quantity, original_id)
      on cell.account_id = added.account_id and cell.day = added.day and cell.${counted} = added.${counted}
      when matched then update set quantity = cell.quantity + added.quantity
      when not matched then insert (account_id, day, ${counted}, quantity, original_id)
        values (added.account_id, added.day, added.${counted}, added.quantity, added.original_id)`,
    [
      textList(sums.map(({ accountId }) => keyOf(accountId))),
      plainList(sums.map(({ day }) => day)),
      textList(ids.map(keyOf)),
      plainList(sums.map(({ quantity }) => textOfExact(quantity))),
      odd.every((id) => id === undefined) ? NO_LIST : textList(odd),
    ],
  );
}

/** An empty list, of which `unnest` makes a null for each row of the others. */
const NO_LIST = "{}";

/** One sum for each cell, since a statement changes a row once. */
function sumByCell(deltas: readonly UsageDelta[]): readonly UsageDelta[] {
  const cells = new Map<string, Map<string, Map<number, Sum>>>();
  const sums: Sum[] = [];
  for (const { accountId, meterOrFeatureId, day, quantity } of deltas) {
    const ofAccount = madeIn(cells, accountId, newMap<string, Map<number, Sum>>);
    const ofCounted = madeIn(ofAccount, meterOrFeatureId, newMap<number, Sum>);
    const known = ofCounted.get(day);
    if (known !== undefined) {
      known.quantity = addExact(known.quantity, quantity);
      continue;
    }
    const sum = { accountId, meterOrFeatureId, day, quantity };
    ofCounted.set(day, sum);
    sums.push(sum);
  }
  return sums;
}

interface Sum extends UsageDelta {
  quantity: Exact;
}

function newMap<Key, Value>(): Map<Key, Value> {
  return new Map();
}

function madeIn<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** The cells of accounts on the days `[from, until)`. */
export async function readCells(
  { run, table }: { readonly run: Run; readonly table: (name: string) => string },
  name: CellTable,
  accountIds: readonly string[],
  [from, until]: readonly [number, number],
): Promise<readonly LedgerCell[]> {
  const byKey = new Map(accountIds.map((id) => [keyOf(id), id]));
  const rows = await run(
    `select account_id, ${COUNTED[name]} as counted, original_id, day::text, quantity::text from ${table(name)}
      where account_id = any($1::text::text[]) and day >= $2::text::integer and day < $3::text::integer
        and quantity <> 0`,
    [textList(keysOf(accountIds)), String(dayValue(from)), String(dayValue(until))],
  );
  return rows.map(({ account_id: key, counted, original_id: original, day, quantity }) => ({
    accountId: byKey.get(key ?? "") ?? "",
    meterOrFeatureId: typeof original === "string" ? String(recordOf(original)) : (counted ?? ""),
    day: Number(day),
    quantity: decimalOf(quantity),
  }));
}
