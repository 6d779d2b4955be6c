/** S17.3 Reading files in parts on several threads prints the same as reading them line by line on one. */
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";

import { overageCards, perUnit, planOfMonths, sumMeter, tokenCards } from "../../book/builder.ts";
import { runs } from "../../support/runs.ts";
import { folder, type Ran, ratebook } from "../fake-io.ts";

const own = { attributes: [{ name: "a" }, { name: "b" }], dimensions: [{ name: "d" }] };
const BOOK = {
  organization: { id: "acme", name: "Acme", baseCurrency: "USD" },
  settings: [
    { namespace: "rates", id: "factor", entityType: "ACCOUNT", entityId: "two", value: "3" },
    { namespace: "rates", id: "factor", entityType: "ORGANIZATION", value: "2" },
  ],
  eventSchemas: [
    { name: "call", ...own },
    {
      name: "scaled",
      ...own,
      enrichments: {
        dependencies: [{ type: "SETTING", key: "setting.rates.factor", name: "factor" }],
        fields: [
          {
            name: "c",
            type: "ATTRIBUTE",
            order: 1,
            value: { "*": [{ var: "attribute.a" }, { var: "dependencies.factor" }] },
          },
        ],
      },
    },
    { name: "job", ...own },
    { name: "unmetered", ...own },
  ],
  usageMeters: [
    sumMeter("um.a", "call", "a"),
    {
      ...sumMeter("um.some", "call", "b"),
      computations: [
        { order: 1, matcher: { "==": [{ var: "dimension.d" }, "1"] }, computation: { var: "attribute.b" } },
        {
          order: 2,
          matcher: { ">": [{ var: "attribute.a" }, 100] },
          computation: { "/": [{ var: "attribute.b" }, 3] },
        },
      ],
    },
    sumMeter("um.scaled", "scaled", "c"),
  ],
  features: [{ id: "feature.tokens", name: "Tokens", schemaAssociations: [{ schemaName: "job", attributeName: "a" }] }],
  pricePlans: [
    planOfMonths("pp.one", {
      usageRateCards: [
        { usageMeterId: "um.a", ...perUnit("0.0123") },
        { usageMeterId: "um.some", ...perUnit("1") },
        { usageMeterId: "um.scaled", ...perUnit("0.5") },
      ],
      ...tokenCards(500),
      ...overageCards(0.002),
    }),
  ],
  customers: [{ id: "cust", name: "Customer" }],
  accounts: [
    {
      id: "one",
      name: "One",
      customerId: "cust",
      aliases: ["uno"],
      pricePlans: [{ pricePlanId: "pp.one", effectiveFrom: "2024-01-01" }],
    },
    {
      id: "two",
      name: "Two",
      customerId: "cust",
      pricePlans: [{ pricePlanId: "pp.one", effectiveFrom: "2024-01-05" }],
    },
    // Its plan is decided within a day.
    {
      id: "three",
      name: "Three",
      customerId: "cust",
      pricePlans: [{ pricePlanId: "pp.one", effectiveFrom: "2024-01-02", decidedAt: "2024-01-03T12:00:00Z" }],
    },
    { id: "without", name: "Without a plan", customerId: "cust" },
    { id: "gone", name: "Gone", customerId: "cust", status: "ARCHIVED" },
  ],
};
const DRAFT = { ...BOOK.pricePlans[0], id: "pp.draft", status: "DRAFT" };

