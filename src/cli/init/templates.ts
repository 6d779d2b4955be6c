/** Small books in short form with comments: writing them, and those of `init --template` with events to price. */

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
  const prices = [["usage", [CALL_TIERS]]] as const;
  switch (name) {
    case "usage":
      return createCallTemplate("Pay as you go", prices, []);
    case "seats":
      return createCallTemplate("Team", [["licenses", [SEATS]], ...prices], [SEAT_CHANGES]);
    case "credits":
      return createCallTemplate("Prepaid", prices, [PREPAID]);
    case "hybrid":
      return createCallTemplate(
        "Business",
        [["fees", [PLATFORM_FEE]], ["licenses", [SEATS]], ...prices],
        [SEAT_CHANGES],
      );
    case "llm-api":
      return LLM_API;
  }
}

/** A template whose events are API calls. @param account additional fields of its account */
function createCallTemplate(
  plan: string,
  prices: readonly (readonly [string, readonly string[]])[],
  account: readonly string[],
): Template {
  return { book: formatBook({ ...CALLS, plan: { name: plan, prices }, account }), ...CALL_EVENTS };
}

const CALLS = {
  introduction: ABOUT,
  eventSchemas: [formatEventSchema("api_call", ["calls"], ["region"])],
  usageMeters: [formatMeter({ id: "um.calls", name: "API calls", schema: "api_call", attribute: "calls" })],
};

/** The start date of everything in a template. */
export const TEMPLATE_START = "2026-01-01";

const CALL_TIERS = `// The first 1,000 calls are free, the next 9,000 cost 0.002 each, those beyond 0.001.
      { "meter": "um.calls", "tiers": [{ "upTo": 1000, "rate": "0" }, { "upTo": 10000, "rate": "0.002" }, { "rate": "0.001" }] }`;

const SEATS = `// Each seat costs 12 per month, in advance, prorated for partial months.
      { "id": "addon.seats", "name": "Seats", "volumeTiers": [{ "rate": "12" }], "prorate": true, "timing": "IN_ADVANCE" }`;

const PLATFORM_FEE = `// 49 per month, in advance.
      { "id": "addon.platform", "name": "Platform fee", "rate": "49", "timing": "IN_ADVANCE" }`;

const SEAT_CHANGES = `// Five seats from the first day, three more from the sixteenth.
    "licenses": { "addon.seats": [{ "from": "${TEMPLATE_START}", "quantity": 5 }, { "from": "2026-01-16", "quantity": 8 }] }`;

