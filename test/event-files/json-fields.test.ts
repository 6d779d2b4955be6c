/** Events from JSON objects whose fields a map names. */
import { expect, test } from "vitest";

import { readEventFileMap } from "../../src/event-files/event-file-map.ts";
import { createObjectEventMaker } from "../../src/event-files/json-fields.ts";

const MAP = readEventFileMap(
  "map.json",
  JSON.stringify({
    schemaName: { value: "use" },
    accountId: { column: "account.id" },
    id: { column: "id" },
    timestamp: { column: "time" },
  }),
);

test.each([
  ["a list", [1], "the line is not a JSON object with fields"],
  ["a number", 1, "the line is not a JSON object with fields"],
  [
    "other fields",
    { account: { ids: 1 }, lists: [1] },
    'the map uses the field "account.id", but the line has "account.ids"',
  ],
])("a line with %s is rejected", (_, line, message) => {
  const problem = createObjectEventMaker(MAP, {})(line, 1);
  expect(problem).toHaveProperty("message", expect.stringContaining(message));
});
