import { describe, expect, test } from "vitest";

import { startApi } from "../../support.ts";

const ACME = { id: "acme", name: "Acme Corp", primaryEmail: "pay@acme.test" };

describe("customers over HTTP", () => {
  test("a customer is created with an account of its id and name, and can be read", async () => {
    const { call } = await startApi();
    const address = { line1: "1 Main St", city: "Berlin", postalCode: "10115", country: "DE" };
    const reply = await call("POST /customers", { body: { ...ACME, address } });
    expect(reply.status).toBe(201);
    expect(reply.json).toEqual({
      ...ACME,
      togaiCustomerId: "acme",
      address,
      billingAddress: "1 Main St, 10115 Berlin, DE",
      status: "ACTIVE",
      createdAt: "2024-06-15T12:00:00.000Z",
      updatedAt: "2024-06-15T12:00:00.000Z",
      account: {
        id: "acme",
        togaiAccountId: "acme",
        togaiCustomerId: "acme",
        name: "Acme Corp",
        customerId: "acme",
        status: "ACTIVE",
        invoiceCurrency: "USD",
        aliases: [],
      },
    });
    const { account, ...customer } = reply.json;
    expect(account.customerId).toBe("acme");
    expect((await call("GET /customers/acme")).json).toEqual(customer);
  });

  test("a customer without an address has an empty one, because clients require one", async () => {
    const { call } = await startApi();
    await call("POST /customers", { body: ACME });
    expect((await call("GET /customers/acme")).json).toMatchObject({ billingAddress: "" });
    const [firstItem] = (await call("GET /customers")).json.data;
    expect(firstItem.address).toEqual({});
    expect(firstItem.billingAddress).toBe("");
  });

  test.each([
    ["POST /customers", undefined, 400, "expected a body"],
    ["GET /customers?pageSize=1&pageSize=2", undefined, 400, '"pageSize": the query parameter is repeated'],
    ["PUT /customers", undefined, 405, "the method is not allowed; use GET, POST"],
  ] as const)("%s %j is a %i", async (line, body, status, message) => {
    const { call } = await startApi();
    const answer = await call(line, { body });
    expect([answer.status, answer.json]).toEqual([status, { message }]);
  });

  test.each(["name", "primaryEmail"])("fields for creation can't be cleared later: %s", async (field) => {
    const { call } = await startApi();
    await call("POST /customers", { body: ACME });
    const { status, json } = await call("PATCH /customers/acme", { body: { [field]: null } });
    expect([status, json.message]).toEqual([400, `${field}: expected a string, got null`]);
    expect((await call("GET /customers/acme")).json[field]).toBe(Reflect.get(ACME, field));
  });

  test("null clears a field, and a customer with its account is archived", async () => {
    const { call } = await startApi();
    await call("POST /customers", { body: { ...ACME, address: { city: "Berlin" } } });
    const patchReply = await call("PATCH /customers/acme", { body: { address: null, name: "Acme Inc" } });
    expect(patchReply.json.address).toEqual({});
    expect(patchReply.json.name).toBe("Acme Inc");
    expect((await call("DELETE /customers/acme")).json).toEqual({ success: true });
    expect((await call("GET /customers/acme")).json.status).toBe("ARCHIVED");
    expect((await call("POST /customers", { body: ACME })).status).toBe(409);
  });
});
