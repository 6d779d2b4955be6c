import { describe, expect, test } from "vitest";

import { toClientNetwork, createFailureCounter, createRateLimiter } from "../../../src/server/access/access.ts";
import { type TestServer, startCompleteServer } from "../complete-server.ts";

const MINUTE = 60_000;
const WRONG = `rb_${"0".repeat(43)}`;

/** The number of admitted requests of this many. */
async function countAdmitted(api: TestServer, line: string, times: number, by?: string): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: times }, async () => (await api.ask(line, by === undefined ? {} : { by })).statusCode),
  );
  return statuses.filter((status) => status !== 429).length;
}

describe("requests of a key", () => {
  test("are limited to 200 at once and 10 a second over all endpoints, then 429 with the seconds to wait", async () => {
    const api = await startCompleteServer();
    const by = await api.key();
    expect(await countAdmitted(api, "GET /customers", 150, by)).toBe(150);
    expect(await countAdmitted(api, "GET /nothing-of-the-kind", 1, by)).toBe(1);
    expect(await countAdmitted(api, "DELETE /customers/nobody", 60, by)).toBe(50);
    const refusal = await api.ask("GET /customers", { by });
    expect(refusal.statusCode).toBe(429);
    expect(refusal.headers["retry-after"]).toBe("1");
    expect(refusal.json()).toEqual({ message: "too many requests; retry after the time in Retry-After" });
    api.pass(1000);
    expect(await countAdmitted(api, "GET /customers", 20, by)).toBe(10);
  });

  test("share a rate limit with its tokens; another key has its own", async () => {
    const api = await startCompleteServer();
    const by = await api.key();
    const { token } = (await api.ask("POST /authenticate", { by })).json<{ token: string }>();
    expect(await countAdmitted(api, "GET /customers", 200, token)).toBe(199);
    expect(await countAdmitted(api, "GET /customers", 1, by)).toBe(0);
    expect(await countAdmitted(api, "GET /customers", 1, await api.key())).toBe(1);
  });

  test.each(["/ingest", "/ingestBatch", "/entitled"])(
    "POST %s has its own limit: 500 at once and 50 a second",
    async (path) => {
      const api = await startCompleteServer();
      const by = await api.key("ingest");
      expect(await countAdmitted(api, `POST ${path}`, 510, by)).toBe(500);
      api.pass(1000);
      expect(await countAdmitted(api, `POST ${path}`, 60, by)).toBe(50);
      expect(await countAdmitted(api, "POST /authenticate", 1, by)).toBe(1);
    },
  );

  test("have configurable limits, or none", async () => {
    const few = await startCompleteServer({ rateLimits: { rest: { perSecond: 1, burst: 2 } } });
    expect(await countAdmitted(few, "GET /customers", 5, await few.key())).toBe(2);
    expect(await countAdmitted(few, "POST /ingest", 5, await few.key())).toBe(5);
    const off = await startCompleteServer({ rateLimits: "off" });
    expect(await countAdmitted(off, "GET /customers", 300, await off.key())).toBe(300);
  });

  test.each([
    { perSecond: 0, burst: 1 },
    { perSecond: 1, burst: 0.5 },
    { perSecond: Number.NaN, burst: 1 },
    { perSecond: 1, burst: Number.POSITIVE_INFINITY },
  ])("%j is not a limit", (limit) => {
    expect(() => createRateLimiter({ rest: limit }, Date.now)).toThrow(
      /^rateLimits\.rest: expected more than 0 a second/,
    );
  });

  test("never exceed the burst, and a clock that is set back adds no requests", () => {
    let now = 1_000_000;
    const limit = createRateLimiter({ rest: { perSecond: 10, burst: 3 } }, () => now);
    const countGranted = (): number =>
      Array.from({ length: 10 }, () => limit("a", undefined)).filter((wait) => wait === undefined).length;
    expect(countGranted()).toBe(3);
    now += 3_600_000;
    expect(countGranted()).toBe(3);
    now -= 7_200_000;
    expect(countGranted()).toBe(0);
    now += 100;
    expect(countGranted()).toBe(1);
    expect(limit("a", undefined)).toBeCloseTo(0.1, 9);
  });
});

