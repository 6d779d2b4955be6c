import { describe, expect, test } from "vitest";

import { createEngine } from "../../../src/engine/engine.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";

const engine = () => createEngine({ store: memoryStore() });
const CUSTOMER = {
  id: "acme",
  name: "Acme Corp",
  primaryEmail: "pay@acme.test",
  account: { id: "acme", name: "Acme" },
};

describe("the organization of a store", () => {
  test("is the default organization until another is set", async () => {
    const own = engine();
    expect(await own.organization.get()).toEqual({ id: "default", baseCurrency: "USD", rounding: "HALF_UP" });
    const claim = { id: "acme", baseCurrency: "EUR", rounding: "HALF_UP" };
    expect(await own.organization.claim({ id: "acme", baseCurrency: "EUR" })).toEqual(claim);
    expect(await own.organization.get()).toEqual(claim);
    await own.customers.create(CUSTOMER);
    expect((await own.accounts.get("acme")).invoiceCurrency).toBe("EUR");
  });

  test("does not change: an engine with another one is rejected with the name of the first", async () => {
    const own = engine();
    await own.organization.claim({ id: "acme", baseCurrency: "EUR" });
    for (const same of [{}, { id: "acme" }, { baseCurrency: "EUR" }, { id: "acme", baseCurrency: "EUR" }]) {
      expect(await own.organization.claim(same)).toMatchObject({ id: "acme", baseCurrency: "EUR" });
    }
    await expect(own.organization.claim({ id: "acme", baseCurrency: "USD" })).rejects.toMatchObject({
      code: "ERR_REFUSED",
      message: 'the database belongs to the organization "acme" in EUR, not to "acme" in USD',
    });
    await expect(own.organization.claim({ id: "other" })).rejects.toMatchObject({ code: "ERR_REFUSED" });
  });

  test("can't be set once an account uses the default currency", async () => {
    const own = engine();
    await own.customers.create(CUSTOMER);
    await expect(own.organization.claim({ baseCurrency: "EUR" })).rejects.toMatchObject({ code: "ERR_REFUSED" });
    expect(await own.organization.claim({ baseCurrency: "USD" })).toMatchObject({ id: "default" });
  });

  // XXX is the ISO 4217 code for no currency.
  test.each([{ id: "" }, { id: "x".repeat(51) }, { baseCurrency: "XXX" }, { baseCurrency: "dollar" }])(
    "%j is not an organization",
    async (request) => {
      await expect(engine().organization.claim(request)).rejects.toMatchObject({ code: "ERR_INPUT_INVALID" });
    },
  );
});
