/** The books that `ratebook init --template` writes, each with events to price. */
import { formatBook, formatMeter, formatEventSchema, formatSlabs, TEMPLATE_START } from "./book-text.ts";

export interface Template {
  readonly book: string;
  /** Events as CSV, and the map of its columns. */
  readonly events: string;
  readonly map: string;
}

export const TEMPLATE_NAMES = ["usage", "seats", "credits", "llm-api", "hybrid"] as const;
export type TemplateName = (typeof TEMPLATE_NAMES)[number];

const ABOUT = ["A book for ratebook. Change it, then run the preview command again."];

export function createTemplate(name: TemplateName): Template {
  switch (name) {
    case "usage":
      return {
        book: formatBook({
          ...CALLS,
          plan: { name: "Pay as you go", cards: [["usageRateCards", [CALL_TIERS]]] },
          account: [],
        }),
        ...CALL_EVENTS,
      };
    case "seats":
      return { book: formatBook(SEATS), ...CALL_EVENTS };
    case "credits":
      return { book: formatBook(CREDITS), ...CALL_EVENTS };
    case "hybrid":
      return { book: formatBook(HYBRID), ...CALL_EVENTS };
    case "llm-api":
      return LLM_API;
  }
}

const CALLS = {
  introduction: ABOUT,
  eventSchemas: [formatEventSchema("api_call", ["calls"], ["region"])],
  usageMeters: [formatMeter({ id: "um.calls", name: "API calls", schema: "api_call", attribute: "calls" })],
};

const CALL_TIERS = `// The first 1,000 calls are free, the next 9,000 cost 0.002 each, those beyond 0.001.
          { "usageMeterId": "um.calls", ${formatSlabs([
            { startAfter: 0, rate: "0" },
            { startAfter: 1000, rate: "0.002" },
            { startAfter: 10_000, rate: "0.001" },
          ])} }`;

const SEAT_CARD = `// Each seat costs 12 per month, in advance, prorated for partial months.
          { "id": "addon.seats", "enableProration": true, "invoiceTiming": "IN_ADVANCE", ${formatSlabs([{ startAfter: 0, rate: "12" }], "VOLUME")} }`;

const PLATFORM_FEE = `// 49 per month, in advance.
          { "id": "addon.platform", "invoiceTiming": "IN_ADVANCE", "rateValues": [{ "currency": "USD", "rate": "49" }] }`;

const SEAT_UPDATES = `// Five seats from the first day, three more from the sixteenth.
      "licenseUpdates": [
        { "licenseId": "addon.seats", "quantity": 5, "effectiveFrom": "${TEMPLATE_START}" },
        { "licenseId": "addon.seats", "updateType": "RELATIVE", "quantity": 3, "effectiveFrom": "2026-01-16" },
      ]`;

const SEATS = {
  ...CALLS,
  addOns: ['{ "id": "addon.seats", "name": "Seats", "type": "LICENSE" }'],
  plan: {
    name: "Team",
    cards: [
      ["licenseRateCards", [SEAT_CARD]],
      ["usageRateCards", [CALL_TIERS]],
    ],
  },
  account: [SEAT_UPDATES],
} as const;

const CREDITS = {
  ...CALLS,
  plan: { name: "Prepaid", cards: [["usageRateCards", [CALL_TIERS]]] },
  account: [
    `// A prepaid credit: it pays invoices until it is used up or a year has passed.
      "credits": [
        { "purpose": "Prepaid", "creditAmount": 20, "effectiveFrom": "${TEMPLATE_START}", "effectiveUntil": "2027-01-01" },
      ]`,
  ],
} as const;

const HYBRID = {
  ...CALLS,
  addOns: [
    '{ "id": "addon.platform", "name": "Platform fee", "type": "FIXED_FEE" }',
    '{ "id": "addon.seats", "name": "Seats", "type": "LICENSE" }',
  ],
  plan: {
    name: "Business",
    cards: [
      ["fixedFeeRateCards", [PLATFORM_FEE]],
      ["licenseRateCards", [SEAT_CARD]],
      ["usageRateCards", [CALL_TIERS]],
    ],
  },
  account: [SEAT_UPDATES],
} as const;

