/** Rows added to a price table in use, with figures by hand (S18.8). */
import { describe, expect, test } from "vitest";

import type { RateRowInput, RateRowsRequest } from "../../../src/book/resources/rate-table.ts";
import { readBook } from "../../../src/index.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";
import { describeRefusal, engineAt, type EngineUnderTest } from "../support.ts";

const NOVA = { when: { model: "nova" }, rate: "2.00" };
/** A row for a model of which the plan has none. */
const VISION = { when: { model: "vision" }, rate: "3.00" };
const TODAY = { ...VISION, from: "2026-10-10" };

interface BookParts {
  readonly rows?: readonly RateRowInput[];
  readonly accounts?: readonly object[];
  readonly cycle?: object | string;
}

const ACME = { id: "acme", plan: "pp", from: "2026-09-01" };

function bookWith({ rows = [NOVA], accounts = [ACME], cycle = "MONTHLY" }: BookParts = {}): object {
  return {
    eventSchemas: [{ name: "call", attributes: ["tokens"], dimensions: ["model", "kind"] }],
    usageMeters: [
      { id: "um.tokens", name: "Tokens", schema: "call", sum: "tokens", groupBy: ["model", "kind"] },
      { id: "um.calls", name: "Calls", schema: "call", count: true },
    ],
    pricePlans: [{ id: "pp", cycle, usage: [{ meter: "um.tokens", rateTable: { rows } }] }],
    accounts,
  };
}

/** An engine with a book that was loaded on 1 September 2026, at noon of a later day. */
async function startWith(parts: BookParts = {}, day = "2026-10-10"): Promise<EngineUnderTest> {
  const underTest = engineAt("2026-09-01");
  await underTest.engine.load(readBook(bookWith(parts)));
  underTest.at(`${day}T12:00:00Z`);
  return underTest;
}

let eventCount = 0;

function use({ engine }: EngineUnderTest, date: string, model: string, tokens: number, accountId = "acme") {
  const dimensions = { model, kind: "input" };
  const id = `e${eventCount++}`;
  return engine.ingest([
    { schemaName: "call", id, accountId, timestamp: `${date}T01:00:00Z`, attributes: { tokens }, dimensions },
  ]);
}

/** The amount and the notices of each invoice of an account, by its first day. */
async function listInvoices({ engine }: EngineUnderTest, accountId = "acme"): Promise<readonly string[]> {
  const { items } = await engine.invoices.list({ filter: { accountId } });
  return items
    .map(({ invoice: { startDate, status, revenueInfo, notices } }) =>
      [startDate.slice(0, 10), status, formatDecimal(revenueInfo.value), ...notices].join(" "),
    )
    .toSorted();
}

const add = ({ engine }: EngineUnderTest, request: Partial<RateRowsRequest>) =>
  engine.pricePlans.addRateRows("pp", { usageMeterId: "um.tokens", rows: [TODAY], ...request });
const addRow = (underTest: EngineUnderTest, row: RateRowInput) => add(underTest, { rows: [row] });

