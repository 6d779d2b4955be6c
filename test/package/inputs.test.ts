/**
 * Compiler errors for inputs: a misspelt value is an error with a suggestion, wherever a part of a book is accepted.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { collectSentences } from "../support/sentences.ts";

const root = resolve(import.meta.dirname, "../..");

test("an editor shows the description of each field of an input", () => {
  const folder = join(root, "src/book/resources");
  const files = [
    ...readdirSync(folder).map((file) => join(folder, file)),
    join(root, "src/metering/event-envelope.ts"),
  ];
  const fields = files.flatMap((file) => {
    const source = readFileSync(file, "utf8");
    const inputs = [
      ...source.matchAll(/^export interface (\w+(?:Input|Request|Patch|Query)|Address)\b[^{]*\{\n[^]*?^}$/gm),
    ];
    return inputs.flatMap(([text, name = ""]) => {
      const lines = text.split("\n");
      return lines.flatMap((line, index) => {
        const [, field] = /^ +readonly (\w+)\??:/.exec(line) ?? [];
        return field === undefined ? [] : [{ name, field, above: lines[index - 1] ?? "" }];
      });
    });
  });
  const described = Object.values(collectSentences()).flatMap((sentences) => Object.values(sentences));
  expect(fields.length + described.length).toBeGreaterThan(150);
  expect(described).not.toContain("");
  expect(fields.filter(({ above }) => !above.endsWith("*/")).map(({ name, field }) => `${name}.${field}`)).toEqual([]);
});

const HEAD = `
import { checkPlan, createEngine, createPreview, type EventInput, memoryStore, preview, priceQuantity, readBook } from "../../src/index.ts";
const engine = createEngine({ store: memoryStore() });
const slabs = [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] as const;
const rateValues = [{ currency: "USD", slabRates: [{ order: 1, rate: "0.1" }] }] as const;
const card = { usageMeterId: "um.calls", ratePlan: { pricingModel: "TIERED", slabs }, rateValues } as const;
const event = { schemaName: "call", id: "e", accountId: "a", timestamp: "2024-06-01T00:00:00Z" } as const;
`;

const TIRED = '{ usageRateCards: [{ ...card, ratePlan: { pricingModel: "TIRED", slabs } }] }';
/** Where details of a plan are accepted. */
const DETAILS: readonly string[] = [
  'readBook({ pricePlans: [{ id: "p", name: "P", pricePlanDetails: DETAILS }] });',
  'void engine.load({ pricePlans: [{ id: "p", name: "P", pricePlanDetails: DETAILS }] });',
  'void engine.pricePlans.create({ name: "P", pricePlanDetails: DETAILS });',
  'void engine.pricePlans.update("p", { pricePlanDetails: DETAILS });',
  'void engine.pricePlans.createVersion("p", { pricePlanDetails: DETAILS });',
  'void engine.associate("a", { pricePlanId: "p", effectiveFrom: "2024-06-01", pricePlanDetailsOverride: DETAILS });',
  'void engine.calculateRevenue({ pricePlanDetailsConfig: { mode: "CUSTOM", pricePlanDetails: DETAILS } });',
  'preview(readBook({}), [], { plan: checkPlan({ id: "p", name: "P", pricePlanDetails: DETAILS }, {}) });',
];

