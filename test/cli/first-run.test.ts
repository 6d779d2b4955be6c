/** Typical first runs: accounts missing from the book, no plan, no time zone, many accounts, a narrow terminal. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Folder, folder, eventLine, ratebook, SMALL_BOOK } from "./fake-io.ts";

let files: Folder;
let book: string;
/** The small book without the minimum and the credit: 2 for each of the first 100 units, 1 beyond. */
const [PLAN] = SMALL_BOOK.pricePlans;
const PLAIN_BOOK = {
  ...SMALL_BOOK,
  pricePlans: [{ ...PLAN, pricePlanDetails: { ...PLAN?.pricePlanDetails, minimumCommitment: null } }],
  accounts: SMALL_BOOK.accounts.map((account) => ({ ...account, credits: [] })),
};
beforeAll(() => {
  files = folder();
  book = files.file("book.json", JSON.stringify(PLAIN_BOOK));
});
afterAll(() => files.remove());

const lineOn = (accountId: string, day: number, units: number): string =>
  eventLine(`${accountId}-${day}`, `2024-01-${String(day).padStart(2, "0")}T00:00:00Z`, units, { accountId });
/** 150 units are 250, 40 are 80, 20 are 40. */
const THREE = lineOn("hooli", 3, 40) + lineOn("hooli", 4, 110) + lineOn("initech", 5, 40) + lineOn("prod", 6, 20);

const runPreview = async (argv: readonly string[], more: Parameters<typeof ratebook>[1] = {}) =>
  ratebook(["preview", ...argv], { folderPath: files.path, ...more });

describe("accounts that are not in the book", () => {
  test("are reported together, the largest first, with what to do", async () => {
    const events = files.file("three.ndjson", THREE);
    const { code, err } = await runPreview([book, "--events", events]);
    expect(err).toMatch(
      /^2 unknown accounts: hooli \(2 events\), initech \(1 event\); add them to the book or use --accounts-from-events\n4 events read/,
    );
    expect(err).not.toContain("three.ndjson:");
    expect(code).toBe(1);
  });

  test("a similar name is suggested", async () => {
    const near = { ...PLAIN_BOOK, accounts: PLAIN_BOOK.accounts.map((account) => ({ ...account, id: "production" })) };
    const { err } = await runPreview([files.file("near.json", JSON.stringify(near)), "--events", "-"], {
      stdin: lineOn("producton", 3, 1),
    });
    expect(err).toMatch(/^1 unknown account: producton \(1 event; did you mean "production"\?\); add it to the book/);
  });

  test("similar names are suggested, also for --account", async () => {
    const events = files.file("near.ndjson", lineOn("hooli", 3, 1) + lineOn("prodd", 4, 1));
    const { err } = await runPreview([book, "--events", events]);
    expect(err).toMatch(
      /^2 unknown accounts: hooli \(1 event\), prodd \(1 event; did you mean "prod"\?\); add them to/,
    );
    expect((await runPreview([book, "--at", "2024-01-05", "--account", "prodd"])).err).toBe(
      'ratebook: no account has the id or alias "prodd": did you mean "prod"?\n',
    );
  });

  test("are created on the book's only plan with --accounts-from-events", async () => {
    const events = files.file("three.ndjson", THREE);
    const { code, out, err } = await runPreview([book, "--events", events, "--accounts-from-events", "--summary"]);
    expect(err).toBe(
      "note: 2 accounts created from the events, for this run only\n4 events read: 4 metered; 3 invoices\n",
    );
    // 250 of 370 are 67.57 %, 80 are 21.62 %, 40 are 10.81 %.
    expect(out).toBe(
      [
        "Account       Events  Quantity     USD  Share",
        "─".repeat(45),
        "hooli              2       150  250.00  67.6%",
        "initech            1        40   80.00  21.6%",
        "prod               1        20   40.00  10.8%",
        "─".repeat(45),
        "Total              4            370.00   100%",
        "",
      ].join("\n"),
    );
    expect(code).toBe(0);
  });

  test("S6.4 a new account has the plan from the natural cycle of its first event on", async () => {
    const events = files.file("late.ndjson", lineOn("hooli", 20, 1));
    const { out } = await runPreview([book, "--events", events, "--accounts-from-events", "--account", "hooli"]);
    expect(out).toContain("hooli, customer hooli\nInvoice for 2024-01-01 to 2024-01-31");
  });

  test("are created on the plan of --plan", async () => {
    const none = files.file(
      "none.json",
      JSON.stringify({ ...PLAIN_BOOK, accounts: [], customers: [], pricePlans: [] }),
    );
    const plan = files.file("plan.json", JSON.stringify(PLAIN_BOOK.pricePlans[0]));
    const events = files.file("three.ndjson", THREE);
    const { out, code } = await runPreview([
      none,
      "--events",
      events,
      "--accounts-from-events",
      "--plan",
      plan,
      "--summary",
    ]);
    expect(out).toMatch(/^Total +4 +370\.00 +100%$/m);
    expect(code).toBe(0);
  });

  test.each([
    [
      "a book of two plans",
      { pricePlans: [...PLAIN_BOOK.pricePlans, { ...PLAN, id: "pp.other", name: "Other" }] },
      "--accounts-from-events needs one price plan, but the book has several: archive the others, or use preview --plan FILE",
    ],
    [
      "a book without a plan",
      { pricePlans: [], accounts: [] },
      "--accounts-from-events needs a price plan, but the book has none: add one, or use preview --plan FILE",
    ],
  ])("can't be created from %s", async (_, change, sentence) => {
    const changedFile = files.file("changed.json", JSON.stringify({ ...PLAIN_BOOK, ...change }));
    const events = files.file("three.ndjson", THREE);
    expect(await runPreview([changedFile, "--events", events, "--accounts-from-events"])).toEqual({
      code: 2,
      out: "",
      err: `ratebook: ${sentence}\n`,
    });
  });

  test("can't be created from standard input, because the events are read twice", async () => {
    expect((await runPreview([book, "--events", "-", "--accounts-from-events"])).err).toBe(
      "ratebook: --accounts-from-events reads the events twice, so it needs files, not standard input\n",
    );
  });
});

