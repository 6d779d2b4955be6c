/** Every row of the reference is tested over HTTP, by the case with its key. */
import { describe, expect, test } from "vitest";

import { ACCOUNT_CASES } from "./account.cases.ts";
import { startContract } from "./api.ts";
import type { Case } from "./case.ts";
import { CATALOG_CASES } from "./catalog.cases.ts";
import { CHANGE_CASES } from "./change.cases.ts";
import { ENDPOINT_CASES } from "./endpoint.cases.ts";
import { EVENT_CASES } from "./event.cases.ts";
import { HOLDING_CASES } from "./holdings.cases.ts";
import { LIMIT_CASES } from "./limit.cases.ts";
import { PRICE_PLAN_CASES } from "./price-plan.cases.ts";
import { PAGE, ROWS } from "./reference.ts";
import { RULE_CASES } from "./rule.cases.ts";

/** The cases, by the file name in the reference. */
const GROUPS: Readonly<Record<string, readonly Case[]>> = {
  "account.cases.ts": ACCOUNT_CASES,
  "catalog.cases.ts": CATALOG_CASES,
  "price-plan.cases.ts": PRICE_PLAN_CASES,
  "holdings.cases.ts": HOLDING_CASES,
  "event.cases.ts": EVENT_CASES,
  "endpoint.cases.ts": ENDPOINT_CASES,
  "change.cases.ts": CHANGE_CASES,
  "limit.cases.ts": LIMIT_CASES,
  "rule.cases.ts": RULE_CASES,
};
const cases = Object.values(GROUPS).flat();

describe("the reference and its cases", () => {
  test("contain every field of every list and every row of every table", () => {
    const lines = PAGE.split("\n").filter((line) => /^(?:\||- \*\*)/.test(line));
    const tables = lines.filter((line) => /^\|(?:---\|)+$/.test(line)).length;
    const inTables = ROWS.filter(({ cells }) => Object.keys(cells).length > 0);
    expect(inTables.length).toBeGreaterThan(180);
    expect(inTables).toHaveLength(lines.length - 2 * tables);
  });

  test("contain every numbered rule", () => {
    const rules = PAGE.split("\n").filter((line) => /^\d+\. /.test(line));
    expect(ROWS.filter(({ name }) => name.startsWith("rule "))).toHaveLength(rules.length);
  });

  test("match one to one", () => {
    const keys = ROWS.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(cases.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
  });
});

describe.each(Object.entries(GROUPS))("%s", (_, group) => {
  let startup: ReturnType<typeof startContract> | undefined;

  test.each(group.map((each) => [each.key, each] as const))("%s", async (key, own) => {
    const row = ROWS.find((each) => each.key === key);
    if (row === undefined) throw new Error(`the reference has no row ${key}`);
    const open = await (startup ??= startContract());
    await own.prove(await open(), row);
  });
});
