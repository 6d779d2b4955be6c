/**
 * External usage that arrived after its cycle had closed (S17.4).
 *
 * @module
 */
import { dayOf, INSTANT_MIN } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import { accountCells } from "../../ledger/billed-usage.ts";
import { type LateUsage, findLateUsage } from "../../ledger/late-usage.ts";
import { groupByAccount, prefetch } from "../../ledger/reads.ts";
import type { EngineContext } from "../context.ts";
import { requestedDays, type UsageQuery } from "../events/usage.ts";
import { readSource } from "../external/engine-store.ts";

/**
 * The closed cycles of accounts that overlap a range of days and whose external usage has changed since they closed; by
 * account, then cycle. Changes nothing.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for an invalid query, and if all events are ingested;
 * ERR_USAGE_UNAVAILABLE
 */
export async function lateUsage(context: EngineContext, query: UsageQuery): Promise<readonly LateUsage[]> {
  const { store, clock, configuration } = context;
  const { read } = store;
  const { first, end } = requestedDays(query);
  if (store.createPrefetch() === undefined) {
    const message = "the engine has no external usage, so no usage can be late";
    throw new RatebookError("ERR_OPTION_INVALID", message, { option: "usage" });
  }
  const records = await read.accounts(query.accountIds);
  const ids = records.map(({ id }) => id);
  const billedUsage = groupByAccount(await read.billedUsage(ids, first, end));
  const all = [...billedUsage.values()].flat();
  if (all.length === 0) return [];
  const { catalog } = await configuration(read);
  const [from, until] = [Math.min(...all.map((each) => each.from)), Math.max(...all.map((each) => each.until))];
  const externalUsage = { catalog, records, from, upTo: clock() };
  const source = await readSource(store, externalUsage);
  // Overage is priced by billing windows, which may have begun long before.
  const overage = { ids, from: dayOf(INSTANT_MIN), until };
  const readParts = await prefetch(read, { usage: { ids, from, until }, overage, externalUsage }, source);
  const results: LateUsage[] = [];
  for (const record of records) {
    const parts = readParts(record);
    for (const each of billedUsage.get(record.id) ?? []) {
      const current = accountCells(parts.externalUsage?.current ?? [], each.from, each.until);
      const cycleUsage = findLateUsage(catalog, parts, each, current);
      if (cycleUsage === undefined) continue;
      const hasInvoice = (await read.invoice(each.id)) !== undefined;
      results.push({ ...cycleUsage, ...(hasInvoice ? { invoiceId: each.id } : {}) });
    }
  }
  return results;
}
