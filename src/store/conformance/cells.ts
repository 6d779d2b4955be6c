/** Usage and overage add up exactly. */
import assert from "node:assert/strict";

import type { LedgerCell, UsageDelta } from "../../ledger/records.ts";
import { add, Decimal, formatDecimal } from "../../numbers/decimal.ts";
import type { Store } from "../store.ts";
import { commit, type ConformanceCase, defineCase, createScope } from "./case.ts";
import { cell, groupCell, LONG, ODD_TEXTS, TODAY } from "./samples.ts";

type Kind = "usage" | "overage";

async function listCells(
  store: Store,
  kind: Kind,
  accountIds: readonly string[],
  from: number,
  until: number,
): Promise<readonly string[]> {
  const ledgerCells: readonly LedgerCell[] = await store.read[kind](accountIds, from, until);
  return ledgerCells
    .map(
      ({ accountId, meterOrFeatureId, day, quantity }) =>
        `${accountId} ${meterOrFeatureId} ${day - TODAY} ${formatDecimal(quantity)}`,
    )
    .toSorted();
}

function put(store: Store, kind: Kind, ...changes: readonly UsageDelta[]): Promise<void> {
  return commit(store, { [kind]: changes });
}

/** All cells of account `a`. */
function listAllCells(store: Store, kind: Kind): Promise<readonly string[]> {
  return listCells(store, kind, ["a"], TODAY - 99, TODAY + 99);
}

function sumCases(kind: Kind): readonly ConformanceCase[] {
  return [
    defineCase(`${kind} is added, not replaced`, async (store) => {
      await put(store, kind, cell("a", "m", TODAY, "0.1"));
      await put(store, kind, cell("a", "m", TODAY, "0.2"));
      assert.deepEqual(await listAllCells(store, kind), ["a m 0 0.3"]);
    }),

    defineCase(`${kind} for the same cell twice in a commit is added twice`, async (store) => {
      await put(store, kind, cell("a", "m", TODAY, "1"), cell("a", "m", TODAY, "2.5"), cell("a", "m", TODAY, "-0.5"));
      assert.deepEqual(await listAllCells(store, kind), ["a m 0 3"]);
    }),

    defineCase(`${kind} of 20 digits before and after the point is exact`, async (store) => {
      await put(store, kind, cell("a", "m", TODAY, LONG));
      await put(store, kind, cell("a", "m", TODAY, "87654321098765432109.87654321098765432109"));
      await put(
        store,
        kind,
        cell("a", "n", TODAY, "0.00000000000000000001"),
        cell("a", "n", TODAY, "99999999999999999999"),
      );
      assert.deepEqual(await listAllCells(store, kind), [
        "a m 0 100000000000000000000",
        "a n 0 99999999999999999999.00000000000000000001",
      ]);
      const [ledgerCell] = await store.read[kind](["a"], TODAY, TODAY + 1);
      assert.ok(Decimal.isDecimal(ledgerCell?.quantity));
    }),

    defineCase(`sums of ${kind} are exact up to 100 digits; longer ones are rejected`, async (store) => {
      const [whole, fraction] = ["9".repeat(60), "0".repeat(39)];
      const exact = `a m 0 ${whole}.${fraction}3`;
      await put(store, kind, cell("a", "m", TODAY, whole));
      await put(store, kind, cell("a", "m", TODAY, `0.${fraction}3`));
      const expectedError = { code: "ERR_ARITHMETIC" };
      await assert.rejects(put(store, kind, cell("a", "m", TODAY, `0.${fraction}01`)), expectedError);
      await assert.rejects(put(store, kind, cell("a", "n", TODAY, "5"), cell("a", "m", TODAY, "1")), expectedError);
      assert.deepEqual(await listAllCells(store, kind), [exact]);
      await put(store, kind, cell("a", "m", TODAY, `-${whole}`), cell("a", "n", TODAY, "1e1000"));
      assert.deepEqual(await listAllCells(store, kind), [`a m 0 0.${fraction}3`, `a n 0 1${"0".repeat(1000)}`]);
      await assert.rejects(put(store, kind, cell("a", "n", TODAY, "9e1000")), expectedError);
    }),

    defineCase(`${kind} can be negative, and a sum of 0 is not listed`, async (store) => {
      await put(store, kind, cell("a", "m", TODAY, "-1.5"), cell("a", "n", TODAY, "2"), cell("a", "o", TODAY, "0"));
      assert.deepEqual(await listAllCells(store, kind), ["a m 0 -1.5", "a n 0 2"]);
      await put(store, kind, cell("a", "m", TODAY, "1.50"), cell("a", "n", TODAY, "-2"));
      assert.deepEqual(await listAllCells(store, kind), []);
      await put(store, kind, cell("a", "n", TODAY, "7"));
      assert.deepEqual(await listAllCells(store, kind), ["a n 0 7"]);
    }),
  ];
}

