/** Writes small books as JSON with comments that explain each part. */

/** The parts of a book as JSON text. */
export interface BookParts {
  /** The lines of a comment above the book. */
  readonly introduction: readonly string[];
  readonly eventSchemas: readonly string[];
  readonly usageMeters: readonly string[];
  readonly addOns?: readonly string[];
  readonly plan: {
    readonly name: string;
    /** The lists of cards by name. */
    readonly cards: readonly (readonly [string, readonly string[]])[];
  };
  /** Additional fields of the only account; without it the book has no accounts. */
  readonly account?: readonly string[];
}

/** The start date of everything in a template. */
export const TEMPLATE_START = "2026-01-01";

export function formatBook({ introduction, eventSchemas, usageMeters, addOns = [], plan, account }: BookParts): string {
  const cards = plan.cards.map(([list, items]) => `"${list}": ${formatList(items, 8)}`);
  return [
    ...introduction.map((line) => `// ${line}`),
    "{",
    '  "organization": { "id": "my-company", "name": "My company", "baseCurrency": "USD" },',
    "",
    "  // Fields of events: numbers are attributes, texts are dimensions.",
    `  "eventSchemas": ${formatList(eventSchemas, 2)},`,
    "",
    "  // How events become usage. Rules are JSON logic.",
    `  "usageMeters": ${formatList(usageMeters, 2)},`,
    ...(addOns.length === 0 ? [] : ["", "  // Fees, seats and credits.", `  "addOns": ${formatList(addOns, 2)},`]),
    "",
    "  // Prices.",
    '  "pricePlans": [',
    `    { "id": "pp.first", "name": "${plan.name}", "status": "ACTIVE",`,
    '      "pricePlanDetails": {',
    '        "supportedCurrencies": ["USD"],',
    '        // Calendar months. Other intervals: "ANNUALLY", "QUARTERLY", "WEEKLY".',
    '        "pricingCycleConfig": { "interval": "MONTHLY", "startOffset": { "dayOffset": "1" } },',
    `        ${cards.join(",\n        ")}`,
    "      } },",
    "  ],",
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
    '  "accounts": [',
    '    { "id": "contoso-prod", "name": "Contoso production", "customerId": "contoso",',
    `      "pricePlans": [{ "pricePlanId": "pp.first", "effectiveFrom": "${TEMPLATE_START}" }]${more.map((field) => `,\n      ${field}`).join("")} },`,
    "  ],",
  ];
}

function formatList(items: readonly string[], indent: number): string {
  const spaces = " ".repeat(indent);
  return `[\n${items.map((item) => `${spaces}  ${item},`).join("\n")}\n${spaces}]`;
}

export function formatEventSchema(name: string, attributes: readonly string[], dimensions: readonly string[]): string {
  const formatNames = (names: readonly string[]): string =>
    names.map((each) => `{ "name": ${JSON.stringify(each)} }`).join(", ");
  return `{ "name": ${JSON.stringify(name)}, "attributes": [${formatNames(attributes)}], "dimensions": [${formatNames(dimensions)}] }`;
}

/** The parts of a meter. */
export interface MeterParts {
  readonly id: string;
  readonly name: string;
  readonly schema: string;
  /** The attribute to sum; without one, events are counted. */
  readonly attribute?: string;
}

export function formatMeter({ id, name, schema, attribute }: MeterParts): string {
  const step =
    attribute === undefined
      ? '{ "order": 1 }'
      : `{ "order": 1, "computation": { "var": ${JSON.stringify(`attribute.${attribute}`)} } }`;
  return `{ "id": "${id}", "name": ${JSON.stringify(name)}, "aggregation": "${attribute === undefined ? "COUNT" : "SUM"}", "eventSchemaName": ${JSON.stringify(schema)}, "computations": [${step}] }`;
}

/** Slabs and rates by start and unit price. */
export function formatSlabs(
  slabs: readonly { readonly startAfter: number; readonly rate: string; readonly packageSize?: number }[],
  pricingModel: "TIERED" | "VOLUME" = "TIERED",
): string {
  const slabTexts = slabs.map(({ startAfter, packageSize }, index) => {
    const kind =
      packageSize === undefined ? '"PER_UNIT"' : `"PACKAGE", "slabConfig": { "packageSize": ${packageSize} }`;
    return `{ "order": ${index + 1}, "startAfter": ${startAfter}, "priceType": ${kind} }`;
  });
  const rates = slabs.map(({ rate }, index) => `{ "order": ${index + 1}, "rate": "${rate}" }`);
  return (
    `"ratePlan": { "pricingModel": "${pricingModel}", "slabs": [${slabTexts.join(", ")}] }, ` +
    `"rateValues": [{ "currency": "USD", "slabRates": [${rates.join(", ")}] }]`
  );
}
