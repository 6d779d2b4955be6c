/** `--engine threads`: unusual files, and those that only one thread can read. */
import { appendFileSync, existsSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";

import { afterAll, describe, expect, test } from "vitest";

import { overageCards, perUnit, planOfMonths, sumMeter, tokenCards } from "../../book/builder.ts";
import { folder, eventLine, type Ran, ratebook, SMALL_BOOK } from "../fake-io.ts";

const place = folder();
const book = place.file("book.json", JSON.stringify(SMALL_BOOK));
afterAll(() => place.remove());

const noonOf = (n: number): string => `2024-01-${String(n).padStart(2, "0")}T12:00:00Z`;
const plain = Array.from({ length: 20 }, (_, n) => eventLine(`e-${n}`, noonOf(n + 1), n + 0.5)).join("");

async function runOnEngine(engine: string, argv: readonly string[], more: object = {}): Promise<Ran> {
  return ratebook([...argv, "--engine", engine], { cut: place.path, partBytes: 300, ...more });
}

/** The output of both readers, which must be equal. */
async function both(argv: readonly string[], more: object = {}): Promise<Ran> {
  const core = await runOnEngine("core", argv, more);
  expect(await runOnEngine("threads", argv, more)).toEqual(core);
  return core;
}

function rejected(reason: string): Ran {
  return { code: 2, out: "", err: `ratebook: --engine threads ${reason}; use --engine core\n` };
}

describe("S17.3 --engine threads prints the same as one thread", () => {
  test("for the sum of events in several ranges: 20 events of 0.5 to 19.5 are 200 units", async () => {
    const events = place.file("plain.ndjson", plain);
    const { out } = await both(["meter", book, "--events", events, "--format", "csv"]);
    const units = out.split(/\r?\n/).map((row) => Number(row.split(",").at(-1)));
    expect(units.filter((each) => each > 0).reduce((sum, each) => sum + each, 0)).toBe(200);
  });

  test("for an id that repeats in another range and in another file: it counts once", async () => {
    const first = place.file(
      "first.ndjson",
      plain + eventLine("e-3", noonOf(22), 1000) + eventLine("e-4", noonOf(23), 1000),
    );
    const second = place.file("second.ndjson", eventLine("e-5", noonOf(1), 1000));
    const { out, err } = await both(["preview", book, "--events", first, second, "--format", "csv"]);
    expect(err).toContain("3 duplicates");
    // Of the two e-5, the one of 1 January counts: 1,000 instead of 5.5.
    expect(out).toContain(",um.units,units,1194.5,");
  });

  test("for an event more than ten years before the others, which is named by its id", async () => {
    const far = place.file("far.ndjson", eventLine("far-off", "1999-01-01T00:00:00Z", 1) + plain);
    const { code, err } = await both(["preview", book, "--events", far]);
    expect([code, err]).toEqual([2, expect.stringContaining('event "far-off"')]);
  });

  test("for a feature consumed with 19 decimals beside summed events", async () => {
    const job = { schemaName: "job", attributes: [{ name: "units", value: "0.1234567890123456789" }] };
    const withFeature = place.file(
      "feature.json",
      JSON.stringify({
        ...SMALL_BOOK,
        eventSchemas: [...SMALL_BOOK.eventSchemas, { name: "job", attributes: [{ name: "units" }] }],
        features: [
          {
            id: "feature.tokens",
            name: "Tokens",
            schemaAssociations: [{ schemaName: "job", attributeName: "units" }],
          },
        ],
        usageMeters: [sumMeter("um.units", "call", "units")],
        pricePlans: [
          planOfMonths("pp.small", {
            usageRateCards: [{ usageMeterId: "um.units", ...perUnit("0.3") }],
            ...tokenCards(500),
            ...overageCards(0.002),
          }),
        ],
      }),
    );
    const events = place.file(
      "wide.ndjson",
      plain + eventLine("j-1", noonOf(21), 1, job) + eventLine("e-21", noonOf(22), 7),
    );
    const { code, err } = await both(["preview", withFeature, "--events", events]);
    expect([code, err]).toEqual([0, expect.stringContaining("22 events read")]);
  });

  test("for a file whose size its file system doesn't report", async () => {
    const untold = existsSync("/proc/version") ? "/proc/version" : "/dev/null";
    const argv = ["preview", book, "--events", untold];
    expect((await runOnEngine("core", argv)).code).toBeLessThan(2);
    expect(await runOnEngine("threads", argv)).toEqual(rejected(`needs uncompressed files on disk, got ${untold}`));
  });

  test("for many files, of which a thread opens one at a time", async () => {
    const events = Array.from({ length: 60 }, (_, n) =>
      place.file(`many-${n}.ndjson`, eventLine(`m-${n}`, noonOf(1), n)),
    );
    const countOpenFiles = (): number => readdirSync("/dev/fd").length;
    const before = countOpenFiles();
    let most = 0;
    const onPart = (): void => {
      most = Math.max(most, countOpenFiles() - before);
    };
    await both(["preview", book, "--events", ...events], { onPart });
    expect(most).toBeLessThan(30);
  });

  test("for objects of another kind, with a map", async () => {
    const rows = Array.from({ length: 9 }, (_, n) =>
      JSON.stringify({ key: `k-${n % 7}`, who: "c-1", at: noonOf(n + 1), n }),
    );
    const events = place.file("objects.ndjson", `${rows.join("\n")}\n{"key": 1}\n`);
    const map = {
      schemaName: { value: "call" },
      id: { column: "key" },
      accountId: { column: "who" },
      timestamp: { column: "at" },
      attributes: { units: { column: "n" } },
      dimensions: { region: { value: "eu" } },
    };
    const mapFile = place.file("map.json", JSON.stringify(map));
    const { err } = await both(["preview", book, "--events", events, "--map", mapFile]);
    expect(err).toContain("objects.ndjson:10: the map uses the field");
    // The line number is unknown where a range begins.
    const byRow = place.file("by-row.json", JSON.stringify({ ...map, id: { template: "row-{row}" } }));
    const argv = ["preview", book, "--events", events, "--map", byRow];
    expect((await runOnEngine("core", argv)).err).toContain("9 metered");
    expect(await runOnEngine("threads", argv)).toEqual(rejected("cannot number rows, and by-row.json uses {row}"));
  });

  test("except a compressed file and standard input, which only one thread can read", async () => {
    const gzip = ["preview", book, "--events", place.file("plain.ndjson.gz", gzipSync(plain))];
    expect((await runOnEngine("core", gzip)).code).toBe(0);
    expect(await runOnEngine("threads", gzip)).toEqual(
      rejected("needs uncompressed files on disk, got plain.ndjson.gz"),
    );
    const stdin = ["preview", book, "--events", "-"];
    expect((await runOnEngine("core", stdin, { stdin: plain })).code).toBe(0);
    expect(await runOnEngine("threads", stdin, { stdin: plain })).toEqual(
      rejected("needs uncompressed files on disk, got standard input"),
    );
  });
});

describe("S17.5 a file that can't be read to its end prices nothing", () => {
  test("because it changes while it is read", async () => {
    const events = place.file("growing.ndjson", plain);
    const grow = (): void => appendFileSync(events, eventLine("more", noonOf(25), 1));
    const ran = await runOnEngine("threads", ["preview", book, "--events", events], { onPart: grow });
    expect(ran).toEqual({
      code: 1,
      out: "",
      err: "ratebook: growing.ndjson changed while it was being read, so nothing was priced\n",
    });
  });

  test("because a thread can't read it", async () => {
    const events = place.file("failing.ndjson", plain);
    const fail = (): void => {
      throw Object.assign(new Error("EIO: i/o error, read"), { code: "EIO", syscall: "read" });
    };
    const { code, out, err } = await runOnEngine("threads", ["preview", book, "--events", events], { onPart: fail });
    expect([code, out, err]).toEqual([
      1,
      "",
      expect.stringMatching(/^ratebook: failing\.ndjson: reading from the device failed[^\n]*\n$/),
    ]);
  });
});