describe("a run that bills nothing explains why", () => {
  test("once, for unknown accounts of a book without accounts", async () => {
    const none = files.file("none.json", JSON.stringify({ ...PLAIN_BOOK, accounts: [], customers: [] }));
    const { err } = await runPreview([none, "--events", files.file("three.ndjson", THREE)]);
    expect(err).toMatch(/^3 unknown accounts: /);
    expect(err.match(/--accounts-from-events/g)).toHaveLength(1);
  });

  test.each([
    ["no account", { accounts: [] }, "the book has no accounts; add some, or use --accounts-from-events"],
    [
      "no plan",
      { accounts: PLAIN_BOOK.accounts.map((account) => ({ ...account, pricePlans: [] })) },
      "no account has a plan; add pricePlans to the accounts, or use --plan FILE",
    ],
  ])("%s", async (_, change, reason) => {
    const changedFile = files.file("changed.json", JSON.stringify({ ...PLAIN_BOOK, ...change }));
    const { err } = await runPreview([changedFile, "--at", "2024-01-05"]);
    expect(err).toContain(`note: nothing billed: ${reason}\n`);
  });

  test("for a plan that is not in force yet", async () => {
    expect((await runPreview([book, "--at", "2023-01-05"])).err).toContain(
      "note: nothing billed: no account had a plan in that period, or none prices this usage\n",
    );
  });
});

