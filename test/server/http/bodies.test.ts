import { describe, expect, test } from "vitest";

import { startCompleteServer } from "../complete-server.ts";

const TYPES = [
  undefined,
  "",
  ";",
  "garbage",
  "text/plain",
  "multipart/form-data; boundary=x",
  "application/x-www-form-urlencoded",
  "application/json",
  "application/json; charset",
  "application/json, text/plain",
] as const;

describe("an empty body counts as no body, for any type and method", () => {
  test.each(TYPES)("with the type %j", async (type) => {
    const api = await startCompleteServer();
    const by = await api.key();
    const headers = type === undefined ? {} : { "content-type": type };
    for (const extra of [{}, { "content-length": "0" }]) {
      const options = { by, headers: { ...headers, ...extra } };
      expect((await api.ask("POST /authenticate", options)).statusCode).toBe(200);
      expect((await api.ask("GET /customers", options)).statusCode).toBe(200);
      expect((await api.ask("DELETE /customers/nobody", options)).statusCode).toBe(404);
      const wanting = await api.ask("POST /customers", options);
      expect([wanting.statusCode, wanting.json()]).toEqual([400, { message: "expected a body" }]);
    }
  });
});

describe("a request body", () => {
  const BODY = { id: "acme", name: "Acme Corp", primaryEmail: "pay@acme.test" };

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "APPLICATION/JSON ;charset=UTF-8",
    "application/json; charset",
    "application/merge-patch+json",
  ])("with the type %j is JSON", async (type) => {
    const api = await startCompleteServer();
    const options = { by: await api.key(), body: BODY, headers: { "content-type": type } };
    expect((await api.ask("POST /customers", options)).statusCode).toBe(201);
  });

  test.each([
    "",
    ";",
    "garbage",
    "text/plain",
    "text/json",
    "application/jsonp",
    "application/json, text/plain",
    ...["utf-16", "UTF-16LE", "latin1", '"iso-8859-1"'].map((charset) => `application/json; charset=${charset}`),
  ])("with the type %j is a 415", async (type) => {
    const api = await startCompleteServer();
    const options = { by: await api.key(), body: BODY, headers: { "content-type": type } };
    const answer = await api.ask("POST /customers", options);
    expect([answer.statusCode, answer.json()]).toEqual([
      415,
      { message: "the body must be application/json in UTF-8" },
    ]);
  });

  test.each([
    ["gzip", 415],
    ["br", 415],
    ["gzip, identity", 415],
    ["identity", 201],
    ["", 201],
  ])("with the Content-Encoding %j is a %i", async (encoding, status) => {
    const api = await startCompleteServer();
    const options = { by: await api.key(), body: BODY, headers: { "content-encoding": encoding } };
    expect((await api.ask("POST /customers", options)).statusCode).toBe(status);
  });

  test("where none is expected may be an empty object, and nothing else", async () => {
    const api = await startCompleteServer();
    const by = await api.key();
    expect((await api.ask("POST /authenticate", { by, body: {} })).statusCode).toBe(200);
    const answer = await api.ask("POST /authenticate", { by, body: { token: "x" } });
    expect([answer.statusCode, answer.json()]).toEqual([400, { message: "token: unknown field" }]);
  });
});