describe("requests without a key", () => {
  test("to public endpoints are limited by address", async () => {
    const api = await startCompleteServer();
    expect(await countAdmitted(api, "GET /health", 210)).toBe(200);
    expect((await api.ask("GET /openapi.json")).statusCode).toBe(429);
    expect((await api.ask("GET /docs")).statusCode).toBe(429);
    expect((await api.ask("GET /docs/static/swagger-ui.css")).statusCode).toBe(429);
    expect((await api.ask("GET /nothing")).statusCode).toBe(429);
    expect((await api.ask("GET /health", { from: "10.1.1.1" })).statusCode).toBe(200);
    expect((await api.ask("GET /customers", { by: await api.key() })).statusCode).toBe(200);
  });

  test("ignore X-Forwarded-For unless a proxy is trusted", async () => {
    const headers = { "x-forwarded-for": "203.0.113.7" };
    const own = await startCompleteServer({ rateLimits: { rest: { perSecond: 1, burst: 1 } } });
    expect((await own.ask("GET /health", { headers })).statusCode).toBe(200);
    expect((await own.ask("GET /health", { headers: { "x-forwarded-for": "203.0.113.8" } })).statusCode).toBe(429);
    const behind = await startCompleteServer({ trustProxy: 1, rateLimits: { rest: { perSecond: 1, burst: 1 } } });
    // The client's own values are on the left: only the address seen by the nearest proxy counts.
    const forgedHeader = { "x-forwarded-for": "198.51.100.1, 203.0.113.7" };
    expect((await behind.ask("GET /health", { headers })).statusCode).toBe(200);
    expect((await behind.ask("GET /health", { headers: forgedHeader })).statusCode).toBe(429);
    expect((await behind.ask("GET /health", { headers: { "x-forwarded-for": "203.0.113.8" } })).statusCode).toBe(200);
  });
});

describe("bad credentials", () => {
  test("the sixth from an address within 30 minutes is a 429; a good one is still accepted", async () => {
    const api = await startCompleteServer();
    const good = await api.key("read");
    const statuses: number[] = [];
    for (let time = 0; time < 7; time++) statuses.push((await api.ask("GET /keys", { by: WRONG })).statusCode);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    const refusal = await api.ask("GET /keys", { by: "x.y.z" });
    expect(refusal.headers["retry-after"]).toBe("1800");
    expect(refusal.json()).toEqual({ message: "too many invalid credentials from this address" });
    expect((await api.ask("GET /customers", { by: good })).statusCode).toBe(200);
    expect((await api.ask("GET /customers")).statusCode).toBe(401);
    expect((await api.ask("GET /keys", { by: WRONG, from: "10.0.0.9" })).statusCode).toBe(401);
    api.pass(30 * MINUTE - 1);
    expect((await api.ask("GET /keys", { by: WRONG })).statusCode).toBe(429);
    api.pass(1);
    expect((await api.ask("GET /keys", { by: WRONG })).statusCode).toBe(401);
  });

  test("at most five are allowed in any 30 minutes", () => {
    let now = 0;
    const fail = createFailureCounter(() => now);
    const outcomes = [0, 10, 20, 25, 29, 29.5, 30, 30.5, 39, 40].map((minute) => {
      now = minute * MINUTE;
      return fail("10.0.0.1") === undefined ? 401 : 429;
    });
    expect(outcomes).toEqual([401, 401, 401, 401, 401, 429, 401, 429, 429, 401]);
  });

  test("a /64 of IPv6 is one client, and 10,000 addresses are remembered", () => {
    const fail = createFailureCounter(() => 0);
    for (let host = 1; host <= 5; host++) expect(fail(`2001:db8:1:2::${host}`)).toBeUndefined();
    expect(fail("2001:db8:1:2:ffff::1")).toBe(1800);
    expect(fail("2001:db8:1:3::1")).toBeUndefined();
    for (let other = 0; other < 9998; other++) fail(`10.0.${other >> 8}.${other & 255}`);
    expect(fail("2001:db8:1:2::1")).toBe(1800);
    for (let other = 0; other < 10_000; other++) fail(`10.1.${other >> 8}.${other & 255}`);
    expect(fail("2001:db8:1:2::1")).toBeUndefined();
  });
});

test.each([
  ["127.0.0.1", "127.0.0.1"],
  ["::1", "0:0:0:0::/64"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::FFFF:c000:207", "192.0.2.7"],
  ["2001:DB8::1", "2001:db8:0:0::/64"],
  ["2001:db8:0:0:1:2:3:4", "2001:db8:0:0::/64"],
  ["2001:db8::1:0:0:1", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["64:ff9b::192.0.2.7", "64:ff9b:0:0::/64"],
  ["unknown", "unknown"],
  ["x".repeat(100), "x".repeat(64)],
])("%s is the client %s", (address, client) => {
  expect(toClientNetwork(address)).toBe(client);
});
