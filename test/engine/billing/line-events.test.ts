/** Which line the events are behind, if the id of the line does not say it (S13.6). */
import { expect, test } from "vitest";

import { readBook } from "../../../src/index.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";
import { startHistory } from "../../../src/testing.ts";

test("S13.6 the type of the line is needed if a meter and a feature of an invoice have one id", async () => {
  const book = readBook({
    eventSchemas: [{ name: "chat", attributes: ["tokens"] }],
    features: [{ id: "chats", name: "Chats", schemaAssociations: ["chat"] }],
    usageMeters: [{ id: "chats", schema: "chat", sum: "tokens" }],
    pricePlans: [
      { id: "p", cycle: "MONTHLY", usage: [{ meter: "chats", rate: 3 }], overages: [{ feature: "chats", rate: 2 }] },
    ],
    accounts: [{ id: "one", plan: "p", from: "2024-02-01" }],
  });
  const { engine } = await startHistory(book, Date.parse("2024-02-20T12:00:00Z"));
  const event = { id: "e", schemaName: "chat", accountId: "one", timestamp: "2024-02-19T00:00:00Z" };
  await engine.ingest([{ ...event, attributes: [{ name: "tokens", value: 7 }] }]);
  const { items } = await engine.invoices.list();
  const of = { invoiceId: items[0]?.id ?? "", lineId: "chats" };
  await expect(engine.invoices.lineEvents(of)).rejects.toThrow(
    'type: add a type: "chats" is the id of both a meter and a feature on this invoice',
  );
  const { quantity } = await engine.invoices.lineEvents({ ...of, type: "USAGE_RATE_CARD_AMOUNT" });
  expect(formatDecimal(quantity)).toBe("7");
});
