/** Customers, accounts, aliases and groups through the engine API (S16.3, S16.6, S16.7). */
import { describe, expect, test } from "vitest";

import type { CustomerRequest } from "../../../src/book/resources/requests.ts";
import type { Engine } from "../../../src/index.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { callBook, callEvent, customerWith, describeRefusal, engineAt, loadedAt } from "../support.ts";

describe("customers and accounts", () => {
  test("rejects a customer id in use, and an account without a customer", async () => {
    const { engine } = engineAt("2024-03-01");
    await customerWith(engine);
    expect(await describeRefusal(engine.customers.create({ id: "acme", name: "Acme" }))).toBe(
      'ERR_TAKEN the customer id "acme" is taken',
    );
    expect(await describeRefusal(engine.accounts.create({ id: "a", name: "Acme", customerId: "no" }))).toMatch(
      "ERR_INPUT_INVALID customerId: expected the id of a customer",
    );
  });

  test("S16.6 creates a customer with its first account, or neither", async () => {
    const { engine } = engineAt("2024-03-01");
    await customerWith(engine);
    const account = { id: "globex-prod", name: "Globex prod", aliases: ["g-1"], netTermDays: 10 };
    const customer = await engine.customers.create({ id: "globex", name: "Globex", account });
    expect(customer.account).toEqual(await engine.accounts.get("globex-prod"));
    expect(customer).toMatchObject({ id: "globex", account: { customerId: "globex", invoiceCurrency: "USD" } });
    expect((await engine.aliases.get("g-1")).accountId).toBe("globex-prod");
    expect(await engine.customers.get("globex")).not.toHaveProperty("account");
    const next = { id: "initech", name: "Initech" };
    const faults: readonly [NonNullable<CustomerRequest["account"]>, string | RegExp][] = [
      [{ id: "prod", name: "Initech" }, 'ERR_TAKEN the account id "prod" is taken'],
      [{ id: "prod-2", name: "Initech", aliases: ["g-1"] }, 'ERR_TAKEN the alias "g-1" is taken'],
      [{ id: "a b", name: "Initech" }, /^ERR_INPUT_INVALID account\.id: expected an id without spaces/],
      [Object.assign({ customerId: "acme" }, account), /^ERR_INPUT_INVALID account/],
      [{ id: "a", name: "Initech", invoiceCurrency: "XYZ" }, /^ERR_INPUT_INVALID account\.invoiceCurrency: /],
    ];
    for (const [part, sentence] of faults) {
      expect(await describeRefusal(engine.customers.create({ ...next, account: part }))).toMatch(sentence);
    }
    expect((await engine.customers.list()).items.map(({ id }) => id)).toEqual(["acme", "globex"]);
    expect((await engine.accounts.list()).items.map(({ id }) => id)).toEqual(["globex-prod", "prod"]);
    expect(await engine.customers.create(next)).not.toHaveProperty("account");
  });

  test.each(["a b", "a\u00a0b", "a\u2028b", "a\u0000b", "a\u009fb", "a\ttab", "a/b", "half \ud83d", ".", "..", ""])(
    "rejects the id and alias %j, which can't be used in a URL path",
    async (id) => {
      const { engine } = engineAt("2024-03-01");
      await customerWith(engine);
      const refusals = [
        engine.customers.create({ id, name: "Acme" }),
        engine.accounts.create({ id, name: "Acme", customerId: "acme" }),
        engine.accounts.addAliases("prod", [id]),
        engine.aliases.create([{ value: id }]),
      ];
      for (const each of refusals)
        expect(await describeRefusal(each)).toMatch(/^ERR_INPUT_INVALID (id|\[0\](\.value)?): /);
    },
  );

  test("accepts any other text of at most 50 characters as an id", async () => {
    const { engine } = engineAt("2024-03-01");
    for (const id of ["...", "a.b", "ä", "漢字🧾", "%2F", "a|b", "x".repeat(50)]) {
      const customer = await engine.customers.create({ id, name: "Acme", account: { id, name: "Acme" } });
      expect([customer.id, customer.account?.id]).toEqual([id, id]);
    }
  });

  test("S16.3 archives an account without plans and open drafts, and then its customer", async () => {
    const { engine, at } = await loadedAt("2024-03-01", callBook(["prod"]));
    expect(await describeRefusal(engine.customers.archive("acme"))).toBe(
      'ERR_REFUSED the account "prod" has the price plan "team"; remove the plan first',
    );
    await at("2024-03-10").ingest([callEvent("e1", "2024-03-09T00:00:00Z")]);
    await engine.dissociate("prod", { effectiveFrom: "2024-03-11" });
    expect(await describeRefusal(engine.accounts.archive("prod"))).toMatch(
      /^ERR_REFUSED the account "prod" has the price plan/,
    );
    const later = at("2024-03-12");
    await later.finalize();
    expect((await later.customers.archive("acme")).status).toBe("ARCHIVED");
    expect((await later.accounts.get("prod")).status).toBe("ARCHIVED");
    const [late] = await later.ingest([callEvent("e2", "2024-03-12T00:00:00Z")]);
    expect(late?.status).toBe("INGESTION_FAILED_ACCOUNT_NOT_FOUND");
    expect(await describeRefusal(later.accounts.update("prod", { name: "Acme" }))).toBe(
      'ERR_REFUSED the account "prod" is archived',
    );
  });
});

