import { expect, test } from "vitest";

import { readBook } from "../../src/book/book.ts";
import { createMeteringRun } from "../../src/ledger/metering-run.ts";

const book = readBook({
  eventSchemas: [
    {
      name: "request",
      attributes: [{ name: "tokens" }],
      dimensions: [{ name: "region" }],
      enrichments: {
        dependencies: [],
        fields: [
          {
            name: "thousands",
            type: "ATTRIBUTE",
            value: { "/": [{ var: "attribute.tokens" }, 1000] },
            order: 1,
          },
        ],
      },
    },
  ],
  usageMeters: [
    {
      id: "um.all",
      name: "all",
      aggregation: "COUNT",
      eventSchemaName: "request",
      computations: [{ order: 1 }],
    },
    {
      id: "um.eu",
      name: "eu",
      aggregation: "SUM",
      eventSchemaName: "request",
      computations: [
        {
          order: 1,
          matcher: { "==": [{ var: "dimension.region" }, "eu"] },
          computation: { var: "attribute.thousands" },
        },
      ],
    },
  ],
  customers: [{ id: "contoso", name: "Contoso" }],
  accounts: [{ id: "prod", name: "Production", customerId: "contoso", aliases: ["p-1"] }],
});

const event = (id: string, region: string, tokens: number | string, accountId = "prod"): unknown => ({
  schemaName: "request",
  id,
  accountId,
  timestamp: "2024-03-05T10:00:00Z",
  attributes: [{ name: "tokens", value: tokens }],
  dimensions: { region },
});

test("S5.2 COUNT counts matching events and SUM adds what is computed of them", () => {
  const run = createMeteringRun(book);
  run.add(event("1", "eu", 1500));
  run.add(event("2", "us", 100));
  run.add(event("3", "eu", "0.25", "p-1"));
  const cells = [...run.usage.cells()].map(({ meterId, day, quantity }) => [meterId, day, quantity.toFixed()]);
  // 2024-03-05 is day 19,787 after 1970-01-01; 1500 ÷ 1000 + 0.25 ÷ 1000 is 1.50025.
  expect(cells).toEqual([
    ["um.all", 19787, "3"],
    ["um.eu", 19787, "1.50025"],
  ]);
});
