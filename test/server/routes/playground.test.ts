/** The playground of a server: for keys that may read, with the catalog's plans, and with a content security policy. */
import { describe, expect, test } from "vitest";

import type { PlayState } from "../../../src/pages/play-state.ts";
import { parseBookText } from "../../../src/pages/play/play-bill.ts";
import { SMALL_BOOK } from "../../cli/fake-io.ts";
import { startCompleteServer } from "../complete-server.ts";
import { largePlan } from "../large-plan.ts";

describe("GET /play", () => {
  test("is the page with the price plans, and the newest account that has one", async () => {
    const api = await startCompleteServer();
    const { ask, engine } = api;
    const other = { ...SMALL_BOOK.accounts[0], id: "idle", name: "Idle", aliases: [], pricePlans: [], credits: [] };
    const pricePlans = SMALL_BOOK.pricePlans.map((plan) => ({ ...plan, status: "ACTIVE" }));
    await engine.load(JSON.stringify({ ...SMALL_BOOK, pricePlans, accounts: [...SMALL_BOOK.accounts, other] }));
    const { statusCode, headers, payload } = await ask("GET /play", { by: await api.key("read") });
    expect([statusCode, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(headers["content-security-policy"]).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+' 'sha256-[^']+'; .*frame-ancestors 'none'$/,
    );
    const [, data = ""] = /<script type="application\/json" id="data">([^<]+)<\/script>/.exec(payload) ?? [];
    const { state } = JSON.parse(data) as { state: PlayState };
    expect([state.from, state.until, state.usage, state.events]).toEqual(["2024-01-01", "2024-02-01", [], ""]);
    const read = parseBookText(state.book);
    if (!("book" in read)) throw new TypeError(JSON.stringify(read.problems));
    expect(read.book.accounts.map(({ id, credits }) => [id, credits.length])).toEqual([["prod", 1]]);
    expect(read.book.pricePlans.map(({ id }) => id)).toEqual(["pp.small"]);
    expect(read.book.customers.map(({ id }) => id)).toEqual(["contoso"]);
  });

  test("has the plans of that account and the newest others, up to 1 MiB in total", async () => {
    const api = await startCompleteServer();
    const { ask, engine } = api;
    await engine.load(
      JSON.stringify({
        ...SMALL_BOOK,
        pricePlans: SMALL_BOOK.pricePlans.map((plan) => ({ ...plan, status: "ACTIVE" })),
      }),
    );
    const ids: string[] = [];
    for (const name of ["First", "Second", "Third"]) {
      api.pass(1);
      ids.push((await engine.pricePlans.create(largePlan(name, "um.units"))).item.id);
    }
    const { payload } = await ask("GET /play", { by: await api.key("read") });
    const [, data = ""] = /<script type="application\/json" id="data">([^<]+)<\/script>/.exec(payload) ?? [];
    const { state } = JSON.parse(data) as { state: PlayState };
    const bookInPage = JSON.parse(state.book) as { readonly pricePlans: readonly { readonly id: string }[] };
    expect(bookInPage.pricePlans.map(({ id }) => id)).toEqual(["pp.small", ...ids.slice(1)]);
  });

  test("works with an empty catalog", async () => {
    const api = await startCompleteServer();
    expect((await api.ask("GET /play", { by: await api.key() })).statusCode).toBe(200);
  });

  test("is not allowed for keys that may not read", async () => {
    const api = await startCompleteServer();
    expect((await api.ask("GET /play", { by: await api.key("ingest") })).statusCode).toBe(403);
    expect((await api.ask("GET /play")).statusCode).toBe(401);
  });
});
