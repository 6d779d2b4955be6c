/** The SQL statements of operations: how many, their plans, and the settings under which they are planned. */
import { beforeAll, describe, expect, test } from "vitest";

import type { ShortBookInput } from "../../src/book/resources/book.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { LedgerView, PageRequest } from "../../src/ledger/view.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { Store } from "../../src/store/store.ts";
import { morningCall, CALLS_BOOK } from "./calls.ts";
import { poolThat, privateDatabase } from "./test-databases.ts";

const database = privateDatabase();
let statements: { readonly text: string; readonly values: unknown[] }[] = [];

/** A pool that records its statements. */
const recordingPool = poolThat({ connect: () => database.pool.connect() }, async (connection, statement) => {
  statements.push({ text: statement.text, values: statement.values ?? [] });
  return connection.query(statement);
});
const clock = (): number => Date.parse("2024-06-02T00:00:00Z");

test("statements of a transaction use indexes, are planned once and not compiled, and the settings of a connection are unchanged", async () => {
  const names = ["enable_seqscan", "plan_cache_mode", "jit"];
  const settings = names.map((name) => `current_setting('${name}') as ${name}`).join(", ");
  const [within, after]: [unknown[], unknown[]] = [[], []];
  const pool = poolThat(database.pool, async (connection, statement) => {
    const isEnd = statement.text.endsWith("commit");
    if (isEnd) within.push(...(await connection.query(`select ${settings}`)).rows);
    const answer = await connection.query(statement);
    if (isEnd) after.push(...(await connection.query(`select ${settings}`)).rows);
    return answer;
  });
  const engine = createEngine({ store: await postgresStore(pool, { schema: "planned" }), clock });
  await engine.load(CALLS_BOOK);
  within.length = after.length = 0;
  await engine.ingest([morningCall("one")]);
  expect(within).toEqual([{ enable_seqscan: "off", plan_cache_mode: "force_generic_plan", jit: "off" }]);
  expect(after).toEqual([{ enable_seqscan: "on", plan_cache_mode: "auto", jit: "on" }]);
});

/** The book of calls, and accounts with a fee that is invoiced and a credit that pays it. */
const BOOK: ShortBookInput = {
  ...CALLS_BOOK,
  pricePlans: [{ id: "pp.fee", cycle: "MONTHLY", fees: [{ id: "addon.fee", rate: 30 }] }],
  accounts: CALLS_BOOK.accounts.map((account) => ({
    ...account,
    plans: [{ plan: "pp.fee", from: "2024-05-01", decidedAt: "2024-05-01T00:00:00Z" }],
    credits: [{ purpose: "Welcome", amount: 10, priority: 1, from: "2024-05-01" }],
  })),
};

describe("an operation sends few consecutive statements, each a round trip", () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = createEngine({ store: await postgresStore(recordingPool), clock });
    await engine.load(BOOK);
    await engine.ingest([morningCall("warm")]);
  });

  const page = { limit: 50 };
  const filter = { accountId: "a" };
  const many = Array.from({ length: 1_000 }, (_, n) => morningCall(`many ${n}`));
  test.each<[operation: string, most: number, work: () => Promise<unknown>]>([
    ["a single ingest", 3, () => engine.ingest([morningCall("one")])],
    ["an ingest of a thousand events", 5, () => engine.ingest(many)],
    ["an undo of one event", 4, () => engine.undo({ eventId: "one", account: "a" })],
    ["a page of events", 1, () => engine.events.list({ page })],
    ["a page of an account's events", 1, () => engine.events.list({ filter, page })],
    ["a page of accounts", 1, () => engine.accounts.list({ page })],
    ["a page of customers", 2, () => engine.customers.list({ page })],
    ["a page of aliases", 2, () => engine.aliases.list({ page })],
    ["a page of invoices", 3, () => engine.invoices.list({ page })],
    ["a page of an account's invoices", 3, () => engine.invoices.list({ filter, page })],
    ["a page of composite invoices", 2, () => engine.compositeInvoices.list({ page })],
    ["a page of credits", 3, () => engine.credits.list({ page })],
    ["a page of an account's credits", 2, () => engine.credits.list({ filter, page })],
    ["a page of licenses", 2, () => engine.licenses.list({ page })],
    ["a page of price plans", 2, () => engine.pricePlans.list({ page })],
    ["a page of invoice groups", 2, () => engine.invoiceGroups.list({ page })],
    ["a page of migrations", 2, () => engine.migrations.list({ page })],
  ])("%s sends at most %i", async (_, most, work) => {
    statements = [];
    await work();
    expect(statements.length).toBeGreaterThan(0);
    expect(statements.length).toBeLessThanOrEqual(most);
  });
});