const CALL_EVENTS = {
  events: [
    "id,time,account,calls,region",
    "c-1,2026-01-05T09:00:00Z,contoso-prod,800,eu",
    "c-2,2026-01-12T09:00:00Z,contoso-prod,4200,us",
    "c-3,2026-01-26T09:00:00Z,contoso-prod,7500,eu",
    "",
  ].join("\n"),
  map: formatMap({
    schema: "api_call",
    account: '{ "column": "account" }',
    id: '{ "column": "id" }',
    timestamp: '{ "column": "time" }',
    attributes: [["calls", "calls"]],
    dimensions: [["region", "region"]],
  }),
};

const LLM_API: Template = {
  book: formatBook({
    introduction: ABOUT,
    eventSchemas: [formatEventSchema("completion", ["input_tokens", "output_tokens"], ["model"])],
    usageMeters: [
      formatTokenMeter("um.small.in", "small model input (millions)", "small", "input_tokens"),
      formatTokenMeter("um.small.out", "small model output (millions)", "small", "output_tokens"),
      formatTokenMeter("um.large.in", "large model input (millions)", "large", "input_tokens"),
      formatTokenMeter("um.large.out", "large model output (millions)", "large", "output_tokens"),
    ],
    plan: {
      name: "Models",
      cards: [
        [
          "usageRateCards",
          [
            `// Prices are for a million tokens.
          { "usageMeterId": "um.small.in", ${formatSlabs([{ startAfter: 0, rate: "0.50" }])} }`,
            `{ "usageMeterId": "um.small.out", ${formatSlabs([{ startAfter: 0, rate: "1.50" }])} }`,
            `{ "usageMeterId": "um.large.in", ${formatSlabs([{ startAfter: 0, rate: "5" }])} }`,
            `{ "usageMeterId": "um.large.out", ${formatSlabs([{ startAfter: 0, rate: "15" }])} }`,
          ],
        ],
      ],
    },
    account: [],
  }),
  events: [
    "request,at,customer,model,in,out",
    "r-1,2026-01-03T10:00:00Z,contoso-prod,small,2400000,600000",
    "r-2,2026-01-10T10:00:00Z,contoso-prod,large,1200000,300000",
    "r-3,2026-01-17T10:00:00Z,contoso-prod,small,1600000,400000",
    "",
  ].join("\n"),
  map: formatMap({
    schema: "completion",
    account: '{ "column": "customer" }',
    id: '{ "column": "request" }',
    timestamp: '{ "column": "at" }',
    attributes: [
      ["input_tokens", "in"],
      ["output_tokens", "out"],
    ],
    dimensions: [["model", "model"]],
  }),
};

function formatTokenMeter(id: string, name: string, model: string, attribute: string): string {
  const matcher = `{ "==": [{ "var": "dimension.model" }, "${model}"] }`;
  const millions = `{ "/": [{ "var": "attribute.${attribute}" }, 1000000] }`;
  return `{ "id": "${id}", "name": "${name.replace(/[()]/g, "")}", "displayName": "${name}", "aggregation": "SUM", "eventSchemaName": "completion",
      "computations": [{ "order": 1, "matcher": ${matcher}, "computation": ${millions} }] }`;
}

/** The parts of a map as JSON text; attributes and dimensions as pairs of name and column. */
interface MapParts {
  readonly schema: string;
  readonly account: string;
  readonly id: string;
  readonly timestamp: string;
  readonly attributes: readonly (readonly [string, string])[];
  readonly dimensions: readonly (readonly [string, string])[];
  /** The decimal marks of columns whose numbers aren't plain. */
  readonly decimals?: ReadonlyMap<string, string>;
}

export function formatMap({ schema, account, id, timestamp, attributes, dimensions, decimals }: MapParts): string {
  const formatEntry = ([name, column]: readonly [string, string]): string => {
    const mark = decimals?.get(column);
    return `    ${JSON.stringify(name)}: { "column": ${JSON.stringify(column)}${mark === undefined ? "" : `, "decimal": "${mark}"`} },`;
  };
  const formatColumns = (pairs: MapParts["attributes"]): string =>
    pairs.length === 0 ? "{}" : `{\n${pairs.map(formatEntry).join("\n")}\n  }`;
  return [
    '// Where each part of an event is in the file: a "column" (of NDJSON a path, such as "usage.tokens"),',
    '// a constant "value", or a "template" such as "x-{row}".',
    "{",
    `  "schemaName": { "value": ${JSON.stringify(schema)} },`,
    `  "accountId": ${account},`,
    `  "id": ${id},`,
    `  "timestamp": ${timestamp},`,
    `  "attributes": ${formatColumns(attributes)},`,
    `  "dimensions": ${formatColumns(dimensions)},`,
    "}",
    "",
  ].join("\n");
}
