/**
 * The number of groups, or of values, of a meter in an account on a day. Counting takes longer the more there are, so
 * a day with many has a row with a bound: each commit adds the rows that it writes, whether or not they are new, and the
 * groups are only counted again if the bound is too high to tell that there is room.
 */
import type { GroupCountRequest, MeterDay } from "../../ledger/view.ts";
import type { Run } from "./client.ts";
import { dayValue, formatPlainArray, formatTextArray, idKey } from "./query.ts";
import type { Sending } from "./send-statements.ts";

/** From this number of groups on, a bound is kept. */
const KEPT_FROM = 1_000;

/** What a transaction has read, by meter, account and day: the largest possible number, and whether a bound is kept. */
export type ReadCounts = Map<string, { readonly count: number; readonly isKept: boolean }>;

interface Counting {
  readonly table: (name: string) => string;
  readonly readCounts: ReadCounts;
}

/** For each request, the number of groups with usage other than 0, or a bound that is not above `exactAbove`. */
export async function countGroups(
  { run, table, readCounts }: Counting & { readonly run: Run },
  requests: readonly GroupCountRequest[],
): Promise<readonly number[]> {
  if (requests.length === 0) return [];
  const isSame = (name: string): string =>
    `${name}.account_id = requested.account_id and ${name}.day = requested.day and ${name}.meter_id = requested.meter_id`;
  const rows = await run(
    `select bound::text, case when bound <= exact_above then null else (select count(*)
          from ${table("usage_group_cells")} as cell where ${isSame("cell")} and cell.quantity <> 0) end::text as count
      from (select requested.*, (select kept.bound from ${table("usage_group_bound")} as kept where ${isSame("kept")})
        from unnest($1::text::text[], $2::text::integer[], $3::text::text[], $4::text::bigint[])
          with ordinality as requested (account_id, day, meter_id, exact_above, place)) as requested order by place`,
    [...toColumns(requests), formatPlainArray(requests.map(({ exactAbove }) => exactAbove))],
  );
  return requests.map((request, index) => {
    const { bound, count: exact } = rows[index] ?? {};
    const count = Number(exact ?? bound ?? 0);
    readCounts.set(toKey(request), { count, isKept: typeof bound === "string" });
    return count;
  });
}

/** Raises the bounds of days to whose groups a commit adds. @param added the meter, account and day of each group */
export async function raiseBounds(
  { send, table, readCounts }: Counting & Pick<Sending, "send">,
  added: readonly MeterDay[],
): Promise<void> {
  const newGroups = new Map<string, MeterDay & { readonly count: number }>();
  for (const meterDay of added) {
    const key = toKey(meterDay);
    newGroups.set(key, { ...meterDay, count: (newGroups.get(key)?.count ?? 0) + 1 });
  }
  const known = [...newGroups].flatMap(([key, { count, ...meterDay }]) => {
    const before = readCounts.get(key);
    const isKept = before !== undefined && (before.isKept || before.count + count >= KEPT_FROM);
    return isKept ? [{ ...meterDay, count: before.count + count }] : [];
  });
  const unknown = [...newGroups].flatMap(([key, each]) => (readCounts.has(key) ? [] : [each]));
  const bounds = table("usage_group_bound");
  const rows = `select * from unnest($1::text::text[], $2::text::integer[], $3::text::text[], $4::text::bigint[])`;
  const sendFor = async (text: string, of: typeof known): Promise<void> => {
    if (of.length > 0) await send(text, [...toColumns(of), formatPlainArray(of.map(({ count }) => count))]);
  };
  await sendFor(
    `insert into ${bounds} (account_id, day, meter_id, bound) ${rows}
      on conflict (account_id, day, meter_id) do update set bound = excluded.bound`,
    known,
  );
  await sendFor(
    `update ${bounds} as kept set bound = kept.bound + added.count
      from (${rows} as added (account_id, day, meter_id, count)) as added
      where kept.account_id = added.account_id and kept.day = added.day and kept.meter_id = added.meter_id`,
    unknown,
  );
}

function toKey({ accountId, meterId, day }: MeterDay): string {
  return JSON.stringify([day, accountId, meterId]);
}

/** The columns of keys. */
function toColumns(of: readonly MeterDay[]): readonly string[] {
  return [
    formatTextArray(of.map(({ accountId }) => idKey(accountId))),
    formatPlainArray(of.map(({ day }) => dayValue(day))),
    formatTextArray(of.map(({ meterId }) => idKey(meterId))),
  ];
}
