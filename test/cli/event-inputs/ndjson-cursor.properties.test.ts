import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { readBook } from "../../../src/book/book.ts";
import type { ByteSource } from "../../../src/cli/event-inputs/byte-source.ts";
import { createNdjsonCursor } from "../../../src/cli/event-inputs/ndjson-cursor.ts";
import { type EventSink, mergeEvents } from "../../../src/event-files/merge-events.ts";
import { rememberIds } from "../../../src/ledger/preview/accepted-ids.ts";
import { startEventRun } from "../../../src/ledger/preview/preview-run.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";

const book = readBook({
  eventSchemas: [{ name: "call", attributes: ["a", "b"], dimensions: ["d"] }],
  usageMeters: [
    {
      id: "sum",
      name: "sum",
      aggregation: "SUM",
      eventSchemaName: "call",
      computations: [
        { order: 1, computation: { "+": [{ var: "attribute.a" }, { "*": [{ var: "attribute.b" }, 1000] }] } },
        { order: 2, matcher: { "==": [{ var: "dimension.d" }, "1"] }, computation: 1000000007 },
      ],
    },
  ],
  accounts: [{ id: "one", aliases: ["uno"] }, { id: "two" }],
});

/** A file in memory that is read in chunks. */
function memorySource(content: string | Uint8Array, chunkBytes: number): ByteSource {
  const bytes = Buffer.from(content as string);
  async function* readChunks(): AsyncGenerator<Buffer, undefined> {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
    return undefined;
  }
  return { size: bytes.length, position: 0, chunks: readChunks(), close: async () => undefined };
}

/** The result of a file: every outcome in order with its line, and the usage. */
async function outcomes(content: string | Uint8Array, shapes: boolean, chunkBytes: number): Promise<unknown> {
  const run = startEventRun(book, { ids: rememberIds() });
  const results: unknown[] = [];
  const sink: EventSink = {
    onEvent: (_, line, event) => {
      results.push([line, run.add(event)]);
      return true;
    },
    onBadLine: (_, line, reason) => {
      results.push([line, reason]);
      return true;
    },
    // Without slots every line is parsed.
    findSlots: (name) => (shapes ? run.slotsOf(name) : undefined),
    onSummedEvents: () => false,
    onFilledSlots: (_, line, slots) => {
      results.push([line, run.addSlots(slots)]);
      return true;
    },
  };
  const disorders: unknown[] = [];
  const cursor = createNdjsonCursor("events", memorySource(content, chunkBytes), sink);
  await mergeEvents([cursor], { onDisorder: (disorder) => disorders.push(disorder) });
  const usage = [...run.usage.cells()].map((cell) => ({ ...cell, quantity: formatDecimal(cell.quantity) }));
  return { seen: results, usage, disorders, counts: run.counts() };
}

const numberText = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 1_000_000 }).map(String) },
  { weight: 2, arbitrary: fc.tuple(fc.nat(99_999), fc.nat(9999)).map(([a, b]) => `${a}.${b}`) },
  { weight: 2, arbitrary: fc.integer({ min: -1000, max: -1 }).map(String) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ..."-0|01|1.0|1e5|1E-3|-||1.|.5|+1|0x10|NaN|null|true|1e400|-0.0|0.10|00|1.2.3|1-1|1 | 1".split("|"),
      ..."9007199254740993 0.1234567890123456789 123456789012345678901 999999999999999".split(" "),
      ..."9999999999999999 0.000000000000001".split(" "),
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom(..."12|1.50|-3|abc|1e2||01|1,000| 1".split("|").map((text) => `"${text}"`)) },
);
const texts = fc.constantFrom(
  ...String.raw`x|1||\u0041|\"|é|€|a b|\n|</script>|{`.split("|"),
  "\t",
  "\u007f",
  "x".repeat(512),
  "x".repeat(513),
);
const stamps = fc.constantFrom(
  ..."2024-01-02T03:04:05.678Z|2024-01-02T03:04:05Z|2024-02-30T00:00:00Z|2024-02-29T23:59:59.999Z".split("|"),
  ..."2024-01-02T24:00:00Z|2024-01-02 03:04:05 UTC|2024-01-02T03:04:05.678901Z|2024-01-02T03:04:05+02:00".split("|"),
  ..."2024-01-02T03:04:05|2024-01-02T03:04:60Z|nonsense|2024-1x-02T03:04:05.678Z|0000-01-01T00:00:00Z".split("|"),
  ..."2024-01-02T03:04:05.67xZ|2024-01-03T03:04:05.678Z".split("|"),
);

interface Parts {
  readonly id: string;
  readonly stamp: string;
  readonly account: string;
  readonly a: string;
  readonly b: string;
  readonly d: string;
}

const parts: fc.Arbitrary<Parts> = fc.record({
  id: fc.oneof({ weight: 5, arbitrary: fc.nat(30).map((n) => `e-${n}`) }, texts),
  stamp: fc.oneof(
    { weight: 5, arbitrary: fc.nat(59).map((n) => `2024-01-02T03:${String(n).padStart(2, "0")}:00.000Z`) },
    stamps,
  ),
  account: fc.oneof({ weight: 5, arbitrary: fc.constantFrom("one", "two", "uno") }, texts),
  a: numberText,
  b: numberText,
  d: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('"x"', '"1"') },
    texts.map((text) => `"${text}"`),
    numberText,
  ),
});