test("an invoice is found by its id, also if the account's id contains the separator", async () => {
  const { engine, at } = await loadedAt("2024-03-01", callBook(["a|STANDARD"]));
  await engine.accounts.create({ id: "a", name: "Acme", customerId: "acme" });
  await at("2024-03-10").ingest([callEvent("e1", "2024-03-09T00:00:00Z", 5, "a|STANDARD")]);
  const [firstInvoice] = (await engine.invoices.list()).items;
  expect(await engine.invoices.get(firstInvoice?.id ?? "")).toEqual(firstInvoice);
  expect(await describeRefusal(engine.invoices.get("inv|a|STANDARD|no"))).toBe(
    'ERR_NOT_FOUND no invoice has the id "inv|a|STANDARD|no"',
  );
  expect(await describeRefusal(engine.preview({ asOf: "2024-03-09T00:00:00Z" }))).toBe(
    "ERR_INPUT_INVALID asOf: expected a time that is not in the past, got 2024-03-09T00:00:00.000Z",
  );
  expect(await describeRefusal(engine.finalize("2024-03-10T00:00:00.001Z"))).toBe(
    "ERR_INPUT_INVALID asOf: expected a time that is not in the future, got 2024-03-10T00:00:00.001Z",
  );
  expect(
    await describeRefusal(
      engine.invoices.list({ filter: { from: "2024-04-01T00:00:00Z", until: "2024-04-01T00:00:00Z" } }),
    ),
  ).toBe("ERR_OPTION_INVALID until: expected an instant after the start of the range");
});

describe("aliases", () => {
  test("S16.6 resolve when the event arrives, also by an engine that has cached another account for one", async () => {
    const store = memoryStore();
    const { engine } = await loadedAt("2024-03-01T12:00:00Z", callBook(["prod", "test"]), { store });
    const second = engineAt("2024-03-01T12:00:00Z", store);
    await engine.accounts.addAliases("prod", ["c-1"]);
    await second.engine.ingest([callEvent("e1", "2024-03-01T00:00:00Z", 1, "c-1")]);
    await engine.accounts.removeAliases("prod", ["c-1"]);
    await engine.accounts.addAliases("test", ["c-1"]);
    await second.engine.ingest([
      callEvent("e2", "2024-03-01T00:00:00Z", 1, "c-1"),
      callEvent("e3", "2024-03-01T00:00:00Z"),
    ]);
    await engine.aliases.remove("c-1");
    const [refusal] = await second.engine.ingest([callEvent("e4", "2024-03-01T00:00:00Z", 1, "c-1")]);
    expect(refusal?.status).toBe("INGESTION_FAILED_ACCOUNT_NOT_FOUND");
    const byAccount = (await engine.events.list()).items.map(({ eventId, accountId }) => `${eventId} ${accountId}`);
    expect(byAccount.toSorted()).toEqual(["e1 prod", "e2 test", "e3 prod", "e4 "]);
    expect((await engine.accounts.get("test")).aliases).toEqual([]);
  });
});