/** Lines of a program, each with the expected compiler error; without one it must compile. */
const LINES: readonly (readonly [line: string, sentence?: string])[] = [
  ['priceQuantity({ pricingModel: "TIERED", slabs }, rateValues[0], 3);'],
  [
    'const book = { pricePlans: [{ id: "p", name: "P", pricePlanDetails: { usageRateCards: [card] } }] } as const; readBook(book);',
  ],
  ["void engine.ingest([event]); void engine.entitle(event); preview(readBook({}), [event]);"],
  ['void engine.associate("a", { pricePlanId: "p", effectiveFrom: new Date(0), effectiveUntil: 1_700_000_000_000 });'],
  ['void engine.undo({ account: "a" }); void engine.undo({ account: "a", referenceId: "r" });'],
  ['void engine.undo({ account: "a", eventId: "e" }); void engine.undo({ account: "a", timestamp: "2024-06-01" });'],
  ['void engine.undo({ account: "a", eventId: "e", timestamp: 1_700_000_000_000 });'],
  ['void engine.undo({ account: "a", eventId: "e", createdAt: new Date(0) });'],
  ['void engine.invoices.list({ filter: { status: "DUE" }, page: { limit: 10 } });'],
  ...DETAILS.map((line) => [line.replace("DETAILS", TIRED), `Did you mean '"TIERED"'?`] as const),
  ['priceQuantity({ pricingModel: "TIRED", slabs }, rateValues[0], 3);', "Did you mean '\"TIERED\"'?"],
  ['void engine.addOns.create({ name: "A", type: "LICENCE" });', "Did you mean '\"LICENSE\"'?"],
  ['void engine.addOns.update("a", { nam: "A" });', "Did you mean to write 'name'?"],
  ['void engine.usageMeters.update("m", { aggregation: "SUMM" });', "Did you mean '\"SUM\"'?"],
  ['void engine.eventSchemas.create({ name: "call", atributes: [] });', "Did you mean to write 'attributes'?"],
  ['void engine.eventSchemas.update("call", { status: "ACTIV" });', "Did you mean '\"ACTIVE\"'?"],
  ['void engine.features.create({ name: "F", desciption: "d" });', "Did you mean to write 'description'?"],
  ['void engine.features.update("f", { desciption: "d" });', "Did you mean to write 'description'?"],
  [
    'void engine.settings.create({ id: "s", namespace: "user", name: "N", dataType: "NUMBER", value: "1", entityType: "ORGANIZATION", entityId: "acme" });',
    '"NUMBER"',
  ],
  ['void engine.settings.update("s", { valu: "1" });', "Did you mean to write 'value'?"],
  ['void engine.customers.create({ id: "c", name: "Contoso", adress: {} });', "Did you mean to write 'address'?"],
  ['void engine.customers.update("c", { adress: {} });', "Did you mean to write 'address'?"],
  ['void engine.accounts.create({ id: "a", name: "A", customerid: "c" });', "Did you mean to write 'customerId'?"],
  ['void engine.accounts.update("a", { netTermDay: 3 });', "Did you mean to write 'netTermDays'?"],
  [
    'void engine.licenses.update("a", { licenseId: "l", updateType: "ABSOLUT", quantity: 1 });',
    "Did you mean '\"ABSOLUTE\"'?",
  ],
  [
    'void engine.credits.create([{ accountId: "a", purpose: "p", creditAmount: 1, priority: 1, effectiveFom: "2024-06-01" }]);',
    "Did you mean to write 'effectiveFrom'?",
  ],
  [
    'void engine.invoiceGroups.create({ name: "G", email: "a@b.c", dailyInvoiceConsolidation: "yes", accountIds: [] });',
    "is not assignable to type 'boolean'",
  ],
  [
    'void engine.usageMeters.create({ name: "m", agregation: "SUM", eventSchemaName: "call", computations: [] });',
    "'agregation' does not exist",
  ],
  ["void engine.ingest([{ ...event, atributes: [] }]);", "Did you mean to write 'attributes'?"],
  ["void engine.entitle({ ...event, dimension: {} });", "Did you mean to write 'dimensions'?"],
  ["preview(readBook({}), [{ ...event, atributes: [] }]);", "Did you mean to write 'attributes'?"],
  ["createPreview(readBook({})).add({ ...event, atributes: [] });", "Did you mean to write 'attributes'?"],
  ['const typo: EventInput = { ...event, acountId: "a" };', "'acountId' does not exist"],
  ['void engine.undo({ account: "a", referenceId: "r", eventId: "e" });', "is not assignable"],
  ['void engine.undo({ account: "a", createdAt: 0 });', "is not assignable"],
  ['void engine.undo({ account: "a", referenceId: "r", timestamp: 0 });', "is not assignable"],
  ['void engine.undo({ account: "a", timestamp: 0, createdAt: 0 });', "is not assignable"],
  ['void engine.undo({ account: "a", eventId: "e", timestamp: 0, createdAt: 0 });', "is not assignable"],
  ['void engine.undo({ account: "a", referenceId: Math.random() > 0.5 ? "r" : undefined });', "is not assignable"],
  ['void engine.undo({ account_id: "a" });', "'account_id' does not exist"],
  ['void engine.invoices.list({ accountId: "a" });', "'accountId' does not exist"],
  ['void engine.usageMeters.list({ filter: { status: "ACTIV" } });', "Did you mean '\"ACTIVE\"'?"],
  ["void engine.load(readBook({}));"],
];

test("a misspelt value or field is a compiler error that names the right one", () => {
  const folder = mkdtempSync(join(root, "test/package/.inputs-"));
  try {
    const head = HEAD.split("\n").length;
    writeFileSync(
      join(folder, "program.ts"),
      `${HEAD}${LINES.map(([line]) => `{ ${line} }`).join("\n")}\nexport {};\n`.replaceAll("../../src", "../../../src"),
    );
    const compilerOptions = {
      noEmit: true,
      noUnusedLocals: false,
      allowImportingTsExtensions: true,
      rewriteRelativeImportExtensions: false,
    };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: "../../../tsconfig.json", compilerOptions, include: ["program.ts"] }),
    );
    const argv = [join(root, "node_modules/typescript/bin/tsc"), "-p", folder, "--pretty", "false", "--checkers", "1"];
    const { stdout } = spawnSync(process.execPath, argv, { cwd: folder, encoding: "utf8" });
    const sentences = new Map<number, string>();
    for (const part of stdout.split(/^(?=program\.ts\()/m)) {
      const [, line = "0"] = /^program\.ts\((\d+),/.exec(part) ?? [];
      sentences.set(Number(line), (sentences.get(Number(line)) ?? "") + part);
    }
    const results = LINES.map(([line, sentence], index) => {
      const words = sentences.get(head + index) ?? "";
      return sentence === undefined ? [line, words] : [line, words.includes(sentence) ? sentence : words];
    });
    expect(results).toEqual(LINES.map(([line, sentence = ""]) => [line, sentence]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
