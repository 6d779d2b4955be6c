/** Aliases over HTTP: the reference's Alias list entry and GET /aliases, and additional endpoints (S16.6). */
import { beforeAll, describe, expect, test } from "vitest";

import { listPart, withAccount } from "../../account-requests.ts";
import { times } from "../../catalog-requests.ts";
import { answerOf } from "../../support.ts";
import type { TestApi } from "../../support.ts";

const NOON = "2024-06-15T12:00:00.000Z";

describe("aliases over HTTP", () => {
  test("POST /aliases returns 201 with value, createAt and createdAt; one without an account resolves to nothing", async () => {
    const api = await withAccount();
    const aliases = [{ value: "p-1", accountId: "prod" }, { value: "free" }, { value: "null", accountId: null }];
    const reply = await api.call("POST /aliases", { body: { aliases } });
    const times = { createAt: NOON, createdAt: NOON };
    expect([reply.status, reply.json]).toEqual([
      201,
      {
        data: [
          { value: "p-1", accountId: "prod", ...times },
          { value: "free", ...times },
          { value: "null", ...times },
        ],
      },
    ]);
    expect((await api.call("GET /aliases/p-1")).json).toEqual({ value: "p-1", accountId: "prod", ...times });
    expect((await api.call("GET /aliases/free")).json).toEqual({ value: "free", ...times });
    expect((await api.call("GET /accounts/prod")).json.aliases).toEqual([{ alias: "p-1", status: "ACTIVE" }]);
  });

  test("DELETE /aliases/{alias} ends an alias of any account, and it can be used again", async () => {
    const api = await withAccount();
    const aliases = [{ value: "p-1", accountId: "prod" }, { value: "free" }];
    await api.call("POST /aliases", { body: { aliases } });
    for (const value of ["p-1", "free"]) {
      expect(await answerOf(api, `DELETE /aliases/${value}`)).toEqual([200, { success: true }]);
      expect(await answerOf(api, `DELETE /aliases/${value}`)).toEqual([404, `no alias has the id "${value}"`]);
    }
    expect((await api.call("GET /accounts/prod")).json.aliases).toEqual([]);
    expect((await api.call("POST /aliases", { body: { aliases } })).status).toBe(201);
  });

  test("a hundred aliases can be created at once", async () => {
    const api = await withAccount();
    const aliases = times(100, (at) => ({ value: `v-${at}` }));
    expect((await api.call("POST /aliases", { body: { aliases } })).json.data.length).toBe(100);
  });

  describe("a rejected request creates none", () => {
    let api: TestApi;
    beforeAll(async () => {
      api = await withAccount();
      await api.call("POST /aliases", { body: { aliases: [{ value: "held" }] } });
    });

    test.each([
      ["a text", ["v-1"], 400, 'aliases[0]: expected an object, got "v-1"'],
      ["white space", [{ value: "a b c" }], 400, expect.stringContaining("aliases[0].value: expected an id without")],
      ["an unknown account", [{ value: "abc" }, { value: "v-1", accountId: "no" }], 400, 'no account has the id "no"'],
      ["an account's id", [{ value: "v-1" }, { value: "prod" }], 409, 'the alias "prod" is taken'],
    ])("POST /aliases with %s", async (_, aliases, status, message) => {
      expect(await answerOf(api, "POST /aliases", { body: { aliases } })).toEqual([status, message]);
      expect(await listPart(api, "/aliases", "value")).toEqual(["held"]);
    });
  });
});
