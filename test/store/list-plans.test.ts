/** PostgreSQL finds the items of a page from one point of an index, without sorting the whole list. */
import { beforeAll, describe, expect, test } from "vitest";

import type { LedgerView, PageKey } from "../../src/ledger/view.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { Store } from "../../src/store/store.ts";
import { poolThat } from "./database-directories.ts";
import { privateDatabase } from "./private-database.ts";

const START = Date.parse("2024-01-01T00:00:00Z");
const MANY = 30_000;

const database = privateDatabase();
let store: Store;
let statements: { readonly text: string; readonly values: unknown[] }[] = [];

const pool = poolThat({ connect: () => database.pool.connect() }, async (connection, statement) => {
  statements.push({ text: statement.text, values: statement.values ?? [] });
  return connection.query(statement);
});

/** Rows of one account, a hundred in each instant, and later as many of others. */
beforeAll(async () => {
  store = await postgresStore(pool, { schema: "listed" });
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

const LISTS: readonly (readonly [string, keyof LedgerView, object])[] = [
  ["an account's events", "events", { accountId: "busy" }],
  ["an account's accepted events", "events", { accountId: "busy", accepted: true, reverted: false }],
  ["all events", "events", {}],
  ["an account's invoices", "invoiceList", { accountId: "busy" }],
  ["an account's invoices of a status", "invoiceList", { accountId: "busy", status: "DUE" }],
  ["a customer's invoices", "invoiceList", { customerId: "c" }],
  ["an account's credits", "creditList", { accountId: "busy" }],
  ["all credits", "creditList", {}],
  ["credits of a state", "creditList", { state: "VOIDED" }],
  ["credits in force", "creditList", { state: "ACTIVE", endsAfter: START }],
  ["credits that fell due", "dueCreditList", { dueBy: START + 9_999_999_999 }],
];

describe("a page of a list with many thousands of items starts at one point of an index", () => {
  test.each(LISTS)("%s", async (_, list, filter) => {
    const read = store.read[list] as (of: object, page: object) => Promise<readonly unknown[]>;
    for (const after of [undefined, { createdAt: START + 9_000_000, id: "r8" }])
      await expectKeyset(read, filter, after);
  });

  test("an account's entries of a feature", async () => {
    const listEntries = (_: object, page: object): Promise<readonly unknown[]> =>
      store.read.entryList("busy", "ft", page as { limit: number });
    for (const after of [undefined, { createdAt: START + 9_000_000, id: "r8" }])
      await expectKeyset(listEntries, {}, after);
  });
});

/** Reads a page and explains its query: how many rows it reads, and whether it sorts more than a few. */
async function expectKeyset(
  read: (filter: object, page: object) => Promise<readonly unknown[]>,
  filter: object,
  after: PageKey | undefined,
): Promise<void> {
  statements = [];
  await read(filter, { limit: 50, ...(after && { after }) }).catch(() => undefined);
  const [statement] = statements.filter(({ text }) => text.includes("limit"));
  expect(statement).toBeDefined();
  const explanation = await database.pool.query(`explain (analyze, format json) ${statement?.text}`, statement?.values);
  const root = (explanation.rows[0] as { "QUERY PLAN": [{ Plan: PlanNode }] })["QUERY PLAN"][0].Plan;
  const nodes = nodesOf(root);
  expect(nodes.map((node) => node["Node Type"])).not.toContain("Sort");
  expect(nodes.some((node) => node["Node Type"].startsWith("Index"))).toBe(true);
  // A page is 50 rows; an instant has a hundred, so a few more rows of the same instant may be read.
  for (const node of nodes) expect(node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)).toBeLessThan(500);
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Actual Rows": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
