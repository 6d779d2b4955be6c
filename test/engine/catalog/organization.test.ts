import { expect, test } from "vitest";

import { customerWith, describeRefusal, engineAt } from "../support.ts";

test("the organization of a store is the default one until another is set", async () => {
  const { engine } = engineAt("2024-03-01");
  expect(await engine.organization.get()).toEqual({ id: "default", baseCurrency: "USD", rounding: "HALF_UP" });
  const claimed = { id: "acme", baseCurrency: "EUR", rounding: "HALF_UP" };
  expect(await engine.organization.claim({ id: "acme", baseCurrency: "EUR" })).toEqual(claimed);
  expect(await engine.organization.get()).toEqual(claimed);
  await customerWith(engine);
  expect((await engine.accounts.get("prod")).invoiceCurrency).toBe("EUR");
});

test("a claimed organization does not change: an engine with another one is rejected with the name of the first", async () => {
  const { engine } = engineAt("2024-03-01");
  await engine.organization.claim({ id: "acme", baseCurrency: "EUR" });
  for (const same of [{}, { id: "acme" }, { baseCurrency: "EUR" }, { id: "acme", baseCurrency: "EUR" }]) {
    expect(await engine.organization.claim(same)).toMatchObject({ id: "acme", baseCurrency: "EUR" });
  }
  expect(await describeRefusal(engine.organization.claim({ id: "acme", baseCurrency: "USD" }))).toBe(
    'ERR_REFUSED the database belongs to the organization "acme" in EUR, not to "acme" in USD',
  );
  expect(await describeRefusal(engine.organization.claim({ id: "other" }))).toMatch(/^ERR_REFUSED /);
});

test("an organization can't be set once an account uses the default currency", async () => {
  const { engine } = engineAt("2024-03-01");
  await customerWith(engine);
  expect(await describeRefusal(engine.organization.claim({ baseCurrency: "EUR" }))).toMatch(/^ERR_REFUSED /);
  expect(await engine.organization.claim({ baseCurrency: "USD" })).toMatchObject({ id: "default" });
});

// XXX is the ISO 4217 code for no currency.
test.each([{ id: "" }, { id: "x".repeat(51) }, { baseCurrency: "XXX" }, { baseCurrency: "dollar" }])(
  "%j is not an organization",
  async (request) => {
    const { engine } = engineAt("2024-03-01");
    expect(await describeRefusal(engine.organization.claim(request))).toMatch(/^ERR_INPUT_INVALID /);
  },
);