describe("output", () => {
  const MAP = {
    schemaName: { value: "call" },
    accountId: { value: "prod" },
    id: { template: "{row}" },
    timestamp: { column: "at" },
    attributes: { units: { column: "n" } },
    dimensions: { region: { value: "eu" } },
  };

  test("S2.2 names the remedy for timestamps without a zone once", async () => {
    const map = files.file("map.json", JSON.stringify(MAP));
    const events = files.file("zoneless.csv", "at,n\n2024-01-01 00:00:00,1\n2024-01-02 00:00:00,1\n");
    const { err, code } = await runPreview([book, "--events", events, "--map", map]);
    expect(err.match(/"zone": "UTC"/g)).toHaveLength(1);
    expect(code).toBe(1);
  });

  test.each([
    ["1,250.5", "."],
    ["1250,5", ","],
  ])("S1.2 names the remedy for a number such as %s once", async (text, mark) => {
    const map = files.file("map.json", JSON.stringify(MAP));
    const events = files.file("formed.csv", `at;n\n2024-01-01T00:00:00Z;${text}\n2024-01-02T00:00:00Z;${text}\n`);
    const { err, code } = await runPreview([book, "--events", events, "--map", map]);
    expect(err.split(`"decimal": "${mark}"`)).toHaveLength(2);
    expect(code).toBe(1);
  });

  test("is written to the file of -o atomically", async () => {
    const path = join(files.path, "out.csv");
    const { out } = await runPreview([book, "--events", "-", "--format", "csv", "-o", path], {
      stdin: lineOn("prod", 3, 1),
    });
    expect(out).toBe("");
    expect(readFileSync(path, "utf8")).toMatch(/^accountId,/);
    const { code, err } = await runPreview([
      book,
      "--at",
      "2024-01-05",
      "--format",
      "json",
      "-o",
      join(files.path, "none", "x.txt"),
    ]);
    expect(err).toMatch(/ratebook: none\/x\.txt: cannot write: no such file\n$/);
    expect(code).toBe(1);
    expect(existsSync(join(files.path, "none"))).toBe(false);
  });

  test.each([72, 80, 100, 300])("fits a terminal of %i columns, at most 100 wide", async (columns) => {
    const { out } = await runPreview([book, "--events", "-", "--explain"], {
      stdin: lineOn("prod", 3, 150),
      terminal: { columns, hasColors: false },
    });
    expect(Math.max(...out.split("\n").map((text) => text.length))).toBe(Math.min(columns, 100));
  });

  test("uses colors on a terminal that supports them, and otherwise prints the same text", async () => {
    const stdin = lineOn("prod", 3, 150);
    const plain = await runPreview([book, "--events", "-"], { stdin });
    const coloredRun = await runPreview([book, "--events", "-"], {
      stdin,
      terminal: { columns: 100, hasColors: true },
    });
    expect(coloredRun.out).toContain("\u001b[1m");
    // oxlint-disable-next-line no-control-regex -- these characters set colors
    expect(coloredRun.out.replaceAll(/\u001b\[\d+m/g, "")).toBe(plain.out);
  });

  test("is a summary for more than 50 invoices on a terminal, with how to see all of them", async () => {
    const stdin = Array.from({ length: 51 }, (_, n) => lineOn(`a-${String(n).padStart(2, "0")}`, 3, n + 1)).join("");
    const events = files.file("many.ndjson", stdin);
    const argv = [book, "--events", events, "--accounts-from-events", "--from", "2024-01-01", "--until", "2024-02-01"];
    const plain = await runPreview(argv, { terminal: { columns: 80, hasColors: false } });
    expect(plain.out).toMatch(/^Account +Events +Quantity +USD +Share\n/);
    expect(plain.out.split("\n")[2]).toMatch(/^a-50 +1 +51 +102\.00 +/);
    expect(plain.err).toContain("note: 51 invoices do not fit a terminal: use --account ID");
    expect((await runPreview(argv)).out.match(/Invoice for/g)).toHaveLength(51);
  });

  test("several files follow one --events", async () => {
    const [one, two] = [files.file("1.ndjson", lineOn("prod", 1, 1)), files.file("2.ndjson", lineOn("prod", 2, 2))];
    expect((await runPreview([book, "--events", one, two])).err).toMatch(/^2 events read/);
    const any = files.file("events.txt", lineOn("prod", 1, 1));
    expect((await runPreview([book, "--events", any, "--event-format", "ndjson"])).err).toMatch(/^1 event read/);
    expect((await runPreview([book, "--events", any, "--event-format", "csv"])).err).toBe(
      "ratebook: events.txt is CSV and needs a --map that names the column of each event field; ratebook init --from FILE writes one\n",
    );
  });
});
