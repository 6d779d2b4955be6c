/** Calls to an engine without types: every method, with every kind of value for each parameter. */
import { inspect } from "node:util";

import { expect, test } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { RatebookError } from "../../src/errors.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";

const JUNK: readonly unknown[] = [
  undefined,
  null,
  7,
  Number.NaN,
  10n,
  true,
  "",
  "acme",
  Symbol("s"),
  () => 1,
  [],
  ["acme"],
  [null],
  {},
  { limit: "x" },
  { after: 1 },
  { after: { createdAt: "x", id: 1 } },
  { accountId: 1, featureId: 2, entryId: {} },
  { accountId: "acme", from: {}, until: [] },
  { accountIds: "acme", from: 0, until: 1 },
  { accountIds: [1], from: 0, until: 1 },
  { createdAt: 1, timestamp: null },
  { asOf: {} },
  { status: {}, customerId: [] },
  new Map(),
  new Date(Number.NaN),
];

type Method = (...args: readonly unknown[]) => unknown;

/** Every method of an engine, by name. */
function listMethods(engine: object): readonly (readonly [name: string, method: Method])[] {
  return Object.entries(engine).flatMap(([name, part]) => {
    if (name === "store" || name === "close") return [];
    if (typeof part === "function") return [[name, part as Method] as const];
    return Object.entries(part as object).map(([own, method]) => [`${name}.${own}`, method as Method] as const);
  });
}

async function catchFailure(method: Method, args: readonly unknown[]): Promise<unknown> {
  try {
    await method(...args);
    return undefined;
  } catch (error) {
    return error instanceof RatebookError ? undefined : error;
  }
}

test("every method accepts values of any kind, or rejects them with an error code", async () => {
  const engine = createEngine({ store: memoryStore(), clock: () => Date.parse("2024-06-15T12:00:00Z") });
  const faults: string[] = [];
  for (const [name, method] of listMethods(engine)) {
    for (const junk of JUNK) {
      for (const args of [
        [junk],
        ["acme", junk],
        [junk, junk],
        [{ accountId: "acme", featureId: "ft" }, junk],
        [{}, junk],
      ]) {
        const fault = await catchFailure(method, args);
        if (fault !== undefined) faults.push(`${name} of ${inspect(args)}: ${inspect(fault)}`);
      }
    }
  }
  expect(faults).toEqual([]);
});

test("rejects an unknown argument by name before it does anything", async () => {
  const engine = createEngine({ store: memoryStore() });
  const methods = new Map(listMethods(engine));
  const refusals = [
    ["entries.list", ["acme", "ft"], "of: expected"],
    ["entries.balance", [{ accountId: "acme" }], "of.featureId: missing"],
    ["invoices.get", [7], "id: expected"],
    ["events.list", [{ filter: { timestamp: { from: {}, until: 1 } } }], "options.filter.timestamp.from: expected"],
    ["events.list", [{ accountId: "acme" }], "options.accountId: unknown field"],
    ["settings.list", [{ limit: 1 }], "options.limit: unknown field"],
    ["usage", [{ accountIds: "acme", from: 0, until: 1 }], "query.accountIds: expected"],
    ["ingest", ["acme"], "events: expected a list of events"],
    ["customers.list", [null], "options: expected"],
  ] as const;
  for (const [name, args, message] of refusals) {
    const answer = methods.get(name)?.(...args);
    await expect(answer).rejects.toMatchObject({
      code: "ERR_INPUT_INVALID",
      message: expect.stringContaining(message),
    });
  }
});
