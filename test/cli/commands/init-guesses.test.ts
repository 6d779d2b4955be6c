/** What `ratebook init` takes for a quantity, an id, an account and a decimal mark, and when it asks. */
import { existsSync } from "node:fs";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { isAccountId } from "../../../src/book/resources/account.ts";
import { createAccountIds } from "../../../src/cli/init/describe-columns.ts";
import { guessColumns } from "../../../src/event-files/guess-columns.ts";
import { failure } from "../fake-io.ts";
import { initFolder } from "./init-runs.ts";

const files = initFolder();
const runPreview = async () =>
  files.run("preview prices/book.jsonc --events usage.csv --map prices/map.jsonc --accounts-from-events --summary");
const readMapText = (): string => files.read("prices/map.jsonc");

/** Guesses the columns of a file with ten rows, whose cells are functions of the row from 0. */
function guess(columns: Readonly<Record<string, (row: number) => string | number>>): ReturnType<typeof guessColumns> {
  const rows = Array.from({ length: 10 }, (_, row) => [
    `2026-03-${String(row + 1).padStart(2, "0")}T00:00:00Z`,
    ...Object.values(columns).map((cell) => String(cell(row))),
  ]);
  return guessColumns({ header: ["time", ...Object.keys(columns)], rows });
}

describe("numbers that could be read with either mark", () => {
  const AMBIGUOUS = "Datum;Kunde;Menge\n02.03.2026;globex;1.234\n03.03.2026;globex;2.345\n";

  test("are refused, with what to add", async () => {
    const sentence = 'usage.csv: the numbers of the column "Menge" can be read in two ways; ';
    const advice = "add --decimal . if 1.234 is 1.234, or --decimal , if it is 1234";
    expect(await files.init(AMBIGUOUS)).toEqual(failure(sentence + advice));
    expect(existsSync(`${files.path}/prices`)).toBe(false);
    // Other columns that contradict each other do not help.
    expect(await files.init("Datum;Kunde;Menge;a;b\n02.03.2026;globex;1.234;0,5;0.5\n")).toEqual(
      failure(sentence + advice),
    );
  });

  test.each([
    // 1,234 + 2,345 at a cent; 1.234 + 2.345 at a cent are 0.03579.
    [",", '"Menge" 1234 ("1.234" is read as 1234)', /^Total +2 .*35\.79 +100%$/m],
    [".", '"Menge" 1.234\n', /^Total +2 .*0\.04 +100%$/m],
  ])("are read with --decimal %s", async (mark, note, total) => {
    const { out } = await files.init(AMBIGUOUS, "--decimal", mark);
    expect(out).toContain(note);
    expect(readMapText()).toContain(`"Menge": { "column": "Menge", "decimal": "${mark}" }`);
    expect(await runPreview()).toMatchObject({ code: 0, out: expect.stringMatching(total) });
  });

  test.each([
    ["a number that only has a decimal comma", "0,5", ","],
    ["a number with two separators", "1.234.567", ","],
    ["a number that only has a decimal point", "0.5", "."],
  ])("are settled by %s in another column", async (_, other, mark) => {
    const { code } = await files.init(`Datum;Kunde;Menge;Dauer\n02.03.2026;globex;1.234;${other}\n`);
    expect(code).toBe(0);
    expect(readMapText()).toContain(`"Menge": { "column": "Menge", "decimal": "${mark}" }`);
  });

  test("are no reason to ask in columns that are no quantities", async () => {
    expect((await files.init("Datum;Kunde;Preis;n\n02.03.2026;globex;1.234;7\n")).code).toBe(0);
  });
});

