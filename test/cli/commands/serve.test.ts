/** `ratebook serve` and `ratebook keys` over private servers and PGlite databases. */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { copyEmptyDatabase } from "../../support/new-database.ts";
import { failure, ratebook, SMALL_BOOK, testFolder } from "../fake-io.ts";
import { sendWithKey, type TestServer, startTestServer } from "../start-server.ts";

const files = testFolder();

const serve = async (argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<TestServer> =>
  startTestServer(argv, { folderPath: files.path, env });

const customer = (id: string): object => ({ id, name: `Customer ${id}`, primaryEmail: "pay@acme.test" });
const database = (name: string): string => join(files.path, name);
/** An empty database that is already initialized, because these tests do not test initialization. */
const newDatabase = async (name: string): Promise<string> => {
  await copyEmptyDatabase(database(name));
  return database(name);
};

describe("ratebook serve", () => {
  test("on an empty directory prints its key once, and serves until it is stopped", async () => {
    const first = await serve(["--database", database("first"), "--bill-run-interval", "1s"]);
    expect(first.key).toBeDefined();
    const key = first.key ?? "";
    expect((await sendWithKey(first.url, "/customers", key, customer("acme"))).status).toBe(201);
    expect((await sendWithKey(first.url, "/keys", key)).status).toBe(200);
    const { code, out, err } = await first.stop();
    expect(code).toBe(0);
    const listens = `Listening on ${first.url} (database first) · API reference: ${first.url}/docs`;
    expect(out).toBe(`API key: ${key}\n${listens}\n`);
    const log = err
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { msg: string });
    expect(log.at(0)?.msg).toBe(`listening on ${first.url}`);
    expect(log.at(-1)?.msg).toBe("stopped");
    expect(err).not.toContain(key);
    await expect(fetch(`${first.url}/health`)).rejects.toThrow();
    const again = await serve(["--database", database("first")]);
    expect(again.key).toBeUndefined();
    expect(await sendWithKey(again.url, "/customers/acme", key)).toMatchObject({ status: 200, json: { id: "acme" } });
    expect((await again.stop()).out).not.toContain("API key");
  });

  test("of two servers that start together prints the key once, and both accept it and each other's tokens", async () => {
    const both = await Promise.all([1, 2].map(() => serve(["--database", database("two")])));
    const keys = both.map(({ key }) => key).filter((key) => key !== undefined);
    expect(keys).toHaveLength(1);
    const key = keys[0] ?? "";
    for (const [index, { url }] of both.entries()) {
      const { token } = (await sendWithKey(url, "/authenticate", key, {})).json as { token: string };
      expect((await sendWithKey(both[1 - index]?.url ?? "", "/customers", token)).status).toBe(200);
    }
    for (const each of both) expect((await each.stop()).code).toBe(0);
  });

  test("keys and load work on a directory that a server has open, and a revocation takes effect there", async () => {
    const directory = await newDatabase("shared");
    const server = await serve(["--database", directory]);
    const book = files.file("book.json", {
      ...SMALL_BOOK,
      pricePlans: SMALL_BOOK.pricePlans.map((plan) => ({ ...plan, status: "ACTIVE" })),
    });
    expect((await ratebook(["load", book, "--database", directory])).code).toBe(0);
    expect((await sendWithKey(server.url, "/accounts/prod", server.key ?? "")).status).toBe(200);
    const creation = await ratebook(["keys", "create", "--name", "till", "--role", "read", "--database", directory]);
    const [, id = "", key = ""] = /^(key\.\w{8})\nAPI key: (rb_\w{43})\n$/.exec(creation.out) ?? [];
    expect((await sendWithKey(server.url, "/accounts/prod", key)).status).toBe(200);
    const listing = await ratebook(["keys", "list"], { env: { RATEBOOK_DATABASE: directory } });
    expect(listing.out).toMatch(
      new RegExp(`^ID +ROLE +STATUS +CREATED +NAME\n${id} +read +active +\\S+ +till\nkey.* admin `),
    );
    expect(listing.out).not.toContain(key);
    expect(await ratebook(["keys", "revoke", id, "--database", directory])).toMatchObject({
      code: 0,
      out: `revoked ${id} (read, till)\n`,
    });
    // A server caches a key for two seconds.
    await expect.poll(async () => (await sendWithKey(server.url, "/accounts/prod", key)).status).toBe(401);
    expect((await ratebook(["keys", "list", "--database", directory])).out).toContain("revoked");
    await server.stop();
  });

  test("a PGlite directory is rejected for other processes, with the id of the process that has it open; its keys stay valid", async () => {
    const directory = `pglite:${database("lite")}`;
    const server = await serve(["--database", directory]);
    const other = await ratebook(["keys", "list", "--database", directory]);
    expect(other).toMatchObject({ code: 1, out: "" });
    expect(other.err).toContain(`is open in the process ${process.pid}`);
    expect((await server.stop()).code).toBe(0);
    expect((await ratebook(["keys", "list", "--database", directory])).code).toBe(0);
    const late = `rb_${"l".repeat(43)}`;
    const again = await serve(["--database", directory], { RATEBOOK_API_KEY: late });
    expect((await sendWithKey(again.url, "/customers", late)).status).toBe(401);
    expect((await sendWithKey(again.url, "/customers", server.key ?? "")).status).toBe(200);
    const { err } = await again.stop();
    expect(err).toContain("RATEBOOK_API_KEY ignored: the database has keys already");
    expect(err).not.toContain(late);
  });

  test("environment variables set the first key and the token secret", async () => {
    const env = { RATEBOOK_API_KEY: `rb_${"k".repeat(43)}`, RATEBOOK_JWT_SECRET: "s".repeat(32) };
    const server = await serve(["--database", "memory", "--prefix", "/v1", "--rate-limits", "off"], env);
    expect(server.key).toBeUndefined();
    expect(server.url).toMatch(/\/v1$/);
    expect((await sendWithKey(server.url, "/customers", env.RATEBOOK_API_KEY)).status).toBe(200);
    const { out, err } = await server.stop();
    expect(out + err).not.toContain(env.RATEBOOK_API_KEY);
    expect(out + err).not.toContain(env.RATEBOOK_JWT_SECRET);
    expect(err).toContain("data is lost when the server stops");
  });

  test("the organization and its currency are set on an empty database, and others are rejected later", async () => {
    const directory = await newDatabase("of-acme");
    const server = await serve(["--database", directory, "--organization", "acme", "--currency", "EUR"]);
    const creation = await sendWithKey(server.url, "/customers", server.key ?? "", customer("c"));
    expect(creation.json).toMatchObject({ account: { invoiceCurrency: "EUR" } });
    await server.stop();
    expect(await ratebook(["serve", "--port", "0", "--database", directory, "--currency", "USD"])).toEqual(
      failure('the database belongs to the organization "acme" in EUR, not to "acme" in USD'),
    );
    await (await serve(["--database", directory, "--organization", "acme"])).stop();
  });

  test("a port in use is reported, leaves nothing open, and creates no key that would be lost", async () => {
    const directory = await newDatabase("port");
    const server = await serve(["--database", "memory"]);
    const { port } = new URL(server.url);
    const other = await ratebook(["serve", "--database", directory, "--port", port]);
    expect([other.code, other.out]).toEqual([1, ""]);
    expect(other.err).toContain(`ratebook: cannot listen on 127.0.0.1 port ${port}: the port is in use`);
    expect(await ratebook(["keys", "list", "--database", directory])).toMatchObject({
      code: 0,
      out: expect.not.stringContaining("admin"),
    });
    await server.stop();
    const again = await serve(["--database", directory]);
    expect(again.key).toBeDefined();
    await again.stop();
  });

  test.each(["early", "memory"])("stopped while it starts on %s, it ends without a key", async (name) => {
    const place = name === "memory" ? name : database(name);
    const argv = ["serve", "--port", "0", "--database", place];
    expect(await ratebook(argv, { waitForStop: async () => "SIGTERM" })).toEqual({ code: 0, out: "", err: "" });
    const later = await serve(["--database", place]);
    expect(later.key).toBeDefined();
    expect((await later.stop()).code).toBe(0);
  });

  test("stopped while a database does not answer, it ends at once", async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket.on("error", () => {}))).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const stop = once(silent, "connection").then(() => "SIGTERM");
    const ran = await ratebook(["serve", "--port", "0", "--database", `postgres://me@127.0.0.1:${port}/db`], {
      waitForStop: () => stop,
    });
    expect(ran).toEqual({ code: 0, out: "", err: "" });
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test("a killed database is started again: 503 meanwhile, and no acknowledged write is lost", async () => {
    const directory = await newDatabase("killed");
    const server = await serve(["--database", directory, "--rate-limits", "off"]);
    const key = server.key ?? "";
    const acceptedIds: string[] = [];
    const statuses = new Set<number>();
    const make = async (id: string): Promise<number> => {
      const { status } = await sendWithKey(server.url, "/customers", key, customer(id));
      statuses.add(status);
      if (status === 201) acceptedIds.push(id);
      return status;
    };
    // A fast machine may have the database back before any request is rejected.
    for (let round = 0; round < 2 || !statuses.has(503); round++) {
      for (let number = 0; number < 5; number++) expect(await make(`before-${round}-${number}`)).toBe(201);
      const pid = Number(readFileSync(join(directory, "postgres/postmaster.pid"), "utf8").split("\n")[0]);
      const during = Array.from({ length: 20 }, (_, number) => make(`during-${round}-${number}`));
      process.kill(pid, "SIGKILL");
      await Promise.all(during);
      const answer = await fetch(`${server.url}/ready`);
      if (answer.status !== 200) expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
      expect((await fetch(`${server.url}/health`)).status).toBe(200);
      let number = 0;
      await expect.poll(() => make(`after-${round}-${number++}`)).toBe(201);
      expect((await fetch(`${server.url}/ready`)).status).toBe(200);
    }
    expect(statuses).toEqual(new Set([201, 503]));
    for (const id of acceptedIds) expect((await sendWithKey(server.url, `/customers/${id}`, key)).status).toBe(200);
    expect((await server.stop()).code).toBe(0);
  });
});

