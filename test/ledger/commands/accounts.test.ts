/** Aliases and archiving of accounts (S16.3, S16.6). */
import { describe, expect, test } from "vitest";

import { calls, planOfMonths } from "../../book/builder.ts";
import { describeRefusal } from "../../engine/support.ts";
import { accountWith, type Ledger, openLedger } from "../plan-ledger.ts";

const pricingCycleConfig = { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod: 5 };
const PLANS = [planOfMonths("p", { ...calls(1), pricingCycleConfig })];
/** The account `a` with these aliases, and the account `other`. */
const ledgerWith = (...aliases: readonly string[]): Promise<Ledger> =>
  openLedger(PLANS, { accounts: [accountWith("a", { aliases }), accountWith("other", { aliases: ["theirs"] })] });
const aliasesOf = async ({ engine }: Ledger): Promise<readonly string[]> =>
  (await engine.accounts.get("a")).aliases.map(({ alias }) => alias);

describe("aliases", () => {
  test("S16.6 new ones are added to the existing ones, each once, also the account's own again", async () => {
    const ledger = await ledgerWith("one");
    await ledger.engine.accounts.addAliases("a", ["one", "two", "two"]);
    expect(await aliasesOf(ledger)).toEqual(["one", "two"]);
    expect((await ledger.engine.aliases.get("two")).accountId).toBe("a");
  });

  test.each([
    ['ERR_TAKEN the alias "theirs" is taken', ["theirs"]],
    ['ERR_TAKEN the alias "free" is taken', ["free"]],
    ['ERR_TAKEN the alias "other" is the id of an account', ["other"]],
    [
      "ERR_INPUT_INVALID aliases: expected at most 10 aliases in all, got 11",
      Array.from({ length: 9 }, (_, index) => `more-${index}`),
    ],
  ])("S16.6 rejected, and none of the others is added: %s", async (message, more) => {
    const ledger = await ledgerWith("one");
    // One that resolves to nothing.
    await ledger.engine.aliases.create([{ value: "free" }]);
    expect(await describeRefusal(ledger.engine.accounts.addAliases("a", ["good", ...more]))).toBe(message);
    expect(await aliasesOf(ledger)).toEqual(["one"]);
  });

  test("S16.6 unknown ones are ignored when removing", async () => {
    const ledger = await ledgerWith("one", "two");
    await ledger.engine.accounts.removeAliases("a", ["two", "three"]);
    expect(await aliasesOf(ledger)).toEqual(["one"]);
    await expect(ledger.engine.aliases.get("two")).rejects.toThrow('"two"');
  });

  test("S16.6 a new account can't use an existing id or alias", async () => {
    const { accounts } = (await ledgerWith("one")).engine;
    const create = (id: string) => accounts.create({ id, name: `Account ${id}`, customerId: "ann" });
    expect(await describeRefusal(create("other"))).toBe('ERR_TAKEN the account id "other" is taken');
    expect(await describeRefusal(create("one"))).toBe('ERR_TAKEN the account id "one" is the alias of another account');
    expect((await create("new")).id).toBe("new");
  });
});

describe("archiving", () => {
  test("S16.3 archives an account without plans, which frees its aliases", async () => {
    const ledger = await ledgerWith("one");
    const { accounts } = ledger.at("2024-01-10");
    expect(await accounts.archive("a")).toMatchObject({ status: "ARCHIVED", aliases: [] });
    await accounts.addAliases("other", ["one"]);
    expect(await describeRefusal(accounts.archive("a"))).toBe('ERR_REFUSED the account "a" is already archived');
  });

  test("S16.3 is rejected while a plan is associated now or later, and while a draft is open", async () => {
    const ledger = await ledgerWith();
    const archive = (now: string) => ledger.at(now).accounts.archive("a");
    await ledger.associate("p", "2024-02-01", "2024-01-10");
    const hasPlan = 'ERR_REFUSED the account "a" has the price plan "p"; remove the plan first';
    expect(await describeRefusal(archive("2024-01-11"))).toBe(hasPlan);
    await ledger.use(10, "2024-02-05T00:00:00Z");
    await ledger.dissociate("2024-02-10", "2024-02-08");
    expect(await describeRefusal(archive("2024-02-09"))).toBe(hasPlan);
    // The cycle ended on the 10th and is a draft until the 15th.
    const hasDraft = /^ERR_REFUSED the account "a" has an open draft invoice/;
    expect(await describeRefusal(archive("2024-02-14"))).toMatch(hasDraft);
    expect((await archive("2024-02-15")).status).toBe("ARCHIVED");
    expect((await ledger.stored()).invoices).toHaveLength(1);
  });
});
