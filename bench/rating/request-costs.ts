/**
 * The cost of requests to language models: a preview with price tables, compared with `calcPrice` of
 * `@pydantic/genai-prices` on the same requests at the same rates. It computes with doubles.
 */
import { calcPrice } from "@pydantic/genai-prices";

import { readBook } from "../../src/book/book.ts";
import type { Book } from "../../src/book/resources/book.ts";
import { allLines } from "../../src/invoicing/invoice.ts";
import { type Preview, preview } from "../../src/ledger/preview/preview.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { Decimal, formatDecimal, parseDecimal, sum } from "../../src/numbers/decimal.ts";
import { type Bench, measure } from "../bench.ts";

const MODELS = [
  { provider: "openai", model: "gpt-4o" },
  { provider: "openai", model: "gpt-4.1" },
  { provider: "openai", model: "gpt-5" },
  { provider: "google", model: "gemini-2.5-flash" },
] as const;
/** The kinds of tokens, and their rates per million in the data of the package. */
const KINDS = { input: "input_mtok", cached: "cache_read_mtok", output: "output_mtok" } as const;
type Kind = keyof typeof KINDS;

interface Request {
  readonly model: (typeof MODELS)[number];
  /** Input without the cached tokens. */
  readonly tokens: Readonly<Record<Kind, number>>;
}

function createRequests(count: number): readonly Request[] {
  return Array.from({ length: count }, (_, index) => ({
    model: MODELS[index % 4] ?? MODELS[0],
    tokens: { input: 100 + ((index * 7919) % 4000), cached: (index * 104_729) % 3000, output: (index * 1299) % 900 },
  }));
}

function calculate({ model: { model, provider }, tokens: { input, cached, output } }: Request): number {
  const usage = { input_tokens: input + cached, cache_read_tokens: cached, output_tokens: output };
  const price = calcPrice(usage, model, { providerId: provider });
  if (price === null) throw new Error(`${model} has no price`);
  return price.total_price;
}

/** The rate of a model per million tokens, as in the data of the package. */
function rateOf({ model, provider }: (typeof MODELS)[number], kind: Kind): number {
  const rate = calcPrice({ input_tokens: 1 }, model, { providerId: provider })?.model_price[KINDS[kind]];
  if (typeof rate !== "number") throw new Error(`${model} has no single rate for ${kind} tokens`);
  return rate;
}

function createBook(): Book {
  const kinds = Object.keys(KINDS) as Kind[];
  return readBook({
    eventSchemas: [{ name: "request", attributes: kinds, dimensions: ["model"] }],
    usageMeters: kinds.map((kind) => ({ id: kind, schema: "request", sum: kind, groupBy: ["model"] })),
    pricePlans: [
      {
        id: "plan",
        cycle: "MONTHLY",
        usage: kinds.map((kind) => ({
          meter: kind,
          rateTable: {
            per: 1_000_000,
            rows: MODELS.map((each) => ({ when: { model: each.model }, rate: rateOf(each, kind) })),
          },
        })),
      },
    ],
    accounts: [{ id: "acme", plan: "plan", from: "2026-10-01" }],
  });
}

function createEvents(requests: readonly Request[]): readonly EventInput[] {
  return requests.map(({ model: { model }, tokens }, index) => ({
    schemaName: "request",
    id: `request-${index}`,
    timestamp: new Date(Date.UTC(2026, 9, 1) + index * 1000).toISOString(),
    accountId: "acme",
    attributes: Object.entries(tokens).map(([name, value]) => ({ name, value })),
    dimensions: { model },
  }));
}

/** The exact cost on the invoices of a preview, before rounding. */
function exactCost({ invoices }: Preview): Decimal {
  const cards = invoices
    .flatMap(({ revenueInfo }) => allLines(revenueInfo))
    .filter(({ type }) => type === "USAGE_RATE_CARD_AMOUNT");
  return sum(cards.map(({ exactValue, value }) => (exactValue === undefined ? value : parseDecimal(exactValue))));
}

const Exact = Decimal.clone({ precision: 100 });

function multiplyByHand({ model, tokens }: Request, rates: ReadonlyMap<string, number>): Decimal {
  return (Object.keys(KINDS) as Kind[]).reduce(
    (cost, kind) => cost.plus(new Exact(tokens[kind]).times(rates.get(`${model.model} ${kind}`) ?? 0).div(1_000_000)),
    new Exact(0),
  );
}

function run(size: "smoke" | "full"): readonly string[] {
  const book = createBook();
  // 4,310 × 2 and 20 × 0.50 per million
  const sample = { model: MODELS[1], tokens: { input: 4310, cached: 20, output: 0 } };
  const sampleCost = formatDecimal(exactCost(preview(book, createEvents([sample]))));
  if (sampleCost !== "0.00863") throw new Error(`0.00863 is ${sampleCost}`);
  const requests = createRequests(size === "full" ? 100_000 : 1000);
  const events = createEvents(requests);
  const rates = new Map(
    MODELS.flatMap((each) =>
      (Object.keys(KINDS) as Kind[]).map((kind) => [`${each.model} ${kind}`, rateOf(each, kind)] as const),
    ),
  );
  const costs = requests.map((request) => multiplyByHand(request, rates));
  if (!exactCost(preview(book, events)).eq(sum(costs))) throw new Error("the preview is not exact");
  const exactCount = requests.filter((request, index) => costs[index]?.eq(calculate(request)) === true).length;
  const seconds = { ours: Infinity, theirs: Infinity };
  for (let round = 0; round < (size === "full" ? 5 : 1); round++) {
    seconds.ours = Math.min(
      seconds.ours,
      measure(() => void preview(book, events)),
    );
    seconds.theirs = Math.min(
      seconds.theirs,
      measure(() => {
        for (const request of requests) calculate(request);
      }),
    );
  }
  const perSecond = (taken: number): string => `${Math.round(requests.length / taken).toLocaleString("en-US")}/s`;
  return [
    `preview with invoices: ${perSecond(seconds.ours)}, ratio ${(seconds.theirs / seconds.ours).toFixed(1)} (target 15); all exact, one is ${sampleCost}`,
    `calcPrice: ${perSecond(seconds.theirs)}; ${exactCount} of ${requests.length} exact, the same one is ${calculate(sample)}`,
  ];
}

export const requestCostBenches: readonly Bench[] = [
  { name: "costs of requests compared with @pydantic/genai-prices", run },
];