describe("S18.8 rows added to a table in use", () => {
  test("a new model, a price cut from today, and one that is announced: the draft follows at once", async () => {
    const underTest = await startWith();
    await use(underTest, "2026-10-05", "nova", 10);
    await use(underTest, "2026-10-05", "vision", 4);
    expect(await listInvoices(underTest)).toEqual([
      "2026-10-01 DRAFT 20 um.tokens: 4 units have no price: the price table has no row for vision, input",
    ]);
    // September closed on 2 October: a row for another model may price October from its first day.
    const { item, updatedAt } = await addRow(underTest, { ...VISION, from: "2026-10-01" });
    expect([item.status, updatedAt]).toEqual(["ACTIVE", Date.UTC(2026, 9, 10, 12)]);
    // 10 × 2 + 4 × 3
    expect(await listInvoices(underTest)).toEqual(["2026-10-01 DRAFT 32"]);
    const cuts = [
      { ...NOVA, from: "2026-10-10", rate: 1 },
      { ...NOVA, from: "2026-10-20", rate: "0.50" },
    ];
    await add(underTest, { usageMeterId: "Tokens", rows: cuts });
    await use(underTest, "2026-10-09", "nova", 1);
    await use(underTest, "2026-10-10", "nova", 6);
    // 11 × 2 + 6 × 1 + 4 × 3
    expect(await listInvoices(underTest)).toEqual(["2026-10-01 DRAFT 40"]);
    underTest.at("2026-10-20T12:00:00Z");
    await use(underTest, "2026-10-20", "nova", 8);
    underTest.at("2026-11-03");
    // 8 × 0.5 more
    expect(await listInvoices(underTest)).toEqual(["2026-10-01 DUE 44"]);
    const { book } = await underTest.engine.exportBook();
    const rateTable = { rows: [NOVA, { ...VISION, from: "2026-10-01" }, ...cuts] };
    expect(book.pricePlans).toMatchObject([{ pricePlanDetails: { usageRateCards: [{ rateTable }] } }]);
    expect(readBook(book).pricePlans[0]?.pricePlanDetails.usageRateCards[0]?.rateTable?.rows).toHaveLength(4);
  });

  test("overrides with rows or a factor are above the added rows, and a table of an account ignores them", async () => {
    const overrides = {
      factor: { multiply: "0.5" },
      rows: { rows: [{ when: { kind: "input" }, rate: 7 }] },
      table: { rateTable: { rows: [{ rate: 1 }] } },
    };
    const accounts = Object.entries(overrides).map(([id, override]) => ({
      id,
      plans: [{ plan: "pp", from: "2026-10-01", override: { usage: [{ meter: "um.tokens", ...override }] } }],
    }));
    const underTest = await startWith({ accounts });
    for (const { id } of accounts) await use(underTest, "2026-10-10", "vision", 4, id);
    await addRow(underTest, VISION);
    // 4 × 3 × 0.5, 4 × 7, 4 × 1
    expect(await listInvoices(underTest, "factor")).toEqual(["2026-10-01 DRAFT 6"]);
    expect(await listInvoices(underTest, "rows")).toEqual(["2026-10-01 DRAFT 28"]);
    expect(await listInvoices(underTest, "table")).toEqual(["2026-10-01 DRAFT 4"]);
  });

  test("a version in use gets rows while the next one is a draft, and keeps them for a new engine", async () => {
    const underTest = await startWith();
    const { engine, store } = underTest;
    const draft = await engine.pricePlans.createVersion("pp");
    const { item } = await addRow(underTest, TODAY);
    expect(item.version).toBe(1);
    await use(underTest, "2026-10-10", "vision", 4);
    const restarted = engineAt("2026-10-10T13:00:00Z", store);
    expect(await listInvoices(restarted)).toEqual(["2026-10-01 DRAFT 12"]);
    // Another engine adds a row, and the first one prices by it.
    await addRow(restarted, { from: "2026-10-10", rate: "0.25" });
    await use(underTest, "2026-10-10", "other", 8);
    expect(await listInvoices(underTest)).toEqual(["2026-10-01 DRAFT 14"]);
    expect((await engine.pricePlans.get("pp")).input).toEqual(draft.input);
    await engine.pricePlans.activate("pp");
    // No account is on version 2, so a row may price all days.
    await addRow(underTest, VISION);
    expect((await add(underTest, { version: 1, rows: [{ ...TODAY, when: { model: "audio" } }] })).item.version).toBe(1);
    const second = await engine.pricePlans.get("pp", 2);
    expect(second.item.pricePlanDetails.usageRateCards[0]?.rateTable?.rows).toHaveLength(2);
  });

  test("S16.4 the period of a version that a book loaded stays", async () => {
    const { engine, at } = engineAt("2026-09-01");
    const { pricePlans, ...book } = bookWith({ accounts: [] }) as { readonly pricePlans: readonly object[] };
    const versions = pricePlans.flatMap((plan) => [plan, { ...plan, version: 2 }]);
    await engine.load(readBook({ ...book, pricePlans: versions } as object));
    const before = await engine.pricePlans.versions("pp");
    at("2026-10-10");
    await engine.pricePlans.addRateRows("pp", { usageMeterId: "um.tokens", rows: [VISION] });
    const periodsOf = (of: typeof before) => of.map(({ from, until }) => [from, until]);
    expect(periodsOf(await engine.pricePlans.versions("pp"))).toEqual(periodsOf(before));
  });

  test("of two additions at the same moment, both are in the table, or the second is a duplicate", async () => {
    const underTest = await startWith();
    const other = engineAt("2026-10-10T12:00:00Z", underTest.store);
    await Promise.all([addRow(underTest, TODAY), addRow(other, { ...TODAY, when: { model: "audio" } })]);
    const same = { ...NOVA, from: "2026-10-11" };
    const [, second] = await Promise.allSettled([addRow(underTest, same), addRow(other, same)]);
    expect(second).toMatchObject({ status: "rejected", reason: { code: "ERR_INPUT_INVALID" } });
    const { item } = await underTest.engine.pricePlans.get("pp");
    expect(item.pricePlanDetails.usageRateCards[0]?.rateTable?.rows).toHaveLength(4);
  });
});

