/** Writes small books in short form, as JSON with comments that explain each part. */

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

/** The start date of everything in a template. */
export const TEMPLATE_START = "2026-01-01";

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