describe("arguments of serve and keys", () => {
  test.each([
    [["serve", "extra"], 'serve takes only options, got "extra"'],
    [["serve", "--port", "65536"], '--port: expected a whole number from 0 to 65535, got "65536"'],
    [["serve", "--port", "-1"], "--port"],
    [["serve", "--prefix", "v1"], '--prefix: expected a path such as /v1, got "v1"'],
    [["serve", "--prefix", "/v1/"], "--prefix: expected a path such as /v1"],
    [["serve", "--public-url", "ftp://x"], "--public-url: expected an address such as https://billing.example.com/v1"],
    [["serve", "--rate-limits", "on"], "--rate-limits: expected off, or limits such as ingest=50/500,rest=10/200"],
    [["serve", "--rate-limits", "rest=0/10"], "--rate-limits: expected off"],
    [["serve", "--rate-limits", "rest=1/0"], "--rate-limits: expected off"],
    [["serve", "--rate-limits", "rest=1/1,rest=2/2"], "--rate-limits: expected off"],
    [["serve", "--rate-limits", "all=1/1"], "--rate-limits: expected off"],
    [["serve", "--trust-proxy=0"], "--trust-proxy: expected a number of proxies"],
    [["serve", "--trust-proxy=10.0.0.0/33"], "--trust-proxy: expected a number of proxies"],
    [["serve", "--trust-proxy=everyone"], "--trust-proxy: expected a number of proxies"],
    [["serve", "--bill-run-interval", "10"], "--bill-run-interval: expected off, or a time such as 90s, 10m or 1h"],
    [["serve", "--keep-events", "44d"], "--keep-events: expected forever, or days such as 400d, at least 45d"],
    [["serve", "--association-years", "0"], "--association-years: expected a whole number from 1 to 999, got "],
    [["serve", "--keep-events", "1y"], "--keep-events: expected forever"],
    [["serve", "--bill-run-interval", "25h"], "--bill-run-interval: expected off"],
    [["serve", "--log-level", "loud"], "--log-level must be one of debug, info, warn, error, silent"],
    [["serve", "--currency"], "--currency needs a value"],
    // The ISO 4217 code for no currency.
    [["serve", "--currency", "XXX"], '--currency: expected an ISO 4217 currency code such as USD, got "XXX"'],
    [["serve", "--organization", "a/b"], "--organization: expected an id of at most 50 characters without"],
    [
      ["serve", "--database", "postgress://me:hush@host/db"],
      'the database: expected a directory, postgres://… or pglite:DIR, got an address that begins with "postgress://"',
    ],
    [
      ["keys", "list", "--database", "mysql://host/db"],
      "the database: expected a directory, postgres://… or pglite:DIR",
    ],
    [["load", "book.json", "--database", "http://host"], "the database: expected a directory"],
    [["keys"], "expected keys create, keys list or keys revoke"],
    [["keys", "make"], 'unknown action "make": expected keys create, keys list or keys revoke'],
    [["keys", "create", "--name", "x"], "keys create needs --name NAME and --role admin|full|ingest|read"],
    [["keys", "create", "--role", "read"], "keys create needs --name NAME and --role"],
    [["keys", "create", "--name", "x", "--role", "root"], "--role must be one of admin, full, ingest, read"],
    [["keys", "create", "--name", "x".repeat(256), "--role", "read"], "--name: expected at most 255 characters"],
    [["keys", "list", "all"], 'keys list takes no argument, got "all"'],
    [["keys", "list", "--role", "read"], "--name and --role only apply to keys create"],
    [["keys", "revoke"], "keys revoke needs one ID"],
    [["keys", "list", "--database", "memory"], "--database memory keeps nothing after exit"],
  ])("%j is rejected as wrong usage", async (argv, message) => {
    const { code, out, err } = await ratebook(argv);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(`ratebook: ${message}`);
  });

  test.each([["list"], ["revoke", "key.a"]])("keys %s creates no database if there is none", async (...argv) => {
    const nowhere = database("nowhere");
    for (const name of [nowhere, `pglite:${nowhere}`]) {
      expect(await ratebook(["keys", ...argv, "--database", name])).toEqual(
        failure(`no database in ${JSON.stringify(nowhere)}: the directory does not exist`),
      );
    }
    expect(existsSync(nowhere)).toBe(false);
  });

  test("keys create reports that it creates a database", async () => {
    const name = database("made-by-keys");
    const create = ["keys", "create", "--name", "first", "--role", "admin", "--database", name];
    expect(await ratebook(create)).toMatchObject({ code: 0, err: `ratebook: creating database ${name}\n` });
    expect(await ratebook(create)).toMatchObject({ code: 0, err: "" });
  });

  test.each([
    [{ RATEBOOK_API_KEY: "rb_hush" }, "RATEBOOK_API_KEY: expected rb_ and 43 letters or digits"],
    [{ RATEBOOK_JWT_SECRET: "hush" }, "RATEBOOK_JWT_SECRET: expected at least 32 bytes"],
  ])("an invalid variable is reported without its value", async (env, message) => {
    expect(await ratebook(["serve", "--database", "memory"], { env })).toEqual(failure(message, 2));
  });

  test("the help of serve lists its options and variables", async () => {
    const { code, out } = await ratebook(["serve", "--help"]);
    expect(code).toBe(0);
    expect(out).toContain("--trust-proxy[=HOPS|ADDRESSES]");
    expect(out).toMatch(
      /\nEnvironment:\n\n {2}RATEBOOK_DATABASE .*\n {2}RATEBOOK_API_KEY .*\n {2}RATEBOOK_JWT_SECRET .*\n/,
    );
  });

  test("revoking an unknown key is an error", async () => {
    const directory = database("lite");
    expect(await ratebook(["keys", "revoke", "key.nobody", "--database", `pglite:${directory}`])).toEqual(
      failure('no API key has the id "key.nobody"'),
    );
  });

  test("the password of a database is not printed", async () => {
    const secret = "postgres://user:hush@127.0.0.1:1/db?password=hush";
    const { code, out, err } = await ratebook(["serve", "--database", secret, "--port", "0"]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^ratebook: the database cannot be reached: .*\n$/);
    expect(err).not.toContain("hush");
  });
});
