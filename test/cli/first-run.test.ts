/** Typical first runs: accounts missing from the book, no plan, no time zone, many accounts, a narrow terminal. */
import { existsSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { eventLine, failure, SMALL_BOOK, smallPlan, testFolder } from "./fake-io.ts";

const files = testFolder();
/** The small book without the minimum and the credit: 2 for each of the first 100 units, 1 beyond. */
const PLAN = smallPlan("pp.small", 2);
const PLAIN_BOOK = {
  ...SMALL_BOOK,
  pricePlans: [PLAN],
  accounts: SMALL_BOOK.accounts.map((account) => ({ ...account, credits: [] })),
};
const book = files.file("book.json", PLAIN_BOOK);

const lineOn = (accountId: string, day: number, units: number): string =>
  eventLine(`${accountId}-${day}`, `2024-01-${String(day).padStart(2, "0")}T00:00:00Z`, units, { accountId });
/** 150 units are 250, 40 are 80, 20 are 40. */
const THREE = lineOn("hooli", 3, 40) + lineOn("hooli", 4, 110) + lineOn("initech", 5, 40) + lineOn("prod", 6, 20);

files.file("three.ndjson", THREE);
files.file("none.json", { ...PLAIN_BOOK, accounts: [], customers: [] });

const runPreview = async (argv: readonly string[], more?: Parameters<typeof files.run>[1]) =>
  files.run(["preview", ...argv], more);

describe("accounts that are not in the book", () => {
  test("are reported together, the largest first, with what to do", async () => {
    const { code, err } = await files.run("preview book.json --events three.ndjson");
    expect(err).toMatch(
      /^2 unknown accounts: hooli \(2 events\), initech \(1 event\); add them to the book or use --accounts-from-events\n4 events read/,
    );
    expect(err).not.toContain("three.ndjson:");
    expect(code).toBe(1);
  });

  test("are reported with a similar name, also for --account", async () => {
    files.file("near.ndjson", lineOn("hooli", 3, 1) + lineOn("prodd", 4, 1));
    const { err } = await files.run("preview book.json --events near.ndjson");
    expect(err).toMatch(
      /^2 unknown accounts: hooli \(1 event\), prodd \(1 event; did you mean "prod"\?\); add them to/,
    );
    files.file("one.ndjson", lineOn("prodd", 4, 1));
    const one = await files.run("preview book.json --events one.ndjson");
    expect(one.err).toMatch(/^1 unknown account: prodd \(1 event; did you mean "prod"\?\); add it to the book/);
    expect((await files.run("preview book.json --at 2024-01-05 --account prodd")).err).toBe(
      'ratebook: no account has the id or alias "prodd": did you mean "prod"?\n',
    );
  });

  test("are created on the book's only plan with --accounts-from-events", async () => {
    const command = "preview book.json --events three.ndjson --accounts-from-events --summary";
    const { code, out, err } = await files.run(command);
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
    files.file("bare.json", { ...PLAIN_BOOK, accounts: [], customers: [], pricePlans: [] });
    files.file("plan.json", PLAIN_BOOK.pricePlans[0]);
    const command = "preview bare.json --events three.ndjson --accounts-from-events --plan plan.json --summary";
    const { out, code } = await files.run(command);
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
    files.file("changed.json", { ...PLAIN_BOOK, ...change });
    const command = "preview changed.json --events three.ndjson --accounts-from-events";
    expect(await files.run(command)).toEqual(failure(sentence, 2));
  });

  test("can't be created from standard input, because the events are read twice", async () => {
    expect((await runPreview([book, "--events", "-", "--accounts-from-events"])).err).toBe(
      "ratebook: --accounts-from-events reads the events twice, so it needs files, not standard input\n",
    );
  });
});

describe("a run that bills nothing explains why", () => {
  test("once, for unknown accounts of a book without accounts", async () => {
    const { err } = await files.run("preview none.json --events three.ndjson");
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
    const changedFile = files.file("changed.json", { ...PLAIN_BOOK, ...change });
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
  test("is written to the file of -o atomically", async () => {
    const { out } = await files.run("preview book.json --events - --format csv -o out.csv", {
      stdin: lineOn("prod", 3, 1),
    });
    expect(out).toBe("");
    expect(files.read("out.csv")).toMatch(/^accountId,/);
    const { code, err } = await files.run("preview book.json --at 2024-01-05 --format json -o none/x.txt");
    expect(err).toMatch(/ratebook: none\/x\.txt: cannot write: no such file\n$/);
    expect(code).toBe(1);
    expect(existsSync(`${files.path}/none`)).toBe(false);
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
    files.file("1.ndjson", lineOn("prod", 1, 1));
    files.file("2.ndjson", lineOn("prod", 2, 2));
    expect((await files.run("preview book.json --events 1.ndjson 2.ndjson")).err).toMatch(/^2 events read/);
    const any = files.file("events.txt", lineOn("prod", 1, 1));
    expect((await runPreview([book, "--events", any, "--event-format", "ndjson"])).err).toMatch(/^1 event read/);
    expect((await runPreview([book, "--events", any, "--event-format", "csv"])).err).toBe(
      "ratebook: events.txt is CSV and needs a --map that names the column of each event field; ratebook init --from FILE writes one\n",
    );
  });
});
