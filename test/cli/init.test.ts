/** `ratebook init`: what it writes runs at once, from a template and for files that it has never seen. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { type Folder, folder, line, ratebook } from "./fake-io.ts";

let files: Folder;
beforeEach(() => {
  files = folder();
});
afterEach(() => files.remove());

/** Runs the second of the two commands that were printed. */
async function runPrinted(out: string): ReturnType<typeof ratebook> {
  const [check, preview] = out
    .split("Next:\n")[1]
    ?.trim()
    .split("\n")
    .map((text) => text.trim().replace("npx ratebook ", "").split(" ")) ?? [[], []];
  expect(await ratebook(check ?? [])).toMatchObject({ code: 0, err: "" });
  return ratebook(preview ?? [], { cut: files.path });
}

describe("a template", () => {
  // usage: 1,000 free, 9,000 at 0.002, 2,500 at 0.001 are 20.50. seats: 5 × 12, 3 × 12 × 16/31, and 20.50. credits:
  // 20.50 less 20. llm-api: 4 × 0.5 + 1 × 1.5 + 1.2 × 5 + 0.3 × 15. hybrid: the seats' and 49.
  test.each([
    ["usage", "20.50"],
    ["seats", "99.08"],
    ["credits", "0.50"],
    ["llm-api", "14.00"],
    ["hybrid", "148.08"],
  ])("%s is priced as printed, and comes to %s", async (name, total) => {
    const { code, out } = await ratebook(["init", files.path, "--template", name]);
    expect(code).toBe(0);
    const ran = await runPrinted(out);
    expect(ran.code).toBe(0);
    const summary = await ratebook([
      "preview",
      join(files.path, "book.jsonc"),
      "--events",
      join(files.path, "events.csv"),
      "--map",
      join(files.path, "map.jsonc"),
      "--summary",
    ]);
    expect(summary.out).toMatch(new RegExp(`^Total +3 +${total.replace(".", String.raw`\.`)} +100%$`, "m"));
  });

  test("is not written over what is there", async () => {
    const mine = files.file("map.jsonc", "{}");
    const { code, err } = await ratebook(["init", files.path], { cut: files.path });
    expect(err).toBe(
      "ratebook: map.jsonc is there already: nothing was written; say another directory, as in: ratebook init DIR\n",
    );
    expect(code).toBe(1);
    expect(readdirSync(files.path)).toEqual(["map.jsonc"]);
    expect(readFileSync(mine, "utf8")).toBe("{}");
  });
});

describe("--from a CSV file", () => {
  test("finds time, account, id and numbers by names and values, and prices every unit at a cent", async () => {
    const csv = files.file(
      "Job runs 2025.csv",
      [
        "run_id,Customer Name,started at,Minutes,GB-out,Region,note,Updated At",
        'j-1,Hooli,2025-11-03 08:00:00,12.5,3,"eu, west",,2025-11-03 09:00:00',
        "j-2,Initech,2025-11-04 08:00:00,30,0.25,us,late,2025-11-04 09:00:00",
        "j-3,Hooli,2025-11-05 08:00:00,7.5,1,us,,2025-11-05 09:00:00",
        "",
      ].join("\n"),
    );
    const { out, code } = await ratebook(["init", files.path, "--from", csv], { cut: files.path });
    expect(code).toBe(0);
    expect(out).toContain(
      'time in "started at", taken as UTC (see "zone" in the map); account in "Customer Name"; event id in "run_id"',
    );
    expect(out).toContain('meters for "Minutes", "GB-out"\n');
    expect(out).toContain('not used: "note", it is empty in some rows\nnot used: "Updated At", it is another time\n');
    const argv = ["preview", join(files.path, "book.jsonc"), "--events", csv, "--map", join(files.path, "map.jsonc")];
    const ran = await ratebook([...argv, "--accounts-from-events", "--summary"]);
    // Hooli: 20 minutes and 4 GB are 24 cents. Initech: 30 minutes are 30 cents, 0.25 GB are 0.0025, which is no cent.
    expect(ran.out).toMatch(/^Initech +1 +2 meters +0\.30 +55\.6%\nHooli +2 +2 meters +0\.24 +44\.4%\n/m);
    expect(ran.out).toMatch(/^Total +3 +0\.54 +100%$/m);
    expect(ran.code).toBe(0);
  });

  test("the printed commands run as they are, from another directory too", async () => {
    const csv = files.file("usage.csv", "when,calls\n2026-02-01T00:00:00Z,250\n2026-02-02T00:00:00Z,150\n");
    mkdirSync(join(files.path, "prices"));
    const { out } = await ratebook(["init", join(files.path, "prices"), "--from", csv]);
    const ran = await runPrinted(out);
    expect(ran.out).toMatch(/^account-1 +2 +400 +4\.00 +100\.0%$/m);
    expect(ran.code).toBe(0);
  });

  test.each([
    [
      "without a time",
      "a,b\n1,2\n",
      /^ratebook: in\.csv: no column holds a date-time in each row, .* the header has "a", "b"\n$/,
    ],
    ["without rows", "a,b\n", /^ratebook: in\.csv: expected a header and at least one row\n$/],
    ["that is empty", "", /^ratebook: in\.csv: the file is empty\n$/],
    ["that is none", '"a\nb', /^ratebook: in\.csv: the file is neither CSV nor NDJSON: /],
  ])("refuses one %s, and writes nothing", async (_, content, sentence) => {
    const csv = files.file("in.csv", content);
    const { code, err } = await ratebook(["init", files.path, "--from", csv], { cut: files.path });
    expect(err).toMatch(sentence);
    expect(code).toBe(1);
    expect(existsSync(join(files.path, "book.jsonc"))).toBe(false);
  });
});

describe("--from an NDJSON file", () => {
  test("needs no map: each number that all events carry is a meter", async () => {
    const events = files.file(
      "in.ndjson",
      line("a", "2024-01-05T00:00:00Z", 60) + line("b", "2024-01-06T00:00:00Z", 90),
    );
    const { out } = await ratebook(["init", files.path, "--from", events], { cut: files.path });
    expect(out).toContain('meters for "units" of "call"\n');
    const book = join(files.path, "book.jsonc");
    const ran = await ratebook(["preview", book, "--events", events, "--accounts-from-events", "--summary"]);
    expect(ran.out).toMatch(/^prod +2 +150 +1\.50 +100\.0%$/m);
    expect(existsSync(join(files.path, "map.jsonc"))).toBe(false);
  });

  test("of other objects says what to do", async () => {
    const events = files.file("in.ndjson", '{"user":"a","n":1}\n');
    expect((await ratebook(["init", files.path, "--from", events], { cut: files.path })).err).toBe(
      "ratebook: in.ndjson:1: expected an event {schemaName, id, timestamp, accountId, attributes, dimensions}: of other JSON make CSV first\n",
    );
  });
});