function separationCases(kind: Kind): readonly ConformanceCase[] {
  return [
    defineCase(`${kind} is stored by account, item and day`, async (store) => {
      await put(
        store,
        kind,
        cell("a", "m", TODAY - 1, "1"),
        cell("a", "m", TODAY, "2"),
        cell("a", "m", TODAY + 1, "3"),
        cell("a", "n", TODAY, "4"),
        cell("b", "m", TODAY, "5"),
        cell("c", "m", -40_000, "6"),
      );
      assert.deepEqual(await listCells(store, kind, ["a"], TODAY, TODAY + 1), ["a m 0 2", "a n 0 4"]);
      assert.deepEqual(await listCells(store, kind, ["a"], TODAY - 1, TODAY + 1), ["a m -1 1", "a m 0 2", "a n 0 4"]);
      assert.deepEqual(await listCells(store, kind, ["b", "a", "b"], TODAY, TODAY + 9), [
        "a m 0 2",
        "a m 1 3",
        "a n 0 4",
        "b m 0 5",
      ]);
      assert.deepEqual(await listCells(store, kind, ["a"], TODAY, TODAY), []);
      assert.equal((await store.read[kind](["c"], -Infinity, Infinity)).length, 1);
    }),

    defineCase(`${kind} of different ids is separate, whatever the ids contain`, async (store) => {
      const changes = ODD_TEXTS.flatMap((a) => ODD_TEXTS.map((m) => cell(a, m, TODAY, "1")));
      await put(store, kind, ...changes);
      await put(store, kind, ...changes);
      const cells = await store.read[kind](ODD_TEXTS, TODAY, TODAY + 1);
      const expected = changes.map((change) => ({ ...change, quantity: new Decimal(2) }));
      const sortCells = (list: readonly LedgerCell[]): readonly LedgerCell[] =>
        list.toSorted((a, b) =>
          `${a.accountId}\t${a.meterOrFeatureId}` < `${b.accountId}\t${b.meterOrFeatureId}` ? -1 : 1,
        );
      assert.deepEqual(sortCells(cells), sortCells(expected));
    }),

    defineCase(`${kind} from concurrent writers is all counted`, async (store) => {
      const writers = Array.from({ length: 12 }, (_, index) => index);
      await Promise.all(
        writers.map((index) => put(store, kind, cell("a", "m", TODAY, "0.1"), cell(`b${index % 3}`, "m", TODAY, "1"))),
      );
      assert.deepEqual(await listCells(store, kind, ["a", "b0", "b1", "b2"], TODAY, TODAY + 1), [
        "a m 0 1.2",
        "b0 m 0 4",
        "b1 m 0 4",
        "b2 m 0 4",
      ]);
    }),
  ];
}

export const cellCases: readonly ConformanceCase[] = [
  ...sumCases("usage"),
  ...sumCases("overage"),
  ...separationCases("usage"),
  ...separationCases("overage"),

  defineCase("usage is added by group, and separate from usage without one", async (store) => {
    const long = ["x".repeat(512), "🧾".repeat(256), "\u0000", "half \ud83d"];
    const groups = [...ODD_TEXTS.map((text) => ["nova", text]), long, [...long.slice(0, 3), "half \ud83e"], ["nova"]];
    const changes = groups.map((group) => groupCell(group, "a", "m", TODAY, "1.5"));
    await put(store, "usage", ...changes, ...changes, cell("a", "m", TODAY, "7"));
    await put(store, "usage", ...changes, groupCell(["nova"], "a", "m", TODAY + 1, "1"));
    const cells = await store.read.usage(["a"], TODAY, TODAY + 1);
    const listed = cells.map(({ group, quantity }) => `${JSON.stringify(group)} ${formatDecimal(quantity)}`);
    const expected = groups.map((group) => `${JSON.stringify(group)} 4.5`);
    assert.deepEqual(listed.toSorted(), [...expected, "undefined 7"].toSorted());
  }),

  defineCase("groups with usage other than 0 are counted by account, meter and day", async (store) => {
    const used = ["x", "y", "z"].map((text) => groupCell([text], "a", "m", TODAY, "1"));
    await put(store, "usage", ...used, groupCell(["x"], "a", "n", TODAY, "2"), groupCell(["x"], "b", "m", TODAY, "-3"));
    await put(store, "usage", groupCell(["y"], "a", "m", TODAY, "-1"), cell("a", "m", TODAY + 1, "5"));
    const of = [
      { accountId: "a", meterId: "m", day: TODAY + 1 },
      { accountId: "a", meterId: "m", day: TODAY },
      { accountId: "b", meterId: "m", day: TODAY },
      { accountId: "a", meterId: "n", day: TODAY },
      { accountId: "b", meterId: "n", day: TODAY },
      { accountId: "a", meterId: "m", day: TODAY },
    ];
    assert.deepEqual(await store.read.groupCounts(of), [0, 2, 1, 1, 0, 2]);
    assert.deepEqual(await store.read.groupCounts([]), []);
  }),

  defineCase("usage and overage are stored separately", async (store) => {
    await commit(store, { usage: [cell("a", "m", TODAY, "1")], overage: [cell("a", "m", TODAY, "2")] });
    assert.deepEqual(await listCells(store, "usage", ["a"], TODAY, TODAY + 1), ["a m 0 1"]);
    assert.deepEqual(await listCells(store, "overage", ["a"], TODAY, TODAY + 1), ["a m 0 2"]);
  }),

  defineCase("work that adds what it read sees exact sums", async (store) => {
    await commit(store, { usage: [cell("a", "m", TODAY, LONG)] });
    const total = await store.transact(createScope(["a"]), async (view) => {
      const [usageCell] = await view.usage(["a"], TODAY, TODAY + 1);
      const quantity = usageCell?.quantity ?? new Decimal(0);
      return { result: add(quantity, quantity), changes: { usage: [cell("a", "m", TODAY, quantity)] } };
    });
    assert.equal(formatDecimal(total), "24691357802469135780.24691357802469135782");
    assert.deepEqual(await listCells(store, "usage", ["a"], TODAY, TODAY + 1), [`a m 0 ${formatDecimal(total)}`]);
  }),
];
