/** The pictures of the documentation, drawn by the project: the curves show the prices of `priceQuantity`. */
import { Decimal, priceQuantity } from "../../src/index.ts";

const FONT = 'font-family="system-ui, sans-serif"';
const [INK, PAPER, LINE] = ["#1f2937", "#f8fafc", "#94a3b8"];

function svg(width: number, height: number, title: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${title}" ${FONT}>`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" fill="${PAPER}"/>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

function text(x: number, y: number, content: string, more = ""): string {
  return `<text x="${x}" y="${y}" fill="${INK}" ${more}>${content}</text>`;
}

/**
 * The usage of two days, the prices of the first thousand units, of the next nine thousand and of all beyond, and a
 * credit, in USD.
 */
const [FIRST, SECOND, CREDIT] = [4500, 8000, 20];
const FLOW_PLAN = {
  pricingModel: "TIERED",
  slabs: [
    { order: 1, startAfter: 0, priceType: "PER_UNIT" },
    { order: 2, startAfter: 1000, priceType: "PER_UNIT" },
    { order: 3, startAfter: 10_000, priceType: "PER_UNIT" },
  ],
} as const;
const FLOW_RATES = [
  { order: 1, rate: "0.003" },
  { order: 2, rate: "0.002" },
  { order: 3, rate: "0.001" },
] as const;

/** The steps of the flow, with consistent figures of one example. */
function flowSteps(): readonly {
  readonly name: string;
  readonly about: readonly string[];
  readonly example: string;
}[] {
  const [first, second] = [new Decimal(FIRST), new Decimal(SECOND)];
  const calls = first.plus(second);
  const { amount } = priceQuantity(FLOW_PLAN, { currency: "USD", slabRates: FLOW_RATES }, calls);
  const count = (units: Decimal): string => units.toNumber().toLocaleString("en");
  return [
    {
      name: "Events",
      about: ["what was used,", "by whom, when"],
      example: `${count(first)} and ${count(second)} calls`,
    },
    { name: "Meters", about: ["counted or summed", "by account and day"], example: `${count(calls)} calls` },
    { name: "Cards", about: ["slabs, fees, seats,", "entitlements"], example: `${amount.toFixed(2)} USD` },
    {
      name: "Invoice",
      about: ["rounded once,", "less credits"],
      example: `less ${CREDIT.toFixed(2)}: ${amount.minus(CREDIT).toFixed(2)} USD`,
    },
  ];
}

/** Events → meters → cards → invoice. */
export function flowPicture(): string {
  const steps = flowSteps();
  const boxes = steps.flatMap(({ name, about, example }, index) => {
    const x = 20 + index * 180;
    const arrow = `<path d="M${x + 144} 70 h28 m-7 -6 l7 6 l-7 6" fill="none" stroke="${INK}" stroke-width="2"/>`;
    return [
      `<rect x="${x}" y="30" width="140" height="80" rx="8" fill="#fff" stroke="${LINE}"/>`,
      text(x + 70, 55, name, 'font-size="17" font-weight="600" text-anchor="middle"'),
      ...about.map((line, row) => text(x + 70, 76 + row * 16, line, 'font-size="12" text-anchor="middle"')),
      text(x + 70, 132, example, 'font-size="13" font-style="italic" text-anchor="middle"'),
      ...(index < steps.length - 1 ? [arrow] : []),
    ];
  });
  return svg(720, 150, "Events, meters, cards, invoice", boxes);
}

const UNITS_MAX = 10_000;
const AMOUNT_MAX = 120;
const [LEFT, TOP, WIDTH, HEIGHT] = [60, 30, 420, 220];
const TWO = [
  { order: 1, startAfter: 0, priceType: "PER_UNIT" },
  { order: 2, startAfter: 5000, priceType: "PER_UNIT" },
] as const;
const ONE = [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] as const;
const FLAT = [{ order: 1, startAfter: 0, priceType: "FLAT", slabConfig: { chargeAtZero: true } }] as const;
const TWO_RATES = [
  { order: 1, rate: "0.012" },
  { order: 2, rate: "0.006" },
] as const;
const CURVES = [
  {
    name: "flat",
    colour: "#64748b",
    plan: { pricingModel: "TIERED", slabs: FLAT },
    slabRates: [{ order: 1, rate: 60 }],
  },
  {
    name: "per unit",
    colour: "#2563eb",
    plan: { pricingModel: "TIERED", slabs: ONE },
    slabRates: [{ order: 1, rate: "0.01" }],
  },
  { name: "tiered", colour: "#15803d", plan: { pricingModel: "TIERED", slabs: TWO }, slabRates: TWO_RATES },
  { name: "volume", colour: "#b91c1c", plan: { pricingModel: "VOLUME", slabs: TWO }, slabRates: TWO_RATES },
] as const;

/** The price of a quantity on a curve. */
export function amountOn(name: (typeof CURVES)[number]["name"], quantity: number): Decimal {
  const curve = CURVES.find((each) => each.name === name);
  if (curve === undefined) throw new TypeError(`no curve ${name}`);
  return priceQuantity(curve.plan, { currency: "USD", slabRates: curve.slabRates }, new Decimal(quantity)).amount;
}

/** The price of a month in four ways. */
export function costCurvePicture(): string {
  const x = (units: number): number => LEFT + (units / UNITS_MAX) * WIDTH;
  const y = (amount: number): number => TOP + HEIGHT - (amount / AMOUNT_MAX) * HEIGHT;
  const quantities = [...Array.from({ length: 41 }, (_, step) => step * 250), 5000.5].sort((a, b) => a - b);
  const grid = [0, 30, 60, 90, 120].flatMap((amount) => [
    `<path d="M${LEFT} ${y(amount)} h${WIDTH}" stroke="${LINE}" stroke-width="0.5"/>`,
    text(LEFT - 8, y(amount) + 4, String(amount), 'font-size="12" text-anchor="end"'),
  ]);
  const quantityLabels = [0, 2500, 5000, 7500, 10_000].map((units) =>
    text(x(units), TOP + HEIGHT + 18, units.toLocaleString("en"), 'font-size="12" text-anchor="middle"'),
  );
  const curves = CURVES.flatMap(({ name, colour }, index) => {
    const points = quantities.map(
      (units) => `${x(units).toFixed(1)},${y(amountOn(name, units).toNumber()).toFixed(1)}`,
    );
    return [
      `<polyline points="${points.join(" ")}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      `<path d="M500 ${60 + index * 26} h20" stroke="${colour}" stroke-width="3"/>`,
      text(528, 64 + index * 26, name, 'font-size="13"'),
    ];
  });
  const axes = [
    text(LEFT, 18, "USD a month", 'font-size="12"'),
    text(LEFT + WIDTH, TOP + HEIGHT + 36, "units", 'font-size="12" text-anchor="end"'),
  ];
  return svg(620, 300, "What a month costs: flat, per unit, tiered, volume", [
    ...grid,
    ...quantityLabels,
    ...curves,
    ...axes,
  ]);
}
