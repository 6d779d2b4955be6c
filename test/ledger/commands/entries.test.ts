import { describe, expect, test } from "vitest";

import { formatDecimal } from "../../../src/numbers/decimal.ts";
import { accountOf, type EventLedger, NOON, openEvents, requestOf, tokenBook, tokenOverage } from "../event-harness.ts";

const MONTH = ["2024-03-01", "2024-04-01"] as const;
const shop = (plan: object = {}): Promise<EventLedger> => openEvents(tokenBook(plan));

/** Consumes some tokens at noon. */
const ingestTokens = async (ledger: EventLedger, id: string, tokens: number, timestamp = NOON): Promise<string> =>
  (await ledger.ingest([requestOf(id, tokens, timestamp)], NOON))[0]?.status ?? "";

describe("purchasing an entry (S11.5)", () => {
  test("S11.6 creates an entry that events consume", async () => {
    const ledger = await shop();
    const entry = await ledger.grant(10, ...MONTH, NOON);
    expect(entry).toMatchObject({ accountId: "a", featureId: "f.tokens", source: "PURCHASE", voided: false });
    expect(await ingestTokens(ledger, "e1", 10)).toBe("INGESTION_COMPLETED_EVENT_METERED");
    expect(await ingestTokens(ledger, "e2", 1)).toBe("INGESTION_FAILED_INSUFFICIENT_CREDITS");
  });

  test("S11.5 moves the open overage that it covers, and no other", async () => {
    const ledger = await shop(tokenOverage());
    await ingestTokens(ledger, "e1", 3, "2024-03-02T00:00:00Z");
    await ingestTokens(ledger, "e2", 4, "2024-03-04T00:00:00Z");
    await ingestTokens(ledger, "e3", 5, "2024-03-05T00:00:00Z");
    const entry = await ledger.grant(6, "2024-03-03", "2024-04-01", NOON);
    expect(formatDecimal(entry.balance)).toBe("0");
    const draws = (await ledger.events()).map(({ feature }) =>
      feature?.allocations.map(({ quantity }) => formatDecimal(quantity)),
    );
    expect(draws).toEqual([[], ["4"], ["2"]]);
    expect(await ledger.totals()).toMatchObject({ granted: "6", balance: "0", overage: "6", consumed: "12" });
  });

  test("is rejected for invalid values", async () => {
    const ledger = await shop();
    await expect(ledger.grant(1, "2024-03-01", "2024-03-01", NOON)).rejects.toMatchObject({
      code: "ERR_INPUT_INVALID",
      message:
        "effectiveUntil: expected a time after effectiveFrom, 2024-03-01T00:00:00.000Z, got 2024-03-01T00:00:00.000Z",
    });
    await expect(ledger.grant(1, ...MONTH, NOON, { featureId: "f.none" })).rejects.toMatchObject({
      code: "ERR_NOT_FOUND",
      message: 'no feature has the id "f.none"',
    });
    const archivedLedger = await openEvents(tokenBook({}, 0, { accounts: [accountOf("a", { status: "ARCHIVED" })] }));
    await expect(archivedLedger.grant(1, ...MONTH, NOON)).rejects.toMatchObject({
      code: "ERR_REFUSED",
      message: 'the account "a" is archived and cannot receive grants',
    });
    expect([...(await ledger.entries()), ...(await archivedLedger.entries())]).toEqual([]);
  });
});

describe("changing an entry (S11.8)", () => {
  test("S11.8 a change of granted moves the balance by the difference, down to 0", async () => {
    const ledger = await shop();
    const { id } = await ledger.grant(10, ...MONTH, NOON);
    await ingestTokens(ledger, "e1", 4);
    expect(formatDecimal((await ledger.patch(id, { granted: 12.5 }, NOON)).balance)).toBe("8.5");
    expect(formatDecimal((await ledger.patch(id, { granted: 4 }, NOON)).balance)).toBe("0");
    await expect(ledger.patch(id, { granted: 3 }, NOON)).rejects.toMatchObject({
      code: "ERR_REFUSED",
      message: "granted: expected at least 4, which events have used, got 3",
    });
    expect(await ledger.totals()).toMatchObject({ granted: "4", balance: "0", consumed: "4" });
  });

  test("S11.5 a raised entry takes over overage", async () => {
    const ledger = await shop(tokenOverage());
    const { id } = await ledger.grant(1, ...MONTH, NOON);
    await ingestTokens(ledger, "e1", 4);
    const updatedEntry = await ledger.patch(id, { granted: 3 }, NOON);
    expect(formatDecimal(updatedEntry.balance)).toBe("0");
    expect(await ledger.totals()).toMatchObject({ balance: "0", overage: "1" });
  });

  test("S11.5 an extended entry takes over overage", async () => {
    const ledger = await shop(tokenOverage());
    const { id } = await ledger.grant(3, "2024-03-01", "2024-03-02", NOON);
    await ingestTokens(ledger, "e1", 4);
    await ledger.patch(id, { until: "2024-03-06" }, NOON);
    expect(await ledger.totals()).toMatchObject({ balance: "0", overage: "1" });
  });

  test("S11.8 the end can't move to or before an event that consumed the entry", async () => {
    const ledger = await shop();
    const { id } = await ledger.grant(10, ...MONTH, NOON);
    await ingestTokens(ledger, "e1", 4, "2024-03-04T00:00:00Z");
    await expect(ledger.patch(id, { until: "2024-03-04" }, NOON)).rejects.toMatchObject({
      code: "ERR_REFUSED",
      message: "effectiveUntil: expected a time after 2024-03-04T00:00:00.000Z, when an event last used the entry",
    });
    await ledger.patch(id, { until: "2024-03-04T00:00:00.001Z" }, NOON);
    await ledger.undo({ account: "a", eventId: "e1" }, NOON);
    await ledger.patch(id, { until: "2024-03-02" }, NOON);
    expect(await ingestTokens(ledger, "e2", 4)).toBe("INGESTION_FAILED_INSUFFICIENT_CREDITS");
  });

  test("an unknown or voided entry can't be changed", async () => {
    const ledger = await shop();
    const { id } = await ledger.grant(10, ...MONTH, NOON);
    await ledger.voidEntry(id, NOON);
    await expect(ledger.patch(id, { granted: 20 }, NOON)).rejects.toMatchObject({
      code: "ERR_REFUSED",
      message: `the entry "${id}" is voided and cannot be changed`,
    });
    await expect(ledger.patch("none", { granted: 1 }, NOON)).rejects.toMatchObject({
      code: "ERR_NOT_FOUND",
      message: 'no feature credit entry has the id "none"',
    });
  });
});

describe("voiding an entry (S11.8)", () => {
  test("S11.8 granted and balance are unchanged, and it is not consumed any more", async () => {
    const ledger = await shop();
    const { id } = await ledger.grant(10, ...MONTH, NOON);
    await ingestTokens(ledger, "e1", 4);
    await ledger.voidEntry(id, NOON);
    expect(await ingestTokens(ledger, "e2", 1)).toBe("INGESTION_FAILED_INSUFFICIENT_CREDITS");
    expect(await ledger.totals()).toMatchObject({ granted: "10", balance: "6" });
  });

  test("S11.8 voiding twice is rejected", async () => {
    const ledger = await shop();
    const { id } = await ledger.grant(10, ...MONTH, NOON);
    await ledger.voidEntry(id, NOON);
    const refusal = { code: "ERR_REFUSED", message: `the entry "${id}" is already voided` };
    await expect(ledger.voidEntry(id, NOON)).rejects.toMatchObject(refusal);
  });
});
