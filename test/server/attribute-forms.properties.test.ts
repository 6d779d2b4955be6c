/** S4.1 Attributes are an object or a list: outcomes, invoices and stored rows are the same. */
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";

import { type BookInput, type EventInput, preview } from "../../src/index.ts";
import { parseJson, stringifyJson } from "../../src/numbers/json.ts";
import { folder, type Folder, ratebook } from "../cli/fake-io.ts";
import { startWithUsage, USAGE_BOOK } from "./usage-book.ts";

let files: Folder;
beforeEach(() => {
  files = folder();
});
afterEach(() => files.remove());

/** JSON texts of values, most of them decimals. */
const value = fc.oneof(
  { weight: 8, arbitrary: fc.nat(40).map(String) },
  {
    weight: 3,
    arbitrary: fc.constantFrom("0.1", '"1.50"', "-2", "1e2", "12345678901234567.123456789", '"9007199254740993"'),
  },
  { weight: 1, arbitrary: fc.constantFrom('"abc"', '""', "null", "true", "[1]", "1e30", '{"more":1}') },
);
const unit = fc.constantFrom<string | undefined>(undefined, undefined, undefined, '"GB"', "null", "7");

/** An event twice, as JSON texts: with attributes as a list, and as an object. */
const eventTexts = fc
  .record({
    id: fc.nat(8),
    schema: fc.constantFrom("api calls", "api calls", "chat", "none"),
    account: fc.constantFrom("acme", "acme", "acme-eu", "nobody"),
    day: fc.integer({ min: 1, max: 14 }),
    names: fc.shuffledSubarray(["n", "tokens", "other", "__proto__"], { minLength: 1 }),
    values: fc.array(fc.tuple(value, unit), { minLength: 4, maxLength: 4 }),
    dimensions: fc.constantFrom('{"region":"eu"}', '{"region":"us","size":1.50}', '{"region":7}', "{}"),
  })
  .map(({ id, schema, account, day, names, values, dimensions }) => {
    const parts = names.map((name, index) => ({ name, value: values[index]?.[0] ?? "", unit: values[index]?.[1] }));
    const write = (attributes: string): string =>
      `{"schemaName":"${schema}","id":"e-${id}","accountId":"${account}","timestamp":"2024-06-${String(day).padStart(2, "0")}T08:00:00Z","attributes":${attributes},"dimensions":${dimensions}}`;
    const withUnit = (part: (typeof parts)[number]): string =>
      `"value":${part.value}${part.unit === undefined ? "" : `,"unit":${part.unit}`}`;
    return {
      list: write(`[${parts.map((part) => `{"name":"${part.name}",${withUnit(part)}}`).join()}]`),
      object: write(
        `{${parts
          .map((part) => {
            const isNested = part.unit !== undefined || part.value.startsWith("{");
            return `"${part.name}":${isNested ? `{${withUnit(part)}}` : part.value}`;
          })
          .join()}}`,
      ),
    };
  });

/** A result as text, without ids that differ from run to run, and with one form of the paths of attributes. */
function toText(result: unknown): string {
  return stringifyJson(result, 1)
    .replaceAll(/\b(ev|iv)\.[^"\\]+/g, "$1")
    .replaceAll(/attributes(?:\[\d\]|\.\w+)(?:\.value)?/g, "attributes[]");
}

async function ingestByLibrary(texts: readonly string[]): Promise<unknown> {
  const api = await startWithUsage();
  const outcomes = await api.engine.ingest(texts.map((text) => parseJson(text) as EventInput));
  const { items } = await api.engine.events.list();
  api.at("2024-07-10T00:00:00Z");
  await api.engine.finalize();
  return { outcomes, items, invoices: (await api.engine.invoices.list()).items };
}

async function ingestByHttp(texts: readonly string[]): Promise<unknown> {
  const api = await startWithUsage();
  const single = await api.call("POST /ingest", { body: `{"event":${texts[0]}}` });
  const batch = await api.call("POST /ingestBatch", { body: `{"events":[${texts.join()}]}` });
  return [single.text, batch.text, (await api.call("GET /events")).text];
}

async function previewFile(texts: readonly string[]): Promise<unknown> {
  const book = files.file("book.json", JSON.stringify(USAGE_BOOK));
  const events = files.file("events.ndjson", texts.map((text) => `${text}\n`).join(""));
  const { code, out, err } = await ratebook(["preview", book, "--events", events, "--format", "json"]);
  return { code, out, err };
}

test("S4.1 attributes as an object give the outcomes, invoices and stored rows of the same list", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(eventTexts, { minLength: 1, maxLength: 8 }), async (events) => {
      const [lists, objects] = [events.map(({ list }) => list), events.map(({ object }) => object)];
      const previewEvents = (texts: readonly string[]): unknown =>
        preview(
          USAGE_BOOK as BookInput,
          texts.map((text) => parseJson(text) as EventInput),
        );
      expect(toText(previewEvents(objects))).toBe(toText(previewEvents(lists)));
      for (const run of [ingestByLibrary, ingestByHttp, previewFile]) {
        expect(toText(await run(objects))).toBe(toText(await run(lists)));
      }
    }),
    { numRuns: 40 },
  );
});
