/** License updates over HTTP (S10.1). */
import { beforeAll, describe, expect, test } from "vitest";

import { listPart, withAccount } from "../../account-requests.ts";
import { activePlan, DETAILS, PER_UNIT } from "../../catalog-requests.ts";
import { answerOf } from "../../support.ts";
import type { TestApi } from "../../support.ts";

interface LicenseSetup {
  readonly api: TestApi;
  readonly licenseId: string;
  readonly feeId: string;
}

/** An account on a plan with at most 20 seats, on 15 June 2024. */
async function withSeats(): Promise<LicenseSetup> {
  const api = await withAccount();
  const addOn = async (name: string, type: string): Promise<string> =>
    (await api.call("POST /addons", { body: { name, type } })).json.id;
  const [licenseId, feeId] = [await addOn("Seats", "LICENSE"), await addOn("Fee", "FIXED_FEE")];
  const planId = await activePlan(api.call, {
    ...DETAILS,
    licenseRateCards: [{ id: licenseId, enableProration: false, config: { maxQuantity: 20 }, ...PER_UNIT }],
  });
  await api.call("POST /accounts/prod/price_plans", { body: { pricePlanId: planId, effectiveFrom: "2024-06-01" } });
  return { api, licenseId, feeId };
}

const SET = { accountId: "prod", updateType: "ABSOLUTE", quantity: 10 };

describe("license updates over HTTP", () => {
  test("S10.1 POST /license_updates returns the record with the new absolute quantity, and the list the same", async () => {
    const { api, licenseId } = await withSeats();
    api.at("2024-06-15T12:00:01Z");
    const first = await api.call("POST /license_updates", { body: { ...SET, licenseId } });
    const now = "2024-06-15T12:00:01.000Z";
    expect([first.status, first.json]).toEqual([
      200,
      {
        id: expect.stringMatching(/^lu\.[\dA-Za-z]{11}\.[\dA-Za-z]{5}$/),
        accountId: "prod",
        licenseId,
        updateType: "ABSOLUTE",
        quantity: 10,
        requestedQuantity: 10,
        effectiveFrom: now,
        createdAt: now,
      },
    ]);
    api.at("2024-06-16T00:00:00Z");
    const more = { licenseId, accountId: "prod", updateType: "RELATIVE", quantity: "2.5", effectiveFrom: "2024-06-18" };
    const second = (await api.call("POST /license_updates", { body: more })).json;
    expect(second).toMatchObject({
      updateType: "RELATIVE",
      quantity: 12.5,
      requestedQuantity: 2.5,
      effectiveFrom: "2024-06-18T00:00:00.000Z",
    });
    const fewer = { ...more, quantity: -3, effectiveFrom: "2024-06-17T06:00:00+06:00" };
    const third = (await api.call("POST /license_updates", { body: fewer })).json;
    expect([third.quantity, third.effectiveFrom]).toEqual([7, "2024-06-17T00:00:00.000Z"]);
    const list = await api.call("GET /license_updates");
    expect(list.json.data).toEqual([third, second, first.json]);
    expect(list.json).toEqual({ data: expect.anything(), context: { pageSize: 50 } });
  });

  test("GET /license_updates filters by account and license", async () => {
    const { api, licenseId } = await withSeats();
    await api.call("POST /accounts", { body: { id: "other", name: "Acme other", customerId: "acme" } });
    const second = (await api.call("POST /addons", { body: { name: "Disks", type: "LICENSE" } })).json.id;
    const set = async (id: string, accountId: string, quantity: number): Promise<void> => {
      await api.call("POST /license_updates", { body: { ...SET, licenseId: id, accountId, quantity } });
    };
    await set(licenseId, "prod", 2);
    await set(second, "prod", 3);
    await set(licenseId, "other", 4);
    expect(await listPart(api, `/license_updates?license_id=${second}`, "quantity")).toEqual([3]);
    expect(await listPart(api, `/license_updates?account_id=other&license_id=${licenseId}`, "quantity")).toEqual([4]);
    expect(await listPart(api, `/license_updates?account_id=other&license_id=${second}`)).toEqual([]);
    expect(await listPart(api, "/license_updates?account_id=nobody")).toEqual([]);
  });

  describe("is rejected", () => {
    let setup: LicenseSetup;
    beforeAll(async () => {
      setup = await withSeats();
    });

    test.each([
      ["an unknown accountId", { accountId: "no" }, 'no account has the id "no"'],
      [
        "an effectiveFrom without a zone",
        { effectiveFrom: "2024-06-15T00:00:00" },
        expect.stringContaining("effectiveFrom: "),
      ],
    ])("POST /license_updates with %s is a 400", async (_, parts, message) => {
      const { api, licenseId } = setup;
      const body = { ...SET, licenseId, ...parts };
      expect(await answerOf(api, "POST /license_updates", { body })).toEqual([400, message]);
      expect(await listPart(api, "/license_updates")).toEqual([]);
    });

    test("but accepted at the bounds", async () => {
      const { api, licenseId } = await withSeats();
      for (const quantity of [0, 20]) {
        const body = { ...SET, licenseId, quantity };
        expect((await api.call("POST /license_updates", { body })).json.quantity).toBe(quantity);
      }
    });
  });

  test("S10.1 an account can change its quantity of an archived license; others can't start to use it", async () => {
    const { api, licenseId } = await withSeats();
    await api.call("POST /license_updates", { body: { ...SET, licenseId } });
    await api.call("POST /accounts", { body: { id: "next", name: "Next", customerId: "acme" } });
    expect((await api.call(`DELETE /addons/${licenseId}`)).status).toBe(200);
    const fewer = await api.call("POST /license_updates", { body: { ...SET, licenseId, quantity: 0 } });
    expect([fewer.status, fewer.json.quantity]).toEqual([200, 0]);
    expect(await answerOf(api, "POST /license_updates", { body: { ...SET, licenseId, accountId: "next" } })).toEqual([
      400,
      `the add-on "${licenseId}" is archived`,
    ]);
  });
});