describe("S18.8 a row that is rejected changes nothing", () => {
  const PLACE = "ERR_INPUT_INVALID pricePlanDetails.usageRateCards[0].rateTable.rows";
  const AFTER_TODAY = "expected 2026-10-10 or later, because the table has a row with the same when";
  test.each<[name: string, rows: readonly unknown[], message: string, parts?: BookParts]>([
    [
      "yesterday",
      [VISION, { ...NOVA, from: "2026-10-09" }],
      `ERR_INPUT_INVALID rows[1].from: ${AFTER_TODAY}, got 2026-10-09`,
    ],
    [
      "a price for always",
      [{ ...NOVA, rate: 1 }],
      `ERR_INPUT_INVALID rows[0].from: ${AFTER_TODAY}, got no date`,
      { rows: [{ ...NOVA, from: "2026-11-01" }] },
    ],
    [
      "a closed cycle",
      [{ ...VISION, from: "2026-09-30" }],
      'ERR_INPUT_INVALID rows[0].from: expected 2026-10-01 or later, because earlier cycles of the account "acme" are closed, got 2026-09-30',
    ],
    [
      "always, after a closed cycle",
      [VISION],
      'ERR_INPUT_INVALID rows[0].from: expected 2026-10-01 or later, because earlier cycles of the account "acme" are closed, got no date',
    ],
    [
      "a duplicate",
      [{ ...NOVA, from: "2026-10-12" }],
      `${PLACE}[2]: `,
      { rows: [NOVA, { ...NOVA, from: "2026-10-12" }] },
    ],
    [
      "an unknown dimension",
      [{ when: { model: "a", modle: "b" }, from: "2026-10-10", rate: 1 }],
      `${PLACE}[1].when.modle: `,
    ],
    ["an empty text", [{ when: { model: "" }, rate: 1 }], "ERR_INPUT_INVALID rows[0].when.model: "],
    ["a date that is no day", [{ ...VISION, from: "2026-02-30" }], "ERR_INPUT_INVALID rows[0].from: "],
    ["a rate and tiers", [{ ...TODAY, tiers: [{ rate: 1 }] }], `${PLACE}[1].rate: `],
    [
      "ambiguity",
      [{ when: { kind: "input" }, from: "2026-10-10", rate: 1 }],
      `${PLACE}[1].when: rows[0] names as many dimensions`,
    ],
    ["a currency that the plan lacks", [{ ...TODAY, rate: { EUR: 1, USD: 1 } }], `${PLACE}[1].rate.EUR: `],
    ["a missing currency", [{ ...TODAY, rate: { EUR: 1 } }], `${PLACE}[1].rate`],
    [
      "a package with a date",
      [{ ...TODAY, rate: undefined, tiers: [{ rate: 1, package: 10 }] }],
      `${PLACE}[1].tiers[0].package: a price that changes on a date has only rates`,
    ],
    [
      "a new price of a package",
      [TODAY],
      `${PLACE}[0].tiers[0].flat: a price that changes on a date has only rates`,
      { rows: [{ when: VISION.when, tiers: [{ rate: 1, flat: 5 }] }] },
    ],
    ["no rows", [], "ERR_INPUT_INVALID rows: "],
    [
      "more than 5,000 rows",
      Array.from({ length: 5000 }, (_, index) => ({ when: { model: `m${index}` }, from: "2026-10-10", rate: 1 })),
      `${PLACE}: `,
    ],
  ])("%s", async (_, rows, message, parts) => {
    const underTest = await startWith(parts);
    const before = await underTest.engine.pricePlans.get("pp");
    const refusal = await describeRefusal(add(underTest, { rows: rows as readonly RateRowInput[] }));
    expect(refusal.slice(0, message.length)).toBe(message);
    expect(await underTest.engine.pricePlans.get("pp")).toEqual(before);
  });

  test("a plan, a version or a meter without a table in use", async () => {
    const underTest = await startWith();
    const { engine } = underTest;
    const addTo = (id: string, request: Partial<RateRowsRequest>) =>
      describeRefusal(engine.pricePlans.addRateRows(id, { usageMeterId: "um.tokens", rows: [TODAY], ...request }));
    expect(await addTo("none", {})).toBe('ERR_NOT_FOUND no price plan has the id "none"');
    expect(await addTo("pp", { version: 2 })).toBe('ERR_NOT_FOUND the price plan "pp" has no version 2');
    expect(await addTo("pp", { usageMeterId: "um.calls" })).toBe(
      'ERR_INPUT_INVALID usageMeterId: version 1 of "pp" has no price table for "um.calls"; make a new version of the plan',
    );
    await engine.pricePlans.createVersion("pp");
    expect(await addTo("pp", { version: 2 })).toBe(
      'ERR_REFUSED version 2 of "pp" is a draft; rows can be added only to an active version; update the draft',
    );
    await engine.pricePlans.archive("pp");
    expect(await addTo("pp", { version: 1 })).toBe(
      'ERR_REFUSED version 1 of "pp" is archived; rows can be added only to an active version',
    );
  });

  test("S6.5 a cycle counts as closed before the account is caught up, and until then its grace period accepts rows", async () => {
    const underTest = await startWith({ cycle: { interval: "MONTHLY", gracePeriod: 9 } }, "2026-10-09");
    await use(underTest, "2026-09-30", "vision", 4);
    await use(underTest, "2026-09-30", "audio", 5);
    await addRow(underTest, { ...VISION, from: "2026-09-01" });
    // 4 × 3; audio has no price.
    const september =
      "2026-09-01 DRAFT 12 um.tokens: 5 units have no price: the price table has no row for audio, input";
    expect(await listInvoices(underTest)).toEqual([september]);
    underTest.at("2026-10-10");
    const audio = { when: { model: "audio" }, rate: 1 };
    expect(await describeRefusal(addRow(underTest, { ...audio, from: "2026-09-30" }))).toContain(
      'expected 2026-10-01 or later, because earlier cycles of the account "acme" are closed, got 2026-09-30',
    );
    await addRow(underTest, { ...audio, from: "2026-10-01" });
    expect(await listInvoices(underTest)).toEqual([september.replace("DRAFT", "DUE")]);
  });
});

