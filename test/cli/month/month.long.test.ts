/**
 * A price change and its verification on a month of a million events: the commands of the guide, as separate processes.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { buildProgram, WATCH, writeEvents } from "../../../bench/cli/scenario.ts";
import { type Decimal, parseDecimal } from "../../../src/numbers/decimal.ts";
import { compareFractions, type Fraction, sumFractions, toFraction } from "../../../src/numbers/fraction.ts";
import { parseJson } from "../../../src/numbers/json.ts";
import { MONTH_DRAFTS, monthBook } from "./month.ts";

const EVENTS = 1_000_000;
const BYTES_MAX = 1e9;
const drafts = MONTH_DRAFTS.map((_, index) => `draft-${index}.json`);

let program: ReturnType<typeof buildProgram>;
let folder: string;

beforeAll(() => {
  program = buildProgram(resolve(import.meta.dirname, "../../.."));
  folder = mkdtempSync(join(tmpdir(), "ratebook-month-"));
  writeFileSync(join(folder, "watch.mjs"), WATCH);
  writeFileSync(join(folder, "book.json"), JSON.stringify(monthBook()));
  for (const [index, draft] of MONTH_DRAFTS.entries()) {
    writeFileSync(join(folder, `draft-${index}.json`), JSON.stringify(draft));
  }
  writeEvents(join(folder, "events.ndjson"), EVENTS);
  const explainOptions = "--explain --format json";
  ratebook("meter book.json --events events.ndjson -o cells.ndjson");
  ratebook(`preview book.json --events events.ndjson ${explainOptions} -o now.json`);
  for (const draft of drafts)
    ratebook(`preview book.json --usage cells.ndjson --plan ${draft} ${explainOptions} -o of-${draft}`);
});
afterAll(() => {
  rmSync(program.folder, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Runs a command in the folder.
 *
 * @returns its output, if it succeeded within the memory limit
 */
function ratebook(command: string): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", join(folder, "watch.mjs"), program.bin, ...command.split(" ")],
    { cwd: folder, encoding: "utf8", env: { ...process.env, PEAK_FILE: join(folder, "peak") } },
  );
  expect([command, status, status === 0 ? "" : stderr]).toEqual([command, 0, ""]);
  expect(1024 * Number(readFileSync(join(folder, "peak"), "utf8"))).toBeLessThan(BYTES_MAX);
  return stdout;
}

/** A JSON file in the folder; numbers keep all digits. */
const fileOf = (name: string): unknown => parseJson(readFileSync(join(folder, name), "utf8"));

/** A number of a JSON file; numbers with many digits are decimals. */
type Amount = number | Decimal;

interface Invoice {
  readonly accountId: string;
  readonly revenueInfo: { readonly value: Amount };
}
const readInvoices = (name: string): readonly Invoice[] =>
  (fileOf(name) as { readonly invoices: readonly Invoice[] }).invoices;

/** The sum of invoices by account. */
function sumByAccount(invoices: readonly Invoice[]): Readonly<Record<string, string>> {
  const totals = new Map<string, Decimal>();
  for (const { accountId, revenueInfo } of invoices) {
    totals.set(accountId, parseDecimal(revenueInfo.value).plus(totals.get(accountId) ?? 0));
  }
  return Object.fromEntries([...totals].map(([id, total]) => [id, total.toFixed()]));
}

describe("a price change over a million events", () => {
  test("S17.1 invoices from cells equal those from events", () => {
    ratebook("preview book.json --usage cells.ndjson --explain --format json -o from-cells.json");
    const invoices = readInvoices("from-cells.json");
    expect(invoices.length).toBeGreaterThan(2000);
    expect(JSON.stringify(invoices)).toBe(JSON.stringify(readInvoices("now.json")));
  });

  test("S13.5 a backtest of three drafts in one pass equals a preview of each draft", () => {
    ratebook(
      `backtest book.json --plan ${drafts.join(" ")} --events events.ndjson --format json --all -o backtest.json`,
    );
    interface Plan {
      readonly accounts: readonly { readonly accountId: string; readonly before: Amount; readonly after: Amount }[];
    }
    const { plans } = fileOf("backtest.json") as { readonly plans: readonly Plan[] };
    const before = sumByAccount(readInvoices("now.json"));
    expect(Object.keys(before)).toHaveLength(1000);
    for (const [index, { accounts }] of plans.entries()) {
      const sideOf = (side: "before" | "after"): object =>
        Object.fromEntries(accounts.map((each) => [each.accountId, parseDecimal(each[side]).toFixed()]));
      expect(sideOf("before")).toEqual(before);
      expect(sideOf("after")).toEqual(sumByAccount(readInvoices(`of-draft-${index}.json`)));
    }
    expect(plans).toHaveLength(3);
  });

  test("S13.6 the causes of every line add up to its difference, and the lines to the account's difference", () => {
    interface Line {
      readonly before: Amount;
      readonly after: Amount;
      readonly difference: Amount;
      readonly causes: Readonly<Record<string, { readonly numerator: Amount; readonly denominator: number }>>;
    }
    interface Account {
      readonly accountId: string;
      readonly lines: readonly Line[];
      readonly total: Line;
    }
    const seenTypes = new Set<string>();
    const expectSum = (parts: readonly Fraction[], difference: Amount): void =>
      expect(compareFractions(sumFractions(parts), toFraction(parseDecimal(difference)))).toBe(0);
    for (const draft of drafts) {
      ratebook(`diff now.json of-${draft} --format json -o diff.json`);
      const { accounts } = fileOf("diff.json") as { readonly accounts: readonly Account[] };
      expect(accounts).toHaveLength(1000);
      const [before, after] = [sumByAccount(readInvoices("now.json")), sumByAccount(readInvoices(`of-${draft}`))];
      for (const { accountId, lines, total } of accounts) {
        for (const { causes, difference } of [...lines, total]) {
          const parts = Object.entries(causes).map(([cause, { numerator, denominator }]) => {
            seenTypes.add(cause);
            return { numerator: parseDecimal(numerator), denominator };
          });
          expectSum(parts, difference);
        }
        expectSum(
          lines.map(({ difference }) => toFraction(parseDecimal(difference))),
          total.difference,
        );
        expect([parseDecimal(total.before).toFixed(), parseDecimal(total.after).toFixed()]).toEqual([
          before[accountId],
          after[accountId],
        ]);
      }
    }
    expect([...seenTypes].toSorted()).toEqual(["bounds", "commitment", "credits", "rates", "rounding"]);
  });

  test("S13.6 every event, quantity and amount is verified", () => {
    const verified =
      /^1,000,000 of 1,000,000 events verified\n(\S+) of \1 quantities verified\n(\S+) of \2 amounts verified\n$/;
    expect(ratebook("verify now.json --book book.json --events events.ndjson")).toMatch(verified);
    for (const draft of drafts) {
      const fromCells = /^(\S+) of \1 quantities verified\n(\S+) of \2 amounts verified\n$/;
      expect(ratebook(`verify of-${draft} --usage cells.ndjson`)).toMatch(fromCells);
    }
  });

  test("lint finds the price drop of a VOLUME card, and nothing else", () => {
    expect(ratebook("lint book.json").match(/(?:warning|note) \S+ \S+/g)).toEqual([
      "note PRICE_FALLS pp.tokens@1/usage/um.chat/slab/2:",
      "note PRICE_FALLS pp.dear@1/usage/um.chat/slab/2:",
    ]);
  });
});
