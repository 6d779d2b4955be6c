/** Aliases and archiving of accounts (S16.3, S16.6). */
import { describe, expect, test } from "vitest";

import {
  addAliases,
  aliasDocument,
  archiveAccount,
  checkAccountId,
  checkArchivable,
  removeAliases,
} from "../../../src/ledger/commands/accounts.ts";
import { calls, planOfMonths } from "../../book/builder.ts";
import { bookWithPlans } from "../../book/catalog-book.ts";
import { toTime, type Ledger, newAccount, openLedger } from "../account-harness.ts";

const NOW = toTime("2024-01-10");
const nobody = { aliases: [], accounts: [] };
const book = bookWithPlans([
  planOfMonths("p", {
    ...calls(1),
    pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod: 5 },
  }),
]);
const ledgerWithAliases = (...aliases: readonly string[]): Ledger =>
  openLedger(book, [newAccount("a", { aliases: aliases.map((alias) => ({ alias, createdAt: 0 })) })]);

const aliases = (ledger: Ledger): readonly string[] => ledger.parts().record.aliases.map(({ alias }) => alias);

describe("aliases", () => {
  test("S16.6 adds new aliases to the existing ones, each once", () => {
    const ledger = ledgerWithAliases("one");
    const changes = ledger.run((work) => addAliases(work, ["one", "two", "two"], nobody, NOW));
    expect(aliases(ledger)).toEqual(["one", "two"]);
    expect(changes).toEqual({ documents: [aliasDocument("two", "a", NOW)], removedDocuments: [] });
  });

  test("S16.6 accepts the account's own alias again", () => {
    const ledger = ledgerWithAliases();
    const takenNames = { aliases: [aliasDocument("own", "a", 0)], accounts: [] };
    ledger.run((work) => addAliases(work, ["own"], takenNames, NOW));
    expect(aliases(ledger)).toEqual(["own"]);
  });

  const refusals: readonly (readonly [string, readonly string[], string])[] = [
    ["one that another account holds", ["theirs"], 'the alias "theirs" is taken'],
    ["one that resolves to nothing", ["free"], 'the alias "free" is taken'],
    ["the id of an account", ["b"], 'the alias "b" is the id of an account'],
    [
      "an eleventh",
      Array.from({ length: 10 }, (_, index) => `more-${index}`),
      "aliases: expected at most 10 aliases in all, got 11",
    ],
  ];

  test.each(refusals)("S16.6 rejects %s, and adds none of the others", (_because, more, message) => {
    const ledger = ledgerWithAliases("one");
    const takenNames = {
      aliases: [aliasDocument("theirs", "b", 0), aliasDocument("free", undefined, 0)],
      accounts: [{ id: "b" }],
    };
    expect(() => ledger.run((work) => addAliases(work, ["good", ...more].slice(-10), takenNames, NOW))).toThrow(
      message,
    );
    expect(aliases(ledger)).toEqual(["one"]);
  });

  test("S16.6 ignores unknown aliases when removing", () => {
    const ledger = ledgerWithAliases("one", "two");
    const changes = ledger.run((work) => removeAliases(work, ["two", "three"], NOW));
    expect(aliases(ledger)).toEqual(["one"]);
    expect(changes).toEqual({ documents: [], removedDocuments: [{ kind: "alias", id: "two" }] });
  });

  test("S16.6 a new account can't use an existing id or alias", () => {
    expect(() => checkAccountId("b", { aliases: [], accounts: [{ id: "b" }] })).toThrow('the account id "b" is taken');
    expect(() => checkAccountId("b", { aliases: [aliasDocument("b", "a", 0)], accounts: [] })).toThrow(
      'the account id "b" is the alias of another account',
    );
    expect(() => checkAccountId("b", nobody)).not.toThrow();
  });
});

describe("archiving", () => {
  const archive = (ledger: Ledger, now: string): unknown =>
    ledger.run((work) => archiveAccount(ledger.catalog, work, toTime(now)));

  test("S16.3 archives an account without plans, which frees its aliases", () => {
    const ledger = ledgerWithAliases("one");
    expect(archive(ledger, "2024-01-10")).toEqual({
      documents: [],
      removedDocuments: [{ kind: "alias", id: "one" }],
    });
    expect(ledger.parts().record).toMatchObject({ status: "ARCHIVED", aliases: [] });
    expect(() => archive(ledger, "2024-01-11")).toThrow('the account "a" is already archived');
  });

  test("S16.3 is rejected while a plan is associated now or later, and while a draft is open", () => {
    const ledger = ledgerWithAliases();
    ledger.associate("p", "2024-02-01", NOW);
    expect(() => archive(ledger, "2024-01-11")).toThrow(
      'the account "a" has the price plan "p"; remove the plan first',
    );
    ledger.use(10, "2024-02-05T00:00:00Z");
    ledger.dissociate("2024-02-10", "2024-02-08");
    expect(() => archive(ledger, "2024-02-09")).toThrow("remove the plan first");
    // The cycle ended on the 10th and is a draft until the 15th.
    expect(() => archive(ledger, "2024-02-14")).toThrow('the account "a" has an open draft invoice');
    ledger.run((work) => checkArchivable(ledger.catalog, work, toTime("2024-02-15")));
    archive(ledger, "2024-02-15");
    expect(ledger.parts().record.status).toBe("ARCHIVED");
    expect(ledger.parts().invoices).toHaveLength(1);
  });
});