describe("S18.7 an override of a table that is rejected", () => {
  const refusals: Readonly<Record<string, object>> = {
    "multiply: expected 0 or more, got -1": { multiply: -1 },
    "rateTable: expected rateTable or rows, got both": { rateTable: { rows: [NOVA] }, rows: [VISION] },
    'rows[0].when.modle: expected "model" or "kind", a dimension by which the usage meter "um.tokens" groups, got "modle"':
      { rows: [{ when: { modle: "a" }, rate: 1 }] },
    "rows[1]: the combination of when and from is already used by rows[0]": { rows: [NOVA, NOVA] },
    'rows[1].when: rows[0] names as many dimensions and holds for model "nova" and kind "input" too: add a row for both':
      { rows: [NOVA, { when: { kind: "input" }, rate: 1 }] },
    'rows[0].rate: missing rates in "USD"': { rows: [{ ...NOVA, rate: { EUR: 1 } }] },
    'multiply: the plan has no price table for "um.calls": write a rateTable, or change another card': {
      usageMeterId: "um.calls",
      multiply: 1,
    },
  };
  test.each(Object.entries(refusals))("%s", async (message, card) => {
    const { engine } = await startWith();
    const usageRateCards = [{ usageMeterId: "um.tokens", ...card }];
    const request = { pricePlanId: "pp", effectiveFrom: "2026-10-10", pricePlanDetailsOverride: { usageRateCards } };
    expect(await describeRefusal(engine.associate("acme", request))).toBe(
      `ERR_INPUT_INVALID pricePlanDetailsOverride.usageRateCards[0].${message}`,
    );
  });
});