describe("quantities", () => {
  test.each<readonly [string, (row: number) => string | number]>([
    ["http_status", (row) => (row % 3 === 0 ? 404 : 200)],
    ["Year", (row) => 2024 + (row % 2)],
    ["site", (row) => `0${100 + (row % 3)}`],
    ["to", (row) => `+49151123456${row % 3}`],
    ["zip", (row) => 10_115 + (row % 4)],
    ["app version", (row) => 1 + (row % 2)],
    ["Port", (row) => (row % 2 === 0 ? 80 : 443)],
    ["process_id", (row) => 4000 + (row % 6)],
    ["pid", (row) => 4000 + (row % 6)],
    ["line number", (row) => 17 * (row % 7)],
    ["order_no", (row) => 100 + (row % 3)],
    ["unit price", (row) => row % 4],
    ["Kosten", (row) => row % 4],
    ["latency_ms", (row) => 100 + (row % 5)],
  ])("are not the numbers of %s", (name, cell) => {
    expect(guess({ [name]: cell, calls: (row) => row % 3 })?.numbers).toEqual(["calls"]);
  });

  test("stay with empty cells, which count as 0", () => {
    const columns = guess({
      calls: (row) => ["", "NULL", "null", "N/A", "-", "\\N", "5", "6", "6", "7"][row] ?? "",
      all: (row) => row % 3,
    });
    expect(columns?.numbers).toEqual(["calls", "all"]);
    expect(columns?.numbersWithEmptyCells).toEqual(["calls"]);
  });

  test("are a meter for each kind of tokens, with a price table by model", async () => {
    const { out } = await files.init(
      [
        "at,tenant,model,prompt_tokens,completion_tokens,cached_tokens",
        "2026-03-01T00:00:00Z,acme,large,1000,200,400",
        "2026-03-02T00:00:00Z,acme,small,500,100,",
        "",
      ].join("\n"),
    );
    expect(out).toContain('meters for "prompt_tokens", "completion_tokens", "cached_tokens"\n');
    expect(out).toContain('if other columns count the tokens of "cached_tokens" too, delete these meters\n');
    expect(out).toContain('a price table by "model", with 2 rows, and one for all other groups\n');
    // 1,500 + 300 + 400 tokens.
    expect((await runPreview()).out).toMatch(/^Total +2 +22\.00 +100%$/m);
  });

  test("are not totals of other columns: their sum counts once, whatever the total is called", () => {
    const input = (row: number): number => row % 4;
    const output = (row: number): number => row % 3;
    const columns = guess({
      input_tokens: input,
      output_tokens: output,
      "Total tokens": (row) => input(row) + output(row),
      reasoning_tokens: (row) => Math.min(1, output(row)),
    });
    expect(columns?.numbers).toEqual(["input_tokens", "output_tokens"]);
    expect(columns?.unused).toEqual([
      { column: "Total tokens", reason: 'the sum of "input_tokens" and "output_tokens"' },
      { column: "reasoning_tokens", reason: 'part of "input_tokens" and "output_tokens"' },
    ]);
  });

  test("are an amount of money if there is nothing else, once", () => {
    const columns = guess({ tax: (row) => row % 2, amount: (row) => 10 + (row % 3), net: (row) => 10 + (row % 3) });
    expect(columns?.numbers).toEqual(["amount"]);
    expect(columns?.isMoney).toBe(true);
  });

  test("with the same numbers count once", () => {
    const columns = guess({ minutes: (row) => row % 5, Quantity: (row) => row % 5 });
    expect(columns?.numbers).toEqual(["minutes"]);
    expect(columns?.unused).toEqual([{ column: "Quantity", reason: 'the same as "minutes"' }]);
  });
});

