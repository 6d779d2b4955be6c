/** The model API example, compared with figures that PostgreSQL computes from the raw traces. */
import { PGlite } from "@electric-sql/pglite";
import { describe, expect, test } from "vitest";

import { preview, parseBook } from "../../src/index.ts";
import { exampleText, previewExample, traceEvents } from "../support/examples.ts";
import { flattenLines } from "../support/invoice-lines.ts";

interface Row {
  readonly account: string;
  readonly invoice: string;
  readonly line: string;
  readonly id: string | null;
  readonly quantity: string | null;
  readonly exact: string | null;
  readonly amount: string;
}

async function rowsOfSql(): Promise<readonly Row[]> {
  const database = await PGlite.create();
  try {
    await database.exec(exampleText("llm-api", "tables.sql"));
    for (const trace of ["code", "conv"] as const) {
      const csv = new Blob([exampleText("llm-api", `AzureLLMInferenceTrace_${trace}.csv`)]);
      await database.query(`copy ${trace}_trace from '/dev/blob' csv header`, [], { blob: csv });
    }
    const { rows } = await database.query<Row>(exampleText("llm-api", "usage.sql"));
    return rows;
  } finally {
    await database.close();
  }
}

const result = previewExample("llm-api", [
  ...traceEvents("code", "contoso-code"),
  ...traceEvents("conv", "contoso-chat"),
]);

/** The preview's lines as rows, without lines between the total and the cards that repeat another. */
const REPEATED = new Set(["NET_AMOUNT", "GROSS_AMOUNT", "PRICE_PLAN_AMOUNT", "SUB_CREDITS"]);

function rowsOfPreview(): readonly Row[] {
  return result.invoices.flatMap((invoice) =>
    flattenLines(invoice.revenueInfo)
      .filter(({ line }) => !REPEATED.has(line.type))
      .map(({ line }) => ({
        account: invoice.accountId,
        invoice: invoice.invoiceType,
        line: line.type,
        id: line.id ?? null,
        quantity: line.quantity?.toFixed() ?? null,
        exact: line.lineItems === undefined || line.id !== undefined ? (line.exactValue ?? line.value.toFixed()) : null,
        amount: line.value.toFixed(2),
      })),
  );
}

/** Sums have no exact value in the query; lines are compared as a set, because the query lists totals last. */
function comparable(rows: readonly Row[]): readonly string[] {
  return rows
    .map(({ account, invoice, line, id, quantity, exact, amount }) => {
      const isCard = /(?:_RATE_CARD_AMOUNT|_SLAB_AMOUNT|^ADVANCED_FIXED_FEE)$/.test(line);
      return [account, invoice, line, id ?? "-", quantity ?? "-", isCard ? exact : "-", amount].join(" | ");
    })
    .toSorted();
}

describe("the example of a model API", () => {
  test("meters every one of the 28,185 requests (8,819 and 19,366, the row counts of the traces)", () => {
    expect(result.events).toEqual({ read: 28_185, INGESTION_COMPLETED_EVENT_METERED: 28_185 });
    expect(result.problems).toEqual([]);
  });

  test("has the usage published with the traces", () => {
    const usage = result.invoices.flatMap(({ accountId, usageInfo }) =>
      (usageInfo?.lineItems ?? []).map(({ id, quantity }) => [accountId, id, quantity.toFixed()]),
    );
    expect(usage).toEqual([
      ["contoso-code", "um.context.premium", "18.059974"],
      ["contoso-code", "um.generated.premium", "0.245896"],
      ["contoso-code", "um.requests", "8819"],
      ["contoso-chat", "um.context.standard", "22.36187"],
      ["contoso-chat", "um.generated.std", "4.088665"],
      ["contoso-chat", "um.requests", "19366"],
    ]);
  });

  test("has every line, to the last decimal, as computed by SQL from the raw traces", async () => {
    expect(comparable(rowsOfPreview())).toEqual(comparable(await rowsOfSql()));
  });

  test("totals 20 + 80 for the code account, and 0 + 13.10 for the chat account", () => {
    // Code: 49.34 + 3.55 + 0.90 = 53.79; 100 − 20 − 53.79 = 26.21 more. Chat: 20 − 20; 18.10 − 5 of the credit's 25.
    expect(result.invoices.map(({ accountId, revenueInfo }) => [accountId, revenueInfo.value.toFixed(2)])).toEqual([
      ["contoso-code", "20.00"],
      ["contoso-code", "80.00"],
      ["contoso-chat", "0.00"],
      ["contoso-chat", "13.10"],
    ]);
  });

  test("S14.4 gives the same result whichever trace is read first", () => {
    const book = parseBook(JSON.parse(exampleText("llm-api", "book.json")) as unknown);
    const events = [...traceEvents("conv", "c-chat"), ...traceEvents("code", "c-code")];
    expect(preview(book, events).invoices).toEqual(result.invoices);
  });
});