const PREPAID = `// A prepaid credit: it pays invoices until it is used up or a year has passed.
    "credits": [{ "purpose": "Prepaid", "amount": 20, "until": "2027-01-01" }]`;

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
      formatTokenMeter("um.input", "Input tokens", "input_tokens"),
      formatTokenMeter("um.output", "Output tokens", "output_tokens"),
    ],
    plan: {
      name: "Models",
      prices: [
        [
          "usage",
          [
            `// Prices are for a million tokens. A new price of a model is a further row with a "from".
      ${formatTokenPrices("um.input", "0.50", "5.00")}`,
            formatTokenPrices("um.output", "1.50", "15.00"),
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

function formatTokenMeter(id: string, name: string, attribute: string): string {
  return formatMeter({ id, name, schema: "completion", attribute, groupBy: ["model"] });
}

/** A card with a price table. */
function formatTokenPrices(meter: string, small: string, large: string): string {
  return `{ "meter": "${meter}", "rateTable": { "per": 1000000, "rows": [
        { "when": { "model": "small" }, "rate": "${small}" },
        { "when": { "model": "large" }, "rate": "${large}" }] } }`;
}

/** The parts of a map as JSON text; attributes and dimensions as pairs of name and column. */
interface MapParts {
  readonly schema: string;
  readonly account: string;
  readonly id: string;
  readonly timestamp: string;
  readonly attributes: readonly (readonly [string, string])[];
  readonly dimensions: readonly (readonly [string, string])[];
  /** Further fields of attributes as JSON text, by the column. */
  readonly attributeFields?: ReadonlyMap<string, string>;
}

export function formatMap({
  schema,
  account,
  id,
  timestamp,
  attributes,
  dimensions,
  attributeFields,
}: MapParts): string {
  const formatEntry = ([name, column]: readonly [string, string], fields = ""): string =>
    `    ${JSON.stringify(name)}: { "column": ${JSON.stringify(column)}${fields} },`;
  const formatColumns = (entries: readonly string[]): string =>
    entries.length === 0 ? "{}" : `{\n${entries.join("\n")}\n  }`;
  return [
    '// Where each part of an event is in the file: a "column" (of NDJSON a path, such as "usage.tokens"),',
    '// a constant "value", or a "template" such as "x-{row}".',
    "{",
    `  "schemaName": { "value": ${JSON.stringify(schema)} },`,
    `  "accountId": ${account},`,
    `  "id": ${id},`,
    `  "timestamp": ${timestamp},`,
    `  "attributes": ${formatColumns(attributes.map((pair) => formatEntry(pair, attributeFields?.get(pair[1]))))},`,
    `  "dimensions": ${formatColumns(dimensions.map((pair) => formatEntry(pair)))},`,
    "}",
    "",
  ].join("\n");
}

/** The parts of a book as JSON text. */
export interface BookParts {
  /** The lines of a comment above the book. */
  readonly introduction: readonly string[];
  readonly eventSchemas: readonly string[];
  readonly usageMeters: readonly string[];
  readonly plan: {
    readonly name: string;
    /** The lists of prices by name. */
    readonly prices: readonly (readonly [string, readonly string[]])[];
  };
  /** Additional fields of the only account; without it the book has no accounts. */
  readonly account?: readonly string[];
}

export function formatBook({ introduction, eventSchemas, usageMeters, plan, account }: BookParts): string {
  return [
    ...introduction.map((line) => `// ${line}`),
    "{",
    '  "organization": { "id": "my-company", "name": "My company", "baseCurrency": "USD" },',
    "",
    "  // Fields of events: numbers are attributes, texts are dimensions.",
    `  "eventSchemas": ${formatList(eventSchemas, 2)},`,
    "",
    '  // How events become usage: "sum" adds up an attribute, "count" counts events.',
    `  "usageMeters": ${formatList(usageMeters, 2)},`,
    "",
    '  // Prices, for calendar months. Other cycles: "ANNUALLY", "QUARTERLY", "WEEKLY".',
    `  "pricePlans": [{ "id": "pp.first", "name": "${plan.name}", "cycle": "MONTHLY",`,
    `    ${plan.prices.map(([list, items]) => `"${list}": ${formatList(items, 4)}`).join(",\n    ")} }],`,
    ...(account === undefined ? [] : formatAccountLines(account)),
    "}",
    "",
  ].join("\n");
}

function formatAccountLines(more: readonly string[]): readonly string[] {
  return [
    "",
    "  // Accounts and their plans.",
    '  "customers": [{ "id": "contoso", "name": "Contoso" }],',
    `  "accounts": [{ "id": "contoso-prod", "name": "Contoso production", "customerId": "contoso", "plan": "pp.first", "from": "${TEMPLATE_START}"${more.map((field) => `,\n    ${field}`).join("")} }],`,
  ];
}

function formatList(items: readonly string[], indent: number): string {
  const spaces = " ".repeat(indent);
  const [only = "", ...others] = items;
  if (others.length === 0 && !only.includes("//")) return `[${only}]`;
  return `[\n${items.map((item) => `${spaces}  ${item},`).join("\n")}\n${spaces}]`;
}

export function formatEventSchema(name: string, attributes: readonly string[], dimensions: readonly string[]): string {
  const formatNames = (names: readonly string[]): string => names.map((each) => JSON.stringify(each)).join(", ");
  return `{ "name": ${JSON.stringify(name)}, "attributes": [${formatNames(attributes)}], "dimensions": [${formatNames(dimensions)}] }`;
}

/** The parts of a meter. */
export interface MeterParts {
  readonly id: string;
  readonly name: string;
  readonly schema: string;
  /** The attribute to sum; without one, events are counted. */
  readonly attribute?: string;
  /** The dimensions of its groups. */
  readonly groupBy?: readonly string[];
}

export function formatMeter({ id, name, schema, attribute, groupBy }: MeterParts): string {
  const what = attribute === undefined ? '"count": true' : `"sum": ${JSON.stringify(attribute)}`;
  const groups =
    groupBy === undefined ? "" : `, "groupBy": [${groupBy.map((each) => JSON.stringify(each)).join(", ")}]`;
  return `{ "id": "${id}", "name": ${JSON.stringify(name)}, "schema": ${JSON.stringify(schema)}, ${what}${groups} }`;
}