describe("an account as of an instant", () => {
  const names = async (engine: Engine, effectiveOn: string): Promise<readonly string[]> =>
    (await engine.accounts.get("prod", { effectiveOn })).aliases.map(({ alias }) => alias);

  test("S16.6 has the aliases of that instant, and marks those removed since", async () => {
    const { engine, at } = engineAt("2024-03-01");
    await customerWith(engine);
    await at("2024-03-02").accounts.addAliases("prod", ["one", "two"]);
    await at("2024-03-03").accounts.removeAliases("prod", ["one"]);
    await at("2024-03-04").aliases.remove("two");
    await at("2024-03-05").accounts.addAliases("prod", ["one"]);
    const rows = [
      ["2024-02-01", []],
      ["2024-03-01", []],
      ["2024-03-02", ["one", "two"]],
      ["2024-03-02T23:59:59.999Z", ["one", "two"]],
      ["2024-03-03", ["two"]],
      ["2024-03-04", []],
      ["2024-03-05", ["one"]],
      ["2030-01-01", ["one"]],
    ] as const;
    for (const [instant, expected] of rows)
      expect([instant, await names(engine, instant)]).toEqual([instant, expected]);
    const then = await engine.accounts.get("prod", { effectiveOn: "2024-03-02" });
    expect(then.aliases.map(({ removedAt }) => removedAt)).toEqual([
      Date.parse("2024-03-03T00:00:00Z"),
      Date.parse("2024-03-04T00:00:00Z"),
    ]);
    await at("2024-03-06").accounts.archive("prod");
    expect([await names(engine, "2024-03-05"), await names(engine, "2024-03-06")]).toEqual([["one"], []]);
    // Only current data determines what counts now.
    expect((await engine.accounts.get("prod")).aliases).toEqual([]);
    await customerWith(engine, "other", "globex");
    expect((await engine.accounts.addAliases("other", ["one", "two"])).aliases).toHaveLength(2);
  });

  test("S16.7 has the invoices of the group at that instant", async () => {
    const { engine, at } = engineAt("2024-03-01");
    await customerWith(engine);
    await engine.accounts.create({ id: "test", name: "Acme test", customerId: "acme" });
    const terms = { name: "Acme", email: "bills@acme.example", dailyInvoiceConsolidation: false };
    const first = await at("2024-03-02").invoiceGroups.create({ ...terms, accountIds: ["prod", "test"] });
    await at("2024-03-05").invoiceGroups.removeAccounts(first.item.id, ["prod"]);
    const second = await at("2024-03-08").invoiceGroups.create({ ...terms, accountIds: ["prod"] });
    const groupAt = async (effectiveOn: string): Promise<string | undefined> =>
      (await engine.accounts.get("prod", { effectiveOn })).invoiceGroupId;
    const days = ["2024-03-01", "2024-03-02", "2024-03-04", "2024-03-05", "2024-03-07", "2024-03-08", "2030-01-01"];
    const [one, two] = [first.item.id, second.item.id];
    expect(await Promise.all(days.map(groupAt))).toEqual([undefined, one, one, undefined, undefined, two, two]);
    await at("2024-03-09").invoiceGroups.removeAccounts(two, ["prod"]);
    expect(await Promise.all(["2024-03-08", "2024-03-04", "2024-03-09"].map(groupAt))).toEqual([two, one, undefined]);
    expect((await engine.accounts.get("prod")).invoiceGroupId).toBeUndefined();
  });

  test("rejects an invalid instant, and an unknown account", async () => {
    const { engine } = engineAt("2024-03-01");
    await customerWith(engine);
    expect(await describeRefusal(engine.accounts.get("prod", { effectiveOn: "2024-02-30" }))).toMatch(
      /^ERR_DATE_INVALID /,
    );
    expect(await describeRefusal(engine.accounts.get("no", { effectiveOn: "2024-02-03" }))).toMatch(/^ERR_NOT_FOUND /);
  });
});
