/** A large file of events, a book that prices it, and a build of the program to read it. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const ACCOUNTS = 1000;
const START = Date.UTC(2024, 0, 1);
const DAYS_MS = 30 * 86_400_000;

/** Writes events of 1,000 accounts over 30 days, in time order. */
export function writeEvents(path: string, count: number): void {
  const file = openSync(path, "w");
  let text = "";
  for (let n = 0; n < count; n++) {
    const event = {
      schemaName: "llm_request",
      id: `request-${String(n).padStart(9, "0")}`,
      timestamp: new Date(START + Math.floor((n * DAYS_MS) / count)).toISOString(),
      accountId: `account-${(n * 7919) % ACCOUNTS}`,
      attributes: [
        { name: "context_tokens", value: 100 + ((n * 31) % 5000) },
        { name: "generated_tokens", value: (n * 17) % 900 },
      ],
      dimensions: { service: n % 3 === 0 ? "chat" : "code" },
    };
    text += `${JSON.stringify(event)}\n`;
    if (text.length > 1 << 20) {
      writeSync(file, text);
      text = "";
    }
  }
  writeSync(file, text);
  closeSync(file);
}

/** One enrichment, three meters, 1,000 accounts on one plan. */
export function createLargeBook(): object {
  const meter = (id: string, aggregation: string, computation: object): object => ({
    id,
    name: id.replace("um.", ""),
    aggregation,
    eventSchemaName: "llm_request",
    computations: [{ order: 1, ...computation }],
  });
  const tokens = { computation: { var: "attribute.tokens" } };
  return {
    eventSchemas: [
      {
        name: "llm_request",
        attributes: [{ name: "context_tokens" }, { name: "generated_tokens" }],
        dimensions: [{ name: "service" }],
        enrichments: {
          fields: [
            {
              name: "tokens",
              type: "ATTRIBUTE",
              order: 1,
              value: { "+": [{ var: "attribute.context_tokens" }, { var: "attribute.generated_tokens" }] },
            },
          ],
        },
      },
    ],
    usageMeters: [
      meter("um.code", "SUM", { matcher: { "==": [{ var: "dimension.service" }, "code"] }, ...tokens }),
      meter("um.chat", "SUM", { matcher: { "==": [{ var: "dimension.service" }, "chat"] }, ...tokens }),
      meter("um.requests", "COUNT", {}),
    ],
    pricePlans: [
      {
        id: "pp.tokens",
        name: "Tokens",
        pricePlanDetails: {
          supportedCurrencies: ["USD"],
          pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1", monthOffset: "NIL" } },
          usageRateCards: ["um.code", "um.chat", "um.requests"].map((usageMeterId) => ({
            usageMeterId,
            ratePlan: { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] },
            rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: "0.00001" }] }],
          })),
        },
      },
    ],
    customers: [{ id: "customer", name: "Customer" }],
    accounts: Array.from({ length: ACCOUNTS }, (_, n) => ({
      id: `account-${n}`,
      name: `Account ${n}`,
      customerId: "customer",
      pricePlans: [{ pricePlanId: "pp.tokens", effectiveFrom: "2024-01-01" }],
    })),
  };
}

/**
 * Builds the program under node_modules, where it finds its packages.
 * @returns the folder to remove, and the program
 */
export function buildProgram(root: string): { readonly folder: string; readonly bin: string } {
  const cache = join(root, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "ratebook-bench-"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", version: "0.0.0" }));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "-p", join(root, "src"), "--outDir", join(folder, "dist")]);
  return { folder, bin: join(folder, "dist/cli/bin.js") };
}

/**
 * One thread that splits a file into lines and parses each. It prints the number of events and the sum of their tokens.
 */
export const BASELINE = `
import { openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
const file = openSync(process.argv[2], "r");
const chunk = Buffer.alloc(1 << 20);
const decoder = new StringDecoder("utf8");
let rest = "";
let events = 0;
let tokens = 0;
for (;;) {
  const count = readSync(file, chunk, 0, chunk.length, null);
  if (count === 0) break;
  const lines = (rest + decoder.write(chunk.subarray(0, count))).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    const { attributes } = JSON.parse(line);
    tokens += attributes[0].value + attributes[1].value;
    events++;
  }
}
console.log(JSON.stringify({ events, tokens }));
`;

/** Preloaded into a program: writes its peak memory to the file named in the environment. */
export const WATCH = `
import { writeFileSync } from "node:fs";
process.on("exit", () => writeFileSync(process.env.PEAK_FILE, String(process.resourceUsage().maxRSS)));
`;