/** How programs format a line; the last ones are unusual or malicious. */
const SERIALIZERS: readonly ((p: Parts) => string)[] = [
  (p) =>
    `{"schemaName":"call","id":"${p.id}","timestamp":"${p.stamp}","accountId":"${p.account}","attributes":[{"name":"a","value":${p.a}},{"name":"b","value":${p.b}}],"dimensions":{"d":${p.d}}}`,
  (p) =>
    `{ "id": "${p.id}", "accountId": "${p.account}", "dimensions": { "d": ${p.d}, "other": "${p.account}" }, "attributes": [ { "value": ${p.b}, "name": "b", "unit": "tokens" }, { "name": "a", "value": ${p.a} }, { "name": "extra", "value": ${p.a} } ], "schemaName": "call", "timestamp": "${p.stamp}", "source": "x", "serial": 7, "ok": true }`,
  (p) =>
    `{"schemaName":"call","id":"${p.id}","timestamp":"${p.stamp}","accountId":"${p.account}","attributes":[{"name":"a","value":${p.a}}],"dimensions":{"d":${p.d}}}`,
  (p) =>
    `{"schemaName":"other","id":"${p.id}","timestamp":"${p.stamp}","accountId":"${p.account}","attributes":[],"dimensions":{}}`,
  (p) =>
    `{"id":"first","schemaName":"call","id":"${p.id}","timestamp":"${p.stamp}","accountId":"${p.account}","attributes":[{"name":"a","value":1,"value":${p.a}},{"name":"b","value":${p.b}}],"dimensions":{"d":"y","d":${p.d}}}`,
  (p) =>
    `{"schemaName":"call","id":"${p.id}","timestamp":"${p.stamp}","accountId":"${p.account}","attributes":[{"name":"a","value":${p.a}},{"name":"a","value":${p.b}}],"dimensions":{"d":${p.d}}}`,
  (p) =>
    `{"schemaName":"call","id":"${p.id}","timestamp":"${p.stamp}","accountId":"${p.account}","__proto__":{"x":1},"attributes":[{"name":"a","value":${p.a}},{"name":"b","value":${p.b}},{"name":"__proto__","value":1}],"dimensions":{"d":${p.d},"__proto__":"z"}}`,
  (p) =>
    `{"schemaName":"call","id":"${p.id}","timestamp":"${p.stamp}","accountId":"${p.account}","n":${p.a},"t":"${p.account}","attributes":[{"name":"a","value":${p.a}},{"name":"b","value":${p.b}}],"dimensions":{"d":${p.d}}}`,
  ...[
    (p: Parts) => `"a":${p.a},"b":${p.b}`,
    (p: Parts) => `"b": {"unit": "tokens", "value": ${p.b}}, "a": ${p.a}, "extra": {"value":${p.a}}`,
    (p: Parts) => `"a":${p.a},"b":{"name":"a","value":${p.b},"more":1}`,
    (p: Parts) => `"a":${p.a},"b":{"name":"a","value":${p.b}}`,
    (p: Parts) => `"a":${p.a},"b":{"value":{"value":${p.b}}}`,
    (p: Parts) => `"a":${p.a},"b":{"unit":"tokens"}`,
    (p: Parts) => `"a":${p.a},"b":[${p.b}]`,
    (p: Parts) => `"a":${p.a},"a":${p.b},"b":1`,
    (p: Parts) => `"a":${p.a},"b":${p.b},"__proto__":1,"":${p.b}`,
  ].map(
    (format) => (p: Parts) =>
      `{"schemaName":"call","id":"${p.id}","timestamp":"${p.stamp}","accountId":"${p.account}","attributes":{${format(p)}},"dimensions":{"d":${p.d}}}`,
  ),
];
const ENDS = ["", "", "", "", "\r", " ", "x", "}", ",", "\r\r", "\t"];

const lines = fc.array(
  fc.tuple(parts, fc.nat(SERIALIZERS.length + 12), fc.nat(ENDS.length + 30)).map(([p, serializer, end]) => {
    // As in a real file, most lines come from the first serializer.
    const text = (SERIALIZERS[serializer] ?? SERIALIZERS[0])?.(p) ?? "";
    return `${text}${ENDS[end] ?? ""}`;
  }),
  { minLength: 1, maxLength: 40 },
);

describe("lines parsed by their shape", () => {
  test("S1.2 have the same outcomes and usage as fully parsed lines", async () => {
    await fc.assert(
      fc.asyncProperty(lines, fc.boolean(), async (lineList, last) => {
        const content = lineList.join("\n") + (last ? "\n" : "");
        expect(await outcomes(content, true, 300)).toEqual(await outcomes(content, false, 1 << 16));
      }),
    );
  });

  test("S1.2 have the same results as fully parsed lines if any byte of a file is changed", async () => {
    const plain = SERIALIZERS[0];
    const base = (n: number): string =>
      plain?.({ id: `e-${n}`, stamp: "2024-01-02T03:04:05.678Z", account: "one", a: "12", b: "3.5", d: '"1"' }) ?? "";
    const content = Buffer.from([1, 2, 3, 4].map((n) => `${base(n)}\n`).join(""));
    await fc.assert(
      fc.asyncProperty(fc.nat(content.length - 1), fc.nat(255), async (at, byte) => {
        const corruptedBytes = Buffer.from(content);
        corruptedBytes[at] = byte;
        expect(await outcomes(corruptedBytes, true, 300)).toEqual(await outcomes(corruptedBytes, false, 1 << 16));
      }),
    );
  });
});
