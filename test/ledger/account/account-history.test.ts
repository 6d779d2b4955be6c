/** The former names and groups of an account (S16.6, S16.7). */
import { expect, test } from "vitest";

import { accountAt, endAliases, PAST_MAX, withGroup } from "../../../src/ledger/account/account-plan.ts";
import { openLedger } from "../plan-ledger.ts";

test("an account keeps a limited number of former names and groups, the latest ones", async () => {
  let { record } = await (await openLedger([])).stored();
  for (let now = 1; now <= PAST_MAX + 5; now++) {
    record = { ...record, aliases: [{ alias: `alias-${now}`, createdAt: now }] };
    record = { ...record, ...endAliases(record, new Set([`alias-${now}`]), now + 1) };
    record = withGroup(record, `group-${now}`, now);
  }
  expect(record.aliases).toEqual([]);
  expect(record.pastAliases?.map(({ alias }) => alias).slice(0, 1)).toEqual(["alias-6"]);
  expect([record.pastAliases?.length, record.pastInvoiceGroups?.length]).toEqual([1000, 1000]);
  expect(accountAt(record, 500).aliases).toEqual([{ alias: "alias-500", createdAt: 500, removedAt: 501 }]);
  expect([500, 1005].map((at) => accountAt(record, at).invoiceGroupId)).toEqual(["group-500", "group-1005"]);
});

test("an account that was in its group before history was recorded has been in it since it was created", async () => {
  const stored = await (await openLedger([])).stored();
  const record = { ...stored.record, invoiceGroupId: "g", createdAt: 10 };
  expect([9, 10].map((at) => accountAt(record, at).invoiceGroupId)).toEqual([undefined, "g"]);
  expect(withGroup(record, undefined, 20).pastInvoiceGroups).toEqual([{ invoiceGroupId: "g", from: 10, until: 20 }]);
});