describe("ids, times and accounts", () => {
  test.each<readonly [string, (row: number) => string | number, string | undefined]>([
    ["a unique column of codes", (row) => `evt_${row}x`, "c"],
    ["numbers without a gap", (row) => 5000 + row, "c"],
    ["unique numbers with gaps, which are a quantity", (row) => row * row + 3, undefined],
    ["unique decimals", (row) => `${row}.25`, undefined],
    ["addresses", (row) => `10.0.0.${row}`, undefined],
    ["sentences", (row) => `call number ${row}`, undefined],
    ["a column with repetitions", (row) => `evt_${row % 9}x`, undefined],
  ])("of events: %s", (_, cell, id) => {
    expect(guess({ c: cell, n: (row) => row % 3 })?.id).toBe(id);
  });

  test("of events are preferred to other unique ids", () => {
    const columns = guess({
      session_id: (row) => `s${row}`,
      request_id: (row) => `r${row}`,
      ref: (row) => `ref${row}`,
    });
    expect(columns?.id).toBe("request_id");
  });

  test("the time is the one at which usage began", () => {
    const at = (hour: number) => (row: number) => `2026-03-${10 + row}T0${hour}:00:00Z`;
    const sample = { billing_period_start: at(0), invoice_date: at(0), usage_end: at(4), usage_start: at(3) };
    expect(guess({ ...sample, n: (row) => row % 3 })?.timestamp).toBe("usage_start");
  });

  test.each([
    [["project", "user", "workspace", "customer"], "customer"],
    [["project", "user", "tenant"], "tenant"],
    [["project", "user"], "user"],
    [["project", "subscription_id"], "subscription_id"],
    [["billing_account_id", "project"], "project"],
    [["user_agent", "client_ip", "account_type", "resource_group"], undefined],
  ])("the account of %j is %j", (names, account) => {
    const columns = Object.fromEntries(names.map((name) => [name, (row: number) => `${name}-${row % 3}`]));
    expect(guess({ ...columns, n: (row) => row % 3 })?.account).toBe(account);
  });

  test("of two columns of customers, the one with more of them is the account, then the one of ids", () => {
    const names = (row: number): string => `Customer ${row % 2}`;
    expect(guess({ customer: names, customer_no: (row) => `c${row % 2}` })?.account).toBe("customer_no");
    expect(guess({ customer: names, customer_no: (row) => `c${row % 4}` })?.account).toBe("customer_no");
  });
});

describe("names of accounts that are no ids", () => {
  test("get an id in a file of their own if there are many, also behind the sample", async () => {
    const rows = Array.from({ length: 1200 }, (_, row) => `2026-03-01T00:00:00Z,Customer ${row % 1100},1`);
    const { out } = await files.init(`at,customer,calls\n${rows.join("\n")}\n`);
    expect(out).toContain('names that are no ids get one (see accounts.csv): "Customer 0" is customer-0\n');
    expect(out).toContain("wrote prices/book.jsonc, prices/map.jsonc, prices/accounts.csv;");
    expect(readMapText()).toContain('{ "column": "customer", "valuesFrom": "accounts.csv" }');
    const accounts = files.read("prices/accounts.csv").split("\n");
    expect(accounts).toHaveLength(1102);
    expect(accounts[1100]).toBe("Customer 1099,customer-1099");
    const priced = await runPreview();
    expect(priced.err).toContain("1,200 events read: 1,200 metered; 1,100 invoices\n");
    expect(priced.code).toBe(0);
  });

  test("get different, valid ids", () => {
    const name = fc.string({ unit: "binary", minLength: 1, maxLength: 80 }).filter((text) => text !== "__proto__");
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 30 }), (names) => {
        const ids = createAccountIds(names);
        expect([...ids.keys()]).toEqual(names);
        expect(new Set(ids.values()).size).toBe(names.length);
        for (const id of ids.values()) expect(isAccountId(id)).toBe(true);
      }),
    );
  });

  test("may have quotes, commas and names of every object", async () => {
    await files.init('at,customer,calls\n2026-03-01T00:00:00Z,__proto__,1\n2026-03-01T00:00:00Z,"A ""B"", C",2\n');
    const priced = await runPreview();
    expect(priced.out).toMatch(/^a-b-c +1 +2 +0\.02 .*\n__proto__ +1 +1 +0\.01 /m);
  });
});