const START = Date.parse("2024-01-01T00:00:00Z");
const MANY = 30_000;

const LISTS: readonly (readonly [string, (view: LedgerView, page: PageRequest) => Promise<unknown>])[] = [
  ["an account's events", (view, page) => view.events({ accountId: "busy" }, page)],
  [
    "an account's accepted events",
    (view, page) => view.events({ accountId: "busy", accepted: true, reverted: false }, page),
  ],
  ["all events", (view, page) => view.events({}, page)],
  ["an account's invoices", (view, page) => view.invoiceList({ accountId: "busy" }, page)],
  ["an account's invoices of a status", (view, page) => view.invoiceList({ accountId: "busy", status: "DUE" }, page)],
  ["a customer's invoices", (view, page) => view.invoiceList({ customerId: "c" }, page)],
  ["an account's credits", (view, page) => view.creditList({ accountId: "busy" }, page)],
  ["all credits", (view, page) => view.creditList({}, page)],
  ["credits of a state", (view, page) => view.creditList({ state: "VOIDED" }, page)],
  ["credits in force", (view, page) => view.creditList({ state: "ACTIVE", endsAfter: START }, page)],
  ["credits that fell due", (view, page) => view.dueCreditList({ dueBy: START + 9_999_999_999 }, page)],
  ["an account's entries of a feature", (view, page) => view.entryList("busy", "ft", page)],
];

describe("a page of a list with many thousands of items starts at one point of an index, without sorting the list", () => {
  let store: Store;
  /** Rows of one account, a hundred in each instant, and later as many of others. */
  beforeAll(async () => {
    store = await postgresStore(recordingPool, { schema: "listed" });
    const { pool: run } = database;
    const rows = `from generate_series(1, ${2 * MANY}) as row (n)`;
    const account = `case when n <= ${MANY} then 'busy' else 'other.' || n % 500 end`;
    const creationTime = `${START} + (n / 100) * 60000`;
    await run.query(
      `insert into listed.event (reference_id, account_id, number, event_id, schema_name, status, timestamp, created_at, reverted, body)
        select 'r' || n, ${account}, n, 'e' || n, 'call', 'INGESTION_COMPLETED', ${creationTime}, ${creationTime}, n % 50 = 0, '{}' ${rows}`,
    );
    await run.query(
      `insert into listed.entry (id, account_id, feature_id, created_at, granted, balance, body)
        select 'n' || n, ${account}, 'ft', ${creationTime}, 1, 1, '{}' ${rows}`,
    );
    await run.query(
      `insert into listed.credit (id, account_id, created_at, credit_amount, consumed_amount, state, ends_at, body)
        select 'c' || n, ${account}, ${creationTime}, 1, 0, case when n % 900 = 0 then 'VOIDED' else 'ACTIVE' end, ${creationTime}, '{}' ${rows}`,
    );
    await run.query(
      `insert into listed.due_credit (id, account_id, created_at, body) select 'd' || n, ${account}, ${creationTime}, '{}' ${rows}`,
    );
    await run.query(
      `insert into listed.invoice (id, account_id, customer_id, status, invoice_date, place, span, starts_at, ends_at, body)
        select 'i' || n, ${account}, 'c', 'DUE', '2024-01-01', -(${creationTime}), 1, ${creationTime}, ${creationTime} + 9, '{}' ${rows}`,
    );
    await run.query("analyze");
  });

  const keys = [undefined, { createdAt: START + 9_000_000, id: "r8" }];
  test.each(LISTS.flatMap(([name, read]) => keys.map((after) => [name, read, after] as const)))(
    "%s",
    async (_, read, after) => {
      statements = [];
      await read(store.read, { limit: 50, ...(after && { after }) }).catch(() => undefined);
      const [statement] = statements.filter(({ text }) => text.includes("limit"));
      const query = `explain (analyze, format json) ${statement?.text}`;
      const explanation = await database.pool.query(query, statement?.values);
      const nodes = nodesOf((explanation.rows[0] as { "QUERY PLAN": [{ Plan: PlanNode }] })["QUERY PLAN"][0].Plan);
      expect(nodes.map((node) => node["Node Type"])).not.toContain("Sort");
      expect(nodes.some((node) => node["Node Type"].startsWith("Index"))).toBe(true);
      // A page is 50 rows; an instant has a hundred, so a few more rows of the same instant may be read.
      for (const node of nodes) expect(node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)).toBeLessThan(500);
    },
  );
});

interface PlanNode {
  readonly "Node Type": string;
  readonly "Actual Rows": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