const numbers = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: -20, max: 300 }).map(String) },
  { weight: 4, arbitrary: fc.tuple(fc.nat(99), fc.nat(999)).map(([a, b]) => `${a}.${b}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ..."-0 1e5 null true 1e400 9007199254740993 0.30000000000000001 123456789012345678901 01 -".split(" "),
      '"12"',
      '"x"',
      "1e39",
    ),
  },
);
const names = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom("one", "two", "uno", "three", "without") },
  { weight: 1, arbitrary: fc.constantFrom("gone", "nobody", "", "é€𝒳") },
);
const ids = fc.oneof(
  { weight: 8, arbitrary: fc.nat(1000).map((n) => `e-${n}`) },
  { weight: 3, arbitrary: fc.nat(8).map((n) => `again-${n}`) },
  { weight: 1, arbitrary: fc.constantFrom("", "é", "𝒳\\u0041", "x".repeat(513), "😀".repeat(40)) },
);
/** Seconds after 1 January: usually within a few days, sometimes months ahead, where an id may repeat. */
const seconds = fc.oneof(
  { weight: 10, arbitrary: fc.nat(5 * 86_400) },
  { weight: 1, arbitrary: fc.constantFrom(0, 86_399, 86_400, 40 * 86_400, 60 * 86_400, 120 * 86_400) },
);

interface GeneratedEvent {
  readonly schema: string;
  readonly id: string;
  readonly at: number;
  readonly account: string;
  readonly a: string;
  readonly b: string;
  readonly d: string;
  readonly form: number;
}

const generatedEvents: fc.Arbitrary<GeneratedEvent> = fc.record({
  schema: fc.oneof(
    { weight: 8, arbitrary: fc.constant("call") },
    { weight: 2, arbitrary: fc.constantFrom("scaled", "job", "unmetered", "none") },
  ),
  id: ids,
  at: seconds,
  account: names,
  a: numbers,
  b: numbers,
  d: fc.constantFrom("1", "1", "2", "é", "𝒳€", " "),
  form: fc.nat(60),
});

function toLine({ schema, id, at, account, a, b, d, form }: GeneratedEvent): string {
  const stamp = new Date(Date.UTC(2024, 0, 1) + at * 1000).toISOString();
  const attributes = `[{"name":"a","value":${a}},{"name":"b","value":${b}}]`;
  const plain = `{"schemaName":"${schema}","id":"${id}","timestamp":"${stamp}","accountId":"${account}","attributes":${attributes},"dimensions":{"d":"${d}"}}`;
  switch (form) {
    case 0:
      return "";
    case 1:
      return plain.slice(0, -7);
    case 2:
      return `${plain}\r`;
    case 3:
      return plain.replace(stamp, "soon");
    case 4:
      return "\u{feff}" + plain;
    case 5:
      // The same number of ranges.
      return plain.replace(`"${d}"`, `"${"é".repeat(300)}"`);
    case 6:
      return `${plain}${" ".repeat(700)}`;
    case 7:
      return "  \t";
    case 8:
      return "[1, 2]";
    default:
      return plain;
  }
}

interface File {
  readonly events: readonly GeneratedEvent[];
  readonly isSorted: boolean;
  readonly mark: boolean;
  readonly last: string;
  readonly end: string;
}

const files = fc.array(
  fc.record({
    events: fc.array(generatedEvents, { maxLength: 40 }),
    isSorted: fc.boolean(),
    mark: fc.boolean(),
    last: fc.constantFrom("", "\n", "\r\n", "\n\n"),
    end: fc.constantFrom("\n", "\n", "\r\n"),
  }),
  { minLength: 1, maxLength: 2 },
);

function toBytes({ events, isSorted, mark, last, end }: File): Uint8Array {
  const sorted = isSorted ? events.toSorted((x, y) => x.at - y.at) : events;
  const text = Buffer.from((mark ? "\u{feff}" : "") + sorted.map(toLine).join(end) + last);
  // One byte in the middle of a multi-byte character is lost.
  const cut = text.indexOf(Buffer.from("é€𝒳"));
  return cut >= 0 && events.length % 3 === 0
    ? Buffer.concat([text.subarray(0, cut + 1), text.subarray(cut + 2)])
    : text;
}

const place = folder();
place.file("book.json", JSON.stringify(BOOK));
place.file("draft.json", JSON.stringify(DRAFT));
place.file(
  "usage.ndjson",
  `${JSON.stringify({ accountId: "two", meterId: "um.a", date: "2024-01-03", quantity: "0.12345678901234567" })}\n`,
);
afterAll(() => place.remove());

let count = 0;
/**
 * The output of both readers.
 *
 * @param partBytes is increased if there would be more than sixty parts
 */
async function both(contents: readonly Uint8Array[], partBytes: number, more: readonly string[]): Promise<[Ran, Ran]> {
  const paths = contents.map((content) => place.file(`events-${count++}.ndjson`, content));
  const [command = "", ...options] = more;
  const argv = [command, `${place.path}/book.json`, ...paths.flatMap((path) => ["--events", path]), ...options];
  const bytes = contents.reduce((sum, { length }) => sum + length, 0);
  const parts = { cut: place.path, partBytes: Math.max(partBytes, Math.ceil(bytes / 60)) };
  const ran = async (engine: string): Promise<Ran> => ratebook([...argv, "--engine", engine], parts);
  return [await ran("core"), await ran("threads")];
}

const COMMANDS = [
  ["preview", "--format", "json", "--explain"],
  ["preview", "--format", "json", "--no-dedupe"],
  ["preview", "--format", "csv", "--usage", `${place.path}/usage.ndjson`],
  ["preview", "--format", "json", "--plan", `${place.path}/draft.json`],
  ["preview", "--summary"],
  ["backtest", "--plan", `${place.path}/draft.json`, "--format", "json"],
];

describe("S17.3 --engine threads prints the same as --engine core", () => {
  test.each(COMMANDS)("%s %s %s %s %s", async (...command) => {
    await fc.assert(
      fc.asyncProperty(files, fc.constantFrom(1, 7, 64, 200, 257, 1000, 1 << 16), async (fileList, partBytes) => {
        const [core, workers] = await both(fileList.map(toBytes), partBytes, command.filter(Boolean));
        expect(workers).toEqual(core);
      }),
      { numRuns: runs(100) },
    );
  });
});
