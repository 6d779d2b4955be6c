/** The error information for programs: the code and the path of the first problem, in header fields. */
import { expect, test } from "vitest";

import { startCompleteServer } from "../complete-server.ts";

const CUSTOMER = { id: "acme", name: "Acme Corp", primaryEmail: "pay@acme.test" };
const [CODE, PATH] = ["ratebook-error-code", "ratebook-error-path"];

test("an invalid input has the path of its first problem, an error without a path only the code", async () => {
  const api = await startCompleteServer();
  const by = await api.key();
  const send = async (body: object): Promise<unknown> => {
    const { statusCode, headers } = await api.ask("POST /customers", { by, body });
    return [statusCode, headers[CODE], headers[PATH]];
  };
  expect(await send(CUSTOMER)).toEqual([201, undefined, undefined]);
  expect(await send(CUSTOMER)).toEqual([409, "ERR_TAKEN", undefined]);
  expect(await send({ ...CUSTOMER, primaryEmail: "none" })).toEqual([400, "INVALID_FORMAT", "$.primaryEmail"]);
  expect(await send([])).toEqual([400, "WRONG_TYPE", "$"]);
  // A header is ASCII and limited: other characters are escaped, and a long key is shortened.
  expect(await send({ ...CUSTOMER, "clé\n": 1 })).toEqual([400, "UNKNOWN_FIELD", String.raw`$["cl\u00e9\n"]`]);
  const [, , cut] = (await send({ ...CUSTOMER, ["é".repeat(300)]: 1 })) as readonly string[];
  expect(cut).toBe(String.raw`$["${String.raw`\u00e9`.repeat(33)}`.slice(0, 200));
});

test("the path uses the field names of the API, and a request that reached no operation has no code", async () => {
  const api = await startCompleteServer();
  const by = await api.key();
  const range = await api.ask("GET /invoices?start_time=2024-07-01&end_time=2024-06-01", { by });
  expect([range.statusCode, range.headers[CODE]]).toEqual([400, "ERR_OPTION_INVALID"]);
  const filter = await api.ask("DELETE /events?account_id=a&event_id=", { by });
  expect([filter.statusCode, filter.headers[CODE]]).toEqual([400, undefined]);
  const alias = await api.ask("POST /aliases", { by, body: { aliases: [{ value: "abc" }, { value: "abc" }] } });
  expect([alias.statusCode, alias.headers[PATH]]).toEqual([400, "$.aliases[1].value"]);
  const stranger = await api.ask("GET /customers");
  expect([stranger.statusCode, stranger.headers[CODE]]).toEqual([401, undefined]);
});
