/** Events whose values are data that imitate decimals. */
import { describe, expect, test } from "vitest";

import { preview } from "../../../src/ledger/preview/preview.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { parseJson } from "../../../src/numbers/json.ts";
import { bookWithParts, requestEvent } from "../support.ts";

const forgeries = [
  '{"toStringTag":"[object Decimal]","s":1,"e":0,"d":[5]}',
  '{"toStringTag":"[object Decimal]","s":1,"e":0,"d":5}',
  '{"toStringTag":"[object Decimal]","s":1,"e":0,"d":"abc"}',
  '{"toStringTag":"[object Decimal]","s":"x","e":"y","d":["0"]}',
];

describe("S14.1 a value with the mark of a decimal is an object, and its event is malformed", () => {
  test.each(forgeries)("%s", (text) => {
    const events = [
      requestEvent({ attributes: [{ name: "tokens", value: parseJson(text) }] }),
      requestEvent({ dimensions: { region: parseJson(text) } }),
      requestEvent(),
    ];
    const { events: counts, problems } = preview(bookWithParts({}), events as Iterable<EventInput>, {
      at: "2024-03-05",
    });
    expect(problems.map(({ message }) => message)).toEqual([
      "Field attributes[0].value: expected a number, or a decimal as a string, got an object.",
      "Field dimensions.region: expected a string or a number, got an object.",
    ]);
    expect(counts).toEqual({ read: 3, INGESTION_REFUSED: 2, INGESTION_COMPLETED_EVENT_NOT_BILLED: 1 });
  });
});
