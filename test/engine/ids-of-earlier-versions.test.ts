/**
 * Short ids that are derived from what they identify, and ledgers written when ids contained their whole key:
 * ids-of-earlier-versions.json is one written by an earlier version, with the answers of that version.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { parseBook } from "../../src/book/book.ts";
import type { BookInput } from "../../src/book/resources/book.ts";
import { preview } from "../../src/ledger/preview/preview.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { Decimal, formatDecimal } from "../../src/numbers/decimal.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { engineAt, type EngineUnderTest, describeRefusal } from "./support.ts";

interface Former {
  readonly book: unknown;
  /** An operation before the ledger was written: an instant, an engine method and its arguments. */
  readonly before: readonly (readonly [string, "load" | "ingest" | "finalize" | "associate", ...unknown[]])[];
  /** The answers of reads at {@link READ_AT}, including due items that were not written. */
  readonly listed: {
    readonly invoices: readonly (readonly [string, string, string, string, string, string])[];
    readonly credits: readonly (readonly [string, string, string, string])[];
    readonly entries: readonly (readonly [string, string, string])[];
  };
  readonly records: unknown;
}

const text = readFileSync(join(import.meta.dirname, "ids-of-earlier-versions.json"), "utf8");
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a test fixture
const former = JSON.parse(text) as Former;
const READ_AT = "2024-03-20T12:00:00Z";
const ACCOUNTS = ["prod", "a|b"];
const SHORT = /^(?:inv|credit|entry|cr|fce)\.[0-9A-Za-z.]{1,40}$/;

/** An engine over the ledger of the file. */
function overFormer(): EngineUnderTest {
  const snapshot = { format: "ratebook memory store", version: 1, revision: 1, changes: former.records };
  return engineAt(READ_AT, memoryStore({ snapshot: JSON.stringify(snapshot) }));
}

/** An engine that did all of it with short ids. */
async function fromTheStart(): Promise<EngineUnderTest> {
  const under = engineAt("2024-01-01");
  for (const [at, what, ...args] of former.before) {
    const engine = under.at(at);
    if (what === "load") await engine.load(former.book as BookInput);
    else if (what === "finalize") await engine.finalize();
    else if (what === "associate") await engine.associate(...(args as Parameters<typeof engine.associate>));
    else await engine.ingest(args[0] as readonly unknown[] as EventInput[]);
  }
  under.at(READ_AT);
  return under;
}

/** Everything that accounts have, without ids: every grant, credit and invoice once. */
async function holdings({ engine }: EngineUnderTest): Promise<readonly string[]> {
  const invoices = await engine.invoices.list({ page: { limit: 1000 } });
  const credits = await engine.credits.list({ page: { limit: 1000 } });
  const found = [
    ...invoices.items.map(({ invoice }) => {
      const { accountId, invoiceType, status, startDate, endDate, revenueInfo } = invoice;
      return ["invoice", accountId, invoiceType, status, startDate, endDate, revenueInfo.value];
    }),
    ...credits.items.map(({ credit, holdAmount }) => {
      const { accountId, kind, creditAmount, consumedAmount, effectiveFrom } = credit;
      // The purpose of a stored refund has the words of the version that wrote it.
      const what = kind === "PLAN" ? credit.purpose : kind;
      return ["credit", accountId, what, creditAmount, consumedAmount, holdAmount, effectiveFrom];
    }),
  ];
  for (const accountId of ACCOUNTS) {
    const entries = await engine.entries.list({ accountId, featureId: "feature.calls" }, { page: { limit: 1000 } });
    for (const { granted, balance, effectiveFrom, effectiveUntil } of entries.items)
      found.push(["entry", accountId, granted, balance, effectiveFrom, effectiveUntil]);
  }
  return found
    .map((fields) => fields.map((field) => (field instanceof Decimal ? formatDecimal(field) : field)).join(" "))
    .sort();
}

describe("a ledger whose ids contain their keys", () => {
  test("S2.4 creates nothing twice, neither by reads nor by processing what is due", async () => {
    const [before, afresh] = [overFormer(), await fromTheStart()];
    expect(await holdings(before)).toEqual(await holdings(afresh));
    for (const at of ["2024-03-20T12:00:00Z", "2024-04-03", "2024-05-10"]) {
      for (const { engine } of [before, afresh]) {
        before.at(at);
        afresh.at(at);
        await engine.finalize();
      }
      expect(await holdings(before)).toEqual(await holdings(afresh));
    }
    const heads = (await holdings(before)).filter((line) => line.startsWith("invoice"));
    expect(heads).toHaveLength(new Set(heads).size);
  });

  test("finds every id that it had, stored or only due", async () => {
    const { engine } = overFormer();
    for (const [id, accountId, invoiceType, status, startDate, total] of former.listed.invoices) {
      const { id: answerId, invoice } = await engine.invoices.get(id);
      expect(invoice).toMatchObject({ accountId, invoiceType, status, startDate });
      expect(formatDecimal(invoice.revenueInfo.value)).toBe(total);
      if (answerId !== id) expect(answerId).toMatch(SHORT);
    }
    for (const [id, accountId, purpose, amount] of former.listed.credits) {
      const { credit } = await engine.credits.get(id);
      expect(credit).toMatchObject({ accountId, purpose });
      expect(formatDecimal(credit.creditAmount)).toBe(amount);
    }
    for (const [id, accountId, balance] of former.listed.entries) {
      const updatedEntry = await engine.entries.update({ accountId, entryId: id }, { granted: 1000 });
      // 900 more than the 100 of its grant.
      expect(formatDecimal(updatedEntry.balance)).toBe(String(Number(balance) + 900));
    }
    await engine.finalize();
    for (const [id, , , status] of former.listed.invoices) {
      expect((await engine.invoices.get(id)).invoice.status).toBe(status);
    }
    // Every grant was fully consumed: it is found, and rejected for that reason.
    for (const [id] of former.listed.credits) {
      expect(await describeRefusal(engine.credits.void(id))).toMatch(
        /^ERR_REFUSED .* is consumed; only an active credit can be voided$/,
      );
    }
  });

  test("finds the former id of a draft that became final with a short one", async () => {
    const { engine, at } = overFormer();
    const draft = former.listed.invoices.find(([, , type, status]) => type === "STANDARD" && status === "DRAFT");
    at("2024-04-03");
    await engine.finalize();
    const { id, finalizedAt } = await engine.invoices.get(draft?.[0] ?? "");
    expect(id).toMatch(/^inv\.[0-9A-Za-z]{16}$/);
    expect(finalizedAt).toBe(Date.parse("2024-04-02T00:00:00Z"));
  });
});

describe("items that become due", () => {
  test("have an id of at most 50 characters without escaping, which finds the draft and the final invoice", async () => {
    const { engine, at } = await fromTheStart();
    const invoices = (await engine.invoices.list({ page: { limit: 100 } })).items;
    const credits = (await engine.credits.list({ page: { limit: 100 } })).items;
    const entries = (await engine.entries.list({ accountId: "prod", featureId: "feature.calls" })).items;
    expect(invoices.filter(({ invoice }) => invoice.status === "DRAFT")).toHaveLength(2);
    for (const { id } of [...invoices, ...credits.map(({ credit }) => credit), ...entries]) expect(id).toMatch(SHORT);
    for (const { id, invoice } of invoices) {
      expect((await engine.invoices.get(id)).invoice.revenueInfo).toEqual(invoice.revenueInfo);
    }
    for (const { credit } of credits) expect((await engine.credits.get(credit.id)).credit).toEqual(credit);
    at("2024-04-03");
    await engine.finalize();
    for (const { id } of invoices) expect((await engine.invoices.get(id)).finalizedAt).toBeDefined();
  });

  test("S13.5 have the same ids in a preview and in an engine", async () => {
    const { engine } = await fromTheStart();
    const drafts = preview(parseBook(former.book), [], { from: "2024-01-01", until: "2024-02-01" });
    const paying = (lines: readonly string[]): readonly string[] =>
      lines.flatMap((line) => line.match(/credit\.[0-9A-Za-z]{16}/g) ?? []);
    const netPreview = paying(drafts.invoices.map((invoice) => JSON.stringify(invoice)));
    const storedIds = (await engine.credits.list({ page: { limit: 100 } })).items.map(({ credit }) => credit.id);
    expect(netPreview.length).toBeGreaterThan(0);
    expect(storedIds).toEqual(expect.arrayContaining([...netPreview]));
  });
});
